"""The two-sided linear systems of a stitched fit, solved by eliminating the subject side.

Unknowns: one number per subject and two per benchmark (*first*, *second*). A score couples its subject with its
benchmark only, so the matrix is

    [ A   E ]      A diagonal (subjects), B made of 2 × 2 blocks (benchmarks), E sparse (one entry pair per score),
    [ Eᵀ  B ]

and the Schur complement B − Eᵀ A⁻¹ E on the benchmark side is solved: directly while it is small, by conjugate
gradients preconditioned with its 2 × 2 blocks when there are many benchmarks (every product then costs one pass over
the scores, so that time grows in proportion to them).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
import scipy

from mensura.core.arrays import Floats, Mask
from mensura.stitching.layout import ScoreLayout

DIRECT_BENCHMARKS = 200
"""Up to this many benchmarks the Schur complement is formed and solved directly."""
LOOSEST = 0.1
"""Relative residual at which conjugate gradients may stop far from the optimum."""
MOST_PRODUCTS = 500

Step = tuple[Floats, Floats, Floats]


@dataclass(frozen=True)
class System:
    """Gradients, diagonal blocks and couplings; one row per replicate.

    ``subject`` (replicates, subjects); ``first``, ``mixed``, ``second``: the 2 × 2 blocks (replicates, benchmarks);
    ``cross_first``, ``cross_second``: the couplings (replicates, scores).
    """

    g_subject: Floats
    g_first: Floats
    g_second: Floats
    subject: Floats
    first: Floats
    mixed: Floats
    second: Floats
    cross_first: Floats
    cross_second: Floats

    @property
    def largest_gradient(self) -> Floats:
        """Largest absolute gradient of every replicate."""
        parts = (self.g_subject, self.g_first, self.g_second)
        return np.asarray(np.max([np.abs(part).max(axis=1) for part in parts], axis=0))

    def take(self, which: Mask) -> System:
        """Keep some replicates."""
        return System(*(getattr(self, field.name)[which] for field in fields(self)))

    def holding(self, layout: ScoreLayout, subjects: Mask, firsts: Mask, seconds: Mask) -> System:
        """Hold some unknowns where they are: no gradient, no coupling, unit diagonal."""
        cross_first, cross_second, mixed = self.cross_first, self.cross_second, self.mixed
        if subjects.any():
            free = ~np.take(subjects, layout.rows, axis=1)
            cross_first, cross_second = cross_first * free, cross_second * free
        if firsts.any():
            cross_first, mixed = cross_first * ~np.take(firsts, layout.cols, axis=1), mixed * ~firsts
        if seconds.any():
            cross_second, mixed = cross_second * ~np.take(seconds, layout.cols, axis=1), mixed * ~seconds
        return System(
            g_subject=np.where(subjects, 0, self.g_subject),
            g_first=np.where(firsts, 0, self.g_first),
            g_second=np.where(seconds, 0, self.g_second),
            subject=np.where(subjects, 1, self.subject),
            first=np.where(firsts, 1, self.first),
            mixed=mixed,
            second=np.where(seconds, 1, self.second),
            cross_first=cross_first,
            cross_second=cross_second,
        )


def solve_system(layout: ScoreLayout, system: System) -> tuple[Step, Mask]:
    """Return the step −H⁻¹g in three parts, and for which replicates it descends."""
    positive = system.subject.min(axis=1) > 0
    pivot = np.where(positive[:, None], system.subject, 1.0)
    reduced = _eliminate_right(layout, system, pivot)
    solve = _direct if layout.n_benchmarks <= DIRECT_BENCHMARKS else _iterative
    first, second = solve(layout, system, pivot, reduced)
    coupled = system.cross_first * np.take(first, layout.cols, axis=1)
    coupled += system.cross_second * np.take(second, layout.cols, axis=1)
    subject = -(system.g_subject + layout.over_subjects(coupled)) / pivot
    step = (subject, first, second)
    gradients = (system.g_subject, system.g_first, system.g_second)
    slope = sum((np.einsum("ij,ij->i", g, s) for g, s in zip(gradients, step, strict=True)), np.zeros(len(pivot)))
    return step, positive & (slope < 0)


def _eliminate_right(layout: ScoreLayout, system: System, pivot: Floats) -> tuple[Floats, Floats]:
    """Right side −g + Eᵀ A⁻¹ g_subject of the reduced system."""
    share = np.take(system.g_subject / pivot, layout.rows, axis=1)
    return (
        layout.over_benchmarks(system.cross_first * share) - system.g_first,
        layout.over_benchmarks(system.cross_second * share) - system.g_second,
    )


def _direct(layout: ScoreLayout, system: System, pivot: Floats, right: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Form the Schur complement as a dense matrix and solve it by Cholesky; where it is not definite, NaN."""
    replicates, n = system.first.shape
    share = np.take(1 / np.sqrt(pivot), layout.rows, axis=1)
    coupling = np.zeros((replicates, layout.n_subjects, 2 * n))
    flat = coupling.reshape(replicates, -1)
    where = 2 * n * layout.rows + layout.cols
    flat[:, where] = system.cross_first * share
    flat[:, where + n] = system.cross_second * share
    matrix = coupling.transpose(0, 2, 1) @ coupling
    np.negative(matrix, out=matrix)
    i = np.arange(n)
    matrix[:, i, i] += system.first
    matrix[:, i + n, i + n] += system.second
    matrix[:, i, i + n] += system.mixed
    matrix[:, i + n, i] += system.mixed
    wanted = np.concatenate(right, axis=1)
    solution = np.empty_like(wanted)
    for replicate in range(replicates):
        _, solution[replicate], fault = scipy.linalg.lapack.dposv(
            matrix[replicate].T, wanted[replicate], overwrite_a=True
        )
        if fault:
            solution[replicate] = np.nan
    return solution[:, :n], solution[:, n:]


def _iterative(
    layout: ScoreLayout, system: System, pivot: Floats, right: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """Conjugate gradients on the Schur complement, never formed, preconditioned by its own 2 × 2 blocks."""
    n = layout.n_benchmarks
    share = 1 / np.take(pivot, layout.rows, axis=1)
    first = system.first - layout.over_benchmarks(system.cross_first**2 * share)
    second = system.second - layout.over_benchmarks(system.cross_second**2 * share)
    mixed = system.mixed - layout.over_benchmarks(system.cross_first * system.cross_second * share)
    determinant = first * second - mixed**2
    safe = (first > 0) & (determinant > 0)
    first, second = np.where(safe, first, system.first), np.where(safe, second, system.second)
    mixed, determinant = np.where(safe, mixed, 0), np.where(safe, determinant, system.first * system.second)

    def precondition(x: Floats) -> Floats:
        a, b = x[:, :n], x[:, n:]
        return np.concatenate(((second * a - mixed * b), (first * b - mixed * a)), axis=1) / np.tile(determinant, 2)

    def product(x: Floats) -> Floats:
        a, b = x[:, :n], x[:, n:]
        coupled = system.cross_first * np.take(a, layout.cols, axis=1)
        coupled += system.cross_second * np.take(b, layout.cols, axis=1)
        back = np.take(layout.over_subjects(coupled) / pivot, layout.rows, axis=1)
        top = system.first * a + system.mixed * b - layout.over_benchmarks(system.cross_first * back)
        bottom = system.mixed * a + system.second * b - layout.over_benchmarks(system.cross_second * back)
        return np.concatenate((top, bottom), axis=1)

    solution = _conjugate_gradients(product, precondition, np.concatenate(right, axis=1))
    return solution[:, :n], solution[:, n:]


def _conjugate_gradients(
    product: Callable[[Floats], Floats], precondition: Callable[[Floats], Floats], right: Floats
) -> Floats:
    """Solve to a relative residual that tightens with the residual itself, so that Newton keeps its fast end."""
    x = np.zeros_like(right)
    residual = right.copy()
    z = precondition(residual)
    direction = z
    rho = np.einsum("ij,ij->i", residual, z)
    size = np.linalg.norm(right, axis=1)
    target = size * np.minimum(LOOSEST, np.sqrt(size))
    for _ in range(MOST_PRODUCTS):
        image = product(direction)
        curvature = np.einsum("ij,ij->i", direction, image)
        running = (curvature > 0) & (np.linalg.norm(residual, axis=1) > target)
        if not running.any():
            break
        length = np.divide(rho, curvature, out=np.zeros_like(rho), where=running)[:, None]
        x += length * direction
        residual -= length * image
        z = precondition(residual)
        fresh = np.einsum("ij,ij->i", residual, z)
        direction = z + np.divide(fresh, rho, out=np.zeros_like(rho), where=running)[:, None] * direction
        rho = np.where(running, fresh, rho)
    return x
