"""Completing the table of benchmark IQs: the unbiased alternative to the method's cautious waterfall.

Each model has a few factors and each benchmark a response to them: IQ ≈ mean + spread · (u · v + intercept), fitted by
alternating ridge regressions to the measured cells. Nothing is penalised or capped, so a model is not ranked lower for
what nobody measured.
"""

from __future__ import annotations

import numpy as np

from mensura.arrays import Floats
from mensura.iq.ladders import HIGHEST, LOWEST
from mensura.iq.matrix import ScoreMatrix
from mensura.iq.rules import ImputationRule, IqRules
from mensura.iq.waterfall import COMPLETION, NONE, SOURCE, Filled, known_in, no_correlations

_NO_SPREAD = 1e-9  # IQ points: a benchmark on which all score alike is divided by this instead of zero


def complete_benchmarks(matrix: ScoreMatrix, iqs: Floats, rules: IqRules, noise: Floats | None = None) -> Filled:
    """Fill every missing benchmark of models with enough scores by the factor model (draws × models × benchmarks)."""
    measured = matrix.measured
    enough = measured.sum(axis=1, keepdims=True) >= rules.imputation.minimum_scores
    new = ~measured & enough
    estimate = complete(iqs, rules.imputation)
    error = np.where(new, rules.error.completion, 0.0) * np.ones_like(iqs)
    if noise is not None:
        estimate = np.clip(estimate + error * noise, LOWEST, HIGHEST)
    values = np.where(new, estimate, iqs)
    steps = np.select([measured, new], [SOURCE, COMPLETION], NONE).astype(np.int8)
    known, average = known_in(matrix, iqs)
    nobody = np.full(measured.shape, -1)
    caps, capability = np.full(iqs.shape[::2], np.nan), np.full(iqs.shape[:2], np.nan)
    return Filled(values, steps, error, nobody, average, known, caps, no_correlations(iqs), capability)


def complete(iqs: Floats, rule: ImputationRule) -> Floats:
    """Return a stack of tables (NaN = missing) with every cell as the factor model has it, within 70 and 160."""
    known = ~np.isnan(iqs)
    flags = known.astype(float)
    count = np.maximum(flags.sum(axis=1, keepdims=True), 1.0)
    centre = np.where(known, iqs, 0.0).sum(axis=1, keepdims=True) / count
    spread = np.sqrt((np.where(known, iqs - centre, 0.0) ** 2).sum(axis=1, keepdims=True) / count) + _NO_SPREAD
    cells = np.where(known, (iqs - centre) / spread, 0.0)
    columns = _start(cells, rule.factors)
    intercept = np.zeros((iqs.shape[0], 1, iqs.shape[2]))
    rows = np.zeros((*iqs.shape[:2], rule.factors))
    for _ in range(rule.rounds):
        rows = _ridge(columns, flags, np.where(known, cells - intercept, 0.0), rule.ridge)
        wide = np.concatenate([rows, np.ones((*rows.shape[:2], 1))], axis=2)
        both = _ridge(wide, np.swapaxes(flags, 1, 2), np.swapaxes(cells, 1, 2), rule.ridge)
        columns, intercept = both[:, :, :-1], np.swapaxes(both[:, :, -1:], 1, 2)
    modelled = centre + spread * (rows @ np.swapaxes(columns, 1, 2) + intercept)
    return np.asarray(np.clip(modelled, LOWEST, HIGHEST))


def _start(cells: Floats, factors: int) -> Floats:
    """Return responses to begin with: the leading right singular vectors of the table, zero where nothing is known."""
    _, _, turned = np.linalg.svd(cells, full_matrices=False)
    return np.asarray(np.swapaxes(turned[:, :factors], 1, 2))


def _ridge(regressors: Floats, flags: Floats, cells: Floats, ridge: float) -> Floats:
    """Regress each row of the cells on the regressors of the columns it has; the ridge holds sparse rows near zero."""
    size = regressors.shape[2]
    products = (regressors[:, :, :, None] * regressors[:, :, None, :]).reshape(*regressors.shape[:2], size * size)
    normal = (flags @ products).reshape(*flags.shape[:2], size, size) + ridge * np.eye(size)
    return np.asarray(np.linalg.solve(normal, (cells @ regressors)[..., None])[..., 0])
