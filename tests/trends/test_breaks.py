from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from benchmarks.published_streams import rosetta_ratio
from mensura.stitching import to_date
from mensura.trends import find_break
from mensura.trends.breaks import Break, best_break


def test_a_bend_between_two_points_is_found_exactly():
    x = np.array([0.0, 1, 2, 3, 4, 5, 6, 7])
    found = best_break(x, 0.5 * x + 1.5 * np.maximum(x - 3.4, 0))
    assert found.when == pytest.approx(3.4)
    assert (found.before, found.after) == pytest.approx((0.5, 2.0))
    assert found.ratio == pytest.approx(4)
    assert found.r_squared == pytest.approx(1)


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_no_bend_on_a_fine_grid_fits_better(seed):
    rng = np.random.default_rng(seed)
    x, y = np.sort(rng.uniform(0, 10, 9)), np.cumsum(rng.exponential(1, 9))
    span = x[-1] - x[0]
    best = best_break(x, y).r_squared
    bends = np.linspace(x[0] + 0.1 * span, x[-1] - 0.1 * span, 200)[:, None]
    designs = np.stack([np.ones((200, 9)), np.tile(x, (200, 1)), np.maximum(x - bends, 0)], axis=-1)
    basis = np.linalg.qr(designs)[0]
    rest = y - (basis @ (basis.transpose(0, 2, 1) @ y[:, None]))[..., 0]
    assert np.all(1 - np.sum(rest**2, axis=1) / np.sum((y - y.mean()) ** 2) <= best + 1e-9)


def test_a_level_line_is_met_exactly():
    found = best_break(np.arange(6.0), np.full(6, 0.5))
    assert (found.before, found.after, found.r_squared) == pytest.approx((0, 0, 1), abs=1e-12)


def test_break_of_a_table_has_a_date():
    days = [date(2020, 1, 1), date(2021, 1, 1), date(2022, 1, 1), date(2023, 1, 1), date(2024, 1, 1), date(2025, 1, 1)]
    frame = pl.DataFrame({"subject": list("abcdef"), "released": days, "capability": [0.0, 0.1, 0.2, 0.3, 1.3, 2.3]})
    found = find_break(frame)
    assert date(2022, 12, 20) < found.date < date(2023, 1, 10)
    assert found.ratio == pytest.approx(10, rel=0.01)


def naive_ratio(x, y, start):
    """The published rule, written out."""
    y = np.maximum.accumulate(y)
    best = -np.inf
    for split in np.linspace(start, x.max(), 50):
        left = x <= split
        if left.sum() < 2 or (~left).sum() < 3:
            continue
        slope, intercept = np.polyfit(x[left], y[left], 1)
        after = np.polyfit(x[~left], y[~left], 1)[0]
        fitted = np.where(left, slope * x + intercept, slope * split + intercept + after * (x - split))
        r_squared = 1 - np.sum((y - fitted) ** 2) / np.sum((y - y.mean()) ** 2)
        if slope > 0 and r_squared >= 0.6:
            best = max(best, after / slope)
    return best


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_ratio_of_the_published_rule_agrees_with_it_written_out(seed):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(2024, 2029, 40))
    y = 0.5 * (x - 2024) + rng.normal(0, 0.3, 40)
    assert rosetta_ratio(x, y, 2027.0) == pytest.approx(naive_ratio(x, y, 2027.0), rel=1e-6)


@pytest.mark.parametrize("releases", range(7, 30))
def test_a_frontier_that_never_moved_has_no_ratio(releases):
    """The mean of equal numbers misses them by last bits, which are no slope."""
    assert rosetta_ratio(np.linspace(2024, 2029, releases), np.full(releases, 0.7), 2026.0) == -np.inf


def test_ratio_without_releases_after_the_start_is_none():
    assert rosetta_ratio(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0]), 5.0) == -np.inf


def test_the_path_of_a_bend_runs_from_the_first_day_over_the_bend_to_the_last():
    bend = Break(when=54.0, before=1.0, after=3.0, r_squared=1.0, level=2.0)
    days = pl.Series("released", [to_date(56.0), to_date(53.0), to_date(55.0)], dtype=pl.Date)
    path = bend.path(days)
    assert path["released"].to_list() == [to_date(53.0), bend.date, to_date(56.0)]
    assert path["value"].to_list() == pytest.approx([1.0, 2.0, 8.0], abs=0.02)  # a day is 0.003 years


def test_a_break_in_words():
    found = Break(when=2023.5, before=0.5, after=1.25, r_squared=0.9, level=1.0)
    assert found.heading == f"two-piece line: 0.5 a year, from {found.date} on 1.25 (×2.50)"


def test_releases_of_one_day_belong_to_one_part():
    """Two records of one day: no bend lies between them."""
    found = best_break(np.array([0.0, 1, 2, 2, 3, 4]), np.array([0.0, 1, 2, 2, 5, 8]))
    assert (found.when, found.before, found.after) == pytest.approx((2.0, 1.0, 3.0))
