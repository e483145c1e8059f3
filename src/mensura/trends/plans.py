"""When to sound the alarm of a watch: thresholds from worlds without change.

The statistic of a look is told in standard deviations above its mean at that look, and the alarm sounds where it
passes, at any look, a threshold that the asked share of worlds without change pass. Mean and spread come from few
worlds, so a path that had a part in them is measured by a ruler it bent itself, and comes out nearer to the middle than
one that had none. The data therefore have the same part as every world: mean and spread are over worlds *and* data.
Where nothing changes the data are one of n + 1 paths alike, as likely as any to be the highest, whatever n is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.results import Result
from mensura.stitching import to_date
from mensura.stitching.convergence import warn_unconverged

SMALLEST_SPREAD = 1e-9
"""Least null spread, so that a statistic can be standardised."""
ROUNDING = 1e-6
"""Share of a rank by which a rate may miss it."""


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """When to sound the alarm: mean and spread of the statistic at every look, and the threshold.

    ``mean`` and ``spread`` are over the worlds without change and the data. ``rate`` is the share of false alarms up to
    the last look; ``peaks`` are the largest standardised values of the simulated watches, for other rates and for
    p-values; ``common`` is the share of the releases' variance that they have in common with their neighbours in time;
    ``unconverged`` counts the worlds whose fit did not arrive. ``table``: date, mean, spread, boundary (the statistic
    at which the alarm sounds).
    """

    TABLES: ClassVar[tuple[str, ...]] = ("table",)

    start: float
    rate: float
    threshold: float
    years: Floats
    mean: Floats
    spread: Floats
    peaks: Floats
    common: float = 0.0
    unconverged: int = 0

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        span = f"{to_date(self.start)} to {to_date(self.years[-1])}, {self.years.size} looks"
        return f"watch from {span}: {self.rate:.1%} false alarms, from {self.peaks.size} worlds without change"

    @property
    def warnings(self) -> tuple[str, ...]:
        """How many worlds' fits did not arrive."""
        return warn_unconverged(self.unconverged, self.peaks.size, "fits of worlds without change")

    @property
    def table(self) -> pl.DataFrame:
        """The boundary along the time: date, mean, spread, boundary."""
        boundary = self.mean + self.threshold * self.spread
        days = [to_date(year) for year in self.years]
        return pl.DataFrame({"date": days, "mean": self.mean, "spread": self.spread, "boundary": boundary})

    def standardise(self, statistics: Floats) -> Floats:
        """Express the statistics of the looks (…, looks) in standard deviations above the mean."""
        return (statistics - self.mean) / self.spread


def calibrate(
    seen: Floats, paths: Floats, years: Floats, start: float, rate: float, *, common: float = 0.0, unconverged: int = 0
) -> Plan:
    """Turn the data's path (looks,) and null paths (worlds, looks) into a plan: the ruler, and the threshold on peaks.

    With n null paths the threshold is their ⌊rate (n + 1)⌋-th highest peak, passed by one more path without change at
    no more than the rate asked. A rate below 1 in n + 1 allows no alarm.
    """
    every = np.concatenate([seen[None], paths])
    mean, spread = every.mean(axis=0), np.maximum(every.std(axis=0, ddof=1), SMALLEST_SPREAD)
    peaks = np.sort(((paths - mean) / spread).max(axis=1))
    allowed = int(rate * (peaks.size + 1) + ROUNDING)
    threshold = float(peaks[-allowed]) if allowed else np.inf
    return Plan(start, rate, threshold, years, mean, spread, peaks, common, unconverged)
