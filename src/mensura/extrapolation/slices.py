"""What the other groups of a pool teach: how steep lines are, how large interactions, which groupings move.

The other groups come as tasks of their own, with rates and links on the items that may be known. All functions look at
them only on the links of the focal group (by name, as groups differ in their items), except :func:`fold_mean`, which
also sees their mean on the remaining ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.extrapolation.facts import concentration_of, expected
from mensura.extrapolation.straight_line import Contrast, FittedLine, Prior, focal_logit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mensura.core.arrays import Floats
    from mensura.extrapolation.protocol import Slices, Task

GROUPINGS = ("domain", "format", "cognitive", "passage", "scoring", "language")
"""Columns of the item table whose levels may shift together."""
SAME_COVARIATE, OTHER_COVARIATE, SHIPPED = 1.0, 0.25, 0.25
"""Weights of a slice of the same covariate, of another one, and of the shipped prior, when learning."""
SMALLEST_SD, SMALLEST_VARIANCE, SMALLEST_INTERACTION = 0.03, 1e-6, 0.05
"""Least SD of slopes, least variance of a grouping's shifts, least interaction: no pool shows that groups are alike."""
FEWEST = 4  # known items that a line, its spread and its interaction can be read from
TYPICAL_VARIANCE = 0.05  # of interactions; it only keeps the weights of noisy and exact items comparable
TYPICAL_SLOPE_VARIANCE = 0.01  # between slices; it only keeps the weights of long and short slices comparable
LEVEL_VARIANCE = 0.003  # of the level of a line fitted on some dozens of items
LEARNED_WEIGHT = 10.0  # observations that a prior learned from other groups is worth
_CACHED = 4096
_TINY = 1e-9


@dataclass(frozen=True, eq=False)
class SliceFit:
    """Least-squares line of one slice.

    ``slope`` with its error variance; ``interaction`` variance, and the ``parts`` (1 + concentration of the rest) it
    goes with; ``residuals`` and their sampling ``noise``, per known item; ``between``: per grouping of items, the
    variance between its levels beyond chance.
    """

    items: tuple[str, ...]
    slope: float
    slope_variance: float
    interaction: float
    parts: float
    residuals: Floats
    noise: Floats
    between: dict[str, float]


@lru_cache(maxsize=_CACHED)
def fit_slice(task: Task, names: frozenset[str] | None = None) -> SliceFit | None:
    """Fit the line of one slice on its known items (of ``names``, where given); None where they are fewer than four."""
    contrast = Contrast.of(task, expected(task)[0])
    items = task.names
    mask = contrast.known[0] & np.array([names is None or item in names for item in items])
    if mask.sum() < FEWEST:
        return None
    x, y = contrast.x[mask], (contrast.y[0] - contrast.offset)[mask]
    noise = (contrast.x_noise + contrast.y_noise(contrast.y[0]))[mask]
    weight = 1.0 / (TYPICAL_VARIANCE + noise)
    weight /= weight.sum()
    dx, dy = x - weight @ x, y - weight @ y
    slope = float((weight * dx) @ dy / max(float((weight * dx) @ dx), _TINY))
    residuals = dy - slope * dx
    k = len(x)
    interaction = float(weight @ residuals**2) * k / (k - 2) - float(weight @ noise)
    slope_variance = (max(interaction, 0.0) + float(weight @ noise)) / max(float(dx @ dx), _TINY)
    features, factor = features_of(task.items)
    between = _between(residuals, max(interaction, 0.0) + noise, features[:, mask], factor)
    kept = tuple(item for item, flag in zip(items, mask, strict=True) if flag)
    return SliceFit(kept, slope, slope_variance, interaction, 1.0 + concentration_of(task), residuals, noise, between)


def learn_prior(task: Task, slices: Slices, own: Prior, trust: float) -> Prior:
    """Return the prior for ``task`` that its neighbours suggest, its ``own`` one counting as a weak slice.

    ``trust``: reliability of the focal logits. The shift keeps the prior of the descriptions, widened: the links will
    settle it.
    """
    fits, weights = _fits(task, slices)
    slopes = np.array([fit.slope for fit in fits] + [own.slope * trust])
    errors = np.array([fit.slope_variance for fit in fits] + [own.slope_sd**2])
    here = 1.0 + concentration_of(task)
    taus = np.array([fit.interaction * here / fit.parts for fit in fits] + [own.interaction**2])
    weight = np.append(weights, SHIPPED)
    precision = weight / (errors + TYPICAL_SLOPE_VARIANCE)
    slope = float(np.average(slopes, weights=precision))
    spread = float(np.average((slopes - slope) ** 2 - errors, weights=precision)) if fits else own.slope_sd**2
    interaction = max(float(np.average(taus, weights=weight)), SMALLEST_INTERACTION**2)
    return Prior(
        shift_sd=2 * own.shift_sd,
        gap_shift=2 * own.gap_shift,
        slope=slope / trust,
        slope_sd=max(spread, SMALLEST_SD**2) ** 0.5,
        interaction=interaction**0.5,
        weight=LEARNED_WEIGHT,
    )


def feature_variances(task: Task, slices: Slices) -> Floats | None:
    """Return, per row of the task's features, the variance of shifts between groupings in the other groups."""
    _, factor = features_of(task.items)
    if not factor:
        return None
    fits, weights = _fits(task, slices)
    if not fits:
        return np.full(len(factor), SMALLEST_VARIANCE)
    variances = {
        name: float(np.average([fit.between.get(name, 0.0) for fit in fits], weights=weights))
        for name in dict.fromkeys(factor)
    }
    return np.array([max(variances[name], SMALLEST_VARIANCE) for name in factor])


def fold_mean(task: Task, slices: Slices, contrast: Contrast, line: FittedLine) -> FittedLine:
    """Move the predictions to the mean that the other groups' means of the unknown items imply.

    Each other group says by how much the unknown items are easier than the known ones; their mean, added to the
    rest's mean on the known items, is an observation of the rest's mean on the unknown ones. It counts
    against the line's own prediction by the precision of either.
    """
    known = contrast.known[0]
    steps_of = _steps(task, slices)
    if len(steps_of) < 2 or not known.any() or known.all():
        return line
    steps, sizes = np.array(steps_of).T
    observed = float(contrast.y[0, known].mean()) + float(np.average(steps, weights=sizes))
    correction = observed - float(line.logit[0, ~known].mean())
    own = float(line.interaction[0] ** 2) / (~known).sum() + LEVEL_VARIANCE
    trust = own / (own + float(np.var(steps, ddof=1)) / len(steps))
    return replace(line, logit=line.logit + np.where(known, 0.0, trust * correction))


def features_of(items: pl.DataFrame) -> tuple[Floats, tuple[str, ...]]:
    """Return the groupings of the items as rows of 0 and 1, and the grouping each row belongs to.

    A grouping counts where it has two levels or more, and two items per level or more on average.
    """
    names = [name for name in GROUPINGS if name in items.columns]
    columns = ((name, items[name].cast(pl.String).to_list()) for name in names)
    return _features(items.height, tuple((name, tuple(value or "" for value in values)) for name, values in columns))


@lru_cache(maxsize=_CACHED)
def _features(size: int, columns: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[Floats, tuple[str, ...]]:
    rows: list[Floats] = []
    factor: list[str] = []
    for name, values in columns:
        levels = sorted(set(values))
        for level in levels if 1 < len(levels) <= size / 2 else []:
            rows.append(np.array([value == level for value in values], dtype=float))
            factor.append(name)
    return np.array(rows).reshape(len(rows), size), tuple(factor)


def _known_names(task: Task) -> frozenset[str]:
    return frozenset(item for item, flag in zip(task.names, task.known[0], strict=True) if flag)


def _fits(task: Task, slices: Slices) -> tuple[list[SliceFit], Floats]:
    """Return the fits of the other groups that have enough of the known items, and their weights."""
    names = _known_names(task)
    tried = [(fit_slice(other, names), other.covariate == task.covariate) for other in slices.tasks]
    fits = [fit for fit, _ in tried if fit is not None]
    weights = [SAME_COVARIATE if same else OTHER_COVARIATE for fit, same in tried if fit is not None]
    return fits, np.array(weights)


def _steps(task: Task, slices: Slices) -> list[tuple[float, float]]:
    """Return by how much the mean logit of each other group on the unknown items exceeds that on the links.

    With the group's median number of answers as its weight; groups of the same covariate, where there are two or more.
    """
    links = _known_names(task)
    same = [index for index, other in enumerate(slices.tasks) if other.covariate == task.covariate]
    steps = []
    for index in same if len(same) > 1 else range(len(slices.tasks)):
        linked = _mean_logit(slices.tasks[index], links)
        if slices.hidden_count[index] and np.isfinite(linked):
            steps.append((float(slices.hidden_logit[index]) - linked, float(np.median(slices.tasks[index].n))))
    return steps


@lru_cache(maxsize=_CACHED)
def _mean_logit(task: Task, names: frozenset[str]) -> float:
    """Return a group's mean logit on those of the named items that are known, NaN where there are none."""
    mask = np.isfinite(task.rate) & np.array([item in names for item in task.names])
    return float(focal_logit(task.rate[mask], task.n[mask]).mean()) if mask.any() else np.nan


def _between(residuals: Floats, noise: Floats, features: Floats, factor: Sequence[str]) -> dict[str, float]:
    """Return, per grouping, the variance between its levels less what interaction and noise alone would give."""
    variances: dict[str, list[float]] = {}
    for row, size, name in zip(features, features.sum(axis=1), factor, strict=True):
        if size > 1:
            variances.setdefault(name, []).append(float(row @ residuals / size) ** 2 - float(row @ noise / size) / size)
    return {name: float(np.mean(values)) for name, values in variances.items()}
