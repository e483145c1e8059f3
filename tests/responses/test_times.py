"""Response times beside answers, in simulations whose speeds, items and correlation are known."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from mensura.core.errors import MensuraError
from mensura.responses import FitOptions, fit_categories, fit_responses, fit_times, read_responses
from mensura.responses.times import _climb, read_times
from tests.responses.conftest import draw

SD, CORRELATION = 0.4, 0.5


@pytest.fixture(scope="module")
def timed():
    """Answers, and log seconds of 400 subjects on 10 items: intensity − speed + noise, a tenth missing."""
    drawn, rng = draw(400, 10, seed=2), np.random.default_rng(5)
    speed = SD * (CORRELATION * drawn.ability + np.sqrt(1 - CORRELATION**2) * rng.normal(size=400))
    intensity, spread = rng.uniform(2.0, 4.0, 10), rng.uniform(0.3, 0.7, 10)
    logs = intensity - speed[:, None] + spread * rng.normal(size=(400, 10))
    logs[rng.random(logs.shape) < 0.1] = np.nan
    long = drawn.wide.unpivot(index="subject", variable_name="item", value_name="correct")
    long = long.with_columns(rt=pl.Series(np.exp(logs).T.ravel()).fill_nan(None))
    return drawn, speed, intensity, logs, long


@pytest.fixture(scope="module")
def fitted(timed):
    table = read_responses(timed[4].drop("rt"))
    fit = fit_responses(table, options=FitOptions(checks=False))
    return fit, table, fit_times(fit, table, timed[4].rename({"rt": "seconds"}))


def test_times_speeds_and_their_correlation_are_found(timed, fitted):
    drawn, speed, intensity, _, _ = timed
    fit, _, times = fitted
    row = times.speed.row(0, named=True)
    assert row["correlation"] == pytest.approx(CORRELATION, abs=0.12) and row["low"] < CORRELATION < row["high"]
    assert row["sd"] == pytest.approx(SD, abs=0.05)
    assert np.abs(times.times["intensity"].to_numpy() - intensity).max() < 0.12
    inside = times.speeds.select(pl.lit(pl.Series(speed)).is_between(pl.col("low"), pl.col("high"))).to_series()
    assert 0.86 < inside.mean() < 0.94
    errors = [np.mean((one["ability"].to_numpy() - drawn.ability) ** 2) for one in (times.speeds, fit.subjects)]
    assert errors[0] < errors[1]
    assert times.speeds["subject"].to_list() == fit.subjects["subject"].to_list()


def test_the_likelihood_of_times_is_at_its_maximum(timed):
    """Against the multivariate normal density of each subject's log seconds."""
    logs = timed[3][:60]
    intensity, spread, sd, *_ = _climb(logs)

    def density(intensity, spread, sd):
        there = ~np.isnan(logs)
        return sum(
            stats.multivariate_normal(intensity[own], np.diag(spread[own] ** 2) + sd**2).logpdf(row[own])
            for row, own in zip(logs, there, strict=True)
        )

    best = density(intensity, spread, sd)
    for step in (-0.02, 0.02):
        assert density(intensity, spread, sd * (1 + step)) < best
        for item in (0, 7):
            moved = step * (np.arange(10) == item)
            assert density(intensity + moved, spread, sd) < best
            assert density(intensity, spread * (1 + moved), sd) < best


def test_ratings_have_times_and_bad_seconds_are_left_out(timed):
    rated = timed[4].with_columns(pl.when(pl.int_range(pl.len()) < 50).then(-1.0).otherwise("rt").alias("rt"))
    times = fit_times(fit_categories(rated.drop("rt")), None, rated.rename({"rt": "seconds"}))
    assert 0.2 < times.speed["correlation"][0] < 0.8
    assert times.times["n"].sum() < fit_times_count(timed)


def fit_times_count(timed):
    return int((~np.isnan(timed[3])).sum())


def test_times_need_subjects_and_a_row_per_answer(timed, fitted, tmp_path):
    fit, table, _ = fitted
    seconds = timed[4].rename({"rt": "seconds"})
    with pytest.raises(MensuraError, match="times: 10 subjects of the fit; expected 20 or more"):
        fit_times(fit, table, seconds.filter(pl.col("subject").is_in([f"s{k}" for k in range(10)])))
    timed[0].wide.write_csv(tmp_path / "wide.csv")
    with pytest.raises(MensuraError, match="has no row per answer; expected subject, item and rt"):
        read_times([tmp_path / "wide.csv"], "rt")


def test_a_command_writes_times_and_several_abilities_have_none(timed, mensura_command, tmp_path):
    timed[4].write_csv(tmp_path / "long.csv")
    words = ("responses", "fit", tmp_path / "long.csv", "--set", "times=rt")
    done = mensura_command(*words, "--out", tmp_path / "fit")
    assert done.code == 0, done.err
    assert "Speed and ability correlate by 0." in done.out
    assert {"times.csv", "speeds.csv", "speed.csv"} <= {path.name for path in (tmp_path / "fit").iterdir()}
    assert "--set times: of no use here" in mensura_command(*words, "--dimensions", "2").err
