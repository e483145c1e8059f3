"""Numbers that a stranger brings: each gives what it tells and no more."""

import polars as pl
import pytest

import mensura

RELEASED = "2026-10-01"


def own(*scores, model="mine", **more):
    """Return a table of own scores, each a benchmark and a percentage; ``more`` are columns of one value each."""
    rows = [(model, benchmark, score, "percent", RELEASED) for benchmark, score in scores]
    table = pl.DataFrame(rows, schema=["model", "benchmark", "score", "unit", "released"], orient="row")
    return table.with_columns(**{name: pl.lit(value) for name, value in more.items()})


@pytest.fixture(scope="module")
def weak():
    """The fit of a model with one weak score."""
    return mensura.stitch(mensura.load().add(own(("gpqa_diamond", 20))))


@pytest.mark.parametrize("score", [0, 55, 100])
def test_a_test_that_only_one_model_took_changes_nothing(weak, score):
    added = mensura.load().add(own(("gpqa_diamond", 20), ("my own test", score), kind="tracked"))
    fit = mensura.stitch(added)
    assert fit.capabilities.equals(weak.capabilities)
    assert fit.convergence.converged
    assert "left out, taken by one subject only: my own test" in fit.notes


def test_slopes_are_positive_also_where_two_models_disagree():
    """Of two takers of a new test, the better model scores lower."""
    added = mensura.load().add(own(("gpqa_diamond", 93), ("my own test", 2), model="strong", kind="tracked"))
    added = added.add(own(("gpqa_diamond", 40), ("my own test", 98), model="weak", kind="tracked"))
    fit = mensura.stitch(added)
    assert fit.benchmarks["slope"].min() > 0
    assert fit.convergence.converged
