"""On what the lead of a model hangs: the correction of chosen scores, and single scores of its own."""

from __future__ import annotations

import numpy as np

from mensura.core.arrays import Floats
from mensura.iq.joint import draw_without_each
from mensura.iq.result import IqResult


def uncorrected_draws(result: IqResult) -> Floats:
    """Return the drawn composites (draws × models) without what was taken off for scores that makers chose."""
    return np.asarray(result.drawn.composites + result.lowered, dtype=np.float64)


def moves_without(result: IqResult, subject: str) -> dict[str, float]:
    """Return for each score of a model, by benchmark, how far its composite moves where that score is not there.

    The model is entered again with all its scores and with all but one, in a fit that has not seen it.
    """
    matrix = result.matrix
    row = matrix.row(subject)
    own = np.flatnonzero(matrix.measured[row])
    composites = draw_without_each(matrix, row, own) @ result.shares
    return {matrix.benchmarks[place]: float(composites[1 + i] - composites[0]) for i, place in enumerate(own)}
