"""Predicting the success rates of pools that were left out, from demands alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Ints, expit
from mensura.demands.intervals import INTERVAL

FEWEST_POOLS = 3
_PENALTIES = np.geomspace(0.1, 10_000, 21)
PREDICTION: Mapping[str, Any] = {
    "pool": pl.String,
    "question": pl.String,
    "n": pl.Int64,
    "mae": pl.Float64,
    "mae_baseline": pl.Float64,
    "rmse_logit": pl.Float64,
    "rmse_logit_baseline": pl.Float64,
    "r": pl.Float64,
    "penalty": pl.Float64,
}
VERDICTS: Mapping[str, Any] = {
    "question": pl.String,
    "pools": pl.Int64,
    "mae": pl.Float64,
    "mae_baseline": pl.Float64,
    "gain": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "better_in": pl.Int64,
}


def predict_left_out(pools: Sequence[str], pool: Ints, levels: Floats, logits: Floats) -> pl.DataFrame:
    """Predict every pool from the others, twice: knowing nothing of it, and knowing the mean of its logits.

    Ridge regression on standardised levels; the penalty is the one that predicts best when each of the other pools is
    left out in turn. Baselines: the mean of the other pools' means, and the pool's own mean.
    """
    rows: list[tuple[object, ...]] = []
    for question, centred in (("new pool", False), ("pool mean known", True)):
        for at, name in enumerate(pools):
            train = pool != at
            penalty = _best_penalty(levels[train], logits[train], pool[train], centred)
            (guess,), base = _predicted(levels, logits, pool, at, np.array([penalty]), centred)
            truth = logits[~train]
            rows.append((name, question, truth.size, *_errors(truth, guess, base), penalty))
    return pl.DataFrame(rows, schema=PREDICTION, orient="row")


def _predicted(
    levels: Floats, logits: Floats, pool: Ints, hidden: int, penalties: Floats, centred: bool
) -> tuple[Floats, Floats]:
    """Return the predicted logits of one hidden pool, penalties × items, and the baseline."""
    train, test = pool != hidden, pool == hidden
    known = np.unique(pool[train])
    means = {at: (levels[pool == at].mean(axis=0), logits[pool == at].mean()) for at in known}
    base = float(logits[test].mean()) if centred else float(np.mean([mean for _, mean in means.values()]))
    origin = np.mean([mean for mean, _ in means.values()], axis=0)
    x, y, weight = levels[train] - origin, logits[train] - base, np.zeros(int(train.sum()))
    for at in known:
        rows = pool[train] == at
        weight[rows] = weight.size / (len(known) * rows.sum())
        if centred:
            x[rows] = levels[pool == at] - means[at][0]
            y[rows] = logits[pool == at] - means[at][1]
    slopes = _ridge(x, y, weight, penalties)
    start = levels[test].mean(axis=0) if centred else origin
    return base + slopes @ (levels[test] - start).T, np.full(int(test.sum()), base)


def _ridge(x: Floats, y: Floats, weight: Floats, penalties: Floats) -> Floats:
    """Return slopes of weighted ridge regression through the origin, penalties × columns.

    Columns are standardised, constant ones get 0. One eigenvalue decomposition serves all penalties:
    slopes = V (Vᵀ Xᵀ W y) / (e + penalty).
    """
    scale = np.sqrt((weight[:, None] * x**2).mean(axis=0))
    used = scale > 1e-9
    z = x[:, used] / scale[used]
    values, vectors = np.linalg.eigh((z * weight[:, None]).T @ z)
    along = vectors.T @ ((z * weight[:, None]).T @ y)
    slopes = np.zeros((penalties.size, x.shape[1]))
    slopes[:, used] = (along / (values + penalties[:, None])) @ vectors.T / scale[used]
    return slopes


def _best_penalty(levels: Floats, logits: Floats, pool: Ints, centred: bool) -> float:
    """Return the penalty with the least squared error when each pool is left out in turn, pools counting alike."""
    errors = np.zeros(_PENALTIES.size)
    for hidden in np.unique(pool):
        guess, _ = _predicted(levels, logits, pool, int(hidden), _PENALTIES, centred)
        errors += np.mean((guess - logits[pool == hidden]) ** 2, axis=1)
    return float(_PENALTIES[errors.argmin()])


def _errors(truth: Floats, guess: Floats, base: Floats) -> tuple[float | None, ...]:
    rate = expit(truth)
    varied = guess.std() > 1e-9 and truth.std() > 1e-9
    return (
        float(np.abs(expit(guess) - rate).mean()),
        float(np.abs(expit(base) - rate).mean()),
        float(np.sqrt(np.mean((guess - truth) ** 2))),
        float(np.sqrt(np.mean((base - truth) ** 2))),
        float(np.corrcoef(guess, truth)[0, 1]) if varied else None,
    )


def judge(prediction: pl.DataFrame, draws: int, rng: np.random.Generator) -> pl.DataFrame:
    """Average over pools; ``gain``: baseline's error less ours, with an interval from resampling pools."""
    rows = []
    for (question,), table in prediction.group_by("question", maintain_order=True):
        ours, base = table["mae"].to_numpy(), table["mae_baseline"].to_numpy()
        gains = base - ours
        means = gains[rng.integers(0, gains.size, (draws, gains.size))].mean(axis=1)
        low, high = np.quantile(means, [(1 - INTERVAL) / 2, (1 + INTERVAL) / 2]) if draws else (None, None)
        mean = float(gains.mean())
        rows.append(
            (question, gains.size, float(ours.mean()), float(base.mean()), mean, low, high, int((gains > 0).sum()))
        )
    return pl.DataFrame(rows, schema=VERDICTS, orient="row")
