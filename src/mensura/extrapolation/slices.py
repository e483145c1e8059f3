"""What the other groups of a pool teach: how steep lines are, how large interactions, which groupings move.

All functions see the other groups only on the items marked ``known`` (by name, as groups differ in their
items), except :func:`fold_mean`, which also sees their mean on the remaining ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from mensura.extrapolation.line import Case, Floats, Line, Mask, Prior

if TYPE_CHECKING:
    from collections.abc import Sequence

SAME_COVARIATE, OTHER_COVARIATE, SHIPPED = 1.0, 0.25, 0.25
"""Weights of a slice of the same covariate, of another one, and of the shipped prior, when learning."""
SMALLEST_SD, SMALLEST_VARIANCE = 0.03, 1e-6
FEWEST = 4
TYPICAL_VARIANCE = 0.05  # of interactions; it only keeps the weights of noisy and exact items comparable
LEVEL_VARIANCE = 0.003  # of the level of a line fitted on some dozens of items


@dataclass(frozen=True)
class Slices:
    """The other groups of a pool, each as the case from that group to its own reference."""

    cases: tuple[Case, ...]

    @classmethod
    def around(cls, case: Case, cases: Sequence[Case]) -> Slices:
        """Return all of ``cases`` but ``case``."""
        return cls(tuple(other for other in cases if other is not case))


@dataclass(frozen=True)
class Fit:
    """Least-squares line of one slice.

    ``slope`` with its error variance; ``interaction`` variance, and the
    ``parts`` (1 + concentration of the rest) it goes with; ``residuals`` and their sampling ``noise``;
    ``between``: per grouping of items, the variance between its levels beyond chance.
    """

    slope: float
    slope_variance: float
    interaction: float
    parts: float
    residuals: Floats
    noise: Floats
    between: dict[str, float]


@lru_cache(maxsize=4096)
def fit_slice(case: Case, known: frozenset[str] | None = None) -> Fit | None:
    """Fit the line of one slice on the ``known`` items (default: all); None where fewer than four are known."""
    mask = np.array([known is None or item in known for item in case.items])
    if mask.sum() < FEWEST:
        return None
    x, y = case.x[mask], (case.y - case.offset)[mask]
    noise = (case.x_noise + case.y_noise(case.y))[mask]
    weight = 1.0 / (TYPICAL_VARIANCE + noise)
    weight /= weight.sum()
    dx, dy = x - weight @ x, y - weight @ y
    slope = float((weight * dx) @ dy / max(float((weight * dx) @ dx), 1e-9))
    residuals = dy - slope * dx
    k = len(x)
    interaction = float(weight @ residuals**2) * k / (k - 2) - float(weight @ noise)
    slope_variance = (max(interaction, 0.0) + float(weight @ noise)) / max(float(dx @ dx), 1e-9)
    features = case.features[:, mask] if case.factor else case.features
    between = _between(residuals, max(interaction, 0.0) + noise, features, case.factor)
    return Fit(slope, slope_variance, interaction, 1.0 + case.concentration, residuals, noise, between)


def learn_prior(slices: Slices, case: Case, known: Mask) -> Prior:
    """Return the prior for ``case`` that its neighbours suggest, the shipped one counting as a weak slice.

    The shift keeps the prior of the descriptions, widened: the links will settle it.
    """
    fits, weights = _fits(slices, case, known)
    trust, own = reliability(case), case.prior
    slopes = np.array([fit.slope for fit in fits] + [own.slope * trust])
    errors = np.array([fit.slope_variance for fit in fits] + [own.slope_sd**2])
    here = 1.0 + case.concentration
    taus = np.array([fit.interaction * here / fit.parts for fit in fits] + [own.interaction**2])
    weight = np.append(weights, SHIPPED)
    precision = weight / (errors + 0.01)
    slope = float(np.average(slopes, weights=precision))
    spread = float(np.average((slopes - slope) ** 2 - errors, weights=precision)) if fits else own.slope_sd**2
    interaction = max(float(np.average(taus, weights=weight)), 0.05**2)
    return Prior(
        shift_sd=2 * own.shift_sd,
        slope=slope / trust,
        slope_sd=max(spread, SMALLEST_SD**2) ** 0.5,
        interaction=interaction**0.5,
        weight=10.0,
    )


def feature_variances(slices: Slices, case: Case, known: Mask) -> Floats | None:
    """Return, per row of ``case.features``, the variance of shifts between groupings in the other groups."""
    if not case.factor:
        return None
    fits, weights = _fits(slices, case, known)
    if not fits:
        return np.full(len(case.factor), SMALLEST_VARIANCE)
    found = {
        factor: float(np.average([fit.between.get(factor, 0.0) for fit in fits], weights=weights))
        for factor in dict.fromkeys(case.factor)
    }
    return np.array([max(found[factor], SMALLEST_VARIANCE) for factor in case.factor])


def fold_mean(slices: Slices, case: Case, known: Mask, line: Line) -> Line:
    """Move the predictions to the mean that the other groups' means of the unknown items imply.

    Each other group says by how much the unknown items are easier than the known ones; their mean, added to the
    rest's mean on the known items, is an observation of the rest's mean on the unknown ones. It counts
    against the line's own prediction by the precision of either.
    """
    unknown = ~known
    others = [other for other in slices.cases if other.covariate == case.covariate]
    others = others if len(others) > 1 else list(slices.cases)
    held, linked = _names(case, unknown), _names(case, known)
    steps, sizes = [], []
    for other in others:
        step = _step(other, held, linked)
        if step is not None:
            steps.append(step)
            sizes.append(float(np.median(other.n)))
    if len(steps) < 2 or not known.any():
        return line
    observed = float(case.y[known].mean()) + float(np.average(steps, weights=sizes))
    correction = observed - float(line.logit[0, unknown].mean())
    own = float(line.interaction[0] ** 2) / unknown.sum() + LEVEL_VARIANCE
    trust = own / (own + float(np.var(steps, ddof=1)) / len(steps))
    return replace(line, logit=line.logit + np.where(unknown, trust * correction, 0.0))


def reliability(case: Case) -> float:
    """Return the part of the spread of the focal logits that is not sampling noise (at least 0.3)."""
    spread = float(np.var(case.x))
    return max(1.0 - float(case.x_noise.mean()) / max(spread, 1e-9), 0.3)


def _fits(slices: Slices, case: Case, known: Mask) -> tuple[list[Fit], Floats]:
    """Return the fits of the other groups that have enough of the known items, and their weights."""
    names = _names(case, known)
    found = [(fit_slice(other, names), other.covariate == case.covariate) for other in slices.cases]
    fits = [fit for fit, _ in found if fit is not None]
    weights = [SAME_COVARIATE if same else OTHER_COVARIATE for fit, same in found if fit is not None]
    return fits, np.array(weights)


@lru_cache(maxsize=4096)
def _step(case: Case, held: frozenset[str], linked: frozenset[str]) -> float | None:
    """Return by how much a group's mean logit on the held items exceeds that on the linked ones."""
    new = np.array([item in held for item in case.items])
    old = np.array([item in linked for item in case.items])
    return float(case.x[new].mean() - case.x[old].mean()) if new.any() and old.any() else None


def _names(case: Case, mask: Mask) -> frozenset[str]:
    return frozenset(item for item, flag in zip(case.items, mask, strict=True) if flag)


def _between(residuals: Floats, noise: Floats, features: Floats, factor: Sequence[str]) -> dict[str, float]:
    """Return, per grouping, the variance between its levels less what interaction and noise alone would give."""
    found: dict[str, list[float]] = {}
    sizes = features.sum(axis=1)
    for row, size, name in zip(features, sizes, factor, strict=True):
        if size > 1:
            found.setdefault(name, []).append(float(row @ residuals / size) ** 2 - float(row @ noise / size) / size)
    return {name: float(np.mean(values)) for name, values in found.items()}
