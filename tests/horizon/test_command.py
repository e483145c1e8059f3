"""``mensura horizon``: the tables of the contract, embedded data, totals, and a fault in words."""

import json

import polars as pl
import pytest
from typer.testing import CliRunner

from mensura.cli.main import build_app
from mensura.horizon import estimate_minutes, fit_totals, load_runs
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


def test_embedded_systems_have_horizons_and_a_trend():
    result = call("--json")
    assert result.exit_code == 0, result.output
    tables = json.loads(result.output)
    best = max((row for row in tables["horizons"] if row["suite"] == "all"), key=lambda row: row["p50"] or 0)
    assert best["subject"] == "GPT-5.5"
    assert {row["domain"] for row in tables["trend"]} == {"security", "science", "software"}


def test_a_fault_is_a_message(tmp_path, runs):
    runs.write_csv(tmp_path / "runs.csv")
    result = call(tmp_path / "runs.csv")
    assert "times: none given" in str(result.exception)


def test_total_scores_give_wide_horizons():
    lengths = {"benchmark": ["b"] * 40, "minutes": [2 ** (i / 4) for i in range(40)], "how": ["baseline"] * 40}
    table = fit_totals({"subject": ["low", "high"], "benchmark": ["b", "b"], "percent": [25.0, 75.0]}, lengths)
    low, high = table["p50"].to_list()
    assert low == pytest.approx(2**2.5, rel=0.4)
    assert high == pytest.approx(2**7.5, rel=0.4)


def test_anchors_narrow_minutes_and_remove_a_bias():
    names = [f"i{place}" for place in range(30)]
    estimates = {"item": names, "minutes": [0.25 * 2 ** (place / 5) for place in range(30)]}
    anchors = {"item": names[::5], "minutes": [4 * 2 ** (place / 5) for place in range(0, 30, 5)]}
    alone, tied = estimate_minutes(estimates), estimate_minutes(estimates, anchors)
    truth = pl.Series([4 * 2 ** (place / 5) for place in range(30)])
    error = [((table["minutes"] / truth).log(2) ** 2).mean() for table in (alone, tied)]
    width = [(table["minutes_high"] / table["minutes_low"]).log(2).mean() for table in (alone, tied)]
    assert error[1] < error[0] / 2
    assert width[1] < width[0]
    assert tied.filter(pl.col("status") == "measured").height == 6


def test_a_slower_pace_before_is_an_acceleration():
    days = [f"20{year}-0{1 + 3 * half}-01" for year in range(18, 27) for half in range(2)]
    level = [place * 0.2 if day < "2024" else 12 * 0.2 + (place - 12) for place, day in enumerate(days)]
    rows = {"subject": days, "suite": ["x"] * len(days), "p50": [2**value for value in level]}
    trend = follow_horizons(
        rows | {"p50_low": rows["p50"], "p50_high": rows["p50"]}, {"subject": days, "released": days}
    )
    assert trend["since"].to_list() == ["all", "2024-01-01"]
    assert trend["ratio_low"][1] > 2


def test_embedded_runs_name_no_person():
    persons = load_runs().times[1]["person"].cast(pl.String).to_list()
    assert all(person.isdigit() for person in persons)
