import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from mensura import MensuraError
from mensura.cli.trends import STREAMS, _embedded_compute, _finding, _follow, _print
from mensura.trends.pace import UNFORESEEN


@pytest.fixture
def scores(tmp_path):
    """A small dense score table whose subjects improve by half a unit a year."""
    rng = np.random.default_rng(0)
    years = np.sort(rng.uniform(0, 3, 45))
    capability = 0.5 * years + rng.normal(0, 0.15, 45)
    days = np.datetime64("2023-01-01") + (years * 365).astype("timedelta64[D]")
    rows = [
        (f"m{i:02}", f"b{j}", 1 / (1 + np.exp(-3 * (c - d))), str(day))
        for i, (c, day) in enumerate(zip(capability, days, strict=True))
        for j, d in enumerate(np.linspace(0, 1.6, 9))
        if (i + j) % 3
    ]
    path = tmp_path / "scores.csv"
    pl.DataFrame(rows, schema=["model", "benchmark", "score", "release_date"], orient="row").write_csv(path)
    return path


def test_tables_are_printed_and_written(mensura_command, scores, tmp_path):
    run = mensura_command("trends", scores, "--no-watch", "--to", "2027-01-01", "--out", tmp_path / "out")
    assert run.code == 0, run.err
    assert "Forecast of the frontier" in run.out
    assert "releases is the pace" in run.out
    assert "Unit of capability: " in run.out
    ahead = pl.read_csv(tmp_path / "out" / "forecast.csv")
    assert ahead.columns == ["date", "capability", "low", "high"]
    assert ahead["date"].to_list() == ["2027-01-01"]
    assert pl.read_csv(tmp_path / "out" / "frontier.csv").columns == ["subject", "released", "capability"]


@pytest.mark.slow
def test_json_holds_every_table_asked_for(mensura_command, scores, tmp_path, monkeypatch):
    monkeypatch.setattr("mensura.cli.trends.STREAMS", 19)
    names = [f"m{i:02}" for i in range(45)]
    flop = [1e22 * 1.3**i for i in range(45)]
    compute = tmp_path / "compute.csv"
    pl.DataFrame({"subject": names, "training_compute_flop": flop, "family": ["A"] * 5 + [None] * 40}).write_csv(
        compute
    )
    run = mensura_command("trends", scores, "--compute", compute, "--json")
    assert run.code == 0, run.err
    payload = json.loads(run.out)
    assert {"frontier", "pace", "forecast", "families", "progress", "joint"} <= set(payload)
    assert payload["watch"]["verdict"].startswith(("no alarm", "acceleration"))
    assert payload["looks"][0].keys() == {"date", "subject", "statistic", "boundary", "alarm"}


def test_scores_without_dates_are_refused_and_taken_with_a_table_of_models(mensura_command, scores, tmp_path):
    table = pl.read_csv(scores)
    bare, models = tmp_path / "bare.csv", tmp_path / "models.csv"
    table.drop("release_date").write_csv(bare)
    table.select("model", "release_date").unique().write_csv(models)
    run = mensura_command("trends", bare, "--no-watch")
    assert run.code == 2
    assert "missing column 'released'" in run.err
    assert mensura_command("trends", bare, "--set", f"models={models}", "--method", "rosetta", "--no-watch").code == 0


def test_a_watch_has_a_command(mensura_command, scores, tmp_path):
    run = mensura_command("acceleration", "watch", scores, "--set", "streams=19", "--out", tmp_path / "out")
    assert run.code == 0, run.err
    assert "all releases watched" in run.out
    assert pl.read_csv(tmp_path / "out" / "plan.csv").columns == ["date", "mean", "spread", "boundary"]
    run = mensura_command("acceleration", "watch", scores, "--set", "streams=19", "--json")
    assert run.code == 0, run.err
    payload = json.loads(run.out)
    assert "all releases watched" in payload["verdict"]
    assert payload["looks"][-1]["subject"] == "m44"
    refused = mensura_command("acceleration", "watch", scores, "--from", "2023-01-02", "--set", "streams=19")
    assert refused.code == 2
    assert "choose another start" in refused.err


@pytest.mark.slow
def test_subjects_are_selected_by_release_and_by_benchmarks(mensura_command, scores):
    every = json.loads(mensura_command("trends", scores, "--no-watch", "--json").out)
    late = json.loads(mensura_command("trends", scores, "--no-watch", "--json", settings={"since": "2024-06-01"}).out)
    assert len(late["frontier"]) < len(every["frontier"])
    assert all(row["released"] >= "2024-06-01" for row in late["frontier"])
    none = mensura_command("trends", scores, "--no-watch", settings={"fewest_benchmarks": 8})
    assert none.code == 2
    assert "no subject has 8 benchmarks" in none.err


def test_the_published_analyses_of_ones_own_scores(mensura_command, scores):
    run = mensura_command("trends", scores, "--method", "rosetta")
    assert run.code == 0, run.err
    assert "published trends: 45 subjects, 9 benchmarks, 270 scores" in run.out
    assert "Slopes under other weights of the penalty" in run.out
    assert "Doubling" not in run.out  # nothing was given that doubles


def test_the_finding_says_pace_and_first_forecast_with_their_intervals():
    tables = {
        "pace": pl.DataFrame({"slope": [0.625, 9.0], "low": [0.5, 9.0], "high": [0.75, 9.0]}),
        "forecast": pl.DataFrame({"date": ["2027-01-01"], "capability": [2.345], "low": [2.0], "high": [3.0]}),
    }
    said = _finding(tables, {"unit": "the distance from a to b"}, 0.8)
    assert said.startswith(
        "Capability grows by 0.62 a year (0.50 to 0.75, 80%); 1 is the distance from a to b. The best model of "
        "2027-01-01 is expected at 2.35 (2.00 to 3.00). "
    )
    assert said.endswith(UNFORESEEN)


def test_tables_of_trends_are_printed_newest_first_with_the_verdict_of_the_watch(capsys, monkeypatch):
    shown = []
    monkeypatch.setattr("mensura.cli.trends.show", lambda tables, layout, **words: shown.append((tables, words)))
    tables = {
        "frontier": pl.DataFrame({"subject": ["old", "new"]}),
        "pace": pl.DataFrame({"slope": [0.5], "low": [0.5], "high": [0.5]}),
        "forecast": pl.DataFrame({"date": ["2027"], "capability": [2.0], "low": [2.0], "high": [3.0]}),
    }
    _print(tables, {"unit": "one", "compute": "of all", "watch": {"verdict": "no alarm"}}, 0.9)
    assert shown[0][0]["frontier"]["subject"].to_list() == ["new", "old"]
    assert shown[0][1] == {"level": 0.9, "forecast": "the frontier (90%)"}
    printed = capsys.readouterr().out
    assert printed.startswith("Unit of capability: one.\nCompute: of all.\nWatch: no alarm\nCapability grows by")
    assert tables["frontier"]["subject"].to_list() == ["old", "new"]
    _print(tables, {"unit": "one"}, 0.9)
    assert "Watch: " not in capsys.readouterr().out


HOW = {"level": 0.8, "seed": 3, "since": None, "fewest_benchmarks": None, "method": "pooled", "anchor": "x", "days": ()}
HOW |= {"compute": None, "distilled": True, "watch": False}


@pytest.fixture
def followed(monkeypatch):
    """What the command asks of each instrument, in place of computing it."""
    asked = {}
    ahead = SimpleNamespace(pace="pace", frontier="frontier", table="forecast")
    fit = SimpleNamespace(unit="one", notes=["n"], warnings=["w"])
    parts = SimpleNamespace(families=1, estimates=2, joint=3, constancy=4, buckets=5)

    def note(name, result):
        def instrument(*given, **named):
            asked[name] = (given, named)
            if isinstance(result, Exception):
                raise result
            return result

        return instrument

    for place, result in (
        ("mensura.stitching.stitch", fit),
        ("mensura.trends.forecast", ahead),
        ("mensura.trends.measure_progress", parts),
        ("mensura.trends.load_published", SimpleNamespace(models="published")),
        ("mensura.trends.progress.read_compute", "amounts"),
        ("mensura.trends.capabilities.select_scores", "selected"),
    ):
        monkeypatch.setattr(place, note(place.rpartition(".")[2], result), raising=False)
    asked["fit"], asked["note"] = fit, note
    return asked


def test_scores_are_selected_fitted_and_forecast_with_the_settings_given(followed):
    tables, facts = _follow("scores", HOW, Path("own.csv"))
    assert tables == {"pace": "pace", "frontier": "frontier", "forecast": "forecast"}
    assert facts == {"method": "pooled", "level": 0.8, "unit": "one", "notes": ["n", "w", UNFORESEEN]}
    assert followed["select_scores"] == (("scores",), {"since": None, "fewest": 1})
    assert followed["stitch"] == (("selected",), {"method": "pooled", "anchor_benchmark": "x"})
    assert followed["forecast"] == ((followed["fit"],), {"to": None, "level": 0.8, "seed": 3})
    _follow("scores", HOW | {"days": ("day",), "fewest_benchmarks": 4, "since": "then"}, Path("own.csv"))
    assert followed["forecast"][1]["to"] == ["day"]
    assert followed["select_scores"][1] == {"since": "then", "fewest": 4}


def test_embedded_compute_belongs_to_the_published_fit_and_ones_own_to_the_fit_of_ones_scores(followed):
    embedded = HOW | {"compute": _embedded_compute()}
    tables, facts = _follow("scores", embedded, "evidence")
    assert facts["compute"] == "models of the published fit, in its unit"
    assert followed["measure_progress"] == (("published", "amounts"), {"level": 0.8})
    names = ("families", "progress", "joint", "constancy", "fixed_capability")
    assert [tables[name] for name in names] == [1, 2, 3, 4, 5]
    assert followed["read_compute"] == ((_embedded_compute(),), {"distilled": True})
    _, facts = _follow("scores", embedded, Path("own.csv"))
    assert "compute" not in facts and followed["measure_progress"][0][0] is followed["fit"]
    _, facts = _follow("scores", HOW | {"compute": Path("mine.csv")}, "evidence")
    assert "compute" not in facts and followed["measure_progress"][0][0] is followed["fit"]


def test_a_watch_that_cannot_be_kept_says_why_and_one_that_can_has_its_looks(followed, monkeypatch):
    watched = SimpleNamespace(looks="looks", facts={"alarm": None, "verdict": "no alarm"})
    monkeypatch.setattr("mensura.cli.trends._watched", followed["note"]("watch", watched))
    tables, facts = _follow("scores", HOW | {"watch": True}, "evidence")
    assert (tables["looks"], facts["watch"]["verdict"]) == ("looks", "no alarm")
    assert followed["watch"] == (("selected", {"streams": STREAMS, "seed": 3}), {})
    monkeypatch.setattr("mensura.cli.trends._watched", followed["note"]("watch", MensuraError("too few")))
    tables, facts = _follow("scores", HOW | {"watch": True}, "evidence")
    assert tables["looks"].is_empty() and facts["watch"] == {"alarm": None, "verdict": "none (too few)"}


def test_horizons_belong_to_the_published_method(mensura_command, scores, tmp_path):
    (tmp_path / "h.csv").write_text("subject,minutes\nm01,3\n", encoding="utf-8")
    run = mensura_command("trends", scores, "--horizons", tmp_path / "h.csv")
    assert (run.code, "--horizons: belongs to --method rosetta" in run.err) == (2, True)
