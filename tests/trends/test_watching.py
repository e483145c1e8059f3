from dataclasses import replace
from datetime import date

import numpy as np
import polars as pl
import pytest

from mensura.errors import MensuraError
from mensura.stitching import to_date
from mensura.trends import PUBLISHED, fit_stream, make_stream, watch_acceleration
from mensura.trends.kinks import KinkDesign
from mensura.trends.streams import refit_by_look
from mensura.trends.watching import WatchPath, _default_start, calibrate, first_releases, follow, read_stream

SMALL = replace(PUBLISHED, models=90, benchmarks=30, evaluated=0.6)


def as_table(stream):
    days = [to_date(year - 1970) for year in stream.years]
    return pl.DataFrame(
        {
            "subject": [f"m{i:03}" for i in stream.rows],
            "benchmark": [f"b{i:02}" for i in stream.cols],
            "score": stream.scores,
            "released": [days[i] for i in stream.rows],
        }
    )


def naive_statistic(t, y, start, candidates=12):
    """Largest t value of a kink over candidate breaks, by plain regression."""
    best = None
    for k in start + np.arange(candidates) / candidates * (t[-1] - start):
        x = np.column_stack([np.ones_like(t), t, np.maximum(t - k, 0)])
        beta = np.linalg.lstsq(x, y, rcond=None)[0]
        rest = y - x @ beta
        value = beta[2] / np.sqrt(rest @ rest / (t.size - 3) * np.linalg.inv(x.T @ x)[2, 2])
        best = value if best is None else max(best, value)
    return best


def test_statistic_agrees_with_regression_at_every_look():
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 6, 60))
    y = 0.5 * t + rng.normal(0, 0.2, 60)
    design = KinkDesign.of(t, 3.0)
    found = design.statistics(y[None])[0]
    for look in (2, 10, -1):
        n = design.counts[look]
        assert found[look] == pytest.approx(naive_statistic(t[:n], y[:n], 3.0), rel=1e-6)
    each = design.statistics_by_look(np.repeat(y[None], design.counts.size, axis=0))
    assert np.allclose(each, found)


def test_statistic_ignores_unit_and_zero_of_the_scale():
    rng = np.random.default_rng(1)
    t, y = np.sort(rng.uniform(0, 6, 50)), rng.normal(0, 1, 50)
    design = KinkDesign.of(t, 3.0)
    assert np.allclose(design.statistics(y[None]), design.statistics(7 + 3 * y[None]))


def test_threshold_is_passed_by_the_share_asked_for():
    rng = np.random.default_rng(2)
    years = np.linspace(2027.1, 2030, 30)
    paths = [WatchPath(years, np.arange(30), rng.normal(0, 1, 30).cumsum() / 3, (1.0, 1.0)) for _ in range(399)]
    plan = calibrate(paths, 2027.0, 2030.0, rate=0.05)
    alarms = [(plan.standardise(path.years, path.statistics) > plan.threshold).any() for path in paths]
    assert np.mean(alarms) == pytest.approx(0.05, abs=0.005)


def test_worlds_follow_the_set_up():
    stream = make_stream(PUBLISHED, np.random.default_rng(3))
    assert np.all(np.diff(stream.years) >= 0)
    assert np.all(np.diff(stream.rows) >= 0)
    assert stream.scores.max() <= 0.95
    pairs = PUBLISHED.models * PUBLISHED.benchmarks
    assert 0.02 < stream.scores.size / pairs < 0.25


def test_refits_of_a_look_know_nothing_of_later_releases():
    stream = make_stream(SMALL, np.random.default_rng(4))
    counts = np.array([40, stream.years.size])
    both, converged = refit_by_look(stream, counts)
    assert converged.all()
    assert np.all(both[0, 40:] == 0)
    shuffled = replace(stream, scores=np.where(stream.rows < 40, stream.scores, 0.5))
    again, _ = refit_by_look(shuffled, counts)
    assert np.allclose(both[0, :40], again[0, :40], atol=0.02)


def test_a_fitted_world_resembles_its_own():
    stream = make_stream(PUBLISHED, np.random.default_rng(5))
    fitted = fit_stream(first_releases(stream, int(np.count_nonzero(stream.years <= 2027))), 2030.0)
    assert fitted.scatter / fitted.pace == pytest.approx(0.2 / PUBLISHED.pace, rel=0.3)
    assert fitted.models == pytest.approx(180, rel=0.2)
    assert fitted.score_error == pytest.approx(0.025, rel=0.4)


def test_watch_finds_a_strong_acceleration_and_says_when():
    stream = make_stream(SMALL, np.random.default_rng(6), change=2027.0, acceleration=4.0)
    ticks = []
    result = watch_acceleration(as_table(stream), start=date(2027, 1, 1), streams=19, advance=lambda: ticks.append(1))
    assert result.alarm is not None
    assert date(2027, 1, 1) < result.alarm < date(2028, 1, 1)
    assert result.p_value == pytest.approx(0.05)
    assert result.ratio > 1.5
    assert len(ticks) == 19
    assert str(result).startswith("acceleration: alarm on 2027")
    assert result.looks.columns == ["date", "subject", "statistic", "boundary", "alarm"]


def test_dates_may_come_in_a_table_of_their_own():
    table = as_table(make_stream(SMALL, np.random.default_rng(7)))
    dates = table.select("subject", "released").unique()
    one, two = read_stream(table, None), read_stream(table.drop("released"), dates)
    assert one[1] == two[1]
    assert all(
        np.array_equal(getattr(one[0], name), getattr(two[0], name)) for name in ("years", "rows", "cols", "scores")
    )


def test_a_watch_that_cannot_be_planned_is_refused():
    table = as_table(make_stream(SMALL, np.random.default_rng(8)))
    with pytest.raises(MensuraError, match="choose another start"):
        watch_acceleration(table, start=date(2024, 2, 1))
    with pytest.raises(MensuraError, match="must be at least 1"):
        watch_acceleration(table, streams=5)


def test_following_is_deterministic():
    stream = make_stream(SMALL, np.random.default_rng(9))
    assert np.array_equal(follow(stream, 2027.0).statistics, follow(stream, 2027.0).statistics)


def test_a_stream_that_was_all_seen_is_described_as_it_was_made():
    """The published set-up, in units of a year of progress: the zero and the unit of the fitted scale are free."""
    stream = make_stream(PUBLISHED, np.random.default_rng(6))
    found, longer = fit_stream(stream, 2030.0), fit_stream(stream, 2036.0)
    assert found.evaluated == pytest.approx(0.25, rel=0.2)
    assert found.benchmarks == pytest.approx(60, abs=4)
    assert found.visible[0] < 0.05
    assert found.visible[1] == 0.95
    assert (found.hardest - found.easiest) / found.pace == pytest.approx(6, rel=0.1)
    assert (found.easiest - found.level) / found.pace == pytest.approx(0.5 / PUBLISHED.pace, abs=0.35)
    assert np.median(found.slopes) * found.pace == pytest.approx(6.5 * PUBLISHED.pace, rel=0.15)
    assert longer.models == pytest.approx(2 * found.models, rel=0.05)
    assert longer.benchmarks == pytest.approx(2 * found.benchmarks, rel=0.05)
    assert (longer.hardest - longer.level) / longer.pace == pytest.approx(12 + 0.5 / PUBLISHED.pace, rel=0.06)
    assert found.warnings == ()


def test_a_stream_improves_faster_after_its_change():
    sharp = replace(PUBLISHED, scatter=0.0, score_error=0.0, jitter=0.0, evaluated=1.0, visible=(0.0, 1.0), models=50)
    stream = make_stream(sharp, np.random.default_rng(0), change=2027.0, acceleration=3.0)
    first = np.array([stream.scores[(stream.rows == i) & (stream.cols == 7)][0] for i in range(50)])
    gain = np.gradient(np.log(first / (1 - first)), stream.years)
    before, after = np.median(gain[stream.years < 2026.8]), np.median(gain[stream.years > 2027.2])
    assert after / before == pytest.approx(3, rel=0.01)
    half = make_stream(sharp, np.random.default_rng(0), change=2027.0, acceleration=3.0, share=0.0)
    assert np.array_equal(half.scores, make_stream(sharp, np.random.default_rng(0)).scores)


def test_noise_of_a_set_up_is_multiplied():
    loud = PUBLISHED.noisier(2.0)
    assert (loud.scatter, loud.jitter, loud.score_error) == (0.4, 0.4, 0.05)


def test_p_value_is_the_share_of_quiet_watches_that_come_as_far():
    elapsed = 3 * np.linspace(0, 1, 31) ** 2
    years = 2027 + elapsed
    paths = [WatchPath(years, np.arange(31), i + 2 * elapsed, (1.0, 1.0)) for i in range(19)]
    plan = calibrate(paths, 2027.0, 2030.0, rate=0.1)
    assert plan.threshold == pytest.approx(plan.peaks[-2])
    scaled = plan.standardise(years, paths[9].statistics)
    np.testing.assert_allclose(scaled, 0, atol=1e-9)
    top = plan.standardise(years, paths[18].statistics)
    np.testing.assert_allclose(top, 9 / np.std(np.arange(19), ddof=1))
    assert (plan.table["boundary"] - plan.mean).to_list() == pytest.approx(list(plan.threshold * plan.spread))


def test_a_watch_starts_in_the_middle_unless_the_baseline_is_late():
    years = np.linspace(2020, 2030, 101)
    assert _default_start(years) == pytest.approx(2025)
    assert _default_start(np.r_[2020.0, np.linspace(2028, 2030, 40)]) == pytest.approx(2028 + 18 * 2 / 39)
