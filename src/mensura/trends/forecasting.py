"""Where the frontier goes from here, with intervals that mean what they say.

The default looks at every release. Releases of the last two years scatter about a line; the frontier is the running
maximum of what gets released; so its future is simulated: releases keep coming at the recent rate, each lies on the
line (whose coefficients are drawn with their error) plus a residual drawn from the observed ones, and the frontier is
the best so far. Draws of the fit, where given, carry the error of C, D and α into the line and into today's frontier.

``method="rosetta"`` is the published forecast: a line through the records and, called a prediction interval there,
the confidence interval of its mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import polars as pl

from mensura.errors import MensuraError
from mensura.frames import text_table
from mensura.trends.frontier import find_frontier, read_capabilities, read_draws, to_date, to_years
from mensura.trends.lines import Floats, fit_line

METHODS = ("releases", "rosetta")
WINDOW = 2.0
"""Years of releases the line is fitted to; fewer than 10 in the window: all of them."""
FUTURES = 4000
"""Simulated futures."""


@dataclass(frozen=True)
class Forecast:
    """The frontier ahead: ``table`` has ``date``, ``capability`` (median), ``low``, ``high``; ``slope`` is per year."""

    method: str
    level: float
    table: pl.DataFrame
    slope: pl.DataFrame
    frontier: pl.DataFrame

    def __str__(self) -> str:
        slope, low, high = self.slope.row(0)[:3]
        pace = "" if slope is None else f", {slope:.3f} a year ({low:.3f} to {high:.3f}, {self.level:.0%})"
        return f"frontier: {self.frontier.height} records{pace}\n{text_table(self.table)}"

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


def forecast(
    capabilities: Any,  # noqa: ANN401
    *,
    to: list[date] | None = None,
    draws: Any = None,  # noqa: ANN401
    level: float = 0.9,
    method: str = "releases",
    seed: int = 0,
) -> Forecast:
    """Forecast the frontier on the days ``to`` (default: one, two and three years after the last release).

    ``capabilities`` has ``subject``, ``released``, ``capability``; ``draws`` (``subject``, ``draw``, ``capability``)
    comes from a bootstrap or Laplace draw of the fit.
    """
    if method not in METHODS:
        raise MensuraError(f"method: {method!r} is not known; choose one of {', '.join(METHODS)}")
    if not 0 < level < 1:
        raise MensuraError(f"level: must be between 0 and 1 (exclusive), got {level}")
    frame = read_capabilities(capabilities)
    years, values = to_years(frame["released"]), frame["capability"].to_numpy()
    days = to or [to_date(years[-1] + ahead) for ahead in (1, 2, 3)]
    ahead = to_years(pl.Series(days, dtype=pl.Date))
    matrix = None if draws is None else read_draws(draws, frame["subject"])
    frontier = find_frontier(frame)
    if method == "rosetta":
        records = fit_line(to_years(frontier["released"]), frontier["capability"].to_numpy())
        median, half = records.at(ahead), records.quantile(level) * records.error_at(ahead)
        low, high = median - half, median + half
    else:
        futures = simulate_frontier(years, values, ahead, np.random.default_rng(seed), draws=matrix)
        low, median, high = np.quantile(futures, [0.5 - level / 2, 0.5, 0.5 + level / 2], axis=0)
    table = pl.DataFrame({"date": days, "capability": median, "low": low, "high": high})
    return Forecast(method, level, table, _slope_table(frame, frontier, matrix, level), frontier)


def simulate_frontier(
    years: Floats, values: Floats, ahead: Floats, rng: np.random.Generator, *, draws: Floats | None = None
) -> Floats:
    """Simulate the frontier at the times ``ahead``, (futures, times), from releases sorted by ``years``.

    A residual is drawn from the observed ones with a little Gaussian smoothing (Silverman's width, variance kept), so
    that the best of many releases is not held at the best seen.
    """
    now = years[-1]
    recent = years > now - WINDOW
    if np.count_nonzero(recent) < 10:
        recent = np.ones(years.size, dtype=bool)
    line = fit_line(years[recent], values[recent])
    residuals = (values[recent] - line.at(years[recent])) * np.sqrt(line.n / line.freedom)
    heights, slopes, best = _lines(line.height, line.slope, float(values.max()), years, recent, values, draws, rng)
    stretch = np.sqrt(line.freedom / rng.chisquare(line.freedom, FUTURES)) * line.sd
    heights = heights + stretch * rng.standard_normal(FUTURES) / np.sqrt(line.n)
    slopes = slopes + stretch * rng.standard_normal(FUTURES) / np.sqrt(line.spread)
    span = max(float(ahead.max() - now), 1e-9)
    counts = rng.poisson(line.n / max(now - years[recent][0], 1 / 12) * span, FUTURES)
    when = rng.uniform(0, span, (FUTURES, max(int(counts.max()), 1)))
    when = now + np.sort(np.where(np.arange(when.shape[1]) < counts[:, None], when, np.inf), axis=1)
    released = np.isfinite(when)
    width = 1.06 * line.sd * line.n**-0.2
    noise = rng.choice(residuals, when.shape) + width * rng.standard_normal(when.shape)
    noise /= np.sqrt(1 + (width / max(line.sd, 1e-12)) ** 2)
    path = heights[:, None] + slopes[:, None] * (np.where(released, when, now) - line.center) + noise
    path = np.maximum(np.maximum.accumulate(np.where(released, path, -np.inf), axis=1), best[:, None])
    path = np.concatenate([best[:, None], path], axis=1)
    known = (when[:, :, None] <= ahead).sum(axis=1)
    return np.take_along_axis(path, known, axis=1)


def _lines(
    height: float,
    slope: float,
    best: float,
    years: Floats,
    recent: np.ndarray,
    values: Floats,
    draws: Floats | None,
    rng: np.random.Generator,
) -> tuple[Floats, Floats, Floats]:
    """Height, slope and today's record for every future: the point estimates, or those of a random draw of the fit."""
    if draws is None:
        ones = np.ones(FUTURES)
        return height * ones, slope * ones, best * ones
    picked = draws[rng.integers(0, draws.shape[0], FUTURES)]
    x = years[recent] - years[recent].mean()
    shift = picked[:, recent] - values[recent]
    shift_slope = shift @ x / (x @ x)
    holder = int(np.argmax(values))
    return height + shift.mean(axis=1), slope + shift_slope, picked[:, holder]


def _slope_table(frame: pl.DataFrame, frontier: pl.DataFrame, draws: Floats | None, level: float) -> pl.DataFrame:
    """Slope of the line through the records (empty below three); draws add the error of the fit to that of the line."""
    if frontier.height < 3:
        names = ("slope", "low", "high", "r_squared")
        empty = [pl.lit(None, dtype=pl.Float64).alias(name) for name in names]
        return pl.select(*empty, records=pl.lit(frontier.height))
    line = fit_line(to_years(frontier["released"]), frontier["capability"].to_numpy())
    error = line.slope_error
    if draws is not None:
        held = np.flatnonzero(frame["subject"].is_in(frontier["subject"].implode()).to_numpy())
        x = to_years(frame["released"])[held]
        x = x - x.mean()
        error = float(np.hypot(error, np.std(draws[:, held] @ x / (x @ x))))
    half = line.quantile(level) * error
    return pl.DataFrame(
        {
            "slope": [line.slope],
            "low": [line.slope - half],
            "high": [line.slope + half],
            "r_squared": [line.r_squared],
            "records": [line.n],
        }
    )
