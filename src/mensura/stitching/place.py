"""Freeze and score: place new subjects, or a domain's scores, on an existing fit without moving it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError
from mensura.stitching.checks import positions_of
from mensura.stitching.draws import PositionDraws
from mensura.stitching.layout import ScoreLayout
from mensura.stitching.positions import Positions
from mensura.stitching.scores import ScoreSet, encode, read_scores

if TYPE_CHECKING:
    from mensura.stitching.result import Stitch

PLACING_DRAWS = 200
"""Draws of the benchmarks on which new subjects are placed; each costs one iteration per new subject."""


def place(fit: Stitch, scores: Any, *, seed: int = 0) -> PositionDraws:  # noqa: ANN401
    """Place the subjects of a score table on the fit; its benchmarks stay where they are.

    Returns draws over the fit's subjects and, after them, the new ones, so that they can be ranked and compared. Their
    intervals hold their own error and that of the benchmarks. Benchmarks unknown to the fit are refused.
    """
    frame = read_scores(scores)
    taken = sorted(set(frame["subject"]) & set(fit.data.subjects))
    if taken:
        raise MensuraError(f"scores: {taken[0]!r} is already in the fit; rename it to place it a second time")
    return _placed(fit, on_benchmarks_of(fit, frame), f"placed on a {fit.method} fit", seed)


def domain(fit: Stitch, benchmarks: list[str], *, seed: int = 0) -> PositionDraws:
    """Place every subject by its scores on some benchmarks only (a domain index), the fit frozen.

    Subjects are named ``NAME (domain)`` beside the whole-fit ones, which stay.
    """
    data = fit.data
    unknown = [name for name in benchmarks if name not in data.benchmarks]
    if unknown:
        raise MensuraError(
            f"benchmarks: {unknown[0]!r} is not in the fit; expected one of {', '.join(data.benchmarks)}"
        )
    rows, cols = data.layout.rows, data.layout.cols
    frame = pl.DataFrame(
        {
            "subject": [f"{data.subjects[i]} (domain)" for i in rows],
            "benchmark": [data.benchmarks[i] for i in cols],
            "score": data.y,
            "stderr": np.sqrt(data.sampling),
        }
    ).filter(pl.col("benchmark").is_in(benchmarks))
    return _placed(fit, on_benchmarks_of(fit, frame), f"domain of {len(benchmarks)} benchmarks", seed)


def on_benchmarks_of(fit: Stitch, frame: pl.DataFrame) -> ScoreSet:
    """Encode new scores with the fit's benchmark positions, chance and ceiling."""
    own = encode(frame.drop("chance", "ceiling", strict=False), "mean")
    cols = positions_of(fit.data.benchmarks, list(own.benchmarks))
    if (cols < 0).any():
        name = own.benchmarks[int(np.flatnonzero(cols < 0)[0])]
        raise MensuraError(
            f"scores: benchmark {name!r} is not in the fit; expected one of {', '.join(fit.data.benchmarks)}"
        )
    layout = ScoreLayout(own.layout.rows, cols[own.layout.cols], len(own.subjects), len(fit.data.benchmarks))
    chance, ceiling = fit.data.chance, fit.data.ceiling
    return replace(
        own, benchmarks=fit.data.benchmarks, layout=layout, chance=chance, ceiling=ceiling, step=fit.data.step
    )


def _placed(fit: Stitch, new: ScoreSet, kind: str, seed: int) -> PositionDraws:
    """Place at the estimate and, with noise, at every draw of the benchmarks."""
    rng = np.random.default_rng(seed)
    model, basis = fit.model, len(fit.data.subjects)
    base = model.positions
    mean, _, _ = model.place(new)
    found = Positions(np.concatenate((base.theta, mean[None]), axis=1), base.phi)
    estimate = fit.scaled(found, basis)
    drawn = model.sample(PLACING_DRAWS, rng)
    theta = np.empty((PLACING_DRAWS, len(new.subjects), mean.shape[1]))
    lost = 0
    for i, phi in enumerate(drawn.phi):
        at, covariance, converged = model.place(new, phi)
        lost += not converged
        noise = np.linalg.cholesky(covariance) @ rng.standard_normal((*at.shape, 1))
        theta[i] = at + noise[:, :, 0]
    together = Positions(np.concatenate((drawn.theta, theta), axis=1), drawn.phi)
    positions = fit.scaled(together, basis, about=found)
    return PositionDraws(kind, (*fit.data.subjects, *new.subjects), fit.data.benchmarks, estimate, positions, lost)
