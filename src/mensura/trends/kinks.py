"""Did the slope change? Statistics of a kink at an unknown time, for every look of a watch and many worlds at once.

At a look, with years t and values y of all releases known by then, the model is

    y = a + b t + δ (t − κ)₊ + ε,    κ somewhere between the start of the watch and now,

where ε may be shared by neighbours in time (:mod:`mensura.trends.scatter`). For every κ the t value of δ is averaged
over how ε may be shared, by the restricted likelihood of the line with that kink; the statistic is the largest average
over a grid of κ. A run of good releases that is as likely a common shock as a kink so counts for less. The statistic
does not change when y is shifted or stretched: the unit and the zero of the capability scale are of no consequence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Ints
from mensura.core.results import Result
from mensura.stitching import Stitch, encode, read_any, to_date, to_years
from mensura.stitching.checks import warn_unconverged
from mensura.trends.capabilities import read_dates
from mensura.trends.scatter import whiten_all

CANDIDATES = 12
"""Break times tried at every look, evenly spread over the time watched so far."""
SHARES = np.array([0.0, 0.15, 0.3, 0.3, 0.5])
FADINGS = np.array([0.5, 0.4, 0.2, 0.7, 0.5])
"""Ways in which releases may move together: share of the variance, and years over which it fades."""
WEIGHTS = np.array([0.3, 1.0, 1.0, 1.0, 1.0])
"""Weight of every way before the data: sharing is presumed. Whether neighbours share a little or nothing, a hundred
releases cannot tell. A statistic that presumes nothing takes shared shocks for kinks far more often than no shocks, so
no threshold suits both; one that presumes sharing differs less between the two."""
FEWEST_KNOWN = 5
"""A look that knows fewer releases says nothing: its statistic is 0."""
SHORTEST = 1e-9
"""A hinge that constant and trend explain to this length says nothing."""


@dataclass(frozen=True, eq=False, repr=False)
class LookDesign:
    """What the dates of one look say, for the releases it knows and per way in which they move together.

    ``line`` are the directions of constant and trend among them, ``hinges`` those of the kinks freed of both, all of
    length one.
    ``log_weight`` (ways, candidates) is what prior, dates and the length of a hinge add to the restricted likelihood.
    """

    line: Floats
    hinges: Floats
    log_weight: Floats

    @classmethod
    def of(cls, white: Floats, log_size: Floats) -> LookDesign:
        """Lay out a look from its whitened columns: constant, trend and hinges (ways, 2 + candidates, releases)."""
        directions, lengths = np.linalg.qr(white[:, :2].transpose(0, 2, 1))
        line = directions.transpose(0, 2, 1).astype(float)
        hinges = white[:, 2:] - white[:, 2:] @ line.transpose(0, 2, 1) @ line
        length = np.linalg.norm(hinges, axis=2)
        unit = np.divide(hinges, length[..., None], out=np.zeros_like(hinges), where=length[..., None] > SHORTEST)
        of_line = np.log(np.maximum(np.abs(np.diagonal(lengths, axis1=1, axis2=2)), SHORTEST)).sum(axis=1)
        log_weight = (np.log(WEIGHTS) - log_size / 2 - of_line)[:, None] - np.log(np.maximum(length, SHORTEST))
        return cls(line, unit, log_weight)

    def statistic(self, white: Floats) -> Floats:
        """Return the statistic of whitened values (ways, worlds, releases), (worlds,)."""
        columns = white.shape[2]
        if columns < FEWEST_KNOWN:
            return np.zeros(white.shape[1])
        gain = white @ self.hinges.transpose(0, 2, 1)
        about_line = np.einsum("kwi,kwi->kw", white, white) - ((white @ self.line.transpose(0, 2, 1)) ** 2).sum(axis=2)
        rest = np.maximum(about_line[..., None] - gain**2, np.finfo(float).tiny)
        freedom = columns - 3
        log = self.log_weight[:, None] - freedom / 2 * np.log(rest)
        weight = np.exp(log - log.max(axis=0))
        t = gain / np.sqrt(rest / freedom)
        return np.asarray((np.sum(weight * t, axis=0) / weight.sum(axis=0)).max(axis=1))


@dataclass(frozen=True, eq=False, repr=False)
class KinkDesign:
    """What can be computed from the dates alone; ``counts[j]`` is the number of releases out at look j."""

    years: Floats
    counts: Ints
    looks: tuple[LookDesign, ...]

    @classmethod
    def of(cls, years: Floats, start: float, counts: Ints) -> KinkDesign:
        """Lay out one look after each of the first ``counts`` releases; ``years`` must be sorted.

        Breaks are tried from ``start`` on.
        """
        now = years[counts - 1]
        breaks = start + np.arange(CANDIDATES) / CANDIDATES * (now - start)[:, None]
        trend = np.stack([np.ones_like(years), years - years.mean()])
        hinges = np.maximum(years - breaks[:, :, None], 0)
        columns = np.concatenate([np.broadcast_to(trend, (now.size, *trend.shape)), hinges], axis=1)
        return cls(years, counts, tuple(LookDesign.of(*part) for part in _whitened(years, columns, counts)))

    def statistics(self, fits: Floats) -> Floats:
        """Return the statistic of capabilities ``fits`` (worlds, looks, releases) at every look, (worlds, looks)."""
        parts = _whitened(self.years, fits.transpose(1, 0, 2), self.counts)
        return np.stack([look.statistic(white) for look, (white, _) in zip(self.looks, parts, strict=True)], axis=1)


def _whitened(years: Floats, values: Floats, counts: Ints) -> list[tuple[Floats, Floats]]:
    """Whiten what every look knows of ``values`` (looks, rows, releases): (ways, rows, known) and log |R| (ways,).

    The past of a sequence does not depend on its future, so all looks are whitened together.
    """
    white, log_sizes = whiten_all(years, values, SHARES, FADINGS)
    return [(white[:, look, :, :n], log_sizes[:, :n].sum(axis=1)) for look, n in enumerate(counts)]


# When to sound the alarm of a watch: thresholds from worlds without change.
#
# The statistic of a look is told in standard deviations above its mean at that look, and the alarm sounds where it
# passes, at any look, a threshold that the asked share of worlds without change pass. Mean and spread come from few
# worlds, so a path that had a part in them is measured by a ruler it bent itself, and comes out nearer to the middle
# than one that had none. The data therefore have the same part as every world: mean and spread are over worlds *and*
# data. Where nothing changes the data are one of n + 1 paths alike, as likely as any to be the highest, whatever n is.

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
    observed: Floats,
    paths: Floats,
    years: Floats,
    start: float,
    rate: float,
    *,
    common: float = 0.0,
    unconverged: int = 0,
) -> Plan:
    """Turn the data's path (looks,) and null paths (worlds, looks) into a plan: the ruler, and the threshold on peaks.

    With n null paths the threshold is their ⌊rate (n + 1)⌋-th highest peak, passed by one more path without change at
    no more than the rate asked. A rate below 1 in n + 1 allows no alarm.
    """
    every = np.concatenate([observed[None], paths])
    mean, spread = every.mean(axis=0), np.maximum(every.std(axis=0, ddof=1), SMALLEST_SPREAD)
    peaks = np.sort(((paths - mean) / spread).max(axis=1))
    allowed = int(rate * (peaks.size + 1) + ROUNDING)
    threshold = float(peaks[-allowed]) if allowed else np.inf
    return Plan(start, rate, threshold, years, mean, spread, peaks, common, unconverged)


# Scores in the order of release, as a watch follows them.


@dataclass(frozen=True, eq=False, repr=False)
class Stream:
    """Hold scores sorted by release.

    Attributes
    ----------
    years : array
        Release of every model, in years since 1970, sorted.
    rows, cols : array
        Score i is of release ``rows[i]`` on benchmark ``cols[i]``.
    scores : array
        The scores, from 0 to 1.

    """

    years: Floats
    rows: Ints
    cols: Ints
    scores: Floats


def read_stream(scores: Any) -> tuple[Stream, list[str]]:
    """Turn a table of scores into arrays sorted by release, the best score of a pair counting once."""
    frame = _scores_of(scores) if isinstance(scores, Stitch) else read_any(scores)[0]
    frame = read_dates(frame, name="scores")
    data = encode(frame, "max")
    released = dict(frame.select("subject", "released").iter_rows())
    years = to_years(pl.Series([released[name] for name in data.subjects], dtype=pl.Date))
    order = np.lexsort((np.arange(years.size), years))
    rows = np.argsort(order)[data.layout.rows]
    by_release = np.argsort(rows, kind="stable")
    subjects = [data.subjects[i] for i in order]
    return Stream(
        years[order], rows[by_release], data.layout.cols[by_release], data.y[by_release].astype(float)
    ), subjects


def _scores_of(fit: Stitch) -> pl.DataFrame:
    """Scores of a fit as a table, with the dates it knows."""
    return fit.data.table.join(fit.dated.select("subject", "released"), on="subject", how="left", maintain_order="left")


def first_releases(stream: Stream, count: int) -> Stream:
    """Keep the first ``count`` releases and the benchmarks they were tested on."""
    kept = stream.rows < count
    _, cols = np.unique(stream.cols[kept], return_inverse=True)
    return Stream(stream.years[:count], stream.rows[kept], cols.astype(np.int64), stream.scores[kept])
