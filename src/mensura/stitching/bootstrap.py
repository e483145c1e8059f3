"""Resampling: which scores count how often in each replicate, and what a replicate says nothing about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from mensura.core.arrays import Floats, Mask
from mensura.core.ray import RayTasks
from mensura.stitching.layout import ScoreLayout
from mensura.stitching.models import Model
from mensura.stitching.positions import Positions

Kind = Literal["within", "subjects", "benchmarks"]


class Resampled(NamedTuple):
    """Refits of all replicates: positions, where they are known, and which replicates arrived.

    ``seen`` is (replicates, subjects), ``known`` (replicates, benchmarks), ``converged`` (replicates,).
    """

    positions: Positions
    seen: Mask
    known: Mask
    converged: Mask


def bootstrap_weights(
    layout: ScoreLayout, n: int, kind: Kind, rng: np.random.Generator, keep_benchmark: int | None = None
) -> Floats:
    """Return (n, scores): how often each score counts in each replicate.

    ``within``: every subject's scores are resampled with replacement. ``subjects`` and ``benchmarks``: whole rows or
    columns are. ``keep_benchmark`` (an anchor) counts at least once.
    """
    if kind == "within":
        return _within(layout, n, rng)
    if kind == "subjects":
        m = layout.n_subjects
        return np.take(rng.multinomial(m, np.full(m, 1 / m), size=n).astype(float), layout.rows, axis=1)
    b = layout.n_benchmarks
    counts = rng.multinomial(b, np.full(b, 1 / b), size=n).astype(float)
    if keep_benchmark is not None:
        counts[:, keep_benchmark] = np.maximum(counts[:, keep_benchmark], 1)
    return np.take(counts, layout.cols, axis=1)


def _within(layout: ScoreLayout, n: int, rng: np.random.Generator) -> Floats:
    """Resample within every subject; subjects with equally many scores are drawn together."""
    weights = np.empty((n, layout.n_scores))
    sizes = np.bincount(layout.rows, minlength=layout.n_subjects)
    for size in np.unique(sizes):
        who = layout.subject_starts[sizes == size]
        drawn = rng.multinomial(size, np.full(size, 1 / size), size=(n, who.size))
        weights[:, who[:, None] + np.arange(size)] = drawn
    return weights


def on_ray(model: Model, weights: Floats, kind: Kind, address: str) -> Resampled:
    """Refit every replicate on a Ray cluster, in two parts per processor."""
    with RayTasks(address) as tasks:
        parts = np.array_split(weights, min(len(weights), 2 * tasks.workers))
        found = [task.result() for task in [tasks.submit(resampled, model, part, kind) for part in parts]]
    theta, phi = (np.concatenate([getattr(one.positions, name) for one in found]) for name in ("theta", "phi"))
    seen, known, converged = (
        np.concatenate([getattr(one, name) for one in found]) for name in ("seen", "known", "converged")
    )
    return Resampled(Positions(theta, phi), seen, known, converged)


def resampled(model: Model, weights: Floats, kind: Kind, advance: Callable[[], object] | None = None) -> Resampled:
    """Refit every replicate.

    Subjects left out by resampling subjects are placed afterwards on the replicate's benchmarks, from all their scores.
    """
    layout = model.data.layout
    positions, converged = model.refit(weights, advance)
    seen = layout.over_subjects(weights) > 0
    known = layout.over_benchmarks(weights) > 0
    if kind == "subjects":
        for replicate, here in enumerate(seen):
            out = np.flatnonzero(~here)
            if out.size:
                placed = model.place(model.data.of_subjects(out), positions.phi[replicate])
                positions.theta[replicate, out] = placed.theta
                converged[replicate] &= placed.converged
        seen = np.ones_like(seen)
    return Resampled(positions, seen, known, converged)
