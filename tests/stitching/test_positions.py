"""What draws say: intervals, ranks, probabilities, information, robustness; closed forms."""

import numpy as np
import polars as pl
import pytest

from benchmarks.published_robustness import anchor_change
from benchmarks.stitch_validation import fold_numbers
from mensura.stitching import PositionDraws, information_curves, solve_rosetta, stitch
from mensura.stitching.positions import Positions, Scale, principal
from mensura.stitching.scores import encode, read_scores

from .conftest import simulate


@pytest.fixture(scope="module")
def draws():
    """Three subjects in 101 draws: a at i, b always at 50.5, c below both; one benchmark with slope 1, intercept −i."""
    i = np.arange(101.0)
    theta = np.stack([i, np.full(101, 50.5), np.full(101, -5.0)], axis=1)[:, :, None]
    phi = np.stack([-2 * i, np.full(101, 2.0)], axis=1)[:, None]
    estimate = Positions(np.array([[[50.0], [50.5], [-5.0]]]), np.array([[[-100.0, 2.0]]]))
    return PositionDraws("known", ("a", "b", "c"), ("x",), estimate, Positions(theta, phi))


def test_intervals_are_the_central_90_percent(draws):
    rows = {row["subject"]: row for row in draws.capabilities.to_dicts()}
    assert draws.capabilities["subject"].to_list() == ["b", "a", "c"]
    assert (rows["a"]["capability"], rows["a"]["low"], rows["a"]["high"]) == pytest.approx((50, 5, 95))
    benchmark = draws.benchmarks.row(0, named=True)
    assert (benchmark["difficulty"], benchmark["low"], benchmark["high"]) == pytest.approx((50, 5, 95))
    assert (benchmark["slope"], benchmark["slope_low"], benchmark["slope_high"]) == pytest.approx((2, 2, 2))


def test_a_subject_with_too_wide_an_interval_has_no_rank(draws):
    """The interval of a spans 90; the standard deviation among the three is 26."""
    assert draws.ranks.rows() == [
        (1, "b", 1, 1, 1.0, 50.5),
        (2, "c", 2, 2, 0.0, -5.0),
        (None, "a", None, None, None, 50.0),
    ]


def test_an_error_that_all_subjects_share_takes_no_rank_away():
    """The zero and the unit of every draw differ, as an anchor's error makes them; the order never does."""
    rng = np.random.default_rng(3)
    estimate = np.linspace(-1.0, 1.0, 9)[None, :, None]
    theta = rng.normal(0, 2, (200, 1, 1)) + rng.uniform(0.5, 2, (200, 1, 1)) * estimate
    benchmark = np.array([[[0.0, 1.0]]])
    names = tuple("abcdefghi")
    draws = PositionDraws("anchored", names, ("x",), Positions(estimate, benchmark), Positions(theta, benchmark))
    assert draws.ranks["subject"].to_list() == list(names[::-1])
    assert draws.ranks["rank"].to_list() == list(range(1, 10))
    assert draws.ranks["p_first"].to_list() == [1.0] + [0.0] * 8


def test_scales_fix_zero_and_unit_in_every_draw():
    rng = np.random.default_rng(1)
    positions = Positions(rng.normal(size=(4, 6, 1)), rng.normal(size=(4, 3, 2)) + np.array([0, 3]))
    by_benchmark = Scale(benchmark=1).apply(positions)
    np.testing.assert_allclose(by_benchmark.difficulty[:, 1], 0, atol=1e-12)
    np.testing.assert_allclose(by_benchmark.slope[:, 1], 1)
    by_subjects = Scale(subjects=(4, 2), values=(10, 30)).apply(positions)
    np.testing.assert_allclose(by_subjects.capability[:, [4, 2]], [[10, 30]] * 4)
    by_spread = Scale().apply(positions, basis=5)
    np.testing.assert_allclose(by_spread.capability[:, :5].mean(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(by_spread.capability[:, :5].std(axis=1), 1)


def test_capability_points_where_slopes_are_positive():
    down = Positions(np.array([[[1.0], [2.0]]]), np.array([[[0.3, -2.0], [0.1, 0.5]]]))
    up = principal(down)
    np.testing.assert_allclose(up.slope, [[2.0, -0.5]])
    np.testing.assert_allclose(up.capability, [[-1.0, -2.0]])


def test_principal_axes_come_in_the_order_of_what_they_explain():
    rng = np.random.default_rng(3)
    positions = Positions(rng.normal(size=(8, 40, 3)), rng.normal(size=(8, 9, 4)) + np.array([0, 0.2, 0, 0]))
    turned = principal(positions)
    rows, cols = np.repeat(np.arange(40), 9), np.tile(np.arange(9), 40)
    np.testing.assert_allclose(turned.eta(rows, cols), positions.eta(rows, cols), atol=1e-6)
    assert (turned.slope.mean(axis=1) > 0).all()
    explained = turned.theta.var(axis=1) * (turned.phi[:, :, 1:] ** 2).sum(axis=1)
    assert (np.diff(explained, axis=1) < 0).all()


def test_information_of_the_published_model_has_its_closed_form():
    fit = stitch(simulate(20, 5, density=1.0)[0], method="rosetta", anchor_benchmark="b02")
    grid = np.array([-1.0, 0.0, 0.7])
    found = information_curves(fit, grid)
    at = fit.estimate
    for b, name in enumerate(fit.data.benchmarks):
        s = 1 / (1 + np.exp(-at.slope[0, b] * (grid - at.difficulty[0, b])))
        expected = (s * (1 - s) * at.slope[0, b]) ** 2 / fit.model.residual_variance
        np.testing.assert_allclose(found.filter(pl.col("benchmark") == name)["information"], expected)
    C = fit.estimate.capability[0]
    span = information_curves(fit)["capability"]
    assert (span.min(), span.max()) == pytest.approx((C.min() - 0.25 * np.ptp(C), C.max() + 0.25 * np.ptp(C)))


def test_folds_are_of_nearly_equal_size():
    folds = fold_numbers(23, 5, seed=0)
    assert sorted(np.bincount(folds)) == [4, 4, 5, 5, 5]


def test_another_anchor_is_told_as_a_shift_of_capabilities(simulated):
    data = encode(read_scores(simulated[0]), "max")
    moved = anchor_change(data, 3)
    assert moved.filter(anchor="b03").select("shift", "largest").row(0) == pytest.approx((0, 0), abs=1e-6)
    first = solve_rosetta(data.layout, data.y, anchor=3)
    other = solve_rosetta(data.layout, data.y, anchor=5, anchor_slope=float(first.slope[0, 5]))
    apart = other.C[0] - first.C[0]
    apart = np.abs(apart - apart.mean())  # where the scale has its zero is nobody's capability
    assert moved.filter(anchor="b05").select("shift", "largest").row(0) == pytest.approx(
        (apart.mean(), apart.max()), rel=1e-3
    )


def test_another_anchor_moves_the_zero_and_the_unit_as_its_row_reports(simulated):
    """Those of two published fits, one anchored on b03 and one on b05."""
    table = simulated[0]
    first, other = (
        stitch(table, method="rosetta", anchor_benchmark=name).capabilities.sort("subject")["capability"].to_numpy()
        for name in ("b03", "b05")
    )
    row = anchor_change(encode(read_scores(table), "max"), 3).filter(anchor="b05").row(0, named=True)
    told = other.mean() - first.mean(), np.std(other) / np.std(first)
    assert (row["offset"], row["unit"]) == pytest.approx(told, rel=1e-4)
    assert abs(row["offset"]) > 0.1


@pytest.mark.slow
def test_another_pair_of_anchored_subjects_only_shifts_and_stretches(simulated):
    first, second = (
        stitch(simulated[0], anchor_subjects=anchors).capabilities.sort("subject")["capability"].to_numpy()
        for anchors in ({"m005": 0.0, "m030": 1.0}, {"m010": 130.0, "m020": 150.0})
    )
    stretch, shift = np.polyfit(first, second, 1)
    np.testing.assert_allclose(second, shift + stretch * first, rtol=1e-9)
