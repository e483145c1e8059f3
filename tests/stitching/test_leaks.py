"""Slow leaks: tests on which later models gain after publication, and what is not taken for one."""

import numpy as np
import polars as pl
import pytest

from benchmarks.stitch_hard_worlds import simulate
from mensura.stitching import place, stitch

pytestmark = pytest.mark.slow


def errors(fit, true):
    """Errors of the capabilities in order of release, in standard deviations of the truth."""
    rows = [int(name[1:]) for name in fit.data.subjects]
    own = true[rows]
    return fit.estimate.capability[0] - (own - own.mean()) / own.std()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_slow_leak_is_not_taken_for_progress(seed):
    """Half of the tests gain 0.45 logits a year: the newest models came out too high by a quarter of their spread."""
    frame, _, true, _ = simulate("slow leaks", np.random.default_rng([95, seed]))
    fit = stitch(frame.drop("leak"), parts="keep")
    blind = stitch(frame.drop("leak"), parts="keep", informed=False)
    error, before = errors(fit, true), errors(blind, true)
    dates = np.arange(error.size)
    assert abs(np.corrcoef(error, dates)[0, 1]) < 0.3 < np.corrcoef(before, dates)[0, 1]
    assert (error**2).mean() < 0.75 * (before**2).mean()
    assert any(note.startswith("slow leaks: ") for note in fit.notes)


def test_without_a_leak_nothing_is_taken_off():
    frame = simulate("plain", np.random.default_rng([95, 4]))[0].drop("leak")
    fit = stitch(frame, parts="keep")
    assert not fit.model.leaks.rate.any()
    assert not any("leak" in note for note in fit.notes)


def test_where_most_tests_gain_models_have_become_better():
    """Four of five tests of the evidence gain against the slowest: that is progress, and nothing is taken off."""
    assert not stitch().model.leaks.rate.any()


def test_the_day_of_publication_counts_and_new_models_lose_their_gain():
    """A model placed later is no better for scores that the leak lifted; before publication there is no gain."""
    frame = simulate("slow leaks", np.random.default_rng([95, 2]))[0].drop("leak")
    fit = stitch(frame, parts="keep")
    leaking = [fit.data.benchmarks[i] for i in np.argsort(-fit.model.leaks.rate)[:4]]
    scores = {"subject": ["new"] * 4, "benchmark": leaking, "score": [0.6] * 4}
    early, late = (place(fit, scores | {"released": [day] * 4}) for day in ("2023-01-01", "2026-12-01"))
    values = [draws.capabilities.filter(subject="new")["capability"][0] for draws in (early, late)]
    assert values[1] < values[0] - 0.3
    after = stitch(frame.with_columns(benchmark_released=pl.lit("2030-01-01")), parts="keep")
    assert not after.model.leaks.rate.any()
