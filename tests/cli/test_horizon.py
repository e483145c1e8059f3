"""``mensura horizon``: the tables of the contract, embedded data, totals, and a fault in words."""

import json
from types import SimpleNamespace

import polars as pl
import pytest
from typer.testing import CliRunner

from mensura.cli.horizon import _domains, _print
from mensura.cli.main import build_app
from mensura.trends import follow_horizons

COLUMNS = ["subject", "suite", "p50", "p50_low", "p50_high", "p80", "p80_low", "p80_high", "tasks", "runs", "status"]


def call(*words):
    return CliRunner().invoke(build_app("horizon"), ["horizon", *map(str, words)])


def test_own_runs_write_the_tables(runs, times, tmp_path):
    runs.write_csv(tmp_path / "runs.csv")
    times.write_csv(tmp_path / "times.csv")
    result = call(tmp_path / "runs.csv", "--times", tmp_path / "times.csv", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    written = pl.read_csv(tmp_path / "out" / "horizons.csv")
    assert written.columns == COLUMNS
    assert set(written["suite"]) == {"all", "suite 0", "suite 1"}
    assert pl.read_csv(tmp_path / "out" / "tasks.csv").columns == ["suite", "task", "minutes", "low", "high", "how"]
    assert {"curves.csv", "trend.csv"} <= {path.name for path in (tmp_path / "out").iterdir()}


@pytest.mark.slow
def test_release_dates_are_one_of_the_tables_of_times(runs, times, tmp_path):
    more = pl.concat([runs.with_columns(pl.col("subject") + f" {n}") for n in range(2)])
    names = more["subject"].unique().sort()
    more.write_csv(tmp_path / "runs.csv")
    times.write_csv(tmp_path / "times.csv")
    dated = pl.DataFrame({"subject": names, "released": [f"202{n}-01-01" for n in range(6)]})
    for count, rows in ((2, 0), (6, 1)):
        dated.head(count).write_csv(tmp_path / "dates.csv")
        files = ("--times", tmp_path / "times.csv", "--times", tmp_path / "dates.csv")
        result = call(tmp_path / "runs.csv", *files, "--json")
        assert result.exit_code == 0, result.exception
        assert len(json.loads(result.stdout)["trend"]) == rows


def test_embedded_systems_have_horizons_and_a_trend():
    result = call("--json")
    assert result.exit_code == 0, result.output
    tables = json.loads(result.output)
    best = max((row for row in tables["horizons"] if row["suite"] == "all"), key=lambda row: row["p50"] or 0)
    assert best["subject"] == "GPT-5.5"
    assert {row["domain"] for row in tables["trend"]} == {"security", "science", "software"}


def test_the_studys_own_horizons_stand_beside_ours():
    result = call()
    assert result.exit_code == 0, result.output
    assert "study_p50" in result.output
    assert "304.0" in next(line for line in result.output.splitlines() if "GPT-5.5" in line)


def test_a_fault_is_a_message(tmp_path, runs):
    runs.write_csv(tmp_path / "runs.csv")
    result = call(tmp_path / "runs.csv")
    assert "times: none given" in str(result.exception)


def test_a_slower_pace_before_is_an_acceleration():
    days = [f"20{year}-0{1 + 3 * half}-01" for year in range(18, 27) for half in range(2)]
    level = [place * 0.2 if day < "2024" else 12 * 0.2 + (place - 12) for place, day in enumerate(days)]
    rows = {"subject": days, "suite": ["x"] * len(days), "p50": [2**value for value in level]}
    trend = follow_horizons(
        rows | {"p50_low": rows["p50"], "p50_high": rows["p50"]}, {"subject": days, "released": days}
    )
    assert trend["since"].to_list() == ["all", "2024-01-01"]
    assert trend["ratio_low"][1] > 2


def test_total_scores_without_lengths_are_asked_for(tmp_path):
    (tmp_path / "totals.csv").write_text("subject,benchmark,percent\na,b,50\n", encoding="utf-8")
    assert "total scores need lengths" in str(call(tmp_path / "totals.csv").exception)


def test_three_of_each_further_kind_of_work_are_printed_and_shares_of_the_error_are_means(capsys, monkeypatch):
    shown = []
    monkeypatch.setattr("mensura.cli.horizon.show", lambda tables, layout: shown.append(tables))
    rows = [("science", f"s{at}", float(at)) for at in range(4)] + [("all", "a", 99.0), ("software", "w", None)]
    table = pl.DataFrame(rows, schema=["suite", "subject", "p50"], orient="row")
    parts = pl.DataFrame({"subject": ["a", "b"], "times": [0.2, 0.4], "runs": [0.8, 0.6]})
    _print(SimpleNamespace(parts=parts), table.head(1), table, pl.DataFrame())
    assert shown[0]["others"]["subject"].to_list() == ["s3", "s2", "s1"]
    printed = capsys.readouterr().out
    assert "The uncertainty of p50 comes from: times 30%, runs 70%.\n" in printed
    _print(SimpleNamespace(parts=parts.clear()), table.head(0), table, pl.DataFrame())
    assert "comes from" not in capsys.readouterr().out


def test_the_embedded_rows_over_all_suites_are_of_security():
    table = pl.DataFrame({"suite": ["all", "science", "software", "suite 1"]})
    assert _domains(table, True)["suite"].to_list() == ["security", "science", "software"]
    assert _domains(table, False)["suite"].to_list() == ["all"]
