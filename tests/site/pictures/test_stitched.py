"""Pictures of the stitched scale: one axis, time, sensors, profiles, progress, acceleration; and the published fit."""

from types import SimpleNamespace

import polars as pl

from mensura.site.pictures import stitched
from mensura.site.pictures.stitched import harder_said, human_lines, in_range, oddest, stands_beside


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
