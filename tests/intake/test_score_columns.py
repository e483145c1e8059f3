"""Which column is what: header variants people use, tidy tables and both kinds of wide ones."""

import pytest

from mensura.core.errors import MensuraError
from mensura.intake.names import KnownNames
from mensura.intake.score_columns import (
    CellTable,
    WrittenScore,
    _says_percent,
    bare_title,
    find_shape,
    header_row,
    read_cells,
    read_once,
    rename_columns,
    shape_of,
    unfold_entries,
    without_words,
)


def test_a_cell_has_ten_thousand_characters_and_a_line_ten_times_as_many(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text(f"model,note\na,{'x' * 10_000}\n", encoding="utf-8")
    assert len(read_cells(file).rows[0][1]) == 10_000
    file.write_text(f"model,note\na,{'x' * 10_001}\n", encoding="utf-8")
    with pytest.raises(MensuraError, match=r"row 2: a cell of 10,001 characters"):
        read_cells(file)
    header = ",".join(f"c{number}" for number in range(20))
    line = ",".join(["x" * 4_999] * 19)
    file.write_text(f"{header}\n{line},{'x' * (100_000 - len(line) - 1)}\n", encoding="utf-8")
    assert len(read_cells(file).rows[0]) == 20
    file.write_text(f"{header}\n{line},{'x' * (100_000 - len(line))}\n", encoding="utf-8")
    with pytest.raises(MensuraError, match="a line of 100,001 characters"):
        read_cells(file)


@pytest.mark.parametrize(
    ("size", "words"), [(64 * 2**20, "not a readable spreadsheet"), (64 * 2**20 + 1, "64 MB is no table of scores")]
)
def test_nothing_is_read_of_a_file_beyond_64_mebibytes(size, words, tmp_path):
    with (tmp_path / "large.xlsx").open("wb") as file:
        file.truncate(size)  # takes no room
    with pytest.raises(MensuraError, match=words):
        read_cells(tmp_path / "large.xlsx")


MODELS = KnownNames([("gpt-5", "GPT-5"), ("o3", "o3"), ("opus", "Opus")])
TESTS = KnownNames([("gpqa", "GPQA"), ("hle", "HLE"), ("aime", "AIME")])
NAMES = {"model": MODELS, "benchmark": TESTS}


def shaped(*header):
    return find_shape(header, MODELS, TESTS, name="mine")


def test_a_table_is_tidy_wide_or_turned_by_its_header():
    tidy = shaped("Model", "Task", "Accuracy (%)", "samples", "Rank")
    assert (tidy.kind, dict(tidy.columns)) == ("tidy", {"subject": 0, "benchmark": 1, "score": 2, "n": 3})
    assert (tidy.across, tidy.percent, tidy.left_out) == ((), {2}, ("Rank",))
    wide = shaped("model", "gpqa %", "anything")
    assert (wide.kind, wide.across, wide.percent) == ("wide", (1, 2), {1})
    turned = shaped("benchmark", "gpt-5", "o3 (percent)")
    assert (turned.kind, turned.across, turned.percent) == ("turned", (1, 2), {2})


def test_a_first_column_without_a_name_is_understood_by_most_of_the_others():
    assert (shaped("x", "GPQA", "HLE", "other").kind, shaped("x", "GPQA", "HLE", "other").across) == ("wide", (1, 2, 3))
    assert shaped("x", "o3", "GPT-5 (%)").kind == "turned"
    for header in (
        ("score", "GPQA", "HLE"),
        ("x", "GPQA", "other"),
        ("x",),
        ("model",),
        ("model", "benchmark"),
        ("model", "benchmark", "y"),
    ):
        with pytest.raises(MensuraError, match="mine: expected columns model, benchmark, score"):
            shaped(*header)
    with pytest.raises(MensuraError, match="unknown column 'y', 'z'; rename or remove it"):
        shaped("model", "benchmark", "score", "y", "z")
    with pytest.raises(MensuraError, match="columns 'score' and 'Accuracy' both look like the score"):
        shaped("model", "benchmark", "score", "Accuracy")


@pytest.mark.parametrize(
    ("title", "bare", "percent"),
    [
        *(
            ("Accuracy (%)", "Accuracy", True),
            ("gpqa_percent", "gpqa", True),
            ("HLE [pct]", "HLE", True),
            ("%", "%", True),
        ),
        *(("percentile", "percentile", False), ("score", "score", False), ("acc %", "acc", True)),
    ],
)
def test_a_title_says_percent_and_is_bare_without(title, bare, percent):
    assert (bare_title(title), _says_percent(title)) == (bare, percent)


def table(header, *rows):
    return CellTable("mine", tuple(header), tuple(rows), tuple(range(2, len(rows) + 2)))


def test_a_header_below_a_title_is_named_by_its_row():
    rows = [("Results", None, None), ("Model", "Benchmark", "Score"), ("o3", "HLE", "20")]
    assert header_row(rows) == 1
    assert header_row(rows[2:]) is None
    with pytest.raises(MensuraError, match=r"mine, row 3: looks like the header; expected it in row 1"):
        shape_of(table(("A", "", ""), *rows), NAMES)
    far = [("x", None, None)] * 10
    with pytest.raises(MensuraError, match="expected columns model"):
        shape_of(table(("A", "", ""), *far, rows[1]), NAMES)
    assert rename_columns(["Model", "ACC", "mine", "std err"], "t") == ["subject", "score", "mine", "stderr"]


def test_every_score_is_one_entry_and_cells_without_one_are_listed():
    cells = table(("model", "gpqa (%)", "hle", "source"), ("o3", "70", None, "lab"), (None, "1", "2", None))
    entries, dropped = unfold_entries(cells, shape_of(cells, NAMES))
    assert entries == [WrittenScore(2, "o3", "gpqa", "70", {"source": "lab"}, True)]
    assert dropped == [(2, "hle", "no score"), (3, "gpqa", "no model"), (3, "hle", "no model")]
    turned = table(("benchmark", "o3"), ("gpqa", "70"), (None, None))
    entries, dropped = unfold_entries(turned, shape_of(turned, NAMES))
    assert (entries[0].subject, entries[0].benchmark, entries[0].percent) == ("o3", "gpqa", False)
    assert dropped == [(3, "o3", "no benchmark and no score")]
    tidy = table(("model", "benchmark", "score"), ("o3", "gpqa", "70"), ("o3", None, "5"))
    entries, dropped = unfold_entries(tidy, shape_of(tidy, NAMES))
    assert (len(entries), dropped) == (1, [(3, "o3", "no benchmark")])


def test_columns_of_remarks_are_left_out_but_none_with_a_figure_or_a_known_name():
    cells = table(
        ("model", "gpqa", "speed", "new", "comma", "empty"),
        ("o3", "n/a", "fast", "x", "1,5", None),
        ("opus", None, "slow", "71.2", None, None),
    )
    shape = without_words(cells, shape_of(cells, NAMES), TESTS)
    assert [cells.header[place] for place in shape.across] == ["gpqa", "new", "comma", "empty"]
    assert shape.left_out == ("speed",)


def test_rows_that_repeat_another_word_for_word_are_read_once():
    one = WrittenScore(2, "o3", "gpqa", "70", {"source": "lab"}, False)
    again, other = one._replace(row=5), one._replace(row=6, extras={"source": "paper"})
    assert read_once([one, again, other, again._replace(row=7)]) == ([one, other], ["5", "7"])
    assert read_once([one, one._replace(row=3, cell="70.0")])[1] == []


def test_a_table_of_another_kind_and_no_table_are_refused(tmp_path):
    with pytest.raises(MensuraError, match="no such file; expected a table of scores"):
        read_cells(tmp_path / "none.csv")
    with pytest.raises(MensuraError, match="scores: no rows; expected a header and one row per score"):
        read_cells({"model": []})
    cells = read_cells({"model": ["o3", None], "score": [0.5, 0.25]})
    assert (cells.numbers, cells.rows) == ((1, 2), (("o3", "0.5"), (None, "0.25")))
