"""Options and tables that mean harm or nothing: one sentence, exit 2."""

import json

import polars as pl
import pytest

from mensura.cli import output, tables
from mensura.demands import read_demands
from mensura.stitching import stitch
from tests.test_degenerate import sensible, table

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("options", "ridge", "message"),
    [
        (["--method", "rosetta"], "nan", "ridge: got nan; expected a number of zero or more"),
        (["--method", "rosetta"], "inf", "ridge: got inf"),
        (["--method", "rosetta"], -1, "ridge: got -1.0"),
        (["--anchor", "m1=nan", "--anchor", "m2=1"], None, "two subjects with two different values are expected"),
        (["--anchor", "m1=inf", "--anchor", "m2=1"], None, "two subjects with two different values are expected"),
    ],
)
def test_numbers_that_are_none_are_refused(options, ridge, message, mensura_command, tmp_path):
    table(sensible()).write_csv(tmp_path / "scores.csv")
    run = mensura_command(
        "stitch", tmp_path / "scores.csv", *options, settings={} if ridge is None else {"ridge": ridge}
    )
    assert run.code == 2
    assert message in run.err


def test_a_column_named_row_is_a_column(tmp_path):
    scores = table(sensible())
    assert stitch(scores.with_row_index("row")).capabilities.equals(stitch(scores).capabilities)
    (tmp_path / "demands.csv").write_text("row,item,dimension,level\n1,a,KNc,2\n", encoding="utf-8")
    assert read_demands(tmp_path / "demands.csv")["level"].to_list() == [2.0]


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
