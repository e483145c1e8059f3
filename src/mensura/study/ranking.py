"""How much of each model was measured: the mark beside its rank.

Who is ranked and who leads is one rule for all scales (:mod:`mensura.scale.ranking`). A model is well measured when two
or more of its own scores stand behind most of its dimensions. That is told beside its rank and is a filter, no reason
to leave it out.

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
"""Dimensions of its own from which a model is well measured: most of seven."""


def measure_own(iq: IqResult) -> pl.DataFrame:
    """Return subject, own_dimensions, own_iq (mean over them of measured benchmarks) and well_measured."""
    matrix = iq.matrix
    members = np.asarray(matrix.members, dtype=np.float64)
    measured = np.asarray(matrix.measured, dtype=bool)
    sizes = measured @ members
    counted = sizes >= OWN_SCORES
    means = np.where(measured, iq.filled.iqs[0], 0.0) @ members / np.maximum(sizes, 1.0)
    own = counted.sum(axis=1)
    alone = np.where(own > 0, np.where(counted, means, 0.0).sum(axis=1) / np.maximum(own, 1), np.nan)
    return pl.DataFrame(
        {
            "subject": matrix.subjects,
            "own_dimensions": own,
            "own_iq": pl.Series(alone, nan_to_null=True),
            "well_measured": own >= MOST_DIMENSIONS,
        }
    )
