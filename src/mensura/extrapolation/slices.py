"""What the other groups of a pool teach: how steep lines are, how large interactions, which groupings move.

All functions see the other groups only on the items marked ``known`` (by name, as groups differ in their
items), except :func:`fold_mean`, which also sees their mean on the remaining ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mensura.extrapolation.line import Case, Floats, Line, Mask, Prior

if TYPE_CHECKING:
    from collections.abc import Sequence

SAME_COVARIATE, OTHER_COVARIATE, SHIPPED = 1.0, 0.25, 0.25
"""Weights of a slice of the same covariate, of another one, and of the shipped prior, when learning."""
SMALLEST_SD = 0.03


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
    """Least-squares line of one slice: slope with its error variance, interaction variance, residuals."""

    slope: float
    slope_variance: float
    interaction: float
    residuals: Floats
    noise: Floats


def fit_slice(case: Case, known: Mask) -> Fit | None:
    """Fit the line of one slice on the ``known`` items; None where fewer than four are known."""
    if known.sum() < 4:
        return None
    x, y = case.x[known], (case.y - case.offset)[known]
    noise = (case.x_noise + case.y_noise(case.y))[known]
    weight = 1.0 / (0.05 + noise)
    weight /= weight.sum()
    dx, dy = x - weight @ x, y - weight @ y
    slope = float((weight * dx) @ dy / max(float((weight * dx) @ dx), 1e-9))
    residuals = dy - slope * dx
    k = len(x)
    interaction = float(weight @ residuals**2) * k / (k - 2) - float(weight @ noise)
    slope_variance = (max(interaction, 0.0) + float(weight @ noise)) / max(float(dx @ dx), 1e-9)
    return Fit(slope, slope_variance, interaction, residuals, noise)


def learn_prior(slices: Slices, case: Case, known: Mask) -> Prior:
    """Return the prior for ``case`` that its neighbours suggest, the shipped one counting as a weak slice.

    The shift keeps the prior of the descriptions, widened: the links will settle it.
    """
    fits, weights = _fits(slices, case, known)
    trust, own = reliability(case), case.prior
    slopes = np.array([fit.slope for fit in fits] + [own.slope * trust])
    errors = np.array([fit.slope_variance for fit in fits] + [own.slope_sd**2])
    taus = np.array([fit.interaction for fit in fits] + [own.interaction**2])
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
        return np.full(len(case.factor), 1e-6)
    variance: dict[str, float] = {}
    for factor in dict.fromkeys(case.factor):
        found = [
            _between(fit, other, mask, factor) for fit, (other, mask) in zip(fits, _seen(slices, case, known), strict=True)
        ]
        variance[factor] = max(float(np.average(np.nan_to_num(found), weights=weights)), 1e-6)
    return np.array([variance[factor] for factor in case.factor])


def fold_mean(slices: Slices, case: Case, known: Mask, line: Line) -> Line:
    """Move the predictions to the mean that the other groups' means of the unknown items imply.

    Each other group says by how much the unknown items are easier than the known ones; their mean, added to the
    rest's mean on the known items, is an observation of the rest's mean on the unknown ones. It counts
    against the line's own prediction by the precision of either.
    """
    unknown = ~known
    others = [other for other in slices.cases if other.covariate == case.covariate]
    others = others if len(others) > 1 else list(slices.cases)
    steps, sizes = [], []
    held = {item for item, flag in zip(case.items, unknown, strict=True) if flag}
    linked = set(case.items) - held
    for other in others:
        new, old = _mask(other, held), _mask(other, linked)
        if new.any() and old.any():
            steps.append(float(other.x[new].mean() - other.x[old].mean()))
            sizes.append(float(np.median(other.n)))
    if len(steps) < 2 or not unknown.any():
        return line
    observed = float(case.y[known].mean()) + float(np.average(steps, weights=sizes))
    correction = observed - float(line.logit[0, unknown].mean())
    own = float(line.interaction[0] ** 2) / unknown.sum() + 0.003
    trust = own / (own + float(np.var(steps, ddof=1)) / len(steps))
    return replace(line, logit=line.logit + np.where(unknown, trust * correction, 0.0))


def _fits(slices: Slices, case: Case, known: Mask) -> tuple[list[Fit], Floats]:
    fits, weights = [], []
    for other, mask in _seen(slices, case, known):
        fit = fit_slice(other, mask)
        assert fit is not None
        fits.append(fit)
        weights.append(SAME_COVARIATE if other.covariate == case.covariate else OTHER_COVARIATE)
    return fits, np.array(weights)


def _seen(slices: Slices, case: Case, known: Mask) -> list[tuple[Case, Mask]]:
    """Return the other groups that have at least four of the known items, with the mask of those items."""
    names = {item for item, flag in zip(case.items, known, strict=True) if flag}
    seen = [(other, _mask(other, names)) for other in slices.cases]
    return [(other, mask) for other, mask in seen if mask.sum() >= 4]


def _mask(case: Case, names: set[str]) -> Mask:
    return np.array([item in names for item in case.items])


def _between(fit: Fit, other: Case, mask: Mask, factor: str) -> float:
    """Variance between the levels of one grouping, less what interaction and noise alone would give."""
    found = []
    for row, name in zip(other.features, other.factor, strict=True):
        inside = row[mask] > 0
        if name == factor and inside.sum() > 1:
            chance = (max(fit.interaction, 0.0) + float(fit.noise[inside].mean())) / inside.sum()
            found.append(float(fit.residuals[inside].mean()) ** 2 - chance)
    return float(np.mean(found)) if found else np.nan


def reliability(case: Case) -> float:
    """Return the part of the spread of the focal logits that is not sampling noise (at least 0.3)."""
    spread = float(np.var(case.x))
    return max(1.0 - float(case.x_noise.mean()) / max(spread, 1e-9), 0.3)
