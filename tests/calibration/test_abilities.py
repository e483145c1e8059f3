"""Ability from counts by level: the published curve, its area, and intervals around them."""

import numpy as np
import polars as pl
import pytest
from scipy.integrate import trapezoid

from mensura.calibration import profile_counts
from mensura.calibration.abilities import ANCHOR, Curves, abilities_by_curves, bin_weights, fit_curves
from mensura.core.arrays import expit
from mensura.core.errors import MensuraError


@pytest.mark.parametrize("count", [1, 2, 7])
def test_however_few_the_answers_success_ends_between_the_levels_solved_and_not(count):
    n, right = np.full((1, 1, 5), count), np.array([[[count, count, count, 0, 0]]])
    half = abilities_by_curves(("a",), ("AS",), 1.0 * n, 1.0 * right, 10, 0).half[0]
    assert 3.4 < half[0, 0] < 3.6


def test_intervals_narrow_with_the_root_of_the_items():
    def width(factor):
        n, solved = [100 * factor] * 5, [share * factor for share in (90, 70, 50, 30, 10)]
        counts = {"subject": "a", "dimension": "KNn", "level": [1, 2, 3, 4, 5], "n": n, "correct": solved}
        row = profile_counts(counts, draws=2000).profile.row(0, named=True)
        return row["high"] - row["low"]

    assert width(1) / width(16) == pytest.approx(4, rel=0.1)


def test_intervals_cover_the_curve_they_are_drawn_from():
    rng = np.random.default_rng(3)
    levels, true = np.arange(1, 6), 3.0
    p = 1 / (1 + np.exp(-1.5 * (true - levels)))
    rows = [
        (f"s{k}", "KNn", int(level), 200, int(rng.binomial(200, q)))
        for k in range(400)
        for level, q in zip(levels, p, strict=True)
    ]
    table = pl.DataFrame(rows, schema=["subject", "dimension", "level", "n", "correct"], orient="row")
    many = pl.DataFrame([("t", "KNn", int(v), 2_000_000, int(2_000_000 * q)) for v, q in zip(levels, p, strict=True)],
                        schema=table.columns, orient="row")  # fmt: skip
    truth = profile_counts(many, draws=1).profile["ability"][0]
    found = profile_counts(table).profile
    inside = found.select((pl.col("low") <= truth) & (truth <= pl.col("high"))).to_series().mean()
    assert 0.85 <= inside <= 0.95


def test_nothing_solved_and_everything_solved_stay_finite():
    counts = pl.DataFrame({"subject": ["none"] * 5 + ["all"] * 5, "dimension": "KNn", "level": [1, 2, 3, 4, 5] * 2,
                           "n": 20, "correct": [0] * 5 + [20] * 5})  # fmt: skip
    none, everything = profile_counts(counts).profile.iter_rows(named=True)
    assert none["ability"] < 0.01 < none["high"] < 2
    assert 5 < everything["ability"] <= 10


def test_the_area_under_a_curve_is_its_integral_and_a_flat_curve_has_a_box():
    curves = Curves(np.array([2.0, 0.0, 3.0]), np.array([-1.0, 0.0, -0.5]))
    x = np.linspace(0, 10, 100_001)
    expected = [trapezoid(expit(a + b * x), x) for a, b in zip(*curves, strict=True)]
    assert curves.area == pytest.approx(expected, abs=1e-5)
    assert curves.area[1] == pytest.approx(5.0, abs=1e-5)
    assert curves.level_at_half[[0, 2]] == pytest.approx([2.0, 6.0]) and np.isnan(curves.level_at_half[1])


def test_levels_of_a_hundred_items_count_alike_and_an_item_of_a_smaller_one_as_the_mean_of_theirs():
    """Levels of 100 and 200 items weigh 200 each, so that their 300 items weigh 400: a smaller level's weigh 4/3."""
    assert bin_weights(np.array([[100.0, 200.0, 30.0, 0.0, 0.0]]))[0] == pytest.approx([200, 200, 40, 0, 0])
    assert bin_weights(np.array([[10.0, 20.0, 30.0, 0.0, 0.0]]))[0] == pytest.approx([10, 20, 30, 0, 0])


def test_a_fitted_curve_has_no_better_neighbour():
    rate, weight = np.array([[0.95, 0.8, 0.6, 0.3, 0.1]]), np.array([[0.5, 1.0, 1.5, 1.0, 0.5]])
    fitted = fit_curves(rate, weight)

    def height(a, b):
        x = np.array([1, 2, 3, 4, 5, ANCHOR])
        share, weighs = np.append(rate, 0.0), np.append(weight, weight.sum())
        eta = a + b * x
        return float(np.sum(weighs * (share * eta - np.logaddexp(0, eta))) - b**2 / 2)

    a, b = fitted.intercept[0], fitted.slope[0]
    best = height(a, b)
    assert all(height(a + da, b + db) < best for da, db in ((1e-3, 0), (-1e-3, 0), (0, 1e-3), (0, -1e-3)))


def test_rows_are_fitted_as_if_they_were_alone():
    rng = np.random.default_rng(0)
    rate, weight = np.sort(rng.random((7, 5)), axis=1)[:, ::-1], rng.uniform(1, 100, (7, 5))
    together = fit_curves(rate, weight)
    alone = [fit_curves(rate[[row]], weight[[row]]).area[0] for row in range(7)]
    assert together.area == pytest.approx(alone, abs=1e-6)


def test_a_dimension_that_few_items_decide_is_not_told_and_says_how_many():
    n = np.array([[[2.0, 2, 2, 2, 1], [2.0, 2, 2, 2, 2], [0.0] * 5]])
    found = abilities_by_curves(("m",), ("AS", "KN", "VO"), n, n / 2, 20, 0)
    assert found.untold == {(0, 0): "it decides 9 items; 10 are needed", (0, 2): "it decides 0 items; 10 are needed"}
    assert np.isnan([values[0, 2] for values in found.ability]).all()
    assert found.items.tolist() == [[9, 10, 0]]
    with pytest.raises(MensuraError, match="draws: got 0; expected 1 or more"):
        abilities_by_curves(("m",), ("AS",), n[:, :1], n[:, :1], 0, 0)
