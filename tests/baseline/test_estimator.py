"""The estimator: closed forms, directions, and coverage on worlds that it did not make."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import scipy

from benchmarks.baseline_learning import Recorded, learn
from mensura.baseline.estimator import (
    PooledEstimates,
    PoolEstimate,
    _log_likelihood,
    estimate_pool,
    logit_rate,
    pool_estimates,
)
from mensura.baseline.recordings import GROUPS, Learned, shipped, shipped_errors
from mensura.core.arrays import expit, logit


def pooled(rates, spread=0.6, runs=1.0, models=1.0):
    rates = np.asarray(rates, dtype=float)
    return PooledEstimates(
        tuple(map(str, range(rates.size))),
        logit(rates),
        np.full(rates.size, spread),
        np.full(rates.size, runs),
        np.full(rates.size, models),
    )


def levels(size, people="crowd", time="untimed", domain="knowledge", form="many"):
    kinds = {"people": people, "time": time, "report": "tested", "domain": domain, "format": form}
    return {group: [kind] * size for group, kind in kinds.items()}


def plain(size, shared=0.5, own=0.7):
    """One shift for all items and an error each, around zero."""
    return PoolEstimate(np.ones((size, 1)), np.zeros(1), np.array([[shared**2]]), np.zeros(size), np.full(size, own**2))


def test_anchors_move_other_items_by_the_closed_form():
    """One anchor at +1: the shift moves by s² / (s² + o² + v), the item itself by (s² + o²) / (s² + o² + v)."""
    after = plain(3).anchored([0], np.array([1.0]), np.array([0.1]))
    total = 0.25 + 0.49 + 0.1
    np.testing.assert_allclose(after.centre, [0.74 / total, 0.25 / total, 0.25 / total])
    np.testing.assert_allclose(after.covariance, [[0.25 - 0.25**2 / total]])


def test_many_anchors_settle_the_shift():
    truth = 0.8 + np.random.default_rng(1).normal(0, 0.3, 200)
    after = plain(400, own=0.3).anchored(np.arange(200), truth, np.full(200, 0.01))
    assert after.centre[300] == pytest.approx(0.8, abs=0.05)
    assert after.variance[300] < 0.3**2 * 1.05


def test_everybody_right_among_few_raises_an_item_more_than_its_smoothed_rate_does():
    """10 of 10 right is likelier the easier an item is; adding half a wrong answer would hold it back."""
    easy = replace(plain(6, own=0.3), own_mean=np.full(6, 2.0))
    counted = easy.counted(np.arange(5), np.ones(5), np.full(5, 10.0))
    smoothed = easy.anchored(np.arange(5), *logit_rate(np.ones(5), np.full(5, 10.0)))
    assert counted.rate[5] > smoothed.rate[5] > easy.rate[5]


def test_counts_of_many_people_are_the_same_as_their_logits():
    rate, n = np.array([0.2, 0.6]), np.full(2, 1e6)
    np.testing.assert_allclose(
        plain(5).counted([1, 3], rate, n).centre, plain(5).anchored([1, 3], *logit_rate(rate, n)).centre, atol=1e-4
    )


@pytest.mark.parametrize(("spread", "direction"), [(0.1, -1), (2.0, 1)])
def test_anchors_show_whether_the_items_of_a_pool_err_more_or_less_than_stated(spread, direction):
    """Where the anchored items hardly err, the others get narrower, and their shift follows more closely."""
    truth = 0.8 + spread * np.array([-1.2, -0.6, 0.0, 0.6, 1.2])
    fixed, free = plain(8), replace(plain(8), scale=0.5)
    counts = (np.arange(5), expit(truth), np.full(5, 1e6))
    alone, told = fixed.counted(*counts), free.counted(*counts)
    assert direction * (told.own_variance[7] - alone.own_variance[7]) > 0.05
    assert direction * (told.covariance[0, 0] - alone.covariance[0, 0]) > 0


def test_a_known_mean_is_reached_and_narrows_the_interval():
    before = estimate_pool(pooled(np.linspace(0.2, 0.9, 50)), levels(50), 0.0, shipped_errors())
    after = before.with_mean(0.345, 1e-6)
    assert after.rate.mean() == pytest.approx(0.345, abs=0.01)
    assert after.variance.sum() < before.variance.sum()


def test_an_uncertain_known_mean_moves_the_estimate_only_in_part():
    before = plain(30)
    after = before.with_mean(0.8, 0.02)
    assert 0.5 < after.rate.mean() < 0.75


def test_estimates_of_people_in_the_middle_are_corrected_downwards():
    """Models overestimate people: the recordings say so, and the shipped correction must not lose the sign."""
    found = estimate_pool(pooled([0.6, 0.7]), levels(2, people="students", domain="reasoning"), 0.0, shipped_errors())
    assert (found.rate < [0.6, 0.7]).all()


def test_people_at_large_and_unknown_kinds_are_not_corrected_upwards():
    """Nobody recorded the world: an effect of one odd pool must not raise its rates."""
    found = estimate_pool(pooled([0.5, 0.6, 0.8]), levels(3, people="", domain="", form=""), 0.5, shipped_errors())
    assert (found.rate <= [0.5, 0.6, 0.8]).all()


def test_time_pressure_lowers_the_rates_further():
    slow = estimate_pool(pooled([0.6]), levels(1), 0.0, shipped_errors())
    fast = estimate_pool(pooled([0.6]), levels(1, time="timed"), 0.0, shipped_errors())
    assert fast.rate[0] < slow.rate[0] - 0.03


@pytest.mark.parametrize("change", [{"distance": 1.5}, {"people": "experts"}, {"spread": 1.5}])
def test_far_people_unknown_kinds_and_unsure_models_widen_the_interval(change):
    learned = shipped_errors()
    usual = estimate_pool(pooled([0.5]), levels(1), 0.0, learned)
    other = estimate_pool(
        pooled([0.5], change.get("spread", 0.6)),
        levels(1, people=change.get("people", "crowd")),
        change.get("distance", 0.0),
        learned,
    )
    assert other.variance[0] > usual.variance[0]


def test_a_second_run_helps_a_little_and_a_second_model_more():
    learned = shipped_errors()
    own = [
        estimate_pool(pooled([0.5], runs=runs, models=models), levels(1), 0.0, learned).own_variance[0]
        for runs, models in ((1, 1), (2, 1), (2, 2))
    ]
    assert own[0] > own[1] > own[2] > 0.7 * own[0]


def test_intervals_end_at_one_where_most_small_studies_find_everybody_right():
    sure = PoolEstimate(np.ones((1, 1)), np.zeros(1), np.eye(1) * 0.01, np.array([5.0]), np.array([0.01]))
    assert sure.interval()[1][0] == 1.0
    assert sure.interval()[0][0] > 0.85


def test_runs_and_models_are_pooled_on_the_logit_scale():
    table = pl.DataFrame(
        {
            "item": ["a", "a", "a"],
            "model": ["x", "x", "y"],
            "rate": [0.2, 0.2, 0.8],
            "low": [0.1, 0.1, None],
            "high": [0.3, 0.3, None],
        }
    )
    one = pool_estimates(table, usual_spread=0.65)
    assert one.logit[0] == pytest.approx(0.0, abs=1e-9), "models count alike, runs within a model"
    assert (one.runs[0], one.models[0]) == (3, 2)
    assert one.spread[0] > 1.0, "models that disagree are not sure"


def test_nine_of_nine_is_a_finite_logit_with_a_wide_error():
    at, noise = logit_rate(np.array([1.0, 0.5]), np.array([9.0, 1000.0]))
    assert at[0] == pytest.approx(logit(np.array([0.95]))[0])
    assert noise[0] > 100 * noise[1]


def simulated(rng, pools=12, items=40, scale=0.0):
    """Recordings of a world with a bias of −0.4, a shift per pool of 0.5, and errors of 0.8 times the stated spread."""
    pool = np.repeat([f"p{number}" for number in range(pools)], items)
    at = rng.normal(0.5, 1.2, pool.size)
    spread = rng.uniform(0.4, 0.9, pool.size)
    shift = np.repeat(rng.normal(0, 0.5, pools), items)
    spread_of = np.repeat(np.exp(rng.normal(0, scale, pools)), items)
    heavy = rng.standard_t(5, pool.size) / np.sqrt(5 / 3)
    truth = at - 0.4 + shift + 0.8 * spread * spread_of * heavy
    rate = rng.binomial(400, expit(truth)) / 400
    seen, noise = logit_rate(rate, np.full(pool.size, 400.0))
    kinds = {group: np.full(pool.size, "same") for group in GROUPS}
    zero = np.zeros(pool.size)
    return Recorded(at, spread, np.ones(pool.size), seen, noise, kinds, zero, pool, pool), rate


@pytest.fixture(scope="module")
def learned_from_simulation():
    return learn(simulated(np.random.default_rng(4))[0], runs=0.9, models=0.7, usual_spread=0.65)


def test_learning_finds_the_bias_and_the_spreads_of_a_simulated_world(learned_from_simulation):
    found = dict(zip(learned_from_simulation.names, learned_from_simulation.mean, strict=True))
    spreads = learned_from_simulation.spreads
    total = found["one"] + sum(found[f"{group}:same"] for group in GROUPS)
    assert total == pytest.approx(0.5 - 0.4, abs=0.35)
    assert found["slope"] == pytest.approx(1.0, abs=0.12)
    assert np.hypot(spreads["item"], 0.65 * spreads["stated"]) == pytest.approx(0.8 * 0.65, abs=0.08)
    assert 0.25 < np.hypot(spreads["pool"], spreads["group"]) < 0.8


def test_learning_finds_how_far_pools_differ_in_the_size_of_their_errors(learned_from_simulation):
    uneven = learn(simulated(np.random.default_rng(4), scale=0.5)[0], runs=0.9, models=0.7, usual_spread=0.65)
    assert learned_from_simulation.spreads["scale"] < 0.2
    assert 0.3 < uneven.spreads["scale"] < 0.8


def test_intervals_hold_in_new_pools_with_heavier_tails_than_the_model_has(learned_from_simulation):
    cells, rate = simulated(np.random.default_rng(9), pools=60)
    held, means = [], []
    for name in np.unique(cells.pool):
        inside = cells.pool == name
        part = PooledEstimates((), cells.at[inside], cells.spread[inside], *np.ones((2, inside.sum())))
        kinds = {group: ["same"] * int(inside.sum()) for group in cells.levels}
        estimate = estimate_pool(part, kinds, 0.0, learned_from_simulation)
        low, high = estimate.interval()
        held.append((rate[inside] >= low) & (rate[inside] <= high))
        ends = np.quantile(estimate.draws(500, np.random.default_rng(0)).mean(axis=1), [0.05, 0.95])
        means.append(ends[0] <= rate[inside].mean() <= ends[1])
    assert 0.85 < np.mean(held) < 0.97
    assert np.mean(means) > 0.8


def test_learned_parameters_fit_together():
    learned = shipped_errors()
    assert len(learned.names) == len(set(learned.names)) == learned.mean.size
    np.testing.assert_allclose(learned.covariance, learned.covariance.T)
    assert np.linalg.eigvalsh(learned.covariance).min() > 0
    assert all(spread > 0 for spread in learned.spreads.values())
    assert shipped()["validation"]["item_error"] < 0.11


def test_raters_of_a_trait_that_no_recording_taught_widen_the_interval():
    """A learned trait has its effect and needs no further error; an unknown one has both its error and no effect."""
    learned = shipped_errors()
    taught = next(name.removeprefix("trait:") for name in learned.names if name.startswith("trait:"))
    known, unknown = (
        estimate_pool(pooled([0.5]), levels(1), 0.0, learned, traits=[trait]) for trait in (taught, "left-handed")
    )
    assert unknown.variance[0] > known.variance[0]


def test_errors_of_runs_and_models_are_shared_by_their_correlations():
    """One run: 1. Two runs of one model: r + (1 − r) / 2. One run each of two models: m + (1 − m) / 2."""
    shares = [
        pooled([0.5], runs=runs, models=models).share_of_error(between_runs, between_models)[0]
        for runs, models, between_runs, between_models in (
            *((1, 1, 0.8, 0.6), (2, 1, 0.8, 0.6), (2, 2, 0.8, 0.6), (8, 2, 0.8, 0.6)),
            (2, 2, 0.5, 0.9),
        )
    ]
    four_runs = 0.8 + 0.2 / 4
    assert shares == pytest.approx([1.0, 0.9, 0.8, 0.6 + (four_runs - 0.6) / 2, 0.75])


def test_a_pooled_spread_adds_what_is_stated_what_runs_and_what_models_differ_by():
    """Model x: two runs with spreads 0.6 and 0.8 at ±0.5; model y: one at 1 with the usual spread."""

    def estimate_at(middle, spread):
        return expit(middle + 1.6448536 * spread * np.array([0.0, -1.0, 1.0])).tolist()

    last = ("a", "y", float(expit(np.array(1.0))), None, None)
    rows = [("a", "x", *estimate_at(-0.5, 0.6)), ("a", "x", *estimate_at(0.5, 0.8)), last]
    one = pool_estimates(pl.DataFrame(rows, ["item", "model", "rate", "low", "high"], orient="row"), 0.7)
    assert one.logit[0] == pytest.approx(0.5)
    stated = ((0.36 + 0.64) / 2 + 0.49) / 2
    assert one.spread[0] ** 2 == pytest.approx(stated + 0.5 + (0.5 + 0.0) / 2)
    assert (one.runs[0], one.models[0]) == (3, 2)


def test_estimates_near_the_ends_and_intervals_without_width_are_held_back():
    rows = {"item": ["a", "b"], "model": ["x", "x"], "rate": [1.0, 0.001], "low": [1.0, 0.5], "high": [1.0, 0.5]}
    one = pool_estimates(pl.DataFrame(rows), 0.7)
    assert expit(one.logit) == pytest.approx([0.995, 0.005])
    assert one.spread == pytest.approx([0.05, 0.05])


def test_an_exact_rate_is_its_logit_between_one_in_ten_thousand():
    at, noise = logit_rate(np.array([0.2, 0.0, 1.0]), np.full(3, np.inf))
    assert expit(at) == pytest.approx([0.2, 1e-4, 1 - 1e-4])
    assert noise[0] == pytest.approx(1 / (1e9 * 0.16))
    few, error = logit_rate(np.array([0.0]), np.array([4.0]))
    assert expit(few)[0] == pytest.approx(0.1)
    assert error[0] == pytest.approx(1 / (4 * 0.09))


def test_an_interval_contains_the_estimate_and_the_chance_of_a_study():
    """Variance 0.25 + 0.49, and 4/50 of a study of 50 people at one half."""
    low, high = plain(1).interval()
    half = 1.6448536 * (0.74 + 4 / 50) ** 0.5
    assert (low[0], high[0]) == pytest.approx((expit(np.array(-half)), expit(np.array(half))))
    assert plain(1).interval(study=10**12)[1][0] == pytest.approx(expit(np.array(1.6448536 * 0.74**0.5)))
    hard = replace(plain(1, shared=0.1, own=0.1), own_mean=np.array([-5.0]))
    assert hard.interval()[0][0] == 0.0 and hard.interval()[1][0] < 0.15


def test_draws_have_the_mean_and_the_joint_variance_of_the_estimate():
    drawn = logit(replace(plain(3), own_mean=np.array([0.0, 0.5, 1.0])).draws(40_000, np.random.default_rng(2)))
    assert drawn.mean(axis=0) == pytest.approx([0.0, 0.5, 1.0], abs=0.02)
    assert np.cov(drawn.T) == pytest.approx(np.full((3, 3), 0.25) + np.diag([0.49] * 3), abs=0.02)


def test_an_anchored_item_keeps_what_its_own_answers_leave_open():
    """Own error 0.49 and noise 0.1: 0.49 · 0.1 / 0.59 remains beside the shift, which counts 0.1 / 0.59."""
    after = plain(3).anchored([0], np.array([1.0]), np.array([0.1]))
    kept = 0.1 / 0.59
    shift = 0.25 - 0.25**2 / 0.84
    assert after.own_variance == pytest.approx([0.49 * kept, 0.49, 0.49])
    assert after.variance == pytest.approx([kept**2 * shift + 0.49 * kept, shift + 0.49, shift + 0.49])
    assert plain(3).own_variance == pytest.approx([0.49] * 3), "the estimate before stays as it is"


def test_a_known_mean_of_one_item_is_that_item():
    """Variance of the shift: s² − s⁴ / (s² + o²) after an exact mean."""
    after = plain(1).with_mean(0.8, 0.0)
    assert after.rate[0] == pytest.approx(0.8, abs=1e-6)
    assert after.covariance[0, 0] == pytest.approx(0.25 - 0.25**2 / 0.74)
    assert after.mean[0] / after.own_mean[0] == pytest.approx(0.25 / 0.49)


def test_the_likelihood_of_gaps_is_that_of_their_joint_normal_distribution():
    estimate, at, gap = plain(4, shared=0.6, own=0.5), np.array([0, 2, 3]), np.array([0.3, -0.4, 0.9])
    densities = []
    for variance in (np.array([0.3, 0.4, 0.5]), np.array([0.9, 0.2, 0.7])):
        joint = scipy.stats.multivariate_normal(np.zeros(3), np.full((3, 3), 0.36) + np.diag(variance))
        densities.append(_log_likelihood(estimate, at, gap, variance) - joint.logpdf(gap))
    assert densities[0] == pytest.approx(densities[1])


def test_without_a_spread_of_scales_counts_change_no_other_item():
    counted = plain(4).counted([0], np.array([0.9]), np.array([100.0]))
    assert counted.own_variance[1:] == pytest.approx([0.49] * 3)


LEARNED = Learned(
    names=("one", "slope", "people:crowd", "format:many", "trait:rater"),
    mean=np.array([0.1, 0.9, -0.3, 0.2, 0.4]),
    covariance=np.diag([0.01, 0.02, 0.03, 0.04, 0.05]),
    spreads={
        "pool": 0.3,
        "group": 0.4,
        "pool_slope": 0.2,
        "far": 0.6,
        "people": 0.7,
        "time": 0.11,
        "report": 0.12,
        "domain": 0.13,
        "format": 0.14,
        "item": 0.5,
        "stated": 0.8,
        "scale": 0.25,
        "rating": 0.35,
        "trait": 0.45,
    },
    runs=0.8,
    models=0.6,
    usual_spread=0.65,
    centre=0.5,
)


def item_of(people="crowd", form="many", traits=(), **more):
    kinds = {"people": people, "time": "t", "report": "r", "domain": "d", "format": form}
    made = estimate_pool(
        pooled([0.75], 0.6), {group: [kind] for group, kind in kinds.items()}, more.pop("distance", 0.0), LEARNED,
        traits=traits, **more,
    )  # fmt: skip
    return float(made.centre[0]), float(made.variance[0]), made


def test_a_new_pool_has_learned_effects_and_the_spread_of_everything_else():
    slope = np.log(3.0) - 0.5
    centre, variance, made = item_of()
    assert centre == pytest.approx(0.1 + 0.9 * slope - 0.3 + 0.2)
    known = 0.01 + 0.02 * slope**2 + 0.03 + 0.04
    new = 0.3**2 + 0.4**2 + (0.2 * slope) ** 2 + 0.11**2 + 0.12**2 + 0.13**2
    own = 0.5**2 + (0.8 * 0.6) ** 2
    assert variance == pytest.approx(known + new + own)
    assert made.own_variance[0] == pytest.approx(own) and made.scale == 0.25
    unknown = item_of(people="wizards", form="")
    assert unknown[0] == pytest.approx(0.1 + 0.9 * slope)
    assert unknown[1] - variance == pytest.approx(0.7**2 + 0.14**2 - 0.03 - 0.04)
    assert item_of(distance=1.5)[1] - variance == pytest.approx((0.6 * 1.5) ** 2)
    half = item_of(unrecorded=0.5)
    assert half[1] - variance == pytest.approx(0.25 * (0.3**2 + 0.7**2 + (0.2 * slope) ** 2))


def test_raters_have_their_effect_and_their_spread():
    centre, variance, _ = item_of()
    rater, odd = item_of(traits=("rater",)), item_of(traits=("rater", "odd", "odder"))
    assert rater[0] - centre == pytest.approx(0.4)
    assert rater[1] - variance == pytest.approx(0.05 + 0.35**2)
    assert odd[0] == pytest.approx(rater[0])
    assert odd[1] - rater[1] == pytest.approx(2 * 0.45**2)


def test_answers_that_say_nothing_leave_the_usual_size_of_errors():
    """The mean of exp(2·s·(z − s)) over z from −2.5 to 2.5, as often as a normal distribution has them."""
    free = replace(plain(4), scale=0.5)
    settled = free._rescaled(np.array([0]), np.array([0.5]), np.array([1e-9]))
    z = np.linspace(-2.5, 2.5, 11)
    usual = np.average(np.exp(2 * 0.5 * (z - 0.5)), weights=np.exp(-(z**2) / 2))
    assert settled.own_variance == pytest.approx(free.own_variance * usual, rel=1e-4)
