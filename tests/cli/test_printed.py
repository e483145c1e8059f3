"""What commands print: the first rows and how many more there are, or one JSON object and nothing else."""

import polars as pl
import pytest
from rich.cells import cell_len

from mensura.cli.tables import TerminalTable, own_first, print_own_first, print_table


def test_twenty_pairs_of_raters_are_printed(mensura_command, tmp_path):
    """Seven raters are 21 pairs."""
    rows = [(f"i{i}", "KNn", (i + r // 4) % 6, f"r{r}") for r in range(7) for i in range(12)]
    table = pl.DataFrame(rows, schema=["item", "dimension", "level", "annotator"], orient="row")
    table.write_csv(tmp_path / "demands.csv")
    run = mensura_command("demands", "agreement", tmp_path / "demands.csv")
    assert "… and 1 more row (" in run.out, run.err


@pytest.mark.parametrize("names", [["a"], ["model", "é", "模型"]])
def test_a_table_fits_where_its_longest_line_does(names):
    """A frame and a blank on either side of every cell: three columns a cell, and the last frame."""
    wide = sum(map(cell_len, names)) + 3 * len(names) + 1
    grid = TerminalTable(names, [False] * len(names), [["x"] * len(names)])
    assert (grid.fits(wide), grid.fits(wide - 1)) == (True, False)


def test_a_long_title_breaks_at_the_width_of_the_terminal_and_opens_the_first_part_alone(monkeypatch, capsys):
    monkeypatch.setattr("mensura.cli.output.console._width", 40)
    print_table(wide_table(), title="six words of ten letters here " * 2)
    lines = [line.strip() for line in capsys.readouterr().out.splitlines() if line[0].isalpha() or line[0] == "…"]
    assert lines == ["six words of ten letters here six words", "of ten letters here", *["… further columns"] * 3]


def test_a_table_without_rows_is_one_line(capsys):
    print_table(pl.DataFrame(schema={"subject": pl.String}), title="Leaked answers")
    assert capsys.readouterr().out == "Leaked answers: none\n"


def test_columns_without_any_value_stay_out_and_are_named_but_for_the_key(capsys):
    frame = pl.DataFrame({"rank": [None], "subject": ["mine"], "level": [None], "rate": [0.5], "note": [""]})
    print_table(frame, title="t")
    printed = capsys.readouterr().out
    assert "┃ rank ┃ subject ┃ rate ┃" in printed
    assert "Left out, as no row here has a value: level, note" in printed


@pytest.mark.parametrize("missing", [0, 1, 2, 3])
def test_a_column_that_can_wrap_gives_way_before_one_that_cannot(monkeypatch, capsys, missing):
    """The longest name is one word; the chance is two, and may stand on two lines."""
    frame = pl.DataFrame({"subject": ["a-name-of-one-long-word"], "iq": [99], "first": ["under 1%"], "ranks": ["1–99"]})
    whole = len("a-name-of-one-long-word") + len("99") + len("under 1%") + len("ranks") + 3 * 4 + 1
    monkeypatch.setattr("mensura.cli.output.console._width", whole - missing)
    print_table(frame, title="Ranks")
    lines = capsys.readouterr().out.splitlines()[1:]
    assert {line[-1] for line in lines} <= set("┓┃┩│┘")


RANKED = pl.DataFrame({"subject": [f"m{place}" for place in range(40)], "iq": list(range(140, 100, -1))})


def test_ones_own_rows_come_first_then_neighbours_then_the_top():
    shown = own_first(RANKED, {"m30", "m20"}, 12)
    assert shown["whose"].to_list() == ["yours"] * 2 + ["next to yours"] * 8 + ["top"] * 2
    assert shown["rank"].to_list() == [21, 31, 19, 20, 22, 23, 29, 30, 32, 33, 1, 2]
    assert shown.select("subject", "iq").rows()[:2] == [("m20", 120), ("m30", 110)]


def test_all_of_ones_own_rows_are_printed_whatever_the_number_of_rows():
    assert own_first(RANKED, {"m5", "m35", "m39"}, 2)["rank"].to_list() == [6, 36, 40]


def test_rows_left_out_beside_ones_own_are_counted(monkeypatch, capsys):
    monkeypatch.setattr("mensura.cli.output.console._width", 80)
    print_own_first(RANKED, ["m39"], title="Ranks", rows=10)
    printed = capsys.readouterr().out
    assert "Ranks; yours first" in printed
    assert "… and 30 more rows (all of them with --out or --json)" in printed
    print_own_first(RANKED, ["nobody"], title="Ranks", rows=10)
    assert "yours" not in capsys.readouterr().out


def wide_table():
    return pl.DataFrame({name: [name * 3] for name in ("key", "second", "important", "spare", "sparest")})


def test_a_narrow_terminal_leaves_spare_columns_out_and_says_so(monkeypatch, capsys):
    monkeypatch.setattr("mensura.cli.output.console._width", 85)
    print_table(wide_table(), title="t", spare=("sparest", "spare"))
    printed = capsys.readouterr().out
    assert "Left out for want of width: sparest (all columns with --out or --json, or a wider terminal)" in printed
    assert "sparespare" in printed
    assert "further columns" not in printed
    monkeypatch.setattr("mensura.cli.output.console._width", 200)
    print_table(wide_table(), title="t", spare=("sparest", "spare"))
    assert "Left out" not in capsys.readouterr().out


def test_key_columns_stand_in_every_part(monkeypatch, capsys):
    monkeypatch.setattr("mensura.cli.output.console._width", 70)
    print_table(wide_table(), title="t", keys=2)
    heads = [line for line in capsys.readouterr().out.splitlines() if line.startswith("┃")]
    assert len(heads) > 1
    assert all("key" in line and "second" in line for line in heads)


@pytest.mark.slow
def test_models_that_were_added_stand_before_the_ranking_even_without_a_rank(mensura_command, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text("model,released,benchmark,score\nmy-model,2026-11-01,hle,21%\n", encoding="utf-8")
    lines = mensura_command("iq", "--add", mine, "--set", "draws=20").out.splitlines()
    assert lines[0].startswith("Yours")
    assert "│    – │ my-model │" in lines[4]


@pytest.mark.parametrize("scale", [[], ["--scale", "2026-12"]])
@pytest.mark.slow
def test_stitch_prints_the_added_model_first(mensura_command, tmp_path, scale):
    mine = tmp_path / "mine.csv"
    mine.write_text("model,released,benchmark,score\nmy-model,2026-11-01,hle,1%\n", encoding="utf-8")
    printed = mensura_command("stitch", "--add", mine, *scale).out
    table = printed[printed.index("; yours first") :].splitlines()
    assert "my-model" in table[4]
    assert "yours" in table[4]


@pytest.mark.slow
def test_stitch_prints_the_test_that_was_added_first_and_says_how_hard_it_is(mensura_command, tmp_path):
    """Six known models took my test, and one new model: the finding is about my test and my model."""
    known = {"gpt-5.5": 78, "claude-opus-4.8": 81, "gpt-4o": 31, "gpt-5": 58, "gemini-3-flash": 64, "kimi-k2.5": 59}
    rows = [f"{model},,my-test,{score}%" for model, score in known.items()]
    mine = tmp_path / "mine.csv"
    mine.write_text(
        "\n".join(["model,released,benchmark,score", *rows, "mine,2026-11-01,my-test,66%"]), encoding="utf-8"
    )
    printed = mensura_command("stitch", "--add", mine).out
    assert "my-test" in printed[printed.index("Benchmarks, yours first") :].splitlines()[4]
    *_, models, tests, _ = printed.splitlines()
    assert models.startswith("Capability, with its 90% interval: mine ")
    assert tests.startswith("my-test: difficulty ") and tests.endswith(" of 44 benchmarks are harder.")


def test_a_model_stands_before_the_people_it_was_fitted_with(mensura_command, tmp_path):
    """Forty people and one model that is weaker than half of them."""
    rows = [(f"p{p}", "people", f"i{i}", int((p * 7 + i * 5) % 40 > 3 * i)) for p in range(40) for i in range(10)]
    rows += [("my-model", "models", f"i{i}", i % 2) for i in range(10)]
    table = pl.DataFrame(rows, schema=["subject", "group", "item", "correct"], orient="row")
    table.write_csv(tmp_path / "answers.csv")
    fitted = mensura_command("responses", "fit", tmp_path / "answers.csv", "--model", "rasch", "--out", tmp_path / "f")
    placed = mensura_command("responses", "place", tmp_path / "f", "--group", "people")
    for run in (fitted, placed):
        assert run.code == 0, run.err
        first = next(line for line in run.out.splitlines() if line.startswith("│"))
        assert "yours" in first
        assert "my-model" in first
        assert "… and 21 more rows (all of them with --out or --json)" in run.out


def test_two_large_groups_of_people_are_ranked_together(mensura_command, tmp_path):
    rows = [
        (f"{group}{p}", group, f"i{i}", int((p * 7 + i * 5) % 40 > 3 * i))
        for group in ("women", "men")
        for p in range(30)
        for i in range(10)
    ]
    pl.DataFrame(rows, schema=["subject", "group", "item", "correct"], orient="row").write_csv(tmp_path / "answers.csv")
    printed = mensura_command("responses", "fit", tmp_path / "answers.csv", "--model", "rasch").out
    assert "women" in printed
    assert "yours" not in printed


def test_every_part_of_a_table_names_what_tells_its_rows_apart(capsys, monkeypatch):
    groups = {"covariate": ["schooling"] * 2, "group": ["short", "long"]}
    wide = pl.DataFrame(groups | {f"a_long_column_{place}": [0.1, 0.2] for place in range(6)})
    monkeypatch.setattr("mensura.cli.output.console._width", 80)
    print_table(wide, title="By group")
    printed = capsys.readouterr().out
    assert printed.count("┃ covariate ┃ group ┃") == printed.count("┏") > 1
