"""Levels against human rates: closed forms, simulated truth, and the recordings."""

import numpy as np
import polars as pl
import pytest

from mensura import MensuraError
from mensura.core.arrays import expit, logit
from mensura.demands import check_demands, read_demands
from mensura.demands.checking import _errors, _predicted, _ridge, judge


def study(pools=6, items=40, slopes=(-0.8, 0.0), noise=0.4, seed=0, easiness=1.0, between=0.0):
    """Pools whose logit rates fall with the level of QLl and not with that of KNc; and their levels."""
    rng = np.random.default_rng(seed)
    rates, levels = [], []
    for pool in range(pools):
        told = rng.integers(0, 6, (items, 2))
        start = easiness + between * rng.standard_normal()
        value = start + (told - 2.5) @ np.array(slopes) + noise * rng.standard_normal(items)
        for item in range(items):
            name = f"p{pool}-{item}"
            rates.append((f"pool {pool}", name, float(expit(value[item : item + 1])[0]), 1_000_000))
            levels += [(name, "QLl", int(told[item, 0])), (name, "KNc", int(told[item, 1]))]
    return (
        pl.DataFrame(rates, schema=["pool", "item", "rate", "n"], orient="row"),
        pl.DataFrame(levels, schema=["item", "dimension", "level"], orient="row"),
    )


def test_the_correlation_is_that_of_levels_and_logits():
    rates, levels = study(pools=1, noise=0.5)
    found = check_demands(rates, levels, draws=100)
    wide = levels.pivot("dimension", index="item", values="level").join(rates, on="item", maintain_order="right")
    for name, told in (("QLl", wide["QLl"]), ("KNc", wide["KNc"]), ("sum", wide["QLl"] + wide["KNc"])):
        expected = np.corrcoef(told, logit(wide["rate"].to_numpy()))[0, 1]
        row = found.correlations.filter(dimension=name).row(0, named=True)
        assert row["r"] == pytest.approx(expected, abs=1e-4)
        assert row["low"] < row["r"] < row["high"]
    assert "prediction on pools left out needs 3 or more" in found.warnings[0]
    assert found.prediction.is_empty() and found.verdicts.is_empty()


def test_small_numbers_are_read_as_half_an_answer_more():
    """Nine answers: a rate of 0 is 0.5 of 10, a rate of 1 is 9.5 of 10; without n, 0.005 and 0.995."""
    rates, levels = study(pools=1, items=12)
    told = rates.with_columns(rate=pl.Series([0.0, 1.0, 1 / 3] * 4), n=pl.Series([9, 9, None] * 4))
    expected = logit(np.array([0.05, 0.95, 1 / 3] * 4))
    level = levels.filter(dimension="QLl")["level"].to_numpy()
    found = check_demands(told, levels, draws=5).correlations.filter(dimension="QLl")["r"].item()
    assert found == pytest.approx(np.corrcoef(level, expected)[0, 1])
    unknown = check_demands(told.drop("n"), levels, draws=5).correlations.filter(dimension="QLl")["r"].item()
    clipped = logit(np.array([0.005, 0.995, 1 / 3] * 4))
    assert unknown == pytest.approx(np.corrcoef(level, clipped)[0, 1])


def test_all_pools_together_are_correlated_around_their_means():
    rates, levels = study(pools=3, items=20, between=1.0)
    shifted = levels.with_columns(
        level=pl.when(pl.col("item").str.starts_with("p1")).then(pl.col("level") // 2).otherwise("level")
    )
    found = check_demands(rates, shifted, draws=5).overall.filter(dimension="QLl")["r"].item()
    wide = (
        shifted.filter(dimension="QLl")
        .join(rates, on="item")
        .with_columns(logit=(pl.col("rate") / (1 - pl.col("rate"))).log())
    )
    around = wide.select(pl.col("level", "logit") - pl.col("level", "logit").mean().over("pool"))
    assert found == pytest.approx(np.corrcoef(around["level"], around["logit"])[0, 1], abs=1e-4)


def test_many_idle_dimensions_are_shrunk_away():
    """Thirty dimensions of noise on small pools: least squares would lose badly to the baseline."""
    rng = np.random.default_rng(7)
    rates, _ = study(pools=4, items=12, slopes=(0.0, 0.0), noise=1.0)
    names = rates["item"].to_list()
    rows = [(name, f"d{at}", int(level)) for name in names for at, level in enumerate(rng.integers(0, 6, 30))]
    levels = pl.DataFrame(rows, schema=["item", "dimension", "level"], orient="row")
    for row in check_demands(rates, levels, draws=10).verdicts.iter_rows(named=True):
        assert row["gain"] > -0.03


def test_a_large_pool_does_not_outvote_the_others():
    """Three pools of 20 in which levels cost success, one of 400 in which they do not: pools count alike."""
    small, small_levels = study(pools=3, items=20)
    large, large_levels = study(pools=1, items=400, slopes=(0.4, 0.0), seed=3)
    large = large.with_columns(pool=pl.lit("large"), item="L" + pl.col("item"))
    rates = pl.concat([small, large])
    levels = pl.concat([small_levels, large_levels.with_columns(item="L" + pl.col("item"))])
    found = check_demands(rates, levels, draws=10).prediction.filter(question="pool mean known")
    for row in found.filter(pl.col("pool") != "large").iter_rows(named=True):
        assert row["r"] > 0.5


def test_pool_differences_do_not_pass_for_demands():
    """Easy pools with low levels: within pools nothing is left, and the check must say so."""
    rng = np.random.default_rng(1)
    rates, levels = [], []
    for pool in range(6):
        for item in range(60):
            name = f"p{pool}-{item}"
            value = 2 - pool + rng.standard_normal()
            rates.append((f"pool {pool}", name, float(expit(np.array([value]))[0])))
            levels.append((name, "QLl", int(np.clip(pool + rng.integers(-1, 2), 0, 5))))
    rates = pl.DataFrame(rates, schema=["pool", "item", "rate"], orient="row")
    found = check_demands(rates, pl.DataFrame(levels, schema=["item", "dimension", "level"], orient="row"), draws=200)
    row = found.overall.filter(dimension="QLl").row(0, named=True)
    assert abs(row["r"]) < 0.1
    assert row["low"] < 0 < row["high"]


def test_demands_that_carry_over_beat_the_baseline_and_idle_ones_do_not():
    good = check_demands(*study(), draws=100).verdicts
    for row in good.iter_rows(named=True):
        assert row["mae"] < 0.6 * row["mae_baseline"]
        assert row["low"] > 0
        assert row["better_in"] == row["pools"] == 6
        assert row["gain"] == pytest.approx(row["mae_baseline"] - row["mae"])
    idle = check_demands(*study(slopes=(0.0, 0.0)), draws=100).verdicts
    for row in idle.iter_rows(named=True):
        assert row["gain"] < 0.005


def test_without_noise_a_pool_left_out_is_predicted_whatever_the_range_of_its_levels():
    """One demand takes the levels 0 and 5, one 0 and 1: each costs what it costs, in logits per level."""
    rng = np.random.default_rng(8)
    names = [f"p{pool}-{item}" for pool in range(4) for item in range(30)]
    wide, narrow = 5 * rng.integers(0, 2, len(names)), rng.integers(0, 2, len(names))
    rates = pl.DataFrame(
        {"pool": [name[:2] for name in names], "item": names, "rate": expit(1.5 - 0.4 * wide - 1.2 * narrow)}
    )
    levels = pl.DataFrame({"item": names, "QLl": wide, "KNc": narrow}).unpivot(
        index="item", variable_name="dimension", value_name="level"
    )
    for row in check_demands(rates, levels, draws=10).verdicts.iter_rows(named=True):
        assert row["mae"] < 0.02 < 0.2 < row["mae_baseline"]


def test_knowing_the_pools_mean_helps_where_pools_differ():
    found = check_demands(*study(between=2.0, pools=8), draws=50).verdicts
    errors = dict(found.select("question", "mae").iter_rows())
    assert errors["pool mean known"] < 0.7 * errors["new pool"]


def test_the_hidden_pool_does_not_reach_its_own_prediction():
    """Its rates change the known mean only: predictions of a new pool stay, whatever its rates are."""
    rates, levels = study(pools=4)
    flipped = rates.with_columns(rate=pl.when(pl.col("pool") == "pool 0").then(1 - pl.col("rate")).otherwise("rate"))
    one, two = (check_demands(table, levels, draws=10).prediction for table in (rates, flipped))
    ours = [table.filter(pool="pool 0", question="new pool").row(0, named=True) for table in (one, two)]
    assert ours[0]["penalty"] == ours[1]["penalty"]
    assert ours[0]["r"] == pytest.approx(-ours[1]["r"])


def test_rates_of_zero_and_one_and_unknown_numbers_stay_finite():
    rates, levels = study(pools=1, items=10)
    extreme = rates.with_columns(rate=pl.Series([0.0, 1.0] * 5), n=pl.Series([10, None] * 5))
    found = check_demands(extreme, levels, draws=20)
    assert np.all(np.isfinite(found.overall["r"].drop_nulls().to_numpy()))
    counted = check_demands(extreme.with_columns(n=pl.lit(9.0)), levels, draws=20)
    assert counted.overall.height == 3


def test_a_dimension_without_variety_is_not_defined():
    rates, levels = study(pools=2)
    flat = levels.with_columns(level=pl.when(pl.col("dimension") == "KNc").then(1).otherwise("level"))
    found = check_demands(rates, flat, draws=20)
    row = found.correlations.filter(dimension="KNc").row(0, named=True)
    assert row["r"] is None and row["note"].startswith("not defined")


def test_what_does_not_fit_together_is_said():
    rates, levels = study(pools=3, items=8)
    with pytest.raises(MensuraError, match=r"no item of the pools has levels; ids must agree \(pools: 'p0-0'"):
        check_demands(rates, levels.with_columns(item=pl.lit("x") + pl.col("item")))
    with pytest.raises(MensuraError, match=r"rate of item 'p\d-\d' is .*; expected a share from 0 to 1"):
        check_demands(rates.with_columns(rate=100 * pl.col("rate")), levels)
    with pytest.raises(MensuraError, match="item 'p0-0' has 2 rates; give one row per item"):
        check_demands(pl.concat([rates, rates]), levels)
    with pytest.raises(MensuraError, match="item 'p0-0' occurs in pool 0 and other, and levels do not say"):
        check_demands(pl.concat([rates, rates.head(1).with_columns(pool=pl.lit("other"))]), levels)
    with pytest.raises(MensuraError, match="n of item 'p0-0' is 0; expected a number of people above 0"):
        check_demands(rates.with_columns(n=pl.lit(0)), levels)
    with pytest.raises(MensuraError, match="missing column 'pool'"):
        check_demands(rates.drop("pool"), levels)
    with pytest.raises(MensuraError, match="no pool has 5 items with levels"):
        check_demands(rates.filter(pl.col("item").is_in(["p0-1", "p1-1"])), levels)
    found = check_demands(rates, levels.filter(~pl.col("item").str.starts_with("p1")), draws=10)
    assert "8 of 24 items of the pools have no levels" in found.warnings[0]
    part = levels.filter((pl.col("item") != "p0-1") | (pl.col("dimension") == "QLl"))
    assert "1 items lack a level in some dimension" in check_demands(rates, part, draws=10).warnings[0]


@pytest.mark.shared
def test_the_recordings_predict_people_as_stated(shared):
    """The README of the recordings: sums −0.89 vocabulary, −0.85 words, −0.74 syllogisms, −0.71 relations …"""
    readings = read_demands(shared / "data/items/annotations.csv").filter(annotator="claude-run-1")
    found = check_demands(shared / "data/items/items.csv", readings, draws=20)
    sums = dict(found.correlations.filter(dimension="sum").select("pool", "r").iter_rows())
    stated = {
        "viqt": -0.89,
        "word-prevalence": -0.85,
        "syllogisms": -0.74,
        "relations": -0.71,
        "enem": -0.22,
        "naep": -0.08,
    }
    for pool, value in stated.items():
        assert sums[pool] == pytest.approx(value, abs=0.01)
    assert found.overall.filter(dimension="MCu")["r"].item() == pytest.approx(-0.5, abs=0.03)


def test_ridge_slopes_solve_their_normal_equations():
    """Xᵀ W (y − X b) = λ D² b, D the weighted spread of each column; a constant column gets no slope."""
    rng = np.random.default_rng(0)
    x, weight = rng.normal(size=(40, 4)) * [1.0, 3.0, 0.5, 0.0], rng.uniform(0.2, 3.0, 40)
    y = x @ [1.0, -0.5, 2.0, 0.0] + rng.normal(size=40)
    penalties = np.array([0.0, 1.0, 30.0])
    spread = (weight[:, None] * x**2).mean(axis=0)
    for penalty, slopes in zip(penalties, _ridge(x, y, weight, penalties), strict=True):
        np.testing.assert_allclose(x.T @ (weight * (y - x @ slopes)), penalty * spread * slopes, atol=1e-9)
        assert slopes[3] == 0


def test_a_check_says_what_it_compared():
    found = check_demands(*study(pools=3, items=6), draws=10)
    assert found.heading == "Levels against human logit rates: 18 items, 3 pools (90% intervals)"
    assert found.overall.select("dimension", "pools", "n").rows() == [(name, 3, 18) for name in ("QLl", "KNc", "sum")]
    assert found.warnings == ()
    again = check_demands(*study(pools=3, items=6), draws=10, seed=0)
    assert found.overall.equals(again.overall), "the seed is 0"


def test_errors_are_those_of_rates_and_of_logits():
    """Prediction ½ for rates ¼ and ¾: off by ¼ each, in logits by ln 3; the baseline ¾ is off by ½ and 0."""
    truth = logit(np.array([0.25, 0.75]))
    mae, base, rmse, rmse_base, r = _errors(truth, np.zeros(2), logit(np.array([0.75, 0.75])))
    assert (mae, base) == pytest.approx((0.25, 0.25))
    assert (rmse, rmse_base) == pytest.approx((np.log(3), 2 * np.log(3) / 2**0.5))
    assert r is None
    assert _errors(truth, -truth, truth)[4] == pytest.approx(-1.0)


def test_a_pool_left_out_is_predicted_from_the_mean_of_the_others():
    """Two pools with means 1 and 3 and no slope: a third is expected at 2, whatever the sizes of the two."""
    pool = np.array([0, 0, 0, 1, 2])
    logits = np.array([1.0, 1.0, 1.0, 3.0, 7.0])
    levels = np.array([[0.0], [1.0], [2.0], [1.0], [1.0]])
    guess, base = _predicted(levels, logits, pool, 2, np.array([1e9]), centred=False)
    assert base.tolist() == [2.0] and guess[0] == pytest.approx([2.0], abs=1e-6)
    guess, base = _predicted(levels, logits, pool, 0, np.array([1e9]), centred=True)
    assert base.tolist() == [1.0] * 3 and guess[0] == pytest.approx([1.0] * 3, abs=1e-6)


def test_the_gain_over_the_baseline_is_a_mean_over_pools():
    rows = [("a", "new pool", 0.1, 0.3), ("b", "new pool", 0.2, 0.1), ("c", "new pool", 0.1, 0.2)]
    prediction = pl.DataFrame(rows, ["pool", "question", "mae", "mae_baseline"], orient="row")
    row = judge(prediction, 500, np.random.default_rng(0)).row(0, named=True)
    assert (row["pools"], row["mae"], row["mae_baseline"], row["gain"], row["better_in"]) == (
        *(3, pytest.approx(0.4 / 3), pytest.approx(0.2), pytest.approx(0.2 / 3), 2),
    )
    assert -0.1 <= row["low"] < row["gain"] < row["high"] <= 0.2
    assert judge(prediction, 0, np.random.default_rng(0)).select("low", "high").row(0) == (None, None)
