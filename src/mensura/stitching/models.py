"""New subjects on a fit: their θ given the benchmarks, by iterated linearised updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask
from mensura.core.ray import RayTasks
from mensura.stitching.checks import Convergence
from mensura.stitching.layout import ScoreLayout, bounded, levels, pack_squares, pack_twice, unpack
from mensura.stitching.positions import Positions
from mensura.stitching.scores import ScoreSet
from mensura.stitching.sweeps import extended

PLACING_SWEEPS, PLACING_TOLERANCE = 100, 1e-6
SHORTENED, LENGTHENED = 0.5, 1.25
"""Factors on a placing's step after one that turned back, and after one that went on."""
SMALLEST_PLACING_SLOPE = 1e-3
"""Least derivative of a score in η taken when placing, so that a step stays finite far out on the curve."""


class Placed(NamedTuple):
    """New subjects on a fit: mean (S, K) and covariance (S, K, K) of their θ, and whether the iteration arrived."""

    theta: Floats
    covariance: Floats
    converged: bool


class SubjectPrior(NamedTuple):
    """What is known of new subjects before their scores: mean (S, K) and precision (S, K, K) of their θ."""

    mean: Floats
    precision: Floats


def place_subjects(
    new: ScoreSet,
    phi: Floats,
    variance: Callable[[Floats], Floats],
    prior: SubjectPrior,
    phi_cov: Floats | None = None,
) -> Placed:
    """Return the posterior of θ with the benchmarks at ``phi`` (B, 1 + K).

    ``variance`` gives the noise of every score at its expectation. ``phi_cov`` (B, 1 + K, 1 + K) is the benchmarks' own
    error: it makes a score of a benchmark that is hardly known say less. A subject whose step turns back on the one
    before shortens its steps: a score far out on a steep curve would otherwise send it to and fro for ever.
    """
    layout = new.layout
    loadings, offset, squares = phi[layout.cols, 1:], phi[layout.cols, 0], pack_squares(phi[:, 1:])
    theta, covariance = prior.mean.copy(), np.linalg.inv(prior.precision).astype(float)
    pull = np.einsum("mij,mj->mi", prior.precision, prior.mean)
    step, length, arrived = np.zeros_like(theta), np.ones((layout.n_subjects, 1)), False
    for _ in range(PLACING_SWEEPS):
        eta = offset + np.einsum("ij,ij->i", loadings, theta[layout.rows])
        f, slope = levels(new.chance[layout.cols], new.ceiling[layout.cols], eta, new.step)
        slope = np.maximum(slope, SMALLEST_PLACING_SLOPE)
        noise: Floats = variance(f)
        if phi_cov is not None:
            noise = noise + slope**2 * benchmark_error(phi_cov, theta, covariance, layout.rows, layout.cols)
        w = new.counts * slope**2 / noise
        z = eta - offset + bounded(new.y - f, slope, noise)
        matrix = unpack(layout.matrix(w) @ squares, theta.shape[1])
        vector = layout.matrix(w * z) @ phi[:, 1:] + pull
        covariance = np.linalg.inv(matrix + prior.precision).astype(float)
        before, step = step, np.einsum("mij,mj->mi", covariance, vector) - theta
        turned = (step * before).sum(axis=1, keepdims=True) < 0
        length = np.where(turned, SHORTENED * length, np.minimum(LENGTHENED * length, 1))
        theta = theta + length * step
        arrived = bool(np.abs(step).max() < PLACING_TOLERANCE)
        if arrived:
            break
    return Placed(theta, covariance, arrived)


def benchmark_error(phi_cov: Floats, theta: Floats, theta_cov: Floats, rows: Ints, cols: Ints) -> Floats:
    """Variance of η that comes from the benchmarks' own error, for pairs of subject and benchmark."""
    _, second = extended(theta, theta_cov)
    return np.asarray(np.einsum("ij,ij->i", pack_twice(phi_cov)[cols], second[rows]))


# What both fitted models answer: an estimate, refits with other weights, draws from the posterior, placings.


class Model(Protocol):
    """What a result needs of a fitted model. Positions come on the model's own scale, the scale is applied outside."""

    @property
    def data(self) -> ScoreSet:
        """The scores it was fitted to."""

    @property
    def positions(self) -> Positions:
        """The estimate (one draw)."""

    @property
    def shares(self) -> Floats:
        """How much each benchmark adds: 1, less where others say the same."""

    @property
    def bend(self) -> float:
        """Factor by which draws spread wider where positions are read off them than where scores are."""

    @property
    def convergence(self) -> Convergence:
        """How the fit ended."""

    def refit(self, weights: Floats, advance: Callable[[], object] | None = None) -> tuple[Positions, Mask]:
        """Refit with every row of ``weights`` (replicates, scores) from the estimate; say which ones arrived."""

    def sample(self, n: int, rng: np.random.Generator) -> Positions:
        """Draw from the Gaussian approximation of the posterior."""

    def noise(self, expected: Floats, cols: Ints) -> Floats:
        """Variance of a new score around its expectation."""

    def place(self, new: ScoreSet, phi: Floats | None = None) -> Placed:
        """Place new subjects, the benchmarks held at ``phi`` (B, 1 + K), or at their estimate with its error."""


# Resampling: which scores count how often in each replicate, and what a replicate says nothing about.

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
