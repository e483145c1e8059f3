"""Pictures of the stitched scale: one axis, time, sensors, profiles, progress, acceleration; and the published fit."""

import re
from datetime import date
from types import SimpleNamespace

import polars as pl
import pytest

from mensura.site.pictures import stitched
from mensura.site.pictures.stitched import harder_said, human_lines, in_range, oddest, stands_beside
from mensura.trends import find_frontier, load_published


def test_a_benchmark_informs_at_both_ends_of_its_range():
    sensors = pl.DataFrame({"low": [0.0, 1.0, 1.1, 0.0], "high": [1.0, 2.0, 2.0, 0.9]})
    study = SimpleNamespace(capabilities=pl.DataFrame({"capability": [0.4, 1.0, None]}), sensors=sensors)
    assert in_range(study) == "2 of 4 benchmarks still inform at the level of the best model"


def test_of_human_lines_the_surest_stay_and_those_half_a_step_away():
    groups = pl.DataFrame(
        [
            ("a", "measured", 0.0, 1.0),
            ("b", "measured", 0.4, 0.2),
            ("c", "measured", 0.9, 0.5),
            ("d", "judged", 3.0, 0.1),
        ],
        schema=["group", "status", "capability", "half"],
        orient="row",
    ).with_columns(low=pl.col("capability") - pl.col("half"), high=pl.col("capability") + pl.col("half"))
    assert human_lines(groups)["label"].to_list() == ["b", "c"]
    assert human_lines(groups.filter(status="judged")).is_empty()


def test_the_highest_model_stands_above_inside_or_below_measured_classes():
    ranks = pl.DataFrame({"rank": [1, 2, None], "subject": ["b", "a", "c"], "p_first": [0.8, 0.2, None]}).with_columns(
        capability=pl.Series([2.0, 1.0, 3.0])
    )
    groups = pl.DataFrame(
        {"group": ["x, measured", "y, measured", "z, judged", "w, measured", "v, measured"]}
        | {"status": ["measured", "measured", "judged", "measured", "measured"]}
        | {
            "capability": [0.0, 2.6, 1.5, 1.9, 4.0],
            "low": [-1.0, 1.2, 1.0, 1.0, 3.5],
            "high": [1.0, 3.8, 1.9, 3.0, 5.0],
        }
    )
    tests = pl.DataFrame({"name": ["Easy", "Hard"], "difficulty": [1.9, 2.1]})
    study = SimpleNamespace(
        capability_ranks=ranks, rows=SimpleNamespace(facts={"b": {"name": "Bee"}}), groups=groups, benchmarks=tests
    )
    assert stands_beside(study) == (
        "On one scale the best model stands above x, and inside the range of w and y, and below v."
    )
    assert harder_said(study) == "Still above it: Hard."
    study.groups, study.benchmarks = groups.filter(status="judged"), tests.head(1)
    assert stands_beside(study) == "Bee has the highest capability, with a chance of 80% among 2 models."
    assert harder_said(study) == ""
    study.capability_ranks = ranks.clear()
    assert stands_beside(study) == "No model is known well enough to be ranked."
    assert harder_said(study) == ""


def test_the_oddest_score_is_the_farthest_either_way():
    points = pl.DataFrame({"name": ["A", "B", "C"], "benchmark": ["x", "y", "z"], "residual": [0.1, -0.25, None]})
    assert oddest(points) == "Farthest from its level: B on y, 25% of the range below it"
    assert oddest(points.head(1)).endswith("10% of the range above it")
    assert oddest(points.tail(1)) == "No model has a residual"


def test_human_lines_keep_the_surest_and_their_distance():
    groups = pl.DataFrame(
        {
            "group": ["wide", "sure", "far", "judged"],
            "status": ["measured", "measured", "measured", "estimated"],
            "capability": [0.3, 0.0, 0.5, 2.0],
            "low": [-1.0, -0.1, 0.0, 1.9],
            "high": [1.6, 0.1, 1.0, 2.1],
        }
    )
    assert stitched.human_lines(groups)["label"].to_list() == ["sure", "far"]


def scale_study():
    """Return three models, two tests and a class of people on the stitched scale."""
    models = pl.DataFrame(
        {"subject": ["a", "b", "c"], "name": ["Ay", "Bee", "Cee"], "provider": "OpenAI"}
        | {"capability": [2.0, 1.0, None], "capability_low": [1.8, -9.0, None], "capability_high": [2.2, 1.5, None]}
        | {"released": [date(2026, 5, 1), date(2025, 5, 1), date(2024, 5, 1)]}
    )
    benchmarks = pl.DataFrame(
        {"benchmark": ["quiz", "open"], "name": ["Quiz", "Open"], "difficulty": [1.5, None], "slope": [2.0, None]}
    )
    groups = pl.DataFrame(
        {"group": ["experts, measured"], "status": ["measured"], "capability": [0.5], "low": [0.25], "high": [0.75]}
    )
    ranks = pl.DataFrame({"subject": ["a"], "rank": [1], "p_first": [0.8], "capability": [2.0]})
    sensors = pl.DataFrame({"benchmark": ["quiz"], "name": ["Quiz"], "low": [1.0], "peak": [1.5], "high": [2.0]})
    residuals = pl.DataFrame({"subject": ["a", "b"], "benchmark": ["quiz", "quiz"], "residual": [0.1, -0.2]})
    evidence = SimpleNamespace(models=models)
    return SimpleNamespace(
        models=models,
        evidence=evidence,
        charted=lambda *needed, **_: models.drop_nulls(list(needed)),
        benchmarks=benchmarks,
        groups=groups,
        capability_ranks=ranks,
        capabilities=models.select("subject", "capability"),
        sensors=sensors,
        residuals=residuals,
        class_names={"experts, measured": "experts on Quiz"},
        rows=SimpleNamespace(facts={"a": {"name": "Ay"}}),
        pace=SimpleNamespace(unit="the distance from a to b"),
        policy=SimpleNamespace(labels=1),
        watch=None,
    )


def test_models_tests_and_people_stand_on_one_axis_and_no_interval_runs_far_below_it():
    figure = stitched.one_axis(scale_study())
    points = {row["name"]: row for row in figure.points}
    assert {name: row["kind"] for name, row in points.items()} == {
        "Ay": "model",
        "Bee": "model",
        "Quiz": "benchmark",
        "experts on Quiz": "people",
    }
    assert points["Bee"]["low"] == pytest.approx(0.5 - 0.3) and points["Ay"]["low"] == 1.8
    assert figure.finding == "On one scale the best model stands above experts."
    wide = figure.drawing.wide
    assert ">Ay <" in wide and ">Bee <" in wide and "people:experts, measured" in wide and "benchmark:quiz" in wide
    assert stitched._unit_ends(scale_study()) == {0.0: "Ay", 1.0: "Bee"}
    assert stitched._unit_ends(SimpleNamespace(**vars(scale_study()) | {"pace": SimpleNamespace(unit="one")})) == {}


def test_sensors_and_profiles_come_with_their_tables():
    sensors = stitched.sensors(scale_study())
    assert sensors.points == [{"benchmark": "quiz", "name": "Quiz", "low": 1.0, "peak": 1.5, "high": 2.0}]
    assert sensors.finding == "1 of 1 benchmarks still inform at the level of the best model"
    profiles = stitched.residual_profiles(scale_study())
    assert profiles.finding == "Farthest from its level: Bee on Quiz, 20% of the range below it"
    assert [row["name"] for row in profiles.points] == ["Ay", "Bee"], "the highest first"


def test_too_few_releases_are_no_watch_and_an_alarm_has_its_month():
    assert stitched.acceleration(scale_study()).finding == "Too few models were released to watch for an acceleration"
    looks = pl.DataFrame(
        {"date": [date(2026, 5, 1), date(2026, 6, 1)], "statistic": [0.5, 2.5], "boundary": [2.0, 2.0], "x": 1}
    )
    for alarm, said in ((date(2026, 6, 1), "The alarm sounded in June 2026"), (None, "No acceleration that chance")):
        watch = SimpleNamespace(alarm=alarm, looks=looks, plan=SimpleNamespace(rate=0.05), p_value=0.02)
        figure = stitched.acceleration(SimpleNamespace(watch=watch))
        assert figure.finding.startswith(said) and len(figure.points) == 2
        assert figure.see == "The last look, of June 2026, is at 2.50; an alarm needs 2.00."
        assert "5%" in figure.caption and "p = 0.02" in figure.caption


def test_the_published_fit_has_its_own_numbers():
    difficulty = stitched.published_difficulty(None)
    rows = load_published().benchmarks.sort("difficulty")
    assert difficulty.finding.startswith("From ") and rows["benchmark"][0] in difficulty.finding.split(" to ")[0]
    assert rows["benchmark"][-1] in difficulty.finding.split(" to ")[1]
    assert len(difficulty.points) == rows.height and "source" not in difficulty.points[0]
    bend = stitched.published_break(None)
    numbers = [float(one) for one in re.findall(r"\d+\.\d+", bend.finding)]
    assert numbers[1] / numbers[0] == pytest.approx(numbers[2], rel=0.02)
    assert len(bend.points) == find_frontier(load_published().models).height
    horizons = stitched.published_horizons(None)
    assert re.search(r"Horizons double with every 0\.\d\d of capability \(R² 0\.\d\d, \d+ models\)", horizons.finding)
    assert f"{len(horizons.points)} models" in horizons.finding


def test_what_to_see_of_sensors_counts_those_that_end_below_the_best_model():
    sensors = pl.DataFrame({"name": ["A", "B", "C"], "low": [0.0, 0.5, 3.0], "high": [1.0, 2.5, 4.0]})
    study = SimpleNamespace(capabilities=pl.DataFrame({"capability": [2.0, 1.0]}), sensors=sensors)
    assert stitched.ended_said(study) == (
        "1 of 3 bars end below the best model: these tests tell no leaders apart; C reaches highest."
    )
