"""Two-piece lines: the published break of the frontier, and the slope ratio at a chosen release."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, just_above
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.stitching import to_date, to_years
from mensura.trends.capabilities import read_with_draws
from mensura.trends.lines import find_frontier
from mensura.trends.scatter import WARY, describe_scatter

MARGIN = 0.1
"""A bend is looked for this share of the time span away from both ends."""


@dataclass(frozen=True, eq=False, repr=False)
class Break(Result):
    """A continuous two-piece line: where it bends, its slopes per year and how well it fits.

    ``table``: date, before, after, ratio, r_squared.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("table",)

    when: float
    before: float
    after: float
    r_squared: float
    level: float
    """Value at the bend."""

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        return f"two-piece line: {self.before:.3g} a year, from {self.date} on {self.after:.3g} (×{self.ratio:.2f})"

    @property
    def table(self) -> pl.DataFrame:
        """One row: date, before, after, ratio, r_squared."""
        names = ("date", "before", "after", "ratio", "r_squared")
        return pl.DataFrame({name: [getattr(self, name)] for name in names})

    @property
    def date(self) -> date:
        """Day of the bend."""
        return to_date(self.when)

    @property
    def ratio(self) -> float:
        """Slope after the bend over slope before it."""
        return self.after / self.before

    def path(self, released: pl.Series) -> pl.DataFrame:
        """Return the line over the given days, as its ends and its bend: released, value."""
        days = pl.Series("released", [released.min(), self.date, released.max()], dtype=pl.Date)
        years = to_years(days) - self.when
        slopes = np.where(years > 0, self.after, self.before)
        return pl.DataFrame({"released": days, "value": self.level + slopes * years})


def find_break(capabilities: Any = None) -> Break:  # noqa: ANN401
    """Find the best continuous two-piece line through the frontier.

    Parameters
    ----------
    capabilities : fit, Evidence, table or None
        A fit, evidence (None: the embedded one), a table of scores, or one with subject, released, capability.

    Returns
    -------
    Break
        Where the line bends, inside the middle 80% of the time span, and its slopes. The published analysis calls an
        acceleration if their ratio is at least 1.5.

    Examples
    --------
    >>> from datetime import date
    >>> days = [date(2024 + month // 12, month % 12 + 1, 1) for month in range(24)]
    >>> models = {"subject": [f"m{at}" for at in range(24)], "released": days}
    >>> models |= {"capability": [at / 12 for at in range(24)]}
    >>> from mensura.trends import find_break
    >>> round(find_break(models).ratio, 1)
    1.0

    """
    frontier = find_frontier(capabilities)
    return best_break(to_years(frontier["released"]), frontier["capability"].to_numpy())


def best_break(x: Floats, y: Floats) -> Break:
    """Minimise the squares of y about a continuous two-piece line in x (sorted), bending in the middle 80%."""
    span = x[-1] - x[0]
    low, high = x[0] + MARGIN * span, x[-1] - MARGIN * span
    bends = [low, high, *x[(x > low) & (x < high)], *_meetings(x, y, low, high)]
    fits = [_hinge(x, y, bend) for bend in bends]
    return max(fits, key=lambda fit: fit.r_squared)


def _meetings(x: Floats, y: Floats, low: float, high: float) -> list[float]:
    """Where the line through the first points meets the line through the rest, if that is between the two parts."""
    candidates = []
    for n in range(2, x.size - 1):
        if x[n] == x[n - 1] or np.ptp(x[:n]) == 0 or np.ptp(x[n:]) == 0:
            continue
        left, right = np.polyfit(x[:n] - x[0], y[:n], 1), np.polyfit(x[n:] - x[0], y[n:], 1)
        if left[0] != right[0]:
            meeting = x[0] + (left[1] - right[1]) / (right[0] - left[0])
            if max(x[n - 1], low) <= meeting <= min(x[n], high):
                candidates.append(float(meeting))
    return candidates


def _hinge(x: Floats, y: Floats, bend: float) -> Break:
    """Least squares with a given bend."""
    design = np.column_stack([np.ones_like(x), x - bend, np.maximum(x - bend, 0)])
    solution = np.linalg.lstsq(design, y, rcond=None)[0]
    squares = np.sum((y - design @ solution) ** 2)
    total = np.sum((y - y.mean()) ** 2)
    r_squared = 1 - float(squares / total) if total > just_above(0.0) else 1.0
    return Break(float(bend), float(solution[1]), float(solution[1] + solution[2]), r_squared, float(solution[0]))


# The slope ratio at a chosen break, as risk reports quote it: pace after a release over pace before it.
#
# All releases scatter about a line that bends at the release of one model; neighbouring releases share shocks
# (:mod:`mensura.trends.scatter`). Whoever looks at many releases and quotes the one with the largest ratio finds an
# acceleration too often. So the false-alarm rates of both readings come along, from streams simulated without a
# change of pace: that the chosen break reads as faster, and that any candidate does.

LEVEL = 0.9
DRAWN, STREAMS = 2000, 200
"""Draws behind each interval, and streams without change behind the false-alarm rates."""
FEWEST = 5
"""Releases on either side of a break."""


@dataclass(frozen=True, eq=False, repr=False)
class SlopeRatios(Result):
    """``table``: subject, released, before, after (slopes a year), ratio, low, high, faster; the chosen break first.

    ``faster`` is the probability that the pace is higher after the break. A break reads as an acceleration where the
    interval of the ratio lies above 1. ``chosen_alarms`` is the share of streams without a change in which the chosen
    break reads so, ``any_alarms`` the share in which any candidate does.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("table",)

    table: pl.DataFrame
    chosen_alarms: float
    any_alarms: float

    @property
    def heading(self) -> str:
        """The ratio at the chosen break, and how often such a reading is wrong."""
        row = self.table.row(0, named=True)
        when = f"from {row['subject']} ({row['released']}) on, releases gain"
        alarms = (
            f"without a change, this break reads as an acceleration in {self.chosen_alarms:.0%} of streams, and the "
            f"best of {self.table.height} candidates in {self.any_alarms:.0%}"
        )
        if math.isinf(row["high"]):
            return (
                f"{when} {row['after']:.2f} a year, {row['before']:.2f} before; the pace before may be 0, so their "
                f"ratio has no upper bound; {alarms}"
            )
        return (
            f"{when} {row['ratio']:.2f} times as much a year as before ({row['low']:.2f} to {row['high']:.2f}, "
            f"{LEVEL:.0%}); {alarms}"
        )


def slope_ratios(
    capabilities: Any = None,  # noqa: ANN401
    *,
    at: str | None = None,
    draws: Any = None,  # noqa: ANN401
    streams: int = STREAMS,
    seed: int = 0,
) -> SlopeRatios:
    """Measure the slope ratio at a chosen release and at every record.

    Parameters
    ----------
    capabilities : fit, Evidence, table or None
        A fit, evidence (None: the embedded one), a table of scores, or one with subject, released, capability.
    at : str, optional
        The release (default: where the ratio is largest).
    draws : PositionDraws or table, optional
        Error of the capabilities: draws of the fit (a fit brings its own), or a table subject, draw, capability.
    streams : int
        Simulations without a change behind the false-alarm rates.
    seed : int
        Seed of the draws.

    Returns
    -------
    SlopeRatios
        Slopes before and after each break, their ratio with its interval, and false-alarm rates.

    Raises
    ------
    MensuraError
        If a break has fewer than 5 releases on one side.

    Examples
    --------
    >>> from datetime import date
    >>> days = [date(2024 + month // 12, month % 12 + 1, 1) for month in range(24)]
    >>> models = {"subject": [f"m{at}" for at in range(24)], "released": days}
    >>> models |= {"capability": [at / 12 for at in range(24)]}
    >>> from mensura.trends import slope_ratios
    >>> slope_ratios(models, streams=5).table.columns[:3]
    ['subject', 'released', 'before']

    """
    frame, matrix = read_with_draws(capabilities, draws)
    years, values = to_years(frame["released"]), frame["capability"].to_numpy()
    breaks = _candidates(frame, years, at)
    rng = np.random.default_rng(seed)
    rows = [(name, day, *_ratio(years, values if matrix is None else matrix, when, rng)) for name, day, when in breaks]
    table = pl.DataFrame(
        rows, orient="row", schema=["subject", "released", "before", "after", "ratio", "low", "high", "faster"]
    )
    table = table.sort(pl.col("subject") == (at or ""), "ratio", descending=True)
    calm = describe_scatter(years, values, prior=WARY).draw(streams, rng)
    own = calm.spread * np.sqrt(1 - calm.share)
    null = calm.line(years) + calm.shocks(years, rng) + own[:, None] * rng.standard_normal((streams, years.size))
    when = {name: place for name, _, place in breaks}
    reads = np.stack([describe_scatter(years, null, bend=when[name], prior=WARY).faster for name in table["subject"]])
    alarms = reads > (1 + LEVEL) / 2
    return SlopeRatios(table, float(alarms[0].mean()), float(alarms.any(axis=0).mean()))


def _candidates(frame: pl.DataFrame, years: Floats, at: str | None) -> list[tuple[str, Any, float]]:
    """Name the breaks: the records in the middle of the time span, and the chosen one."""
    span = years[-1] - years[0]
    names = find_frontier(frame)["subject"].to_list()
    candidates = []
    for (name, day), when in zip(frame.select("subject", "released").iter_rows(), years, strict=True):
        inside = years[0] + MARGIN * span < when < years[-1] - MARGIN * span
        enough = min(np.count_nonzero(years < when), np.count_nonzero(years > when)) >= FEWEST
        if name == at and not enough:
            raise MensuraError(f"--break: {name} has fewer than {FEWEST} releases on one side; choose another model")
        if name == at or (name in names and inside and enough):
            candidates.append((name, day, float(when)))
    if at is not None and at not in [name for name, *_ in candidates]:
        raise MensuraError(f"--break: {at!r} is no model with a release date; expected a subject of mensura stitch")
    if not candidates:
        raise MensuraError(
            "slopes: no record has enough releases on both sides; add releases, or name one with --break"
        )
    return candidates


def _ratio(years: Floats, values: Floats, when: float, rng: np.random.Generator) -> tuple[float, ...]:
    """Slopes before and after a break, their ratio with its interval, and the probability of a faster pace.

    Where the pace before may be 0 or less, the ratio is infinite: its interval has no bound on that side.
    """
    posterior = describe_scatter(years, values, bend=when, prior=WARY)
    drawn = posterior.draw(DRAWN, rng)
    before, after = drawn.pace, drawn.pace + drawn.change
    ratio = np.copysign(np.inf, after)
    np.divide(after, before, out=ratio, where=before > 0)
    low, middle, high = np.quantile(ratio, [(1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2], method="inverted_cdf")
    return (
        *(float(np.median(x)) for x in (before, after)),
        *map(float, (middle, low, high)),
        float(posterior.faster.mean()),
    )
