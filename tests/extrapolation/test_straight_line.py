"""The line: closed forms, limits, and intervals that cover what they promise on simulated truth."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from mensura.core.arrays import expit, logit
from mensura.extrapolation.line_methods import line_sensitivity, predict_line
from mensura.extrapolation.straight_line import SHIFT_DF, Contrast, Prior, fit_line

PRIOR = Prior(shift_sd=0.3, slope=0.9, slope_sd=0.1, interaction=0.25)


def contrast_of(case, links=0):
    """The contrast of a case whose first items are linked."""
    known = np.arange(case.task.size)[None] < links
    return Contrast.of(case.linked(known), case.task.offset)


@pytest.mark.parametrize("moved", [0.0, 0.4, -1.2])
def test_shift_is_the_mean_of_student_prior_times_normal_likelihood(new_case, moved):
    """Slope and interaction fixed: E(δ | links) = ∫ δ t₄(δ) N(d̄; δ, s²) dδ / ∫ t₄(δ) N(d̄; δ, s²) dδ, by quadrature."""
    case = new_case(np.random.default_rng(1), PRIOR)
    start = contrast_of(case)
    apart = replace(case, truth=start.mix(start.x + moved))
    contrast = contrast_of(apart, links=4)
    sure = replace(PRIOR, slope=1.0 / contrast.reliability, slope_sd=1e-9, weight=1e12)
    line = fit_line(contrast, sure)
    y = contrast_of(apart, links=30).y[0]
    weight = 1 / (sure.interaction**2 + contrast.x_noise + contrast.y_noise(y))[:4]
    seen, error = weight @ (y - contrast.x)[:4] / weight.sum(), weight.sum() ** -0.5
    delta = np.linspace(-6, 6, 60_001)
    density = stats.t.pdf(delta, SHIFT_DF, scale=0.3 * 0.5**0.5) * stats.norm.pdf(seen, delta, error)
    density /= density.sum()
    mean = density @ delta
    assert line.shift[0] == pytest.approx(mean, abs=0.02)
    assert line.shift_sd[0] == pytest.approx(np.sqrt(density @ (delta - mean) ** 2), rel=0.08)


def test_an_interval_that_is_all_shift_or_all_interaction_is_a_student_interval():
    """Half-width: t₄ quantile × SD × √½ for the shift, t₆ quantile × τ × √(4/6) for the interaction."""
    apart = replace(flat_contrast([0.0] * 5), links=np.full((1, 5), np.nan))
    sure = Prior(shift_sd=1e-6, slope=1.0, slope_sd=1e-6, interaction=1e-6)
    for level in (0.5, 0.9):
        shift = fit_line(apart, replace(sure, shift_sd=0.4)).half_width(level)[0]
        assert shift == pytest.approx(stats.t.ppf((1 + level) / 2, 4) * 0.4 * 0.5**0.5, rel=2e-3)
        items = fit_line(apart, replace(sure, interaction=0.3)).half_width(level)[0]
        assert items == pytest.approx(stats.t.ppf((1 + level) / 2, 6) * 0.3 * (4 / 6) ** 0.5, rel=2e-3)


def test_the_shift_is_as_unsure_as_a_part_of_what_is_expected(new_case):
    """Variance s₀² + (κ ō)²: 0.3² + (0.5 × 0.8)² = 0.5²."""
    case = new_case(np.random.default_rng(2), PRIOR)
    contrast = replace(contrast_of(case), offset=np.full(30, -0.8))
    assert fit_line(contrast, replace(PRIOR, gap_shift=0.5)).shift_sd[0] == pytest.approx(0.5)


def test_a_rest_of_few_groups_widens_shift_slope_and_interaction_alike():
    prior = replace(PRIOR, gap_shift=0.5, gap_interaction=0.2, gap_slope=0.1)
    wide = prior.widened(4.0)
    assert (wide.shift_sd, wide.slope_sd, wide.interaction, wide.gap_interaction) == (0.6, 0.2, 0.5, 0.4)
    assert (wide.slope, wide.gap_slope, wide.gap_shift) == (prior.slope, prior.gap_slope, prior.gap_shift)


def test_without_links_the_prior_is_the_prediction(new_case):
    contrast = replace(contrast_of(new_case(np.random.default_rng(2), PRIOR)), offset=np.full(30, 0.4))
    line = fit_line(contrast, PRIOR)
    slope = PRIOR.slope * contrast.reliability
    assert line.logit[0] == pytest.approx(contrast.x + 0.4 + (slope - 1) * (contrast.x - contrast.x.mean()))
    assert line.interaction[0] == PRIOR.interaction
    assert line.shift_sd[0] == pytest.approx(PRIOR.shift_sd)
    assert line.slope_sd[0] == pytest.approx(PRIOR.slope_sd)


def test_without_links_the_variance_is_the_sum_of_its_parts(new_case):
    """Shift, slope by the distance from the mean, interaction, and sampling of both groups at 1 / (n p (1 − p))."""
    case = new_case(np.random.default_rng(2), PRIOR, n=500, share=0.2)
    contrast = contrast_of(case)
    line = fit_line(contrast, PRIOR)
    p, q = expit(contrast.x), expit(line.logit[0])
    sampling = 1 / (500 * np.maximum(p * (1 - p), 0.02)) + 1 / (2000 * np.maximum(q * (1 - q), 0.02))
    far = contrast.x - contrast.x.mean()
    expected = 0.3**2 + 0.1**2 * far**2 + 0.25**2 + sampling
    assert line.variance[0] == pytest.approx(expected, rel=1e-9)


def test_larger_gaps_flatten_the_line_and_widen_it_up_to_a_limit(new_case):
    case = new_case(np.random.default_rng(2), PRIOR)
    steep = replace(PRIOR, gap_interaction=0.2, gap_slope=0.1)
    for gap, counted in ((0.5, 0.5), (-1.0, 1.0), (4.0, 1.5)):
        contrast = replace(contrast_of(case), offset=np.full(30, gap))
        line = fit_line(contrast, steep)
        assert line.slope[0] == pytest.approx(contrast.reliability * (0.9 - 0.1 * counted))
        assert line.interaction[0] == pytest.approx(np.hypot(0.25, 0.2 * counted))


def test_reliability_is_the_part_of_the_spread_that_is_not_noise(new_case):
    many, few, hardly = (
        contrast_of(new_case(np.random.default_rng(8), PRIOR, items=200, n=n)) for n in (100_000, 20, 2)
    )
    assert many.reliability == pytest.approx(1.0, abs=1e-3)
    assert few.reliability == pytest.approx(1 - few.x_noise.mean() / np.var(few.x))
    assert hardly.reliability == 0.3


def test_an_unknown_number_of_answers_counts_as_no_sampling_error(new_case):
    case = new_case(np.random.default_rng(2), PRIOR, n=40)
    unknown = Contrast.of(replace(case.task, n=np.full(30, np.nan)), case.task.offset)
    assert unknown.x == pytest.approx(logit(np.clip(case.task.rate, 0.01, 0.99)), abs=1e-3)
    assert (unknown.x_noise < 1e-4).all()
    assert (unknown.x_noise > 0).all()
    assert (fit_line(unknown, PRIOR).variance < fit_line(contrast_of(case), PRIOR).variance).all()


def test_half_an_answer_is_added_on_either_side(new_case):
    case = new_case(np.random.default_rng(2), PRIOR, items=5, n=9)
    rate = np.array([0.0, 1 / 3, 2 / 3, 1.0, 1 / 9])
    contrast = Contrast.of(replace(case.task, rate=rate, n=np.full(5, 9.0)), np.zeros(5))
    right = np.array([0, 3, 6, 9, 1])
    assert contrast.x == pytest.approx(np.log((right + 0.5) / (9 - right + 0.5)))


def test_the_rest_is_the_reference_without_the_focal_part(new_case):
    case = new_case(np.random.default_rng(2), PRIOR, share=0.25)
    contrast = contrast_of(case, links=30)
    rest = (case.truth - 0.25 * case.task.rate) / 0.75
    assert contrast.y[0] == pytest.approx(logit((rest * 1500 + 0.5) / 1501))
    assert contrast.mix(logit(rest)) == pytest.approx(case.truth)


def test_many_links_recover_shift_and_slope(new_case):
    rng = np.random.default_rng(3)
    truth = Prior(shift_sd=1e-9, slope=0.7, slope_sd=1e-9, interaction=0.05)
    case = new_case(rng, truth, items=400, n=20_000)
    line = fit_line(contrast_of(case, links=400), replace(PRIOR, shift_sd=1.0, slope_sd=0.5))
    assert line.slope[0] == pytest.approx(0.7, abs=0.02)
    assert line.shift[0] == pytest.approx(0.0, abs=0.02)
    assert line.interaction[0] == pytest.approx(0.05, abs=0.03)


def test_rows_of_links_do_not_know_of_each_other(new_case):
    """Predicting many draws at once is predicting each alone, also where their links say different things."""
    case = new_case(np.random.default_rng(3), PRIOR)
    both = np.full((2, 30), np.nan)
    both[0, :4], both[1, 5:12] = 0.2, case.truth[5:12]
    one, other = (fit_line(Contrast.of(replace(case.task, links=row[None]), np.zeros(30)), PRIOR) for row in both)
    together = fit_line(Contrast.of(replace(case.task, links=both), np.zeros(30)), PRIOR)
    assert together.logit == pytest.approx(np.concatenate([one.logit, other.logit]))
    assert together.variance == pytest.approx(np.concatenate([one.variance, other.variance]))


@pytest.mark.parametrize("links", [0, 3, 20])
def test_intervals_cover_on_truth_drawn_from_the_prior(new_case, links):
    rng = np.random.default_rng(4)
    covered = []
    for _ in range(150):
        case = new_case(rng, PRIOR)
        contrast = contrast_of(case, links)
        found = predict_line(contrast, fit_line(contrast, PRIOR), 0.9)
        covered.append(((case.truth >= found.low[0]) & (case.truth <= found.high[0]))[links:].mean())
    assert 0.87 < np.mean(covered) < 0.94


def test_agreeing_links_overrule_a_narrow_prior(new_case):
    case = new_case(np.random.default_rng(5), replace(PRIOR, interaction=0.1))
    contrast = contrast_of(case)
    apart = replace(case, truth=contrast.mix(contrast.x - 1.5))
    line = fit_line(contrast_of(apart, links=3), replace(PRIOR, shift_sd=0.2, interaction=0.1))
    assert line.shift[0] < -1.1


def test_a_group_that_is_nearly_everyone_keeps_its_rate(new_case):
    case = new_case(np.random.default_rng(6), PRIOR)
    contrast = Contrast.of(replace(case.task, share=np.full(30, 0.999)), np.zeros(30))
    found = predict_line(contrast, fit_line(contrast, PRIOR), 0.9)
    assert found.rate[0] == pytest.approx(case.task.rate, abs=1e-3)


def test_sensitivity_moves_the_mean_rate_by_each_parameter_s_range(new_case):
    contrast = contrast_of(new_case(np.random.default_rng(6), PRIOR, share=0.2))
    line = fit_line(contrast, PRIOR)
    table = line_sensitivity(contrast, line, 0.9)
    rows = {row["assumption"]: row for row in table.to_dicts()}
    z, shift_z, item_z = 1.6448536, stats.t.ppf(0.95, 4) * 0.5**0.5, stats.t.ppf(0.95, 6) * (4 / 6) ** 0.5
    shift = rows["shift"]
    assert (shift["low"], shift["high"]) == pytest.approx((-0.3 * shift_z, 0.3 * shift_z), rel=2e-3)
    up = 0.2 * contrast.rate + 0.8 * expit(line.logit[0] + 0.3 * shift_z)
    assert shift["rate_high"] == pytest.approx(up.mean(), rel=1e-3)
    assert rows["item-by-group interaction"]["high"] == pytest.approx(0.25 * item_z, rel=2e-3)
    turned = line.logit[0] + 0.1 * z * (contrast.x - contrast.x.mean())
    assert rows["slope"]["rate_high"] == pytest.approx((0.2 * contrast.rate + 0.8 * expit(turned)).mean())
    squares = np.array([(row["rate_high"] - row["rate_low"]) ** 2 for row in table.to_dicts()])
    assert table["share"].to_numpy() == pytest.approx(squares / squares.sum())
    assert table["swing"].is_sorted(descending=True)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=5, max_size=12), st.integers(1, 400))
def test_extreme_rates_give_finite_ordered_bounds(rates, n):
    size = len(rates)
    many = np.full(size, float(n))
    links = np.where(np.arange(size)[None] < 2, np.array(rates[::-1]), np.nan)
    contrast = Contrast(np.array(rates), many, np.full(size, 0.3), many, links, np.zeros(size))
    found = predict_line(contrast, fit_line(contrast, PRIOR), 0.9)
    assert np.isfinite(found.rate).all()
    assert (found.low <= found.rate).all()
    assert (found.rate <= found.high).all()
    assert (found.low >= 0).all()
    assert (found.high <= 1).all()


def flat_contrast(difference, n=1e9):
    """Links that differ from the focal logits by these amounts, groups apart, with ``n`` answers on either side."""
    size = len(difference)
    x = np.linspace(-1, 1, size)
    many = np.full(size, float(n))
    return Contrast(expit(x), many, np.zeros(size), many, expit(x + np.array(difference))[None], np.zeros(size))


def test_interaction_is_the_mean_of_prior_and_squared_residuals():
    """Shift and slope known to be 0 and 1: τ² = (6 τ₀² + Σ d²) / (6 + k)."""
    sure = Prior(shift_sd=1e-9, slope=1.0, slope_sd=1e-9, interaction=0.25)
    found = fit_line(flat_contrast([0.5, -0.5, 0.1, -0.1]), sure).interaction[0] ** 2
    assert found == pytest.approx((6 * 0.25**2 + 0.52) / 10, rel=1e-4)


def test_links_closer_than_their_noise_lower_the_interaction_to_a_quarter_of_the_prior_at_most():
    sure = Prior(shift_sd=1e-9, slope=1.0, slope_sd=1e-9, interaction=0.25)
    contrast = flat_contrast([0.0] * 8, n=10)
    line = fit_line(contrast, replace(sure, slope=1 / contrast.reliability))
    assert line.interaction[0] ** 2 == pytest.approx(6 * 0.25**2 / 4 / 14)


def test_what_is_unknown_of_the_shift_counts_in_the_interaction():
    """At the fixed point τ² = (6 τ₀² + Σ residual² + k shift_sd²) / (6 + k): half of it is missed without the last."""
    prior = Prior(shift_sd=5.0, slope=1.0, slope_sd=1e-9, interaction=0.2)
    difference = np.array([1.2, 0.8])
    line = fit_line(flat_contrast(difference), prior)
    residual = difference - line.shift[0]
    expected = (6 * 0.2**2 + (residual**2).sum() + 2 * line.shift_sd[0] ** 2) / 8
    assert line.interaction[0] ** 2 == pytest.approx(expected, rel=1e-2)
    assert line.shift[0] == pytest.approx(1.0, abs=0.02)
