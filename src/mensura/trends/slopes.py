"""The slope ratio at a chosen break, as risk reports quote it: pace after a release over pace before it.

All releases scatter about a line that bends at the release of one model; neighbouring releases share shocks
(:mod:`mensura.trends.scatter`). Whoever looks at many releases and quotes the one with the largest ratio finds an
acceleration too often. So the false-alarm rates of both readings come along, from streams simulated without a change of
pace: that the chosen break reads as faster, and that any candidate does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.stitching import to_years
from mensura.trends.breaks import MARGIN
from mensura.trends.capabilities import read_with_draws
from mensura.trends.frontier import find_frontier
from mensura.trends.scatter import WARY, describe_scatter

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
    """Return the slope ratio at the release of ``at`` (default: where it is largest) and at every record.

    ``capabilities`` and ``draws`` are what :func:`mensura.trends.forecast` takes.
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
    found = []
    for (name, day), when in zip(frame.select("subject", "released").iter_rows(), years, strict=True):
        inside = years[0] + MARGIN * span < when < years[-1] - MARGIN * span
        enough = min(np.count_nonzero(years < when), np.count_nonzero(years > when)) >= FEWEST
        if name == at and not enough:
            raise MensuraError(f"--break: {name} has fewer than {FEWEST} releases on one side; choose another model")
        if name == at or (name in names and inside and enough):
            found.append((name, day, float(when)))
    if at is not None and at not in [name for name, *_ in found]:
        raise MensuraError(f"--break: {at!r} is no model with a release date; expected a subject of mensura stitch")
    if not found:
        raise MensuraError(
            "slopes: no record has enough releases on both sides; add releases, or name one with --break"
        )
    return found


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
