"""How fast capability rises: the slope of all releases, and beside it that of the records, which is no pace.

The *pace* is the slope per year of the line about which the releases of the last three years scatter. Its interval
holds the error of the fit (draws of C, D and α), the scatter of the releases, and that neighbouring releases move
together (:mod:`mensura.trends.scatter`). The line through the *records* (best at release) rises faster than what is
released while records are few and young: the best of n draws climbs with n. It says what the frontier did, not how fast
capability rises, and its interval is about the line, not about the pace.
"""

from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

import numpy as np
import polars as pl
import scipy

from mensura.core.arguments import check_arguments
from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError, check_choice
from mensura.core.results import Result
from mensura.stitching import Stitch, to_date, to_years
from mensura.trends.capabilities import hand_over, read_with_draws
from mensura.trends.lines import (
    FEWEST_POINTS,
    WINDOW,
    draw_residuals,
    find_frontier,
    fit_line,
    frontier_line,
    recent_releases,
)
from mensura.trends.scatter import WARY, describe_bent, describe_growth, describe_steps

DRAWN, SEED = 4000, 0
"""Draws behind the interval of the pace."""
SCHEMA = {"line": pl.String, **dict.fromkeys(("slope", "low", "high"), pl.Float64), "n": pl.Int64, "since": pl.Date}
FEWEST_RELEASES = 5  # that a line and its scatter need

Row = tuple[str, float | None, float | None, float | None, int, date]


@dataclass(frozen=True, eq=False, repr=False)
class ReleasePace(Result):
    """``table``: ``line`` (releases: the pace; records), ``slope`` per year, ``low``, ``high``, ``n``, ``since``.

    ``since`` is the first release a line takes in, ``unit`` what one unit of capability is.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("table",)

    table: pl.DataFrame
    level: float
    unit: str

    @property
    def slope(self) -> float:
        """The pace: slope per year of all releases in the window."""
        return float(self.table["slope"][0])

    @property
    def interval(self) -> tuple[float, float]:
        """Where the pace lies with the probability ``level``."""
        return float(self.table["low"][0]), float(self.table["high"][0])

    @property
    def heading(self) -> str:
        """The pace first, then the line through the records, each called by its name."""
        of_all, records = self.table.to_dicts()
        low, high = self.interval
        first = (
            f"pace: the {of_all['n']} releases since {of_all['since']} gain {self.slope:.2f} a year "
            f"({low:.2f} to {high:.2f}, {self.level:.0%}), 1 being {self.unit}"
        )
        if records["slope"] is None:
            return first
        return f"{first}; the line through the {records['n']} records rises by {records['slope']:.2f} a year"


def measure_pace(capabilities: Any = None, *, draws: Any = None, level: float = 0.9) -> ReleasePace:
    """Measure the slope per year of all releases of the last three years, and that of the records beside it.

    Parameters
    ----------
    capabilities : fit, Evidence, table or None
        A fit, evidence (None: the embedded one), a table of scores, or one with subject, released, capability.
    draws : PositionDraws or table, optional
        Error of the capabilities: draws of the fit (a fit brings its own), or a table subject, draw, capability.
    level : float
        Probability of the intervals.

    Returns
    -------
    ReleasePace
        Slope per year with its interval, of the releases and of the records.

    Examples
    --------
    >>> from datetime import date
    >>> days = [date(2024 + month // 12, month % 12 + 1, 1) for month in range(24)]
    >>> models = {"subject": [f"m{at}" for at in range(24)], "released": days}
    >>> models |= {"capability": [at / 12 for at in range(24)]}
    >>> from mensura.trends import measure_pace
    >>> round(measure_pace(models).slope, 1)
    1.0

    """
    if not 0 < level < 1:
        raise MensuraError(f"level: must be between 0 and 1 (exclusive), got {level}")
    given = hand_over(capabilities)
    frame, matrix = read_with_draws(given, draws)
    unit = given.unit if isinstance(given, Stitch) else "the unit of the capabilities"
    return ReleasePace(pace_table(frame, matrix, level), level, unit)


def pace_table(frame: pl.DataFrame, draws: Floats | None, level: float) -> pl.DataFrame:
    """Slope per year of the releases and of the records, each with its interval, from checked capabilities."""
    years, values = to_years(frame["released"]), frame["capability"].to_numpy()
    return pl.DataFrame(
        [_of_releases(years, values if draws is None else draws, level), _of_records(frame, draws, level)],
        schema=SCHEMA,
        orient="row",
    )


def _of_releases(years: Floats, values: Floats, level: float) -> Row:
    """Median and central interval of the slope of the recent releases; empty where there is no line to speak of."""
    recent = recent_releases(years)
    t = years[recent]
    if t.size < FEWEST_RELEASES or t[-1] == t[0]:
        return "releases", None, None, None, t.size, to_date(t[0])
    posterior = describe_bent(t, np.atleast_2d(values)[:, recent], prior=WARY)
    paces = posterior.draw(DRAWN, np.random.default_rng(SEED)).pace
    low, middle, high = np.quantile(paces, [0.5 - level / 2, 0.5, 0.5 + level / 2])
    stepped = describe_steps(years, np.atleast_2d(values).mean(axis=0), recent)
    if stepped is not None:  # steps and changes of pace look alike: the interval contains both readings
        half = float(scipy.special.ndtri(0.5 + level / 2)) * stepped.error
        low, high = min(low, stepped.pace - half), max(high, stepped.pace + half)
    return "releases", float(middle), float(low), float(high), t.size, to_date(t[0])


def _of_records(frame: pl.DataFrame, draws: Floats | None, level: float) -> Row:
    """Slope of the line through the records (empty below three); draws add the error of the fit to that of the line."""
    frontier = find_frontier(frame)
    since: date = frontier["released"][0]
    if frontier.height < FEWEST_POINTS:
        return "records", None, None, None, frontier.height, since
    line = fit_line(to_years(frontier["released"]), frontier["capability"].to_numpy())
    error = line.slope_error
    if draws is not None:
        records = np.flatnonzero(frame["subject"].is_in(frontier["subject"].implode()).to_numpy())
        x = to_years(frame["released"])[records]
        x = x - x.mean()
        error = float(np.hypot(error, np.std(draws[:, records] @ x / (x @ x))))
    half = line.quantile(level) * error
    return "records", line.slope, line.slope - half, line.slope + half, line.n, since


# Where the frontier goes from here.
#
# The frontier is the running maximum of what gets released, so its future is simulated: releases keep coming at the
# recent rate, each on the line of the last three years (drawn with its error) plus a residual. Draws of the fit carry
# the error of C, D and α into the line and into today's frontier. ``method="rosetta"`` is the published forecast: a
# line through the records and, called a prediction interval there, the confidence interval of its mean.

METHODS = ("releases", "rosetta")
YEARS_AHEAD = (1, 2, 3)
FARTHEST = 30
"""Years after the last release for which a forecast is computed."""
SHORTEST_SPAN = 1 / 12
"""Releases within less than this many years say nothing about their rate."""
FUTURES = 4000
"""Simulated futures."""
_AT_ONCE = 2_000_000  # releases simulated at once, over all futures: sixteen megabytes
SEASON = 1 / 12
"""Years within which future releases share one shock."""

UNFORESEEN = (
    "Forecasts suppose that the pace goes on: no release so far shows a slowdown or a jump that comes later. "
    "Where half of the gain came in jumps, 90% intervals one, two and three years ahead contained the best model in "
    "85%/85%/85% of simulations."  # measured: trends.jumps_forecast
)


@dataclass(frozen=True, eq=False, repr=False)
class Forecast(Result):
    """The frontier ahead: ``table`` has ``date``, ``capability`` (median), ``low``, ``high``.

    ``pace`` holds the slope per year of all recent releases and, beside it, of the line through the records (``line``,
    ``slope``, ``low``, ``high``, ``n``, ``since``); ``frontier`` the records so far: ``subject``, ``released``,
    ``capability``.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("table", "pace", "frontier")

    method: str
    level: float
    table: pl.DataFrame
    pace: pl.DataFrame
    frontier: pl.DataFrame

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        slope, low, high = self.pace.row(0)[1:4]
        gain = (
            "" if slope is None else f"; releases gain {slope:.3f} a year ({low:.3f} to {high:.3f}, {self.level:.0%})"
        )
        return f"frontier: {self.frontier.height} records{gain}. {UNFORESEEN}"


@check_arguments
def forecast(
    capabilities: Any = None,
    *,
    to: list[date] | None = None,
    draws: Any = None,
    level: float = 0.9,
    method: str = "releases",
    seed: int = 0,
) -> Forecast:
    """Forecast the frontier, the best model of its time.

    Parameters
    ----------
    capabilities : fit, Evidence, table or None
        A fit, evidence (None: the embedded one), a table of scores, or one with subject, released, capability.
    to : list of date, optional
        Days to forecast (default: one, two and three years after the last release).
    draws : PositionDraws or table, optional
        Error of the capabilities: draws of the fit (a fit brings its own), or a table subject, draw, capability.
    level : float
        Probability of the intervals.
    method : {"releases", "rosetta"}
        Simulated releases, or the published line through the records.
    seed : int
        Seed of the simulation (releases only).

    Returns
    -------
    Forecast
        Median and interval of the frontier on each day, the pace, and the records so far.

    Examples
    --------
    >>> import mensura
    >>> from datetime import date
    >>> days = [date(2024 + month // 12, month % 12 + 1, 1) for month in range(24)]
    >>> models = {"subject": [f"m{at}" for at in range(24)], "released": days}
    >>> models |= {"capability": [at / 12 for at in range(24)]}
    >>> ahead = mensura.forecast(models, to=[date(2026, 12, 1)])
    >>> ahead.shown.columns
    ['date', 'capability', 'low', 'high']

    """
    check_choice("method", method, METHODS)
    if not 0 < level < 1:
        raise MensuraError(f"level: must be between 0 and 1 (exclusive), got {level}")
    if seed and method == "rosetta":
        raise MensuraError("seed: method 'rosetta' does not use it; leave it out, or choose releases")
    frame, matrix = read_with_draws(capabilities, draws)
    last = to_years(frame["released"])[-1]
    days = to or [to_date(last + ahead) for ahead in YEARS_AHEAD]
    if to_years(pl.Series(days, dtype=pl.Date)).max() - last > FARTHEST:
        raise MensuraError(
            f"to: {max(days)} is more than {FARTHEST} years after the last release; choose an earlier day"
        )
    table = forecast_known(frame, days, draws=matrix, level=level, method=method, seed=seed)
    return Forecast(method, level, table, pace_table(frame, matrix, level), find_frontier(frame))


def forecast_known(
    frame: pl.DataFrame, days: list[date], *, draws: Floats | None, level: float, method: str, seed: int
) -> pl.DataFrame:
    """Forecast from checked capabilities and draws in their order: ``date``, ``capability``, ``low``, ``high``."""
    years, values = to_years(frame["released"]), frame["capability"].to_numpy()
    ahead = to_years(pl.Series(days, dtype=pl.Date))
    if method == "rosetta":
        records = frontier_line(frame)
        median, half = records.at(ahead), records.quantile(level) * records.error_at(ahead)
        low, high = median - half, median + half
    else:
        futures = simulate_frontier(years, values, ahead, np.random.default_rng(seed), draws=draws)
        low, median, high = np.quantile(futures, [0.5 - level / 2, 0.5, 0.5 + level / 2], axis=0)
    return pl.DataFrame({"date": days, "capability": median, "low": low, "high": high})


def simulate_frontier(
    years: Floats, values: Floats, ahead: Floats, rng: np.random.Generator, *, draws: Floats | None = None
) -> Floats:
    """Simulate the frontier at the times ``ahead``, (futures, times), from releases sorted by ``years``.

    Releases of one season share shocks, as they did so far (:mod:`mensura.trends.scatter`), scatter grows or shrinks
    on, and steps go on where there were some. A release's own residual is drawn from the observed ones, smoothed, so
    that the best of many releases is not held at the best seen.
    """
    now, span = years[-1], max(float(ahead.max() - years[-1]), 1e-9)
    recent = recent_releases(years)
    t, y = years[recent], values[recent]
    line = fit_line(t, y)
    drawn = describe_bent(t, y, prior=WARY).draw(FUTURES, rng)
    heights, slopes = drawn.level, drawn.pace
    best = np.full(FUTURES, values.max())
    if draws is not None:
        picked, shift = rng.integers(0, draws.shape[0], FUTURES), draws[:, recent] - y
        heights = heights + shift.mean(axis=1)[picked]
        slopes = slopes + (shift @ (t - line.center) / line.spread)[picked]
        best = draws[picked, int(np.argmax(values))]
    counts = rng.poisson(line.n / max(now - t[0], SHORTEST_SPAN) * span, FUTURES)
    seasons = now + np.arange(int(np.ceil(span / SEASON)) + 1) * SEASON
    shocks, growth = drawn.shocks(seasons, rng), draw_growth(years, values, rng)
    if (stepped := describe_steps(years, values, recent)) is not None:  # half of the futures read the gains as steps
        read = stepped.pace + stepped.error * rng.standard_normal(FUTURES)
        steps = rng.random(FUTURES) < 0.5
        slopes = np.where(steps, read, slopes)
        heights = np.where(steps, stepped.level - read * (now - line.center), heights)
        shocks += np.sqrt(stepped.yearly * SEASON) * np.cumsum(rng.standard_normal(shocks.shape), axis=1)
    own = drawn.spread * np.sqrt(1 - drawn.share)
    most, residuals = max(int(counts.max()), 1), (y - line.at(t)) / (line.sd or 1.0)
    step, paths = max(1, _AT_ONCE // most), []
    for start in range(0, FUTURES, step):  # thousands of releases in each of all futures would fill a small computer
        some = slice(start, start + step)
        when = rng.uniform(0, span, (len(counts[some]), most))
        when = now + np.sort(np.where(np.arange(most) < counts[some, None], when, np.inf), axis=1)
        released = np.isfinite(when)
        at = np.where(released, when, now)
        path = heights[some, None] + slopes[some, None] * (at - line.center)
        off = own[some, None] * draw_residuals(line, residuals, when.shape, rng)
        off += np.take_along_axis(shocks[some], ((at - now) / SEASON).astype(np.int64), axis=1)
        path = np.where(released, path + off * np.exp(growth[some, None] * (at - line.center)), -np.inf)
        path = np.maximum.accumulate(np.concatenate([best[some, None], path], axis=1), axis=1)
        out_by = np.stack([np.count_nonzero(when <= day, axis=1) for day in ahead], axis=1)
        paths.append(np.take_along_axis(path, out_by, axis=1))
    return np.concatenate(paths)


def draw_growth(years: Floats, values: Floats, rng: np.random.Generator) -> Floats:
    """Draw by how much the scatter grows a year, as a logarithm, from twice the usual window."""
    longer = years > years[-1] - 2 * WINDOW
    t = years[longer]
    mean, error = describe_growth(t, values[longer] - fit_line(t, values[longer]).at(t))
    return np.asarray(mean + error * rng.standard_normal(FUTURES))
