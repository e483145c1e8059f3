"""The line: closed forms, limits, and intervals that cover what they promise on simulated truth."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mensura.errors import MensuraError
from mensura.extrapolation.line import SHIFT_DF, Case, Prior, bounds, expit, fit_line, logit
from mensura.extrapolation.slices import reliability

PRIOR = Prior(shift_sd=0.3, slope=0.9, slope_sd=0.1, interaction=0.25)


def test_shift_is_the_precision_weighted_mean_when_slope_and_interaction_are_fixed(new_case):
    case = new_case(np.random.default_rng(1), PRIOR)
    sure = replace(PRIOR, slope=1.0 / reliability(case), slope_sd=1e-9, weight=1e12)
    known = np.zeros((1, len(case.items)), dtype=bool)
    known[0, :4] = True
    shift = fit_line(case, known, sure).shift[0]
    weight = 1 / (sure.interaction**2 + case.x_noise + case.y_noise(case.y))[:4]
    prior_variance = (SHIFT_DF * sure.shift_sd**2 / 2 + shift**2) / (SHIFT_DF + 1)
    expected = weight @ (case.y - case.x)[:4] / (weight.sum() + 1 / prior_variance)
    assert shift == pytest.approx(expected, rel=1e-3)


def test_without_links_the_prior_is_the_prediction(new_case):
    case = replace(new_case(np.random.default_rng(2), PRIOR), offset=np.full(30, 0.4))
    line = fit_line(case, np.zeros((1, 30), dtype=bool), PRIOR)
    slope = PRIOR.slope * reliability(case)
    assert line.logit[0] == pytest.approx(case.x + 0.4 + (slope - 1) * (case.x - case.x.mean()))
    assert line.interaction[0] == PRIOR.interaction


def test_many_links_recover_shift_and_slope(new_case):
    rng = np.random.default_rng(3)
    truth = Prior(shift_sd=1e-9, slope=0.7, slope_sd=1e-9, interaction=0.05)
    case = new_case(rng, truth, items=400, n=20_000)
    line = fit_line(case, np.ones((1, 400), dtype=bool), replace(PRIOR, shift_sd=1.0, slope_sd=0.5))
    assert line.slope[0] == pytest.approx(0.7, abs=0.02)
    assert line.shift[0] == pytest.approx(0.0, abs=0.02)
    assert line.interaction[0] == pytest.approx(0.05, abs=0.03)


@pytest.mark.parametrize("links", [0, 3, 20])
def test_intervals_cover_on_truth_drawn_from_the_prior(new_case, links):
    rng = np.random.default_rng(4)
    covered = []
    for _ in range(150):
        case = new_case(rng, PRIOR)
        known = np.zeros((1, 30), dtype=bool)
        known[0, :links] = True
        rates = bounds(case, fit_line(case, known, PRIOR), 0.9)
        hidden = ~known[0]
        covered.append(((case.reference >= rates.low) & (case.reference <= rates.high))[0, hidden].mean())
    assert 0.87 < np.mean(covered) < 0.94


def test_agreeing_links_overrule_a_narrow_prior(new_case):
    case = new_case(np.random.default_rng(5), replace(PRIOR, interaction=0.1))
    apart = replace(case, reference=case.mix(case.x - 1.5))
    known = np.zeros((1, 30), dtype=bool)
    known[0, :3] = True
    assert fit_line(apart, known, replace(PRIOR, shift_sd=0.2, interaction=0.1)).shift[0] < -1.1


def test_a_group_that_is_nearly_everyone_keeps_its_rate(new_case):
    case = replace(new_case(np.random.default_rng(6), PRIOR), share=np.full(30, 0.999))
    rates = bounds(case, fit_line(case, np.zeros((1, 30), dtype=bool), PRIOR), 0.9)
    assert rates.rate[0] == pytest.approx(case.rate, abs=1e-3)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=5, max_size=12), st.integers(1, 400))
def test_extreme_rates_give_finite_ordered_bounds(rates, n):
    size = len(rates)
    case = Case(
        items=tuple(map(str, range(size))),
        rate=np.array(rates),
        n=np.full(size, float(n)),
        share=np.full(size, 0.3),
        rest=np.full(size, float(n)),
        reference=np.array(rates[::-1]),
        offset=np.zeros(size),
    )
    known = np.zeros((1, size), dtype=bool)
    known[0, :2] = True
    found = bounds(case, fit_line(case, known, PRIOR), 0.9)
    assert np.isfinite(found.rate).all()
    assert (found.low <= found.rate).all()
    assert (found.rate <= found.high).all()
    assert (found.low >= 0).all()
    assert (found.high <= 1).all()


def test_logit_and_expit_are_inverse_and_do_not_overflow():
    rates = np.array([1e-9, 0.2, 0.5, 1 - 1e-9])
    assert expit(logit(rates)) == pytest.approx(rates)
    assert expit(np.array([-1e4, 1e4])) == pytest.approx([0.0, 1.0])


def test_arrays_of_different_lengths_are_refused():
    one = np.ones(1)
    with pytest.raises(MensuraError, match="different lengths"):
        Case(("a", "b"), one, one, one, one, one, one)
