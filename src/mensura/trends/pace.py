"""How fast capability rises: the slope of all releases, and beside it that of the records, which is no pace.

The *pace* is the slope per year of the line about which the releases of the last three years scatter. Its interval
holds the error of the fit (draws of C, D and α), the scatter of the releases, and that neighbouring releases move
together (:mod:`mensura.trends.scatter`). The line through the *records* (best at release) rises faster than what is
released while records are few and young: the best of n draws climbs with n. It says what the frontier did, not how fast
capability rises, and its interval is about the line, not about the pace.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Mask
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.stitching import Stitch, to_date, to_years
from mensura.trends.capabilities import hand_over, read_with_draws
from mensura.trends.lines import FEWEST_POINTS, find_frontier, fit_line
from mensura.trends.scatter import WARY, describe_bent

WINDOW, FEWEST_RECENT = 3.0, 10
"""Years of releases the line is fitted to, and how many there must be; fewer: all releases are used. Two years would
say too little of the pace before a bend, so that bends are missed (``benchmarks/trends_shocks.py``)."""
DRAWN = 4000
"""Draws behind the interval of the pace."""
SEED = 0
NUMBERS = dict.fromkeys(("slope", "low", "high"), pl.Float64)
SCHEMA = {"line": pl.String, **NUMBERS, "n": pl.Int64, "since": pl.Date}
FEWEST_RELEASES = 5
"""A line and its scatter need so many."""


Row = tuple[str, float | None, float | None, float | None, int, date]
"""A row of the table of paces."""


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


def measure_pace(
    capabilities: Any = None,  # noqa: ANN401
    *,
    draws: Any = None,  # noqa: ANN401
    level: float = 0.9,
) -> ReleasePace:
    """Measure the slope per year of all releases of the last three years, and that of the records beside it.

    ``capabilities`` and ``draws`` are what :func:`mensura.trends.forecast` takes. Evidence and scores are fitted.
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


def recent_releases(years: Floats) -> Mask:
    """Mark the releases of the last three years, or all where those are too few."""
    recent = years > years[-1] - WINDOW
    return recent if np.count_nonzero(recent) >= FEWEST_RECENT else np.ones(years.size, dtype=bool)


def _of_releases(years: Floats, values: Floats, level: float) -> Row:
    """Median and central interval of the slope of the recent releases; empty where there is no line to speak of."""
    recent = recent_releases(years)
    t = years[recent]
    if t.size < FEWEST_RELEASES or t[-1] == t[0]:
        return "releases", None, None, None, t.size, to_date(t[0])
    posterior = describe_bent(t, np.atleast_2d(values)[:, recent], prior=WARY)
    paces = posterior.draw(DRAWN, np.random.default_rng(SEED)).pace
    low, middle, high = np.quantile(paces, [0.5 - level / 2, 0.5, 0.5 + level / 2])
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
        held = np.flatnonzero(frame["subject"].is_in(frontier["subject"].implode()).to_numpy())
        x = to_years(frame["released"])[held]
        x = x - x.mean()
        error = float(np.hypot(error, np.std(draws[:, held] @ x / (x @ x))))
    half = line.quantile(level) * error
    return "records", line.slope, line.slope - half, line.slope + half, line.n, since
