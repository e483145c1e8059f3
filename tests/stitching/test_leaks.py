"""Slow leaks: tests on which later models gain after publication, and what is not taken for one."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from benchmarks.stitch_hard_worlds import simulate
from mensura.stitching import place, stitch
from mensura.stitching.layout import ScoreLayout
from mensura.stitching.leaks import Leaks, estimate_leaks, loose_leaks
from mensura.stitching.sweeps import Cells

SUBJECTS, BENCHMARKS = 50, 10


def gaining(rates, seed=0):
    """Every subject on every test, in cells, with the years after publication that each score has had.

    Subjects come one after the other over four years and become better; tests were published at the start.
    """
    rng = np.random.default_rng(seed)
    years = np.linspace(0, 4, SUBJECTS)
    capability = 0.4 * years + rng.normal(0, 0.5, SUBJECTS)
    layout = ScoreLayout.of(np.repeat(np.arange(SUBJECTS), BENCHMARKS), np.tile(np.arange(BENCHMARKS), SUBJECTS))
    exposure = years[layout.rows]
    eta = 2 * (capability[layout.rows] - np.linspace(-0.5, 1.5, BENCHMARKS)[layout.cols])
    eta = eta + np.asarray(rates)[layout.cols] * exposure
    y = np.clip(1 / (1 + np.exp(-eta)) + rng.normal(0, 0.01, eta.size), 0, 1)
    ones = np.ones(y.size)
    sides = np.zeros(BENCHMARKS), np.ones(BENCHMARKS)
    return Cells(layout, y, *sides, 0 * ones, ones, np.ones((SUBJECTS, 1))), exposure


def test_the_gains_of_three_leaking_tests_come_out_in_logits_a_year():
    rates = np.array([0.0, 0.6, 0, 0, 0.9, 0, 0, 0, 0.3, 0])
    leaks = estimate_leaks(*gaining(rates), 1.0, np.ones(BENCHMARKS))
    assert leaks.rate == pytest.approx(rates, abs=0.08)
    assert leaks.spread == pytest.approx(np.std(rates), abs=0.08)


def test_where_no_test_most_tests_or_too_few_tests_gain_nothing_is_taken_off():
    shares = np.ones(BENCHMARKS)
    for rates in (np.zeros(BENCHMARKS), np.where(np.arange(BENCHMARKS) < 3, 0.0, 0.6)):
        leaks = estimate_leaks(*gaining(rates), 1.0, shares)
        assert not leaks.rate.any() and leaks.spread == 0.0
    cells, exposure = gaining(np.array([0.0, 0.6, 0, 0, 0.9, 0, 0, 0, 0.3, 0]))
    seven, eight = (np.where(cells.layout.cols < count, exposure, 0.0) for count in (7, 8))
    assert not estimate_leaks(cells, seven, 1.0, shares).rate.any()
    assert estimate_leaks(cells, eight, 1.0, shares).rate[[1, 4]] == pytest.approx([0.6, 0.9], abs=0.1)
    assert not estimate_leaks(replace(cells, right_or_wrong=True), exposure, 1.0, shares).rate.any()


def test_duplicates_count_once_where_most_tests_are_asked():
    """Six of ten tests gain, which is no majority; where the others count half each, it is one."""
    cells, exposure = gaining(np.where(np.arange(BENCHMARKS) < 4, 0.0, 0.6))
    assert estimate_leaks(cells, exposure, 1.0, np.ones(BENCHMARKS)).rate[4:].min() > 0.3
    halved = np.where(np.arange(BENCHMARKS) < 4, 0.5, 1.0)
    assert not estimate_leaks(cells, exposure, 1.0, halved).rate.any()


def test_gains_vary_in_draws_as_they_do_among_benchmarks():
    loose = loose_leaks(Leaks(np.array([0.0, 0.5]), 0.25), np.array([1.0, 2.0, 0.0]))
    assert loose.lift.tolist() == [1.0, 2.0, 0.0]
    assert loose.precision.tolist() == [16.0, 16.0]


def errors(fit, true):
    """Errors of the capabilities in order of release, in standard deviations of the truth."""
    rows = [int(name[1:]) for name in fit.data.subjects]
    own = true[rows]
    return fit.estimate.capability[0] - (own - own.mean()) / own.std()


@pytest.mark.slow
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


@pytest.mark.slow
def test_without_a_leak_nothing_is_taken_off():
    frame = simulate("plain", np.random.default_rng([95, 4]))[0].drop("leak")
    fit = stitch(frame, parts="keep")
    assert not fit.model.leaks.rate.any()
    assert not any("leak" in note for note in fit.notes)


@pytest.mark.slow
def test_where_most_tests_gain_models_have_become_better():
    """Four of five tests of the evidence gain against the slowest: that is progress, and nothing is taken off."""
    assert not stitch().model.leaks.rate.any()


@pytest.mark.slow
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
