from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

from mensura.errors import MensuraError
from mensura.trends import backtest, forecast
from mensura.trends.forecasting import simulate_frontier


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
    assert (drawn.slope["high"] - drawn.slope["low"])[0] > (plain.slope["high"] - plain.slope["low"])[0]


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


def test_backtest_compares_each_forecast_with_what_came():
    result = backtest(stream(), horizons=(0.5, 1.0))
    row = result.table.row(0, named=True)
    frame = stream()
    assert row["actual"] == pytest.approx(frame.filter(pl.col("released") <= row["date"])["capability"].max())
    assert row["covered"] == (row["low"] <= row["actual"] <= row["high"])
    assert result.summary["horizon"].to_list() == [0.5, 1.0, None]
    assert result.summary["n"][-1] == result.table.height
    assert "coverage" in str(result)


def test_backtest_puts_early_fits_on_the_final_scale():
    frame = stream()
    origin = date(2025, 1, 1)
    early = frame.filter(pl.col("released") <= origin).with_columns(capability=5 + 2 * pl.col("capability"))
    moved = backtest(frame, origins=[origin], fits={origin: early})
    plain = backtest(frame, origins=[origin])
    assert moved.table["expected"].to_list() == pytest.approx(plain.table["expected"].to_list())


def test_backtest_needs_a_future():
    with pytest.raises(MensuraError, match="choose earlier origins"):
        backtest(stream(), origins=[date(2030, 1, 1)])
