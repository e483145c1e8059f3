"""Filling gaps from one model of all scores: draws of what full measurement would give, read off the ladders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mensura.arrays import Floats
from mensura.iq.ladders import HIGHEST, LOWEST
from mensura.iq.matrix import ScoreMatrix
from mensura.iq.own_mask import Entries, correct, find_entries
from mensura.iq.rules import ImputationRule
from mensura.iq.sampler import sample
from mensura.iq.waterfall import JOINT, NONE, SOURCE, Filled, known_in, no_correlations

POINT_DRAWS = 400
"""Draws behind a plain scoring, whose values are their means; a composite then errs by about 0.15 from sampling."""


@dataclass(frozen=True)
class JointDraws:
    """Scores drawn as log odds, whatever the ladders: all models', and well-measured ones' under others' masks."""

    log_odds: Floats  # draws × models × benchmarks, measured ones as they are
    entries: Entries
    entered: Floats  # draws × pairs × benchmarks


def draw_scores(
    matrix: ScoreMatrix,
    rule: ImputationRule,
    draws: int,
    rng: np.random.Generator,
    advance: Callable[[int], object] | None = None,
) -> JointDraws:
    """Draw every missing score, and those of well-measured models under the masks of the others."""
    measured = matrix.measured
    eta = np.column_stack([one.log_odds(matrix.scores[:, j]) for j, one in enumerate(matrix.metrics)])
    parents = matrix.ancestors[:, 0] if matrix.ancestors.shape[1] else np.full(len(measured), -1)
    known = np.where(measured, eta, np.nan)
    sampled = sample(known, _regressors(matrix), matrix.dimension_of, parents, draws, rng, advance)
    entries = find_entries(matrix, matrix.read(sampled.draws.mean(axis=0)), rule.suffices(measured))
    return JointDraws(sampled.draws, entries, sampled.redraw(entries.donors, entries.kept, rng))


def read_drawn(matrix: ScoreMatrix, rule: ImputationRule, drawn: JointDraws) -> Filled:
    """Read drawn scores off the ladders, for the models with enough scores of their own; measured IQs stay.

    Estimates are corrected by what the model's own mask does to well-measured models (:mod:`mensura.iq.own_mask`).
    ``errors`` of the result are the standard deviations of the draws.
    """
    measured = matrix.measured
    new = ~measured & rule.suffices(measured)[:, None]
    iqs = np.where(new, matrix.read(drawn.log_odds), matrix.iqs)
    shift, factor = correct(matrix, drawn.entries, matrix.read(drawn.entered))
    middle = iqs.mean(axis=0)
    moved = middle + shift[:, None] + factor[:, None] * (iqs - middle)
    iqs = np.where(new, np.clip(moved, LOWEST, HIGHEST), iqs)
    errors = np.where(new, iqs.std(axis=0), 0.0)[None]
    steps = np.select([measured, new], [SOURCE, JOINT], NONE).astype(np.int8)
    known, average = known_in(matrix, matrix.iqs[None])
    nobody = np.full(measured.shape, -1)
    caps, capability = (np.full((1, size), np.nan) for size in reversed(measured.shape))
    return Filled(iqs, steps, errors, nobody, average, known, caps, no_correlations(iqs[:1]), capability)


def point_draws(matrix: ScoreMatrix, rule: ImputationRule) -> JointDraws:
    """Return the draws behind a plain scoring: always the same for the same scores."""
    return draw_scores(matrix, rule, POINT_DRAWS, np.random.default_rng(0))


def complete_jointly(matrix: ScoreMatrix, rule: ImputationRule, drawn: JointDraws | None = None) -> Filled:
    """Fill every missing benchmark IQ by the mean of its draws, which may be given where scores did not change."""
    filled = read_drawn(matrix, rule, point_draws(matrix, rule) if drawn is None else drawn)
    return replace(filled, iqs=filled.iqs.mean(axis=0, keepdims=True))


def _regressors(matrix: ScoreMatrix) -> Floats:
    """Return what is known of models besides scores, centred: release (in standard deviations), reasoning."""
    released = matrix.released - matrix.released.mean()
    return np.column_stack([released / max(float(released.std()), 1.0), matrix.reasoning - matrix.reasoning.mean()])
