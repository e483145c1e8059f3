"""Filling gaps from one model of all scores: draws of what full measurement would give, read off the ladders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mensura.arrays import Floats
from mensura.iq.matrix import ScoreMatrix
from mensura.iq.rules import ImputationRule
from mensura.iq.sampler import draw_missing
from mensura.iq.waterfall import JOINT, NONE, SOURCE, Filled, known_in, no_correlations

POINT_DRAWS = 400
"""Draws behind a plain scoring, whose values are their means; a composite then errs by about 0.15 from sampling."""


def draw_log_odds(
    matrix: ScoreMatrix, draws: int, rng: np.random.Generator, advance: Callable[[int], object] | None = None
) -> Floats:
    """Draw every missing score as log odds (draws × models × benchmarks); measured ones as they are."""
    measured = matrix.measured
    eta = np.column_stack([one.log_odds(matrix.scores[:, j]) for j, one in enumerate(matrix.metrics)])
    parents = matrix.ancestors[:, 0] if matrix.ancestors.shape[1] else np.full(len(measured), -1)
    known = np.where(measured, eta, np.nan)
    return draw_missing(known, _regressors(matrix), matrix.dimension_of, parents, draws, rng, advance)


def read_drawn(matrix: ScoreMatrix, rule: ImputationRule, log_odds: Floats) -> Filled:
    """Read drawn scores off the ladders, for the models with enough scores of their own; measured IQs stay.

    ``errors`` of the result are the standard deviations of the draws.
    """
    measured = matrix.measured
    new = ~measured & rule.suffices(measured)[:, None]
    iqs = np.where(new, matrix.read(log_odds), matrix.iqs)
    errors = np.where(new, iqs.std(axis=0), 0.0)[None]
    steps = np.select([measured, new], [SOURCE, JOINT], NONE).astype(np.int8)
    known, average = known_in(matrix, matrix.iqs[None])
    nobody = np.full(measured.shape, -1)
    caps, capability = (np.full((1, size), np.nan) for size in reversed(measured.shape))
    return Filled(iqs, steps, errors, nobody, average, known, caps, no_correlations(iqs[:1]), capability)


def point_log_odds(matrix: ScoreMatrix) -> Floats:
    """Return the draws behind a plain scoring: always the same for the same scores, whatever the ladders."""
    return draw_log_odds(matrix, POINT_DRAWS, np.random.default_rng(0))


def complete_jointly(matrix: ScoreMatrix, rule: ImputationRule, log_odds: Floats | None = None) -> Filled:
    """Fill every missing benchmark IQ by the mean of its draws, which may be given where scores did not change."""
    filled = read_drawn(matrix, rule, point_log_odds(matrix) if log_odds is None else log_odds)
    return replace(filled, iqs=filled.iqs.mean(axis=0, keepdims=True))


def _regressors(matrix: ScoreMatrix) -> Floats:
    """Return what is known of models besides scores, centred: release (in standard deviations), reasoning."""
    released = matrix.released - matrix.released.mean()
    return np.column_stack([released / max(float(released.std()), 1.0), matrix.reasoning - matrix.reasoning.mean()])
