"""Our calibration finds what it should, and says when it cannot."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from mensura.calibration import calibrate, hierarchical, open_demands, open_items, read_items
from mensura.calibration.depths import Depths, given_rates
from mensura.calibration.reliability import pool_means, predicted_levels
from mensura.calibration.skill import judge


def found(made):
    return {row["dimension"]: row for row in made.bases.iter_rows(named=True)}


def test_known_slopes_come_back_with_every_demand_at_once(simulated):
    rates, demands, slopes = simulated
    made = found(calibrate(rates, demands))
    for code, slope in slopes.items():
        assert made[code]["low"] < 10**slope < made[code]["high"]
        assert made[code]["slope"] == pytest.approx(slope, abs=0.03)
    assert [made[code]["verdict"] for code in slopes] == ["Standard", "Slow", "Slow"]
    t = {code: row["slope"] / np.log10(row["high"] / row["low"]) * 2 * 1.645 for code, row in made.items()}
    freedom = {code: t[code] ** 2 * (1 / made[code]["r2"] - 1) for code in slopes}  # r² = t² / (t² + freedom)
    assert list(freedom.values()) == pytest.approx([rates.height] * len(slopes), rel=0.15)


def test_guessing_floors_undo_what_options_hide(simulated):
    rates, demands, slopes = simulated
    lucky = np.random.default_rng(4).binomial(np.round(500 * (1 - rates["rate"].to_numpy())).astype(int), 0.25)
    guessed = rates.with_columns(rate=pl.col("rate") + pl.Series(lucky) / 500, options=4)
    with_floor = found(calibrate(guessed, demands))["KNn"]
    without = found(calibrate(guessed.drop("options"), demands))["KNn"]
    assert with_floor["low"] < 10 ** slopes["KNn"] < with_floor["high"]
    assert without["high"] < 10 ** slopes["KNn"] * 0.6  # a base of about 1.2 where it is 3.2


def test_errors_in_levels_are_corrected_and_widen_the_interval(simulated):
    rates, demands, slopes = simulated
    rng = np.random.default_rng(0)
    noisy = demands.with_columns(
        (pl.col(code) + pl.Series(np.round(rng.normal(0, 0.7, demands.height)))).clip(0, 5).cast(pl.Int64)
        for code in slopes
    )
    corrected = found(calibrate(rates, noisy))["KNn"]
    taken_as_exact = found(calibrate(rates, noisy, level_error=0.0))["KNn"]
    assert taken_as_exact["slope"] < 0.95 * slopes["KNn"]
    assert corrected["low"] < 10 ** slopes["KNn"] < corrected["high"]
    assert abs(corrected["slope"] - slopes["KNn"]) < abs(taken_as_exact["slope"] - slopes["KNn"])
    assert corrected["high"] / corrected["low"] > taken_as_exact["high"] / taken_as_exact["low"]


def test_a_dimension_without_variety_is_not_identified(simulated):
    rates, demands, _ = simulated
    flat = demands.with_columns(VO=2)
    few = demands.with_columns(QLl=pl.when(pl.col("item").is_in(rates["item"][:12])).then(pl.col("QLl")).otherwise(1))
    assert found(calibrate(rates, flat))["VO"]["verdict"].startswith("not identified: 1 level with 3")
    assert found(calibrate(rates, few))["QLl"]["verdict"].startswith("not identified")


def test_a_base_whose_interval_lies_below_1_is_negative_and_one_above_has_its_class():
    assert judge(0.5, 0.3, 0.8, 4, 60) == "negative slope"
    assert judge(3.0, 2.0, 5.0, 4, 60) == "Standard"
    assert judge(3.0, 1.1, 11.5, 4, 60) == "not identified: interval wider than a factor of ten"


def test_unrelated_levels_span_1(simulated):
    rates, demands, _ = simulated
    shuffled = demands.with_columns(AT=pl.col("item").hash(3) % 5)
    row = found(calibrate(rates, shuffled))["AT"]
    assert row["low"] < 1 < row["high"]
    assert row["verdict"] == "not identified: interval spans 1"


def test_items_as_they_are_have_steeper_lines_where_demands_move_together(simulated):
    rates, demands, slopes = simulated
    moved = demands.with_columns(QLl="KNn").drop("VO")
    truth = {"KNn": slopes["KNn"], "QLl": slopes["QLl"]}
    rng = np.random.default_rng(1)
    level = demands.filter(annotator="a")["KNn"].to_numpy()
    depth = 0.2 + level * sum(truth.values()) + 0.1 * rng.standard_normal(320)
    fresh = rates.with_columns(rate=pl.Series(10.0**-depth).clip(1e-4, 1.0)).drop("n")
    together = calibrate(fresh, moved).together
    assert together["slope"].to_list() == pytest.approx([0.75, 0.75], abs=0.04)


def test_the_same_seed_gives_the_same_answer_and_the_order_of_items_none(simulated):
    rates, demands, _ = simulated
    one = calibrate(rates, demands).bases
    assert one.equals(calibrate(rates, demands).bases)
    turned = calibrate(rates.reverse(), demands.reverse()).bases
    assert turned["slope"].to_list() == pytest.approx(one["slope"].to_list(), abs=2e-3)


def test_a_rate_of_0_says_deep_and_not_how_deep(simulated):
    rates, demands, slopes = simulated
    solved = np.random.default_rng(2).binomial(40, rates["rate"].to_numpy())
    few = rates.with_columns(rate=pl.Series(solved) / 40, n=40)  # deep items now show 0 of 40
    assert (few["rate"] == 0).sum() > 50
    row = found(calibrate(few, demands))["KNn"]
    assert row["low"] < 10 ** slopes["KNn"] < row["high"]


def read_with_errors(rng, items):
    """True levels of two demands that go together, and one reading of each with error 0.6."""
    common = rng.normal(1.6, 1.2, items)
    true = np.clip(np.round(common[:, None] + rng.normal(0, 0.6, (items, 2))), 0, 5)
    return true, np.clip(np.round(true + rng.normal(0, 0.6, true.shape)), 0, 5)


def test_what_was_read_of_one_demand_tells_of_another_that_goes_with_it():
    """True levels lie on their predictions: a regression on both has slope 1 on the own and 0 on the other."""
    true, read = read_with_errors(np.random.default_rng(5), 6000)
    pool = np.zeros(6000, dtype=int)
    spread = (read - true).std(axis=0)
    predicted, left = predicted_levels(read, pool, np.ones(6000, dtype=int), spread)
    apart = predicted - pool_means(predicted, pool)
    found = np.linalg.lstsq(apart, true - true.mean(axis=0), rcond=None)[0]
    assert found == pytest.approx(np.eye(2), abs=0.04)
    assert left.mean(axis=0) == pytest.approx(((true - predicted) ** 2).mean(axis=0), rel=0.1)


def test_a_demand_that_does_not_matter_takes_nothing_over_from_one_that_does():
    rng = np.random.default_rng(6)
    true, read = read_with_errors(rng, 3000)
    again = np.clip(np.round(true + rng.normal(0, 0.6, true.shape)), 0, 5)
    rate = 10.0 ** -(0.3 + 0.4 * true[:, 0] + 0.15 * rng.standard_normal(3000)).clip(0.0)
    names = [f"a:{k}" for k in range(3000)]
    demands = pl.concat(
        pl.DataFrame({"item": names, "annotator": who, "KNn": told[:, 0], "QLl": told[:, 1]})
        for who, told in (("one", read), ("two", again))
    )
    made = found(calibrate(pl.DataFrame({"item": names, "rate": rate}), demands))
    assert made["KNn"]["slope"] == pytest.approx(0.4, abs=0.02)
    assert made["QLl"]["slope"] == pytest.approx(0.0, abs=0.02)


def test_items_at_their_floor_do_not_hide_how_far_items_lie_off_their_demands(simulated):
    """The residual is 0.1 though a good half of the rates are hardly above a quarter."""
    rates, demands, _ = simulated
    rng = np.random.default_rng(7)
    level = demands.filter(annotator="a")["KNn"].to_numpy()
    depth = 0.2 + 0.6 * level + 0.1 * rng.standard_normal(len(level))
    rate = 0.25 + 0.75 * 10.0 ** -depth.clip(0.0)
    assert (rate < 0.3).mean() > 0.3
    guessed = rates.with_columns(rate=pl.Series(rng.binomial(5000, rate) / 5000), n=5000, options=4)
    made = calibrate(guessed, demands.select("item", "annotator", "KNn"))
    assert made.spreads["sd"][0] == pytest.approx(0.1, abs=0.03)
    assert made.bases["slope"][0] == pytest.approx(0.6, abs=0.04)


def test_coefficients_follow_the_items_that_say_something_and_the_residual_knows_it():
    """60 items, 9 demands, half of the items answered by guesses alone: the residual is 0.3 on average, not less."""
    rng = np.random.default_rng(11)
    codes = ["AS", "CEc", "CL", "MCr", "QLl", "SNs", "KNa", "AT", "VO"]
    found = []
    for _ in range(16):
        levels = rng.integers(0, 4, (60, 9))
        levels[:, 8] = np.repeat([0, 4], 30)
        depth = 0.5 + levels @ np.array([0.05] * 8 + [0.8]) + 0.3 * rng.standard_normal(60)
        rate = 0.25 + 0.75 * 10.0 ** -depth.clip(0.0)
        items = pl.DataFrame({"item": [f"i{k}" for k in range(60)]})
        rates = items.with_columns(rate=pl.Series(rng.binomial(4000, rate) / 4000), n=4000, options=4)
        demands = items.with_columns(**{code: pl.Series(levels[:, at]) for at, code in enumerate(codes)})
        made = calibrate(rates, demands, level_error=0.0, draws=10)
        found.append(made.spreads["sd"][0])
    assert np.mean(found) == pytest.approx(0.3, abs=0.025)


def test_many_items_settle_where_all_of_them_would(simulated, monkeypatch):
    rates, demands, _ = simulated
    whole = calibrate(rates, demands).bases
    monkeypatch.setattr(hierarchical, "MOST_SETTLED", 120)
    part = calibrate(rates, demands).bases
    assert part["slope"].to_list() == pytest.approx(whole["slope"].to_list(), abs=0.01)


@pytest.mark.parametrize("without", ["enem", "naep", "syllogisms", "tsa"])
def test_the_last_digits_of_rates_do_not_move_the_fit(without):
    """Rounds once chased each other here: a change of 1e-15 moved coefficients by 0.3 and depths by 0.6."""
    items = read_items(open_items().select("item", "pool", "options", "n", "rate"), open_demands())
    items = items.kept(items.pool != items.pools.index(without))
    nudge = 1 + 1e-12 * np.random.default_rng(1).choice([-1, 1], items.size)
    nudged = replace(items, rate=items.rate * nudge, observed=items.observed * nudge)
    one, other = (
        hierarchical.fit_hierarchical(part, draws=200, rng=np.random.default_rng(2)) for part in (items, nudged)
    )
    np.testing.assert_allclose(other.coefficients, one.coefficients, atol=1e-6)
    np.testing.assert_allclose(other.slope_draws, one.slope_draws, atol=1e-6)
    np.testing.assert_allclose(other.depth, one.depth, atol=1e-6)
    assert other.residual == pytest.approx(one.residual, abs=1e-6)


def test_moments_of_depths_are_those_of_a_fine_integral():
    items = read_items(open_items().select("item", "pool", "options", "n", "rate"), open_demands())
    state = replace(Depths.start(items), fitted=np.linspace(0.2, 1.5, items.size), variance=0.3)
    mean, variance = given_rates(state, items)
    for at in range(0, items.size, 25):
        one = items.kept(np.arange(items.size) == at)
        depth = np.linspace(-4, 8, 60_001)
        share = np.clip(one.floor + (1 - one.floor) * 10**-depth, 1e-12, 1 - 0.25 / (np.nan_to_num(one.n, nan=1) + 1))
        counted = np.isfinite(one.n[0])
        by_count = one.n * (one.observed * np.log(share) + (1 - one.observed) * np.log(1 - share)) if counted else 0.0
        shown = -np.log10(one.floor + (1 - one.floor) * 10**-depth)
        by_error = -0.5 * ((state.shown[at] - shown) / state.error[at]) ** 2
        log = (by_count if counted else by_error) - 0.5 * (depth - state.fitted[at]) ** 2 / 0.3
        mass = np.exp(log - log.max())
        mass /= mass.sum()
        true = float(mass @ depth)
        spread = float(mass @ (depth - true) ** 2) ** 0.5
        if abs(true - state.fitted[at]) < 4 * 0.3**0.5:  # no depth of a settled fit is farther from its demands
            assert mean[at] == pytest.approx(true, abs=0.1 * spread)
            assert variance[at] ** 0.5 == pytest.approx(spread, rel=0.1)
