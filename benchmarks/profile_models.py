"""A rival of the joint model, and held-out checks: folds of each subject's items, predicted from the other folds.

Scores are means over answers, a share counting in part as solved and in part as not: log loss −Σ (y ln p + (1 − y)
ln(1 − p)), Brier (y − p)² + y (1 − y), the area under the ROC curve, and the calibration error, the mean distance of
predicted chance and share solved over ten bins of equal size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl

from mensura.calibration.joint import LevelGrid, NonCompensatory, chance, fit_joint
from mensura.calibration.outcomes import Answered
from mensura.core.arrays import Floats, expit
from mensura.core.errors import MensuraError

WEIGHT, WEIGHT_SPREAD, START, START_SPREAD = 0.3, 0.5, 2.0, 3.0
FOLDS = 5
BINS = 10
SHARE, EVERYBODY = "share", "all"
"""The plain rival, every item given the subject's share solved elsewhere; and the row over all subjects."""
FIGURES = ("log_loss", "brier", "auroc", "calibration_error")
SCORE_COLUMNS: Mapping[str, Any] = {
    "subject": pl.String,
    "model": pl.String,
    "n": pl.Int64,
    **dict.fromkeys(FIGURES, pl.Float64),
}


class Compensatory(NonCompensatory):
    """A weighted sum of demands decides; parameters: a weight per dimension, then the start."""

    def __init__(self, dimensions: int) -> None:
        self.mean = np.append(np.full(dimensions, WEIGHT), START)
        self.precision = np.diag(np.append(np.full(dimensions, WEIGHT_SPREAD**-2), START_SPREAD**-2))

    def solving(self, parameters: Floats, grid: LevelGrid) -> Floats:
        """Return expit(β0 − Σ_d w_d x_d)."""
        return expit(parameters[-1] - grid.summed(parameters[:-1, None] * grid.values))

    def pulled(self, parameters: Floats, grid: LevelGrid, solved: Floats, by: Floats) -> Floats:
        """Return the sum, added up per level of each dimension."""
        del parameters
        missed = by * (1.0 - solved)
        return np.append(-grid.gathered(missed) @ grid.values, missed.sum())

    def slopes(self, parameters: Floats, grid: LevelGrid, solved: Floats) -> Floats:
        """Return (1 − q) (−x, 1)."""
        del parameters
        return (1.0 - solved)[:, None] * np.column_stack([-grid.levels, np.ones(len(solved))])


MODELS: dict[str, Callable[[int], NonCompensatory]] = {
    "non-compensatory": NonCompensatory,
    "compensatory": Compensatory,
}


def compare_models(answered: Answered, *, folds: int = FOLDS, seed: int = 0) -> pl.DataFrame:
    """Return subject, model, n, log_loss, brier, auroc, calibration_error of both joint models and the plain share.

    The row ``all`` pools the answers of all subjects.
    """
    told = held_out_chances(answered, folds=folds, seed=seed)
    rows = []
    for at, subject in enumerate((EVERYBODY, *answered.subjects)):
        here = slice(None) if at == 0 else slice(answered.starts[at - 1], answered.starts[at])
        solved = answered.solved[here]
        rows += [(subject, name, len(solved), *score(p[here], solved)) for name, p in told.items()]
    return pl.DataFrame(rows, schema=SCORE_COLUMNS, orient="row")


def held_out_chances(answered: Answered, *, folds: int = FOLDS, seed: int = 0) -> dict[str, Floats]:
    """Return for each model the chance of every answer, found without it."""
    if folds < 2:
        raise MensuraError(f"folds: got {folds}; expected 2 or more")
    rng = np.random.default_rng(seed)
    whole = LevelGrid.of(answered.levels)
    models = {name: make(len(answered.dimensions)) for name, make in MODELS.items()}
    told = {name: np.empty(len(answered.solved)) for name in (*models, SHARE)}
    for at in range(len(answered.subjects)):
        rows, solved, floor = answered.of(at)
        grid = whole.rows(rows)
        fold = rng.permutation(len(rows)) % folds
        for k in range(min(folds, len(rows))):
            out, kept = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
            to = answered.starts[at] + out
            for name, model in models.items():
                fit = fit_joint(model, grid.rows(kept), solved[kept], floor[kept])
                told[name][to] = chance(model, fit.parameters, grid.rows(out), floor[out])
            told[SHARE][to] = (solved[kept].sum() + 0.5) / (len(kept) + 1.0)
    return told


def score(chances: Floats, solved: Floats) -> tuple[float, float, float, float]:
    """Return log loss, Brier, area under the ROC curve and calibration error of predictions."""
    loss = -(solved * np.log(chances) + (1.0 - solved) * np.log1p(-chances)).mean()
    brier = ((solved - chances) ** 2 + solved * (1.0 - solved)).mean()
    order = np.argsort(chances, kind="stable")
    bins = np.array_split(order, min(BINS, len(order)))
    off = sum(len(part) * abs(chances[part].mean() - solved[part].mean()) for part in bins) / len(order)
    return float(loss), float(brier), _auroc(chances, solved), float(off)


def _auroc(chances: Floats, solved: Floats) -> float:
    """Return P(chance of a solved one > of an unsolved one), ties half; NaN where all are alike."""
    _, place = np.unique(chances, return_inverse=True)
    won, lost = np.bincount(place, solved), np.bincount(place, 1.0 - solved)
    below = np.cumsum(lost) - lost / 2.0
    total = won.sum() * lost.sum()
    return float((won * below).sum() / total) if total > 0 else float("nan")
