from dataclasses import replace
from datetime import date

import numpy as np
import polars as pl
import pytest

from benchmarks.published_streams import PUBLISHED, make_stream, simulate_detection
from mensura.core.errors import MensuraError
from mensura.stitching import ScoreLayout, solve_rosetta, to_date
from mensura.trends import add_dates, watch_acceleration, watch_stream
from mensura.trends.kinks import KinkDesign, first_releases, read_stream
from mensura.trends.nulls import describe_null, refit_looks
from mensura.trends.watching import default_start, look_counts

SMALL = replace(PUBLISHED, models=90, benchmarks=30, evaluated=0.6)
CHANGE = 57.0


def as_table(stream):
    days = [to_date(year) for year in stream.years]
    return pl.DataFrame(
        {
            "subject": [f"m{i:03}" for i in stream.rows],
            "benchmark": [f"b{i:02}" for i in stream.cols],
            "score": stream.scores,
            "released": [days[i] for i in stream.rows],
        }
    )


def laid_out(stream):
    layout = ScoreLayout.of(stream.rows, stream.cols)
    return layout, look_counts(stream.years, CHANGE)


def test_looks_are_monthly_and_end_with_the_last_release():
    years = np.array([56.5, 57.01, 57.02, 57.03, 57.04, 57.2, 57.21, 57.9])
    assert look_counts(years, CHANGE).tolist() == [5, 7, 8]


def test_worlds_follow_the_set_up():
    stream = make_stream(PUBLISHED, np.random.default_rng(3))
    assert np.all(np.diff(stream.years) >= 0)
    assert np.all(np.diff(stream.rows) >= 0)
    assert stream.scores.max() <= 0.95
    pairs = PUBLISHED.models * PUBLISHED.benchmarks
    assert 0.02 < stream.scores.size / pairs < 0.25


def test_the_step_of_a_look_comes_to_the_fit_of_what_it_knows():
    stream = make_stream(SMALL, np.random.default_rng(4))
    layout, counts = laid_out(stream)
    found = refit_looks(layout, stream.scores, counts)
    known = (stream.rows < counts[:, None]).astype(float)
    penalty = 0.03 / (layout.n_subjects + 2 * layout.n_benchmarks)
    exact = solve_rosetta(layout, stream.scores, weights=known, penalty=penalty, start=found.whole, tolerance=1e-6)
    design = KinkDesign.of(stream.years, CHANGE, counts)
    one, both = design.statistics(found.C)[0], design.statistics(exact.C[None])[0]
    assert np.corrcoef(one, both)[0, 1] > 0.98
    assert np.abs(one - both).max() < 0.4
    assert np.all(found.C[0, 0, counts[0] :] == 0)


def test_the_last_look_is_one_more_newton_step_of_the_fit_of_everything():
    stream = make_stream(SMALL, np.random.default_rng(4))
    layout, counts = laid_out(stream)
    penalty = 0.03 / (layout.n_subjects + 2 * layout.n_benchmarks)
    sharp = solve_rosetta(layout, stream.scores, penalty=penalty, tolerance=1e-9)
    found = refit_looks(layout, stream.scores, counts, start=sharp)
    np.testing.assert_allclose(found.C[0, -1], sharp.C[0], atol=1e-6)


def test_worlds_without_change_have_the_pace_before_and_the_errors_of_the_fit():
    stream = make_stream(SMALL, np.random.default_rng(5), change=CHANGE, acceleration=3.0)
    layout, counts = laid_out(stream)
    fit = refit_looks(layout, stream.scores, counts).whole
    null = describe_null(stream, layout, fit, CHANGE)
    seen, failed = null.draw(100, counts, np.random.default_rng(0))
    assert seen.shape == (100, counts.size, stream.years.size)
    assert failed == 0
    before = stream.years <= CHANGE
    slopes = np.array([np.polyfit(stream.years, row, 1)[0] for row in seen[:, -1]])
    assert slopes.mean() == pytest.approx(np.polyfit(stream.years[before], fit.C[0][before], 1)[0], rel=0.2)
    certain = replace(null, scatter=replace(null.scatter, squares=1e-12 * null.scatter.squares))
    errors = certain.draw(100, counts, np.random.default_rng(0))[0][:, -1]
    spread = np.sqrt(np.mean(np.var(errors - errors.mean(axis=1, keepdims=True), axis=0)))
    assert spread == pytest.approx(np.sqrt(null.own_error), rel=0.5)
    lucky = replace(certain, residuals=np.array([0.0] * 19 + [0.3]))
    lifted = lucky.draw(40, counts, np.random.default_rng(0))[0][:, -1]
    assert np.mean((lifted - lifted.mean(axis=0)) ** 3) > 0, "a lucky score lifts the release that has it"


def test_a_look_with_a_unit_of_its_own_puts_no_scatter_of_the_data_into_the_worlds():
    stream = make_stream(SMALL, np.random.default_rng(5))
    layout, counts = laid_out(stream)
    fits = refit_looks(layout, stream.scores, counts)
    known = slice(0, counts[0])
    C = fits.whole.C[0, known]
    assert np.polyfit(C, fits.C[0, 0, known], 1)[0] > 1.2  # the first look's unit is another one
    null = describe_null(stream, layout, fits.whole, CHANGE)
    certain = replace(null, scatter=replace(null.scatter, squares=1e-12 * null.scatter.squares))
    errors = certain.draw(60, counts, np.random.default_rng(0))[0][:, 0, known].mean(axis=0)
    line = np.column_stack([np.ones(C.size), stream.years[known]])
    rest = [row - line @ np.linalg.lstsq(line, row, rcond=None)[0] for row in (C, errors)]
    assert abs(rest[1] @ rest[0] / (rest[0] @ rest[0])) < 0.05


def test_worlds_have_releases_as_surprising_as_the_data():
    stream = make_stream(SMALL, np.random.default_rng(5))
    layout, counts = laid_out(stream)
    fit = refit_looks(layout, stream.scores, counts).whole
    fit.C[0, 30] += 5 * fit.C[0].std()
    departures = describe_null(stream, layout, fit, CHANGE).departures
    assert np.argmax(departures) == 30
    assert departures[30] > 6
    assert (departures.mean(), departures.std()) == (pytest.approx(0, abs=1e-9), pytest.approx(1))


def test_watch_finds_a_strong_acceleration_and_says_when():
    stream = make_stream(SMALL, np.random.default_rng(6), change=CHANGE, acceleration=4.0)
    ticks = []
    result = watch_acceleration(as_table(stream), start=date(2027, 1, 1), streams=19, advance=lambda: ticks.append(1))
    assert result.alarm is not None
    assert date(2027, 1, 1) < result.alarm < date(2028, 7, 1)
    assert result.p_value == pytest.approx(0.05)
    assert result.ratio > 1.5
    assert len(ticks) == 19
    assert str(result).startswith("acceleration: alarm on 202")
    assert "all releases" in result.heading
    assert result.looks.columns == ["date", "subject", "statistic", "boundary", "alarm"]
    assert result.facts["slope_ratio"] == result.ratio


def test_a_watch_that_ends_later_has_spent_a_share_of_its_rate():
    table = as_table(first_releases(make_stream(SMALL, np.random.default_rng(7)), 60))
    last = table["released"].max()
    half = watch_acceleration(table, start=date(2027, 1, 1), until=date(2030, 1, 1), streams=39)
    elapsed = (last - date(2027, 1, 1)).days / (date(2030, 1, 1) - date(2027, 1, 1)).days
    assert half.plan.rate == pytest.approx(0.05 * elapsed, rel=1e-6)


def test_dates_may_come_in_a_table_of_their_own():
    table = as_table(make_stream(SMALL, np.random.default_rng(7)))
    dates = table.select("subject", "released").unique()
    one, two = read_stream(table), read_stream(add_dates(table.drop("released"), dates))
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


def test_a_watch_is_repeatable():
    stream = make_stream(SMALL, np.random.default_rng(9))
    one, two = (watch_stream(stream, CHANGE, streams=19, seed=3) for _ in range(2))
    assert one.looks.equals(two.looks)
    assert "all releases watched" in one.heading
    assert "5.0% false alarms over the watch" in one.heading, "unless another rate is asked for"


def test_a_stream_improves_faster_after_its_change():
    sharp = replace(PUBLISHED, scatter=0.0, score_error=0.0, jitter=0.0, evaluated=1.0, visible=(0.0, 1.0), models=50)
    stream = make_stream(sharp, np.random.default_rng(0), change=CHANGE, acceleration=3.0)
    first = np.array([stream.scores[(stream.rows == i) & (stream.cols == 7)][0] for i in range(50)])
    gain = np.gradient(np.log(first / (1 - first)), stream.years)
    before, after = np.median(gain[stream.years < 56.8]), np.median(gain[stream.years > 57.2])
    assert after / before == pytest.approx(3, rel=0.01)
    half = make_stream(sharp, np.random.default_rng(0), change=CHANGE, acceleration=3.0, share=0.0)
    assert np.array_equal(half.scores, make_stream(sharp, np.random.default_rng(0)).scores)


def test_noise_of_a_set_up_is_multiplied():
    loud = PUBLISHED.noisier(2.0)
    assert (loud.scatter, loud.jitter, loud.score_error) == (0.4, 0.4, 0.05)


def test_a_watch_starts_in_the_middle_unless_the_baseline_is_late():
    years = np.linspace(50, 60, 101)
    assert default_start(years) == pytest.approx(55)
    assert default_start(np.r_[50.0, np.linspace(58, 60, 40)]) == pytest.approx(58 + 18 * 2 / 39)


def test_simulated_accelerations_are_found_and_counted():
    found = simulate_detection((4.0,), runs=2, streams=19, model=SMALL)
    watch, rule = found.to_dicts()
    assert (watch["detector"], rule["detector"]) == ("watch", "published rule")
    assert watch["alarms"] == 1.0
    assert watch["error"] == 0.0
    assert 0 < watch["months"] < 18


def simulated_horizons(seed, change=1.0):
    """Horizons of 60 systems that double twice a year, from 2027 on ``change`` times as fast."""
    rng = np.random.default_rng(seed)
    years = np.linspace(54, 60, 60)
    doublings = 2 * (years - 54) + 2 * (change - 1) * np.maximum(years - CHANGE, 0) + rng.normal(0, 0.8, 60)
    minutes = 2**doublings
    rows = {"subject": [f"m{i:02}" for i in range(60)], "released": [to_date(year) for year in years]}
    return pl.DataFrame(rows | {"p50": minutes, "p50_low": minutes / 2, "p50_high": minutes * 2})


def test_the_watch_takes_horizons_with_their_errors():
    start = date(2027, 1, 1)
    faster = watch_acceleration(simulated_horizons(1, change=3.0), start=start, streams=39)
    assert faster.alarm is not None
    assert faster.ratio == pytest.approx(3, rel=0.4)
    alarms = [watch_acceleration(simulated_horizons(seed), start=start, streams=39).alarm for seed in range(8)]
    assert sum(alarm is not None for alarm in alarms) <= 1, "without a change of pace there are few alarms"


def test_horizons_of_several_suites_count_over_all_of_them():
    table = simulated_horizons(1)
    both = pl.concat(
        [table.with_columns(suite=pl.lit("all")), table.with_columns(pl.col("p50") * 9, suite=pl.lit("x"))]
    )
    one, two = (watch_acceleration(source, start=date(2027, 1, 1), streams=19) for source in (table, both))
    assert one.looks.equals(two.looks)
    with pytest.raises(MensuraError, match="one row per subject"):
        watch_acceleration(pl.concat([table, table]), start=date(2027, 1, 1), streams=19)
