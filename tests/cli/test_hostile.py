"""Options and tables that mean harm or nothing: one sentence, exit 2."""

import json

import polars as pl
import pytest

from mensura import MensuraError
from mensura.cli import output, tables
from mensura.demands import read_demands
from mensura.evidence import import_facts
from mensura.stitching import stitch
from tests.evidence.conftest import facts  # noqa: F401
from tests.test_degenerate import sensible, table


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "rosetta", "--ridge", "nan"], "ridge: got nan; expected a number of zero or more"),
        (["--method", "rosetta", "--ridge", "inf"], "ridge: got inf"),
        (["--method", "rosetta", "--ridge", "-1"], "ridge: got -1.0"),
        (["--anchor", "m1=nan", "--anchor", "m2=1"], "two subjects with two different values are expected"),
        (["--anchor", "m1=inf", "--anchor", "m2=1"], "two subjects with two different values are expected"),
    ],
)
def test_numbers_that_are_none_are_refused(options, message, mensura_command, tmp_path):
    table(sensible()).write_csv(tmp_path / "scores.csv")
    run = mensura_command("stitch", tmp_path / "scores.csv", *options)
    assert run.code == 2
    assert message in run.err


def test_a_column_named_row_is_a_column(tmp_path):
    scores = table(sensible())
    assert stitch(scores.with_row_index("row")).capabilities.equals(stitch(scores).capabilities)
    (tmp_path / "demands.csv").write_text("row,item,dimension,level\n1,a,KNc,2\n", encoding="utf-8")
    assert read_demands(tmp_path / "demands.csv")["level"].to_list() == [2.0]


NEEDED = {
    "models": ["name", "provider", "release_date", "reasoning", "model_line", "predecessor2_id", "context_tokens"],
    "benchmarks": ["name", "dimension", "kind", "unit"],
    "scores": ["primary", "source_key", "source_date", "note"],
    "ladders": ["benchmark_id"],
    "eq_ladders": ["component", "source_value", "eq"],
    "human_references": ["unit", "source", "score"],
    "costs": ["unit", "source_key", "note"],
    "sources": ["url", "kind"],
}


@pytest.mark.parametrize(("file", "column"), [(file, column) for file, names in NEEDED.items() for column in names])
def test_facts_without_a_column_are_refused_by_its_name(file, column, facts):  # noqa: F811
    path = facts / f"{file}.csv"
    pl.read_csv(path, infer_schema=False).drop(column).write_csv(path)
    with pytest.raises(MensuraError, match=f"{file}.csv: missing column '{column}'"):
        import_facts(facts)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("ladders", b"\x89PNG\r\n\x1a\n\0\0", "ladders.csv"),
        ("scores", "model_id,benchmark_id\n".encode("utf-16"), "scores.csv"),
        ("models", b"", "models.csv: no rows; expected a row of column names"),
    ],
)
def test_facts_that_are_no_table_are_refused(file, text, message, facts):  # noqa: F811
    (facts / f"{file}.csv").write_bytes(text)
    with pytest.raises(MensuraError, match=message):
        import_facts(facts)


def test_a_human_score_in_words_is_a_fault_with_its_row(facts):  # noqa: F811
    path = facts / "human_references.csv"
    path.write_text(path.read_text().replace("physicists,70", "physicists,seventy"), encoding="utf-8")
    with pytest.raises(MensuraError, match="column score: got 'seventy'"):
        import_facts(facts)


def test_tables_break_between_words_and_between_columns(monkeypatch, capsys):
    monkeypatch.setattr(output.console, "_width", 80)
    wide = pl.DataFrame(
        {"subject": ["claude-fable-5"], **{f"a_long_heading_{k}": ["poststratification"] for k in range(5)}}
    )
    tables.print_table(wide, title="Wide")
    shown = capsys.readouterr().out
    assert shown.count("poststratification") == 5
    assert shown.count("claude-fable-5") == 3
    assert max(map(len, shown.splitlines())) <= 80
    assert "further columns" in shown


def test_anchors_are_found_by_the_names_people_write(mensura_command):
    anchors = ["--anchor", "GPT-5.5=2", "--anchor", "Claude Opus 4.8=1", "--json"]
    told = json.loads(mensura_command("stitch", *anchors).out)
    places = {row["subject"]: row["capability"] for row in told["capabilities"]}
    assert places["gpt-5.5"] == pytest.approx(2)
    assert places["claude-opus-4.8"] == pytest.approx(1)
