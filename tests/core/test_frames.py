"""Tables at the edge: pandas, Arrow and mappings in and out, without pyarrow."""

import datetime as dt
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import mensura
from mensura.core.errors import MensuraError
from mensura.core.frames import (
    first_row,
    neutral_cells,
    neutral_text,
    require_columns,
    says_yes,
    sort_highest,
    text_table,
    without_quotes,
)
from mensura.intake import packed
from mensura.intake.tables import as_frame


def test_pandas_comes_in_as_it_is():
    table = pd.DataFrame(
        {
            "text": ["a", None, "c"],
            "count": [1, 2, 3],
            "share": [0.5, float("nan"), 0.25],
            "flag": [True, False, True],
            "when": pd.to_datetime(["2026-01-02", None, "2026-03-04"]),
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "word": pd.Categorical(["x", "y", None]),
        }
    )
    frame = as_frame(table)
    assert frame["text"].to_list() == ["a", None, "c"]
    assert frame["count"].dtype == pl.Int64
    assert frame["share"].to_list() == [0.5, None, 0.25]
    assert frame["flag"].dtype == pl.Boolean
    assert frame["when"][0] == dt.datetime(2026, 1, 2)
    assert frame["when"].null_count() == 1
    assert frame["whole"].to_list() == [1, None, 3]
    assert frame["word"].to_list() == ["x", "y", None]


def test_a_named_index_becomes_a_column():
    table = pd.DataFrame({"model": ["a", "b"], "score": [1.0, 2.0]}).set_index("model")
    assert as_frame(table).columns == ["model", "score"]


def test_columns_that_cannot_be_told_apart_are_refused():
    table = pd.DataFrame([[1, 2]], columns=["score", "score"])
    with pytest.raises(MensuraError, match="'score' is there twice"):
        as_frame(table)


def test_results_go_out_to_pandas():
    tables = mensura.load().to_pandas()
    assert tables["models"].shape[0] == 166
    assert tables["scores"]["score"].dtype.kind == "f"


def test_nobody_needs_pyarrow():
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import pandas as pd, mensura\n"
        "rows = [(f'm{m}', f'b{b}', (1 + m + b) / 20) for m in range(8) for b in range(6)]\n"
        "table = pd.DataFrame(rows, columns=['subject', 'benchmark', 'score'])\n"
        "print(mensura.stitch(table, method='rosetta').to_pandas()['capabilities'].shape[0])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout.strip() == "8", run.stderr


def test_a_name_with_brackets_is_a_name_and_no_pattern(tmp_path):
    (tmp_path / "fit2.csv").write_text("a\n2\n", encoding="utf-8")
    (tmp_path / "fit[2].csv").write_text("a\n1\n", encoding="utf-8")
    assert as_frame(tmp_path / "fit[2].csv")["a"].to_list() == [1]
    pl.DataFrame({"a": [3]}).write_parquet(tmp_path / "fit2.parquet")
    with pytest.raises(MensuraError, match="no such file"):
        as_frame(tmp_path / "fit[2].parquet")


def test_no_room_reads_a_file_by_a_pattern():
    source = Path(mensura.__file__).parent
    calls = re.compile(r"pl\.(?:read|scan)_(?:csv|parquet)\((?!.*(?:glob=False|read_bytes))")
    files = {path: path.read_text(encoding="utf-8").splitlines() for path in source.rglob("*.py")}
    found = [f"{path}: {line.strip()}" for path, lines in files.items() for line in lines if calls.search(line)]
    assert found == []


def test_a_parquet_file_with_brackets_in_its_name_is_read_itself(tmp_path):
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "fit[2].parquet")
    assert as_frame(tmp_path / "fit[2].parquet")["a"].to_list() == [1], "and no other that the pattern would find"
    pl.DataFrame({"a": [3, 4]}).write_parquet(tmp_path / "fit2.parquet")
    assert as_frame(tmp_path / "fit[2].parquet")["a"].to_list() == [1]


class Arrow:
    """A table of another library: it has columns, as one of pandas has, and lends itself as Arrow does."""

    columns = ("a",)

    def __arrow_c_stream__(self, requested_schema=None):
        return pl.DataFrame({"a": [1, 2]}).__arrow_c_stream__(requested_schema)


def test_tables_of_other_libraries_come_in_as_arrow():
    assert as_frame(Arrow())["a"].to_list() == [1, 2]
    assert as_frame(pl.LazyFrame({"a": [1]}))["a"].to_list() == [1]
    assert as_frame({"a": [1, 2.5], 3: ["x", None]}).to_dict(as_series=False) == {"a": [1.0, 2.5], "3": ["x", None]}


@pytest.mark.parametrize("given", [pd.Series([1, 2], name="a"), [1, 2], None])
def test_what_is_no_table_is_refused_by_its_kind(given):
    with pytest.raises(MensuraError, match=f"scores: cannot read {type(given).__name__}; expected a polars"):
        as_frame(given, name="scores")


def test_an_index_with_any_name_is_kept_and_a_count_is_not():
    table = pd.DataFrame(
        {"score": [1, 2]}, index=pd.MultiIndex.from_tuples([(7, "a"), (8, "b")], names=[None, "model"])
    )
    assert as_frame(table).columns == ["level_0", "model", "score"]
    assert as_frame(table.reset_index(drop=True)).columns == ["score"]


def test_a_parquet_file_may_announce_as_much_as_is_read(tmp_path, monkeypatch):
    pl.DataFrame({"a": [1, 2], "b": [3, 4], "c": [5, 6]}).write_parquet(tmp_path / "t.pq")
    monkeypatch.setattr(packed, "MOST_VALUES", 6)
    assert as_frame(tmp_path / "t.pq").shape == (2, 3)
    monkeypatch.setattr(packed, "MOST_VALUES", 5)
    with pytest.raises(MensuraError, match="announces 2 × 3 values; at most 5 are read"):
        as_frame(tmp_path / "t.pq")


def test_a_table_as_text_is_names_and_cells():
    table = pl.DataFrame({"model": ["a", "b"], "share": [0.12345, 2.0]})
    assert [line.split() for line in text_table(table).splitlines()] == [
        ["model", "share"],
        ["a", "0.123"],
        ["b", "2.000"],
    ]
    long = pl.DataFrame({f"c{number}": range(11) for number in range(20)})
    lines = text_table(long).splitlines()
    assert len(lines[0].split()) == 20
    assert [line.split()[0] for line in lines[1:11]] == [str(number) for number in range(10)]
    assert lines[11] == " … and 1 more rows"
    assert text_table(long.head(10)) == "\n".join(lines[:11])


def test_sixty_characters_of_a_cell_and_two_hundred_of_a_line_are_shown():
    assert f" {'x' * 60} " in text_table(pl.DataFrame({"a": ["x" * 60]}))
    assert f" {'x' * 60}… " in text_table(pl.DataFrame({"a": ["x" * 61]}))
    wide = {name: [name * 60] for name in "abc"}
    fits, breaks = (text_table(pl.DataFrame({**wide, "d": ["d" * length]})) for length in (12, 13))
    assert [len(line) for line in fits.splitlines()] == [200, 200]
    assert len(breaks.splitlines()) > 2


def test_numbers_that_differ_only_in_last_bits_are_sorted_by_name():
    table = pl.DataFrame({"name": ["b", "c", "none", "a"], "value": [0.3, 0.4, None, 0.1 + 0.2]})
    assert table["value"][3] > table["value"][0]
    assert sort_highest(table, "value", "name")["name"].to_list() == ["c", "a", "b", "none"]
    assert sort_highest(table, -pl.col("value"), "name")["name"].to_list() == ["a", "b", "c", "none"]


def test_yes_is_written_in_several_ways_and_a_blank_is_no_yes():
    cells = ["true", "YES ", "1", "1.0", "no", "0", "", None, "maybe"]
    told = pl.DataFrame({"a": cells}).select(says_yes("a"))["a"].to_list()
    assert told == [True] * 4 + [False] * 5
    assert pl.DataFrame({"a": [True, False, None]}).select(says_yes("a"))["a"].to_list() == [True, False, False]
    assert pl.DataFrame({"a": [1.0, 0.0, 2.0]}).select(says_yes("a"))["a"].to_list() == [True, False, False]


def test_the_first_row_and_the_columns_that_lack():
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    assert first_row(frame) == {"a": 1, "b": "x"}
    assert first_row(frame.clear()) is None
    require_columns(frame, ["b", "a"], name="t")
    with pytest.raises(MensuraError, match=r"^t: missing column 'c', 'd'; it has a, b\. Add or rename it$"):
        require_columns(frame, ["c", "a", "d"], name="t")
    with pytest.raises(MensuraError, match="it has none"):
        require_columns(pl.DataFrame(), ["c"], name="t")


@pytest.mark.parametrize(
    ("cell", "neutral"),
    [
        ("=1+1", "'=1+1"),
        ("+x", "'+x"),
        ("-1.5e3", "-1.5e3"),
        ("+.5", "+.5"),
        ("@x", "'@x"),
        ("\t1", "'\t1"),
        ("  =x", "'  =x"),
        ("＝x", "'＝x"),
        ("'=x", "''=x"),
        ("'x", "'x"),
        ("x=1", "x=1"),
        ("", ""),
    ],
)
def test_no_spreadsheet_finds_a_formula_and_every_cell_comes_back(cell, neutral):
    frame = pl.DataFrame({"a": [cell, None], "n": [1, 2]})
    kept = neutral_cells(frame)
    assert kept["a"].to_list() == [neutral, None]
    assert neutral_text(cell) == neutral
    assert without_quotes(kept).equals(frame)
