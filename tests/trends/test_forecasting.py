from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from scipy.stats import foldnorm

from benchmarks.trends_backtest import backtest, monthly_origins, on_final_scale, summarise
from mensura.core.errors import MensuraError
from mensura.stitching import to_years
from mensura.trends import fit_line, forecast, frontier_line, read_capabilities
from mensura.trends.lines import draw_residuals, recent_releases
from mensura.trends.pace import FUTURES, draw_growth, simulate_frontier


def stream(n=120, pace=0.6, scatter=0.2, seed=0, years=4.0):
    """Releases that scatter about a line, over some years from 2022 on."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0, years, n))
    days = [date(2022, 1, 1) + timedelta(days=round(x * 365.25)) for x in t]
    values = pace * t + rng.normal(0, scatter, n)
    return pl.DataFrame({"subject": [f"s{i:03}" for i in range(n)], "released": days, "capability": values})


def test_published_forecast_is_the_line_through_the_records_with_the_error_of_its_mean():
    days = [date(2020 + i, 1, 1) for i in range(5)]
    frame = pl.DataFrame({"subject": list("abcde"), "released": days, "capability": [0.0, 0.6, 0.9, 1.6, 2.0]})
    result = forecast(frame, to=[date(2025, 1, 1)], method="rosetta", level=0.95)
    with pytest.raises(MensuraError, match="seed: method 'rosetta' does not use it"):
        forecast(frame, method="rosetta", seed=1)
    x = np.array([(day - days[0]).days for day in days])
    slope, intercept = np.polyfit(x, frame["capability"], 1)
    at = (date(2025, 1, 1) - days[0]).days
    sd = np.sqrt(np.sum((frame["capability"].to_numpy() - intercept - slope * x) ** 2) / 3)
    half = 3.182446 * sd * np.sqrt(1 / 5 + (at - x.mean()) ** 2 / np.sum((x - x.mean()) ** 2))
    assert result.table["capability"][0] == pytest.approx(intercept + slope * at)
    assert result.table["high"][0] - result.table["capability"][0] == pytest.approx(half, rel=1e-5)


def test_forecast_never_falls_below_the_record_and_widens():
    frame = stream()
    table = forecast(frame).table
    assert (table["low"] >= frame["capability"].max() - 1e-9).all()
    assert (table["high"] - table["low"]).is_sorted()
    assert table["capability"].is_sorted()


def test_forecast_is_repeatable_and_prints():
    frame = stream()
    assert forecast(frame, seed=3).table.equals(forecast(frame, seed=3).table)
    assert "a year" in str(forecast(frame))
    assert "<table" in forecast(frame)._repr_html_()


def test_draws_of_the_fit_widen_forecast_and_slope():
    frame = stream()
    rng = np.random.default_rng(1)
    pace = rng.normal(1, 0.2, 200)
    draws = pl.concat(
        frame.select("subject", draw=pl.lit(i), capability=pl.col("capability") * factor)
        for i, factor in enumerate(pace)
    )
    plain, drawn = forecast(frame), forecast(frame, draws=draws)
    width = lambda result: (result.table["high"] - result.table["low"])[-1]  # noqa: E731
    assert width(drawn) > 1.5 * width(plain)
    widths = [result.pace["high"] - result.pace["low"] for result in (drawn, plain)]
    assert (widths[0] > widths[1]).all()


@pytest.mark.slow
def test_intervals_cover_simulated_futures():
    covered = []
    for seed in range(60):
        frame = stream(n=150, seed=seed, years=5.0)
        past = frame.filter(pl.col("released") <= date(2026, 1, 1))
        years = (past["released"] - date(2022, 1, 1)).dt.total_days().to_numpy() / 365.25
        futures = simulate_frontier(years, past["capability"].to_numpy(), np.array([5.0]), np.random.default_rng(seed))
        low, high = np.quantile(futures, [0.05, 0.95])
        covered.append(low <= frame["capability"].max() <= high)
    assert 0.8 <= np.mean(covered) <= 1.0


@pytest.mark.parametrize(
    ("change", "message"), [({"method": "magic"}, "releases, rosetta"), ({"level": 1.0}, "got 1.0")]
)
def test_unknown_settings_are_refused(change, message):
    with pytest.raises(MensuraError, match=message):
        forecast(stream(), **change)


@pytest.mark.slow
def test_backtest_compares_each_forecast_with_what_came():
    result = backtest(stream(), horizons=(0.5, 1.0))
    row = result.table.row(0, named=True)
    frame = stream()
    assert row["actual"] == pytest.approx(frame.filter(pl.col("released") <= row["date"])["capability"].max())
    assert row["covered"] == (row["low"] <= row["actual"] <= row["high"])
    assert result.summary["horizon"].to_list() == [0.5, 1.0, None]
    assert result.summary["n"][-1] == result.table.height
    assert "coverage" in str(result)


def test_early_fits_are_put_on_the_final_scale():
    frame = stream()
    early = frame.with_columns(capability=5 + 2 * pl.col("capability"))
    draws = np.tile(early["capability"].to_numpy(), (3, 1)) + 2
    known, moved = on_final_scale(early, draws, frame)
    np.testing.assert_allclose(known["capability"], frame["capability"])
    np.testing.assert_allclose(moved, np.tile(frame["capability"].to_numpy(), (3, 1)) + 1)


def test_a_backtest_looks_a_quarter_half_and_whole_year_ahead():
    frame = stream()
    origin = frame["released"][frame.height // 2]
    assert backtest(frame, origins=[origin]).table["horizon"].round(2).to_list() == [0.25, 0.5, 1.0]


def test_backtest_needs_a_future():
    with pytest.raises(MensuraError, match="choose earlier origins"):
        backtest(stream(), origins=[date(2030, 1, 1)])


def line_of(n=32, sd=0.3, slope=0.5):
    """A line through n points whose residuals are +1 and −1, twice each in turn, times a number that gives this sd."""
    x = np.arange(n) / 4
    signs = np.tile([1.0, -1.0, -1.0, 1.0], n // 4)
    return fit_line(x, slope * x + sd * np.sqrt((n - 2) / n) * signs), signs


def test_residuals_keep_their_variance_and_are_smoothed_by_silvermans_width():
    line, signs = line_of()
    drawn = line.sd * draw_residuals(line, np.sqrt(30 / 32) * signs, (200_000,), np.random.default_rng(0))
    width = 1.06 / 2  # 32 to the power −1/5 is 1/2
    centre, around = 1 / np.sqrt(1 + width**2), width / np.sqrt(1 + width**2)
    assert drawn.std() == pytest.approx(line.sd, rel=0.01)
    assert np.abs(drawn).mean() == pytest.approx(line.sd * foldnorm.mean(centre / around, scale=around), rel=0.01)
    assert np.abs(drawn).std() == pytest.approx(line.sd * foldnorm.std(centre / around, scale=around), rel=0.02)


def test_growing_scatter_is_found_and_short_streams_claim_none():
    rng = np.random.default_rng(4)
    t = np.sort(rng.uniform(0, 4, 4000))
    for rate in (0.0, 0.3):
        grown = draw_growth(t, t + np.exp(rate * t) * rng.standard_normal(t.size), rng)
        assert grown.mean() == pytest.approx(rate, abs=0.05)
    few = t[::400]
    assert abs(draw_growth(few, few + rng.standard_normal(few.size), rng).mean()) < 0.1


def test_shocks_that_seasons_share_widen_the_forecast():
    """Releases of a quarter are better or worse together: the next quarters will be as well."""
    widths = []
    for seed in (8, 9, 10, 11):
        rng = np.random.default_rng(seed)
        t = np.sort(rng.uniform(0, 4, 160))
        own, season = 0.3 * rng.standard_normal(160), rng.standard_normal(16)[(4 * t).astype(int)]
        for off in (own, np.hypot(0.3, 0.3) / 0.3 * own, own + 0.3 * season):
            futures = simulate_frontier(t, 0.7 * t + off, np.array([5.0, 7.0]), np.random.default_rng(0))
            low, high = np.quantile(futures, [0.05, 0.95], axis=0)
            widths.append(high - low)
    calm, wider, shared = np.reshape(widths, (4, 3, 2)).transpose(1, 0, 2)
    assert (np.mean(shared / wider, axis=0) > 1.3).all()
    assert (wider > calm).all()


def test_without_scatter_the_frontier_is_the_line_at_the_last_release():
    """Releases come as a Poisson process: the last one lies ln 2 / rate before the end in the median."""
    years = np.linspace(0, 2, 21)[1:]
    futures = simulate_frontier(years, 0.7 * years, np.array([3.0, 4.0]), np.random.default_rng(2))
    rate = 20 / (years[-1] - years[0])
    assert np.median(futures, axis=0) == pytest.approx(0.7 * (np.array([3.0, 4.0]) - np.log(2) / rate), abs=0.003)


def test_only_the_last_three_years_count_unless_they_hold_fewer_than_ten():
    years = np.concatenate((np.linspace(0, 1.9, 30), np.linspace(2.1, 5, 20)))
    values = np.where(years < 2, 0.1 * years, 0.2 + 1.0 * (years - 2))
    ahead = np.array([6.0])
    assert np.median(simulate_frontier(years, values, ahead, np.random.default_rng(0))) == pytest.approx(4.2, abs=0.12)
    few = years[(years < 2) | (years > 4.3)]
    assert recent_releases(years).sum() == 20
    assert recent_releases(few).all()


def test_draws_carry_height_and_slope_of_the_fit_into_the_future():
    years = np.linspace(0, 2, 41)[1:]
    values = 0.5 * years
    draws = np.stack([3 + 2 * values, 3 + 2 * values])
    plain = simulate_frontier(years, values, np.array([3.0]), np.random.default_rng(5))
    moved = simulate_frontier(years, values, np.array([3.0]), np.random.default_rng(5), draws=draws)
    assert np.median(moved) == pytest.approx(3 + 2 * np.median(plain), abs=0.01)


def test_slope_of_the_records_takes_in_the_error_of_the_fit():
    days = [date(2020 + i, 1, 1) for i in range(5)]
    frame = pl.DataFrame({"subject": list("abcde"), "released": days, "capability": [0.0, 0.6, 0.9, 1.6, 2.0]})
    line = frontier_line(frame)
    years = (pl.Series(days) - days[0]).dt.total_days().to_numpy() / 365.25
    paces = np.random.default_rng(0).normal(0, 0.1, 300)
    draws = pl.concat(
        frame.select("subject", draw=pl.lit(i), capability=pl.col("capability") + pace * pl.Series(years))
        for i, pace in enumerate(paces)
    )
    name, slope, low, high, records, since = forecast(frame, draws=draws, level=0.8).pace.row(1)
    half = 1.637744 * np.hypot(line.slope_error, paces.std())
    assert (slope, low, high) == pytest.approx((line.slope, line.slope - half, line.slope + half), rel=1e-4)
    assert (name, records, since) == ("records", 5, days[0])


def test_summary_of_a_backtest_has_its_closed_forms():
    table = pl.DataFrame(
        {
            "horizon": [0.5, 0.5, 1.0],
            "expected": [1.0, 2.0, 3.0],
            "actual": [1.5, 1.0, 3.0],
            "low": [0.0, 1.5, 2.0],
            "high": [2.0, 2.5, 5.0],
            "covered": [True, False, True],
        }
    )
    half, one, both = summarise(table).to_dicts()
    assert half == {
        "horizon": 0.5,
        "n": 2,
        "error": 0.75,
        "rmse": pytest.approx(np.sqrt(0.625)),
        "bias": -0.25,
        "coverage": 0.5,
        "width": 1.5,
    }
    assert one["error"] == 0
    assert (both["n"], both["coverage"], both["bias"]) == (3, pytest.approx(2 / 3), pytest.approx(-1 / 6))


def test_origins_are_the_first_of_the_months_after_enough_is_known():
    frame = stream(n=30, scatter=0.0)
    origins = monthly_origins(read_capabilities(frame))
    known = frame.sort("released")["released"][14]
    assert origins[0] > known
    assert (origins[0] - known).days <= 31
    assert all(day.day == 1 for day in origins)
    assert origins[-1] < frame["released"].max()
    with pytest.raises(MensuraError, match="15 subjects and 3 records are needed"):
        monthly_origins(read_capabilities(stream(n=12)))


def test_a_forecast_is_the_median_and_the_central_interval_of_the_futures():
    frame = stream()
    found = forecast(frame, to=[date(2026, 7, 1), date(2027, 1, 1)], level=0.6, seed=4).table
    years, ahead = to_years(frame["released"]), to_years(found["date"])
    futures = simulate_frontier(years, frame["capability"].to_numpy(), ahead, np.random.default_rng(4))
    for name, share in (("low", 0.2), ("capability", 0.5), ("high", 0.8)):
        np.testing.assert_allclose(found[name], np.quantile(futures, share, axis=0))


def test_futures_simulated_a_few_at_a_time_are_those_of_the_same_world(monkeypatch):
    """Thousands of releases a year are simulated in parts: no array holds more, and the frontier is the same."""
    years = np.linspace(0, 2, 80)
    values, ahead = 0.7 * years + 0.3 * np.sin(40 * years), np.array([3.0, 4.0])
    whole = simulate_frontier(years, values, ahead, np.random.default_rng(0))
    monkeypatch.setattr("mensura.trends.pace._AT_ONCE", 20_000)
    parts = simulate_frontier(years, values, ahead, np.random.default_rng(0))
    assert parts.shape == whole.shape == (FUTURES, 2)
    np.testing.assert_allclose(*(np.quantile(one, [0.05, 0.5, 0.95], axis=0) for one in (parts, whole)), atol=0.05)


def test_a_day_beyond_all_forecasts_is_refused():
    days = [date(2023, 1, 1) + timedelta(days=60 * i) for i in range(14)]
    known = pl.DataFrame({"subject": [f"m{i}" for i in range(14)], "released": days, "capability": np.arange(14) / 5})
    with pytest.raises(MensuraError, match="to: 9999-12-31 is more than 30 years after the last release"):
        forecast(known, to=[date.max])
