"""Draws of a fit and what they say: intervals, ranks, probabilities. One shape for every kind of uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.frames import sort_highest
from mensura.core.results import Result
from mensura.scale.ranking import WIDEST_SPREAD, rank_subjects
from mensura.stitching.checks import position
from mensura.stitching.convergence import warn_unconverged
from mensura.stitching.positions import Positions

LEVEL = 0.9
"""Nominal coverage of every interval of a stitched fit."""


@dataclass(frozen=True, eq=False, repr=False)
class PositionDraws(Result):
    """Positions drawn ``kind``-wise (Laplace, bootstrap, …), every draw on the scale by itself.

    Tables: ``capabilities`` (subject, capability, low, high), ``benchmarks`` (benchmark, difficulty, low, high, slope,
    slope_low, slope_high), ``ranks`` (rank, subject, rank_low, rank_high, p_first). ``level`` is the nominal coverage.
    A draw that says nothing about a subject or benchmark holds NaN there. ``unconverged`` counts the draws whose refit
    or placing did not arrive.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("capabilities", "benchmarks", "ranks")

    kind: str
    subjects: tuple[str, ...]
    names: tuple[str, ...]
    estimate: Positions
    positions: Positions
    unconverged: int = 0
    level: ClassVar[float] = LEVEL

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        return f"{len(self.positions.theta)} draws ({self.kind}), {self.level:.0%} intervals"

    @property
    def warnings(self) -> tuple[str, ...]:
        """How many draws did not arrive."""
        return warn_unconverged(self.unconverged, len(self.positions.theta), f"draws ({self.kind})")

    @cached_property
    def capabilities(self) -> pl.DataFrame:
        """Capability of every subject with its interval, highest first."""
        low, high = self._interval(self.positions.capability, self.estimate.capability[0])
        table = {"subject": self.subjects, "capability": self.estimate.capability[0], "low": low, "high": high}
        return sort_highest(pl.DataFrame(table), "capability", "subject")

    @property
    def benchmarks(self) -> pl.DataFrame:
        """Difficulty and slope of every benchmark with their intervals."""
        low, high = self._interval(self.positions.difficulty, self.estimate.difficulty[0])
        slope_low, slope_high = self._interval(self.positions.slope, self.estimate.slope[0])
        return pl.DataFrame(
            {
                "benchmark": self.names,
                "difficulty": self.estimate.difficulty[0],
                "low": low,
                "high": high,
                "slope": self.estimate.slope[0],
                "slope_low": slope_low,
                "slope_high": slope_high,
            }
        )

    @property
    def ranks(self) -> pl.DataFrame:
        """Rank of every subject whose interval is narrow enough, best first; then the others, without a rank.

        Columns: rank, subject, rank_low, rank_high, p_first (chance of being first among all ranked), capability.
        """
        estimate, drawn = self.estimate.capability[0], self.positions.capability
        low, high = self._interval(drawn, estimate)
        narrow = high - low <= WIDEST_SPREAD * np.nanstd(estimate)
        filled = np.where(np.isnan(drawn), estimate, drawn)
        ranked = rank_subjects(self.subjects, estimate, filled, narrow)
        return (
            ranked.join(
                self.capabilities.select("subject", "capability"), on="subject", how="right", maintain_order="right"
            )
            .select(*ranked.columns, "capability")
            .sort("rank", nulls_last=True, maintain_order=True)
        )

    def better(self, subject: str, other: str) -> float:
        """Probability that ``subject`` is more capable than ``other``."""
        C = self.positions.capability
        i, j = position(self.subjects, subject, "subject"), position(self.subjects, other, "other")
        return float(np.nanmean(C[:, i] > C[:, j]))

    def pairs(self, top: int = 10) -> pl.DataFrame:
        """P(row's subject is more capable than column's) among the ``top`` subjects: subject, other, better."""
        names = self.capabilities["subject"].head(top)
        rows = [(a, b, self.better(a, b)) for a in names for b in names if a != b]
        return pl.DataFrame(rows, schema={"subject": pl.String, "other": pl.String, "better": pl.Float64}, orient="row")

    def _interval(self, values: Floats, estimate: Floats) -> tuple[Floats, Floats]:
        """Quantiles of the draws, wide enough to hold the estimate: where scores are mostly noise it can lie outside.

        Every draw has a unit of its own, and an estimate drawn towards the mean has too large a one then.
        """
        low, high = central_interval(values)
        return np.fmin(low, estimate), np.fmax(high, estimate)


def central_interval(values: Floats) -> tuple[Floats, Floats]:
    """Return the quantiles between which ``LEVEL`` of the draws (draws, …) lie; NaN says nothing and is left out."""
    tail = (1 - LEVEL) / 2
    ends = [tail, 1 - tail]
    with np.errstate(invalid="ignore"):
        found = np.quantile(values, ends, axis=0)
        gaps = np.isnan(found[0])
        if gaps.any():
            found[:, gaps] = np.nanquantile(values[:, gaps], ends, axis=0)
    return found[0], found[1]
