"""The typical time of each task, in doublings of a minute, from times of every kind with their errors."""

import numpy as np
import polars as pl
import pytest

from mensura.horizon.lengths import CENTER, fit_lengths


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
