"""From draws of a fit to horizons and curves: lengths at which success is half or four fifths; people's own rates."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import mensura
from mensura.core.arrays import expit
from mensura.horizon.horizons import _row, lengths_at, logit_of_mean, people_curve


def test_the_mean_logit_of_a_level():
    assert logit_of_mean(0.5, 1.7) == pytest.approx(0, abs=1e-6)
    assert logit_of_mean(0.8, 0.0) == pytest.approx(np.log(4), abs=1e-6)
    assert logit_of_mean(0.8, 2.0) > np.log(4)


def test_a_flat_draw_has_an_infinite_length():
    ends = lengths_at(np.array([1.0, -1.0]), np.array([0.0, 0.0]), 0.5, 1.0, 0.0)
    assert ends.tolist() == [np.inf, -np.inf]


@pytest.mark.parametrize(("level", "spread"), [(0.8, 1.3), (0.3, 2.6), (0.5, 4.1)])
def test_success_averaged_over_tasks_is_the_level_again(level, spread):
    draws = logit_of_mean(level, spread) + spread * np.random.default_rng(0).standard_normal(200_000)
    assert expit(draws).mean() == pytest.approx(level, abs=0.003)


def test_a_length_is_where_the_line_meets_the_level():
    """Height − slope (length − 4) = logit of the level, 4 being 16 minutes; a slip of 10% raises the level by 1/0.9."""
    height, slope = np.array([1.2, 0.0]), np.array([0.6, 0.5])
    assert lengths_at(height, slope, 0.5, 0.0, 0.0) == pytest.approx([4 + 1.2 / 0.6, 4.0])
    assert lengths_at(height, slope, 0.8, 0.0, 0.0) == pytest.approx(4 + (height - np.log(4)) / slope, abs=1e-6)
    raised = np.log((0.5 / 0.9) / (1 - 0.5 / 0.9))
    assert lengths_at(height, slope, 0.5, 0.0, 0.1) == pytest.approx(4 + (height - raised) / slope, abs=1e-6)
    assert np.isfinite(lengths_at(height, slope, 0.8, 0.0, 0.3)).all()


def cells(right, size=21, timed=1.0):
    """Return tasks of 1 minute to 2^20: so many solved, shortest first."""
    x = np.arange(float(size))
    return x, np.full(size, timed), (x < right).astype(float), np.ones(size)


def test_a_row_of_horizons_has_the_ends_of_the_draws():
    """Draws of the height with slope 1: p50 is 2^(4 + height), p80 lies log 4 below."""
    height = np.linspace(0.0, 10.0, 101)
    row = _row(height[::-1], np.ones(101), cells(9), 0.0, 0.0)
    assert [row[name] for name in ("p50", "p50_low", "p50_high")] == pytest.approx([2**9.0, 2**4.5, 2**13.5])
    assert row["p80"] == pytest.approx(2 ** (9 - np.log(4)))
    assert (row["tasks"], row["runs"], row["status"]) == (21, 21, "measured times")
    assert _row(height, np.ones(101), cells(9, timed=0.0), 0.0, 0.0)["status"] == "judged times"


@pytest.mark.parametrize(
    ("right", "low", "high", "status"), [(0, False, True, "at most"), (21, True, False, "at least")]
)
def test_who_solves_all_or_nothing_has_one_end(right, low, high, status):
    row = _row(np.linspace(5.0, 6.0, 101), np.ones(101), cells(right), 0.0, 0.0)
    assert row["p50"] is None
    assert ((row["p50_low"] is not None), (row["p50_high"] is not None)) == (low, high)
    assert row["status"] == status


def test_ends_more_than_three_doublings_beyond_the_tasks_are_open():
    inside, outside = 20 + 2.9, 20 + 3.1
    for end, is_open in ((inside, False), (outside, True)):
        row = _row(np.full(101, end - 4), np.ones(101), cells(9), 0.0, 0.0)
        assert (row["p50_high"] is None, row["p50"] is None) == (is_open, is_open)
    for end, is_open in ((-2.9, False), (-3.1, True)):
        row = _row(np.full(101, end - 4), np.ones(101), cells(9), 0.0, 0.0)
        assert (row["p50_low"] is None, row["p50"] is None) == (is_open, is_open)


def test_success_that_does_not_fall_in_a_quarter_of_the_draws_has_no_horizon():
    slope = np.ones(100)
    slope[:26] = 0.05
    row = _row(np.full(100, 5.0), slope, cells(9), 0.0, 0.0)
    assert row["status"] == "cannot be told"
    assert row["p50"] is row["p50_low"] is row["p50_high"] is row["p80"] is None
    slope[25] = 1.0
    assert _row(np.full(100, 5.0), slope, cells(9), 0.0, 0.0)["p50"] == pytest.approx(2**9)


def test_only_tasks_near_the_horizon_decide_whether_times_were_measured():
    x, timed, solved, tried = cells(9)
    timed = (np.abs(x - 9) <= 2).astype(float)
    row = _row(np.full(101, 5.0), np.ones(101), (x, timed, solved, tried), 0.0, 0.0)
    assert row["status"] == "measured times"
    assert _row(np.full(101, 5.0), np.ones(101), (x, 1 - timed, solved, tried), 0.0, 0.0)["status"] == "judged times"


@pytest.fixture(scope="module")
def fit():
    """Two systems on sixteen tasks in two suites; some outcomes turned, so that success falls slowly."""
    turned = {4, 6, 10, 12}
    rows = [
        (s, f"suite {k % 2}", f"t{k}", float((k < h) != (k in turned)))
        for s, h in (("short", 5), ("long", 11))
        for k in range(16)
    ]
    runs = pl.DataFrame(rows, schema=["subject", "suite", "task", "score"], orient="row")
    return mensura.fit_horizons(
        runs, {"task": [f"t{k}" for k in range(16)], "minutes": [2.0 ** (0.6 * k) for k in range(16)]}
    )


def test_shares_of_the_variance_add_up_to_1(fit):
    parts = fit.parts.select("suites", "times", "tasks", "runs")
    assert parts.sum_horizontal().to_list() == pytest.approx([1.0] * parts.height)
    assert parts.min_horizontal().min() >= 0


def test_curves_fall_and_cross_a_half_at_the_horizon(fit):
    for subject, p50 in fit.horizons.filter(suite="all").select("subject", "p50").iter_rows():
        curve = fit.curves.filter(subject=subject, suite="all").sort("minutes")
        assert curve["rate"].is_sorted(descending=True)
        assert (curve["low"] <= curve["rate"]).all() and (curve["rate"] <= curve["high"]).all()
        assert curve["minutes"][0] == 0.25, "a quarter of the shortest task"
        assert curve["minutes"][-1] == 4 * 512
        half = np.interp(-0.5, -curve["rate"].to_numpy(), np.log2(curve["minutes"].to_numpy()))
        assert half == pytest.approx(np.log2(p50), abs=1.0)


def test_people_have_a_rate_where_twenty_tried():
    """Best times of 2 and 30 minutes; 20 attempts with 15 right count, 19 do not; ends meet in the geometric mean."""
    times = pl.DataFrame({"suite": "s", "task": ["a", "b"], "minutes": [2.0, 30.0], "kind": "measured", "people": 1.0})
    times = times.with_columns(low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64))
    tried = [("s", "a", 3.0, k < 15) for k in range(20)] + [("s", "b", 40.0, True)] * 19
    attempts = pl.DataFrame(tried, schema=["suite", "task", "minutes", "solved"], orient="row")
    attempts = pl.concat(
        [attempts, pl.DataFrame({"suite": ["s"], "task": ["c"], "minutes": [500.0], "solved": [True]})]
    )
    runs = pl.DataFrame({"subject": ["p"], "suite": ["s"], "task": ["c"], "score": [0.25], "trials": [20.0]})
    data = SimpleNamespace(attempts=attempts, runs=runs, times=times)
    rows = people_curve(data, ["p"]).rows(named=True)
    assert [row["n"] for row in rows] == [20, 19, 1]
    assert [row["minutes"] for row in rows] == pytest.approx([2.0, 30.0, 480.0])
    assert rows[0]["rate"] == 0.75 and rows[1]["rate"] is None
    assert rows[0]["low"] < 0.75 < rows[0]["high"]
    measured = SimpleNamespace(attempts=attempts.filter(pl.col("task") != "c"), runs=runs, times=times)
    assert people_curve(measured, ["p"])["n"].to_list() == [20, 19], "a run without any time has no length"
