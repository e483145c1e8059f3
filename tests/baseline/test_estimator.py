"""The estimator: closed forms, directions, and coverage on worlds that it did not make."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from benchmarks.baseline_learning import Recorded, learn
from mensura.baseline.estimator import PooledEstimates, PoolEstimate, estimate_pool, logit_rate, pool_estimates
from mensura.baseline.recordings import GROUPS, shipped, shipped_errors
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
