"""What was measured of a model, and nothing else: the IQ of its own scores, and the ranking by it.

With estimates, a composite exists for every model with a few scores; then a model of which little is known stands
beside one that took everything. Here a dimension counts when at least two of its benchmarks were measured on the
model, and a model is ranked when most dimensions count: mean over those dimensions of the mean IQ of their measured
benchmarks, with its interval from the draws of the same benchmarks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from mensura.arrays import Floats, Mask
from mensura.iq import IqResult
from mensura.results import Result

OWN_SCORES = 2
"""Measured benchmarks from which a dimension is a model's own: one source alone is drawn as an estimate."""
MOST_DIMENSIONS = 4
"""Dimensions of its own from which a model is ranked: most of seven."""
_INTERVAL = (5.0, 95.0)


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredRanking(Result):
    """``table``: subject, measured_iq, measured_low, measured_high, own_dimensions, measured_rank (null: not ranked).

    ``drawn``: draws × models, in the order of the table.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("table",)

    table: pl.DataFrame
    drawn: Floats

    @property
    def heading(self) -> str:
        """How many models are ranked by what was measured of them."""
        return f"IQ of what was measured: {self.table['measured_rank'].count()} of {self.table.height} models ranked"

    def ahead(self, subject: str, other: str) -> float:
        """Return the share of draws in which one model's measured IQ lies above the other's."""
        names = self.table["subject"].to_list()
        first, second = (self.drawn[:, names.index(name)] for name in (subject, other))
        return float(np.mean(first > second))


def rank_measured(iq: IqResult) -> MeasuredRanking:
    """Score and rank the models by their own scores."""
    matrix = iq.matrix
    members = np.asarray(matrix.members, dtype=bool)
    counted = (np.asarray(matrix.measured, dtype=bool) @ members.astype(np.int64)) >= OWN_SCORES
    own = counted.sum(axis=1)
    middle = _average(np.asarray(iq.filled.iqs[0], dtype=np.float64)[None], matrix.measured, members, counted)[0]
    drawn = _average(np.asarray(iq.drawn.benchmarks, dtype=np.float64), matrix.measured, members, counted)
    low, high = np.full(middle.shape, np.nan), np.full(middle.shape, np.nan)
    there = own > 0
    low[there], high[there] = np.percentile(drawn[:, there], _INTERVAL, axis=0)
    ranked = own >= MOST_DIMENSIONS
    order = np.argsort(np.where(ranked, -middle, np.inf), kind="stable")[: int(ranked.sum())]
    rank = np.full(len(middle), -1)
    rank[order] = np.arange(1, len(order) + 1)
    table = pl.DataFrame(
        {
            "subject": matrix.subjects,
            "measured_iq": pl.Series(middle, nan_to_null=True),
            "measured_low": pl.Series(np.minimum(low, middle), nan_to_null=True),
            "measured_high": pl.Series(np.maximum(high, middle), nan_to_null=True),
            "own_dimensions": own,
            "measured_rank": rank,
        }
    )
    ranked_table = table.with_columns(measured_rank=pl.when(pl.col("measured_rank") > 0).then("measured_rank"))
    return MeasuredRanking(ranked_table, drawn.astype(np.float32))


def _average(values: Floats, measured: Mask, members: Mask, counted: Mask) -> Floats:
    """Return draws × models: mean over the dimensions that count of the mean over their measured benchmarks."""
    shown = np.where(np.asarray(measured, dtype=bool), values, 0.0)
    sums = shown @ members.astype(np.float64)
    sizes = np.asarray(measured, dtype=np.float64) @ members.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        dimensions = np.where(counted, sums / np.maximum(sizes, 1.0), 0.0)
        return np.asarray(np.where(counted.any(axis=1), dimensions.sum(axis=2) / counted.sum(axis=1), np.nan))
