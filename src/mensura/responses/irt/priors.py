"""Priors of items and groups, weak by default, and the stiffness that holds fixed items."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mensura.core.arrays import Floats
from mensura.responses.irt.model import Items, Parameters

_LEAST_SLOPE, _TINY, _STIFF = 0.1, 1e-12, 1e6
STEEPEST, _STEEP_SD = 4.0, 0.5
"""Mean discrimination, per standard deviation of the first group, from which a prior pulls its logarithm back, and the
standard deviation of that prior. Where subjects answer without any error, as all right or all wrong, the likelihood
rises for ever with it."""


class ItemPrior(NamedTuple):
    """A normal prior of one parameter of every item."""

    mean: float
    sd: float


class GroupPrior(NamedTuple):
    """Normal priors of a group beside the first: standard deviations of its mean and of its log sd, in the first's."""

    mean: float
    log_sd: float


@dataclass(frozen=True)
class Priors:
    """Priors of item parameters, weak by default: they decide only where responses are few or one-sided.

    ``slope``: standard deviation of slopes relative to their mean (not for ``rasch``). ``intercept``: that of
    intercepts about those of items of common difficulty. ``guessing``: of logit c. ``groups``: of groups beside the
    first; it holds a group that answers all items alike, whose mean and spread would run away. None: no prior. Neither
    mean of items is fixed: priors that knew where the scale lies would move it, all items together, wherever items
    outnumber subjects. Only a mean discrimination beyond :data:`STEEPEST` is pulled back, by ``slope``, or by
    ``groups`` for ``rasch``, where it is the spread of the first group.
    """

    slope: float | None = 0.5
    intercept: float | None = 3.0
    guessing: ItemPrior | None = ItemPrior(-1.4, 0.5)  # noqa: RUF009
    groups: GroupPrior | None = GroupPrior(5.0, 1.5)  # noqa: RUF009


def prior_terms(p: Parameters, priors: Priors) -> tuple[float, Floats, Floats]:
    """Return the log density of the priors (up to a constant), its gradient and curvature per parameter.

    Slopes: −½ Σ ((a/ā − 1)/s)²; intercepts: −½ Σ ((d + a b̄)/s)² with b̄ the common difficulty that fits best. Both
    stay as they are when the ability scale is shifted or stretched.
    """
    density, gradient, curvature = 0.0, np.zeros((len(p.slope), p.of_item)), np.zeros((len(p.slope), p.of_item))
    place = 0 if p.model == "rasch" else 1
    if priors.intercept is not None:
        common = -float(p.slope @ p.intercept) / max(float(p.slope @ p.slope), _TINY)
        off = (p.intercept + p.slope * common) / priors.intercept
        density -= 0.5 * float(off @ off)
        gradient[:, place], curvature[:, place] = -off / priors.intercept, priors.intercept**-2.0
        if place:
            gradient[:, 0] -= off * common / priors.intercept
    if priors.slope is not None and p.model != "rasch":
        middle = max(float(np.mean(p.slope)), _LEAST_SLOPE)
        relative = p.slope / middle
        off = (relative - 1.0) / priors.slope
        density -= 0.5 * float(off @ off)
        gradient[:, 0] -= (off - float(np.mean(off * relative))) / (priors.slope * middle)
        curvature[:, 0] += (priors.slope * middle) ** -2.0
        steep, pull, stiffness = _steep_terms(middle)
        density += steep
        gradient[:, 0] += pull / (len(off) * middle)
        curvature[:, 0] += stiffness / (len(off) * middle**2)
    if priors.guessing is not None and p.model == "3pl":
        off = (p.guess - priors.guessing.mean) / priors.guessing.sd
        density -= 0.5 * float(off @ off)
        gradient[:, 2], curvature[:, 2] = -off / priors.guessing.sd, priors.guessing.sd**-2.0
    if p.fixed is not None:
        curvature[p.fixed] += _STIFF
    return density, gradient, curvature


def _steep_terms(discrimination: float) -> tuple[float, float, float]:
    """Return log density, gradient and curvature of the prior of ln discrimination; all are 0 below STEEPEST."""
    off = max(0.0, float(np.log(discrimination / STEEPEST))) / _STEEP_SD
    return -0.5 * off**2, -off / _STEEP_SD, _STEEP_SD**-2.0 if off else 0.0


def group_prior_terms(p: Items, prior: GroupPrior | None) -> tuple[float, Floats, Floats]:
    """Return the log density of the priors of groups, its gradient and curvature in the order of ``p.free``."""
    density, gradient, curvature = 0.0, np.zeros(len(p.free)), np.zeros(len(p.free))
    if prior is None:
        return density, gradient, curvature
    unit, free_unit = float(p.sd[0]), p.free[:1] == (("sd", 0),)
    if free_unit:
        density, gradient[0], curvature[0] = _steep_terms(unit)
    for place, (name, group) in enumerate(p.free):
        if not group:
            continue
        width = prior.mean * unit if name == "mean" else prior.log_sd
        off = float(p.mean[group] if name == "mean" else np.log(p.sd[group] / unit)) / width
        density -= 0.5 * off**2
        gradient[place], curvature[place] = -off / width, width**-2.0
        if free_unit:  # a wider first group brings the others nearer
            gradient[0] += off**2 if name == "mean" else off / width
            curvature[0] += 2.0 * off**2 if name == "mean" else width**-2.0
    return density, gradient, curvature
