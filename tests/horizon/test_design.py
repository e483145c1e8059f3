"""Runs as arrays: each suite a matrix of who ran what, with successes, trials and guessing."""

from types import SimpleNamespace

import numpy as np
import polars as pl

from mensura.horizon.design import make_design

TIMES = pl.DataFrame(
    {"suite": ["y", "x", "x", "x"], "task": ["t1", "t2", "t1", "t1"], "chance": [None, 0.25, None, 0.5]},
    schema_overrides={"chance": pl.Float64},
)
RUNS = pl.DataFrame(
    [
        ("b", "x", "t1", 0.5, 4),
        ("b", "x", "t2", 1.0, 2),
        ("a", "x", "t2", 0.0, 3),
        ("b", "y", "t1", 0.2, 5),
        ("c", "y", "t1", 1.0, 1),
    ],
    schema=["subject", "suite", "task", "score", "trials"],
    orient="row",
)


def test_each_suite_has_its_own_subjects_and_its_own_stretch_of_tasks():
    design = make_design(SimpleNamespace(runs=RUNS, times=TIMES), ["a", "b"])
    x, y = design.suites
    assert design.tasks.select("suite", "task").rows() == [("x", "t1"), ("x", "t2"), ("y", "t1")]
    assert (x.name, x.tasks, y.name, y.tasks) == ("x", slice(0, 2), "y", slice(2, 3))
    assert (x.rows.tolist(), y.rows.tolist()) == ([0, 1], [1])
    assert x.trials.tolist() == [[0, 3], [4, 2]]
    assert x.successes.tolist() == [[0, 0], [2, 2]]
    assert (y.trials.tolist(), y.successes.tolist()) == ([[5]], [[1]])
    assert x.chance.tolist() == [0.5, 0.25]
    assert np.isnan(y.chance).all()
    assert design.pairs == [(0, 0), (1, 0), (1, 1)]


def test_one_suite_has_no_interactions():
    only = RUNS.filter(suite="x"), TIMES.filter(suite="x")
    assert make_design(SimpleNamespace(runs=only[0], times=only[1]), ["a", "b"]).pairs == []
