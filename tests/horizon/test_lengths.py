"""The typical time of each task, in doublings of a minute, from times of every kind with their errors."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from mensura.horizon.lengths import CENTER, Lengths, TimeArrays, bounded, fit_lengths, time_derivatives


def test_repeated_attempts_set_the_spread_of_persons():
    rng = np.random.default_rng(5)
    truth = rng.normal(4, 2, 300)
    rows = [("s", f"t{i}", 2 ** (truth[i] + 0.5 * rng.normal()), str(k)) for i in range(300) for k in range(2)]
    times = pl.DataFrame(rows, schema=["suite", "task", "minutes", "who"], orient="row").with_columns(
        kind=pl.lit("measured"), people=pl.lit(1.0), low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64)
    )
    lengths = fit_lengths(times, times.select("suite", "task").unique(maintain_order=True))
    assert lengths.person == pytest.approx(0.5, abs=0.06)
    assert np.sqrt(np.mean((CENTER + lengths.mean - truth) ** 2)) < 0.4


def test_a_bias_shared_by_a_suite_is_learned_from_tasks_with_both_times():
    rng = np.random.default_rng(6)
    truth = rng.normal(4, 1.5, 200)
    rows = [("s", f"t{i}", 2 ** (truth[i] - 2 + 0.5 * rng.normal()), "expert estimate") for i in range(200)]
    rows += [("s", f"t{i}", 2 ** (truth[i] + 0.5 * rng.normal()), "measured") for i in range(60)]
    times = pl.DataFrame(rows, schema=["suite", "task", "minutes", "kind"], orient="row").with_columns(
        people=pl.lit(1.0), low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64)
    )
    tasks = times.select("suite", "task").unique(maintain_order=True)
    lengths = fit_lengths(times, tasks)
    assert np.mean(CENTER + lengths.mean - truth) == pytest.approx(0, abs=0.25)


def test_giving_up_pushes_a_length_above_the_bound():
    times = pl.DataFrame(
        {
            "suite": "s",
            "task": ["a", "b", "c"],
            "minutes": [10.0, 12.0, 300.0],
            "kind": ["measured", "measured", "at least"],
        }
    ).with_columns(people=pl.lit(1.0), low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64))
    lengths = fit_lengths(times, times.select("suite", "task"))
    assert lengths.mean[2] > lengths.mean[:2].max() + 1


def times_of(*rows):
    """Return times as (task, minutes, kind, low, high) of one suite, each by one person."""
    table = pl.DataFrame(
        rows,
        schema={"task": pl.String, "minutes": pl.Float64, "kind": pl.String, "low": pl.Float64, "high": pl.Float64},
        orient="row",
    )
    return table.with_columns(suite=pl.lit("s"), people=pl.lit(1.0))


def test_ends_of_times_are_equal_for_a_number_and_open_for_a_bound():
    table = bounded(
        times_of(
            ("a", 8.0, "measured", None, None),
            ("b", 8.0, "at least", None, None),
            ("c", 8.0, "range", 4.0, 16.0),
            ("d", 2.0, "range", None, None),
            ("e", 32.0, "range", None, None),
        )
    )
    ends = {task: (low, high) for task, low, high in table.select("task", "from", "to").iter_rows()}
    assert ends == {"a": (3, 3), "b": (3, np.inf), "c": (2, 4), "d": (-np.inf, 2), "e": (4, np.inf)}


def arrays(low, high, people=1.0):
    size, none = len(low), np.full(len(low), -1)
    return TimeArrays(np.arange(size), none + 1, none, none, np.array(low), np.array(high), np.full(size, people))


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (1.0, np.inf), (-np.inf, 0.5), (-0.5, 2.0), (5.0, 6.0)])
def test_derivatives_of_the_likelihood_of_a_time_are_those_of_the_normal_probability(low, high):
    spread, expected, step = 1.3, 0.4, 1e-4

    def log_likelihood(x):
        if low == high:
            return stats.norm.logpdf(low, x, spread)
        return np.log(stats.norm.cdf(high, x, spread) - stats.norm.cdf(low, x, spread))

    values = [log_likelihood(expected + place * step) for place in (-1, 0, 1)]
    both = arrays([low, 2.0], [high, 2.0])
    slope, bend = time_derivatives(np.array([expected, 1.0]), both, np.array([spread, 0.5]))
    assert slope == pytest.approx([(values[2] - values[0]) / (2 * step), 4.0], abs=1e-5)
    assert bend == pytest.approx([-(values[2] - 2 * values[1] + values[0]) / step**2, 4.0], abs=1e-4)


def test_an_interval_of_a_length_adds_the_shift_of_its_suite_and_a_further_error():
    """Variances 0.2 own, 0.3 of the suite, 0.5² more: 90% is 1.645 √0.75 doublings to either side of 2^(4 + 1)."""
    tasks = pl.DataFrame({"suite": ["s", "t"], "task": ["a", "a"]})
    shared = np.array([[0.0, 0.1], [0.1, 0.3]])
    lengths = Lengths(tasks, ["s", "t"], np.array([0.0, 1.0]), np.array([0.1, 0.2]), shared, pl.DataFrame(), 1.0)
    assert lengths.total == pytest.approx([0.1, 0.5])
    table = lengths.intervals("from", "to", more=0.5)
    assert table["minutes"].to_list() == pytest.approx([16, 32])
    half = 1.6448536 * 0.75**0.5
    assert table.row(1)[2:] == pytest.approx((32, 32 * 2**-half, 32 * 2**half))


def test_a_time_of_several_people_counts_as_more_and_units_do_not_matter():
    rows = [(f"t{k}", 2.0 ** (k % 7), "measured", None, None) for k in range(21)]
    one = times_of(*rows)
    tasks = one.select("suite", "task")
    fit = fit_lengths(one, tasks)
    many = fit_lengths(one.with_columns(people=pl.when(pl.col("task") == "t6").then(9.0).otherwise(1.0)), tasks)
    assert many.variance[6] < 0.5 * fit.variance[6]
    assert abs(many.mean[6] + CENTER - 6) < abs(fit.mean[6] + CENTER - 6)
    turned = fit_lengths(one.reverse(), tasks)
    assert turned.mean == pytest.approx(fit.mean, abs=1e-6)
    assert fit.mean.argsort(kind="stable")[-3:].tolist() == [6, 13, 20]
    assert (fit.mean[6] + CENTER) < 6, "the longest times are drawn to the mean of their suite"
    assert (fit.mean[0] + CENTER) > 0


def test_what_nobody_was_timed_on_is_as_long_as_its_judge_says_less_the_usual_bias():
    """A model's estimate of 64 minutes: 5.1 = 4 − 1 + 0.85 (6 − 3), plus 1 of bias, between prior and estimate."""
    times = times_of(("a", 64.0, "language model", None, None))
    lengths = fit_lengths(times, times.select("suite", "task"))
    corrected = 3 + 0.85 * (6 - 3) + 1.0
    assert CENTER < lengths.mean[0] + CENTER < corrected
    assert lengths.kinds["bias"][0] == pytest.approx(-1.0, abs=0.1)
    assert lengths.kinds["bias_error"][0] == pytest.approx(0.6, abs=0.05)
