"""Who is ranked: models whose own scores stand behind most of the dimensions.

A model's IQ is the composite that full measurement would give; what was not measured of it is estimated from all
scores, and its interval says how sure that is. It is one number, the same on every page, in every file and command. But
a model of which little is known may stand high by estimates alone, so the ranking takes only models of which most
dimensions were measured: a dimension counts when at least two of its benchmarks were.

The mean of the measured benchmarks alone is given too, and never ranked by: models were measured on different tests,
and a gap where a model is weak would lift it.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from mensura.iq import IqResult

OWN_SCORES = 2
"""Measured benchmarks from which a dimension is a model's own: one source alone is drawn as an estimate."""
MOST_DIMENSIONS = 4
"""Dimensions of its own from which a model is ranked: most of seven."""


def rank_measured(iq: IqResult) -> pl.DataFrame:
    """Return subject, own_dimensions, own_iq (mean over them of measured benchmarks) and measured_rank (null: none)."""
    matrix = iq.matrix
    members = np.asarray(matrix.members, dtype=np.float64)
    measured = np.asarray(matrix.measured, dtype=bool)
    sizes = measured @ members
    counted = sizes >= OWN_SCORES
    means = np.where(measured, iq.filled.iqs[0], 0.0) @ members / np.maximum(sizes, 1.0)
    own = counted.sum(axis=1)
    alone = np.where(own > 0, np.where(counted, means, 0.0).sum(axis=1) / np.maximum(own, 1), np.nan)
    table = pl.DataFrame(
        {"subject": matrix.subjects, "own_dimensions": own, "own_iq": pl.Series(alone, nan_to_null=True)}
    ).join(iq.exact, on="subject", how="left", maintain_order="left")
    ranked = pl.when(pl.col("own_dimensions") >= MOST_DIMENSIONS).then("exact")
    return table.with_columns(measured_rank=ranked.rank("ordinal", descending=True).cast(pl.Int64)).drop("exact")
