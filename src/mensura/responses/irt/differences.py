"""Differential item functioning: items whose curve is another for one group than for another of equal ability.

From the expected counts of each group alone the item's curve is estimated anew (Newton's steps on the group's
counts). The difference of two curves is tested by Wald's statistic; its covariance holds the errors of both, what
posteriors leave open, and where the groups lie.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mensura.core.arrays import Floats
from mensura.responses.irt.fitting import Fitted
from mensura.responses.irt.model import Parameters, Priors, chances, curve_derivatives, prior_terms
from mensura.responses.irt.passes import PassSums

_STEPS = 25
_FLOOR = 1e-9


class GroupCurves(NamedTuple):
    """Items as one group sees them: parameters, and the covariance of slope and intercept (items × k × k)."""

    parameters: Parameters
    covariance: Floats


class CurveGap(NamedTuple):
    """Per item: difference at the focal mean (logits), its error, Wald's statistic and degrees, gap of rates."""

    difference: Floats
    error: Floats
    wald: Floats
    degrees: int
    rate_gap: Floats


def group_curves(fitted: Fitted, sums: PassSums, group: int, priors: Priors) -> GroupCurves:
    """Estimate every item from the sums by node of one group; guessing stays that of all groups."""
    p, nodes = fitted.parameters, fitted.grid.nodes
    own = replace(p, model="2pl" if p.model == "3pl" else p.model)
    found, count = p, own.of_item
    taken = np.maximum(np.broadcast_to(sums.taken, (len(p.slope), len(nodes))), 0.0)
    for _ in range(_STEPS):
        rate, by_item, by_ability = curve_derivatives(found, nodes)
        by_item = by_item[:, :, :count]
        spread = np.maximum(rate * (1.0 - rate), _FLOOR)
        _, pull, stiffness = prior_terms(replace(found, model=own.model), priors)
        score = np.einsum("jq,jqk->jk", (sums.right - taken * rate) / spread, by_item) + pull
        blocks = np.einsum("jq,jqk,jql->jkl", taken / spread, by_item, by_item, optimize=True)
        blocks[:, np.arange(count), np.arange(count)] += stiffness + _FLOOR
        step = np.clip(np.linalg.solve(blocks, score[:, :, None])[:, :, 0], -0.5, 0.5)
        slope = found.slope if p.model == "rasch" else found.slope + step[:, 0]
        found = replace(found, slope=slope, intercept=found.intercept + step[:, -1])
        if float(np.max(np.abs(step))) < 1e-5:
            break
    u = by_item / spread[:, :, None]
    bent = np.gradient(u, nodes, axis=1)
    open_still = np.maximum(sums.spread[group], 0.0) * taken / np.maximum(sums.mass[group], _FLOOR)
    unseen = np.einsum("jq,jqk,jql->jkl", open_still * by_ability**2, u, u, optimize=True)
    unseen += np.einsum("jq,jqk,jql->jkl", open_still * spread, bent, bent, optimize=True)
    covariance = np.linalg.inv(blocks - _within(unseen, blocks))
    return GroupCurves(_freed(p, found, covariance @ blocks), covariance)


def _freed(common: Parameters, found: Parameters, factor: Floats) -> Parameters:
    """Return a group's curves freed from the pull of the common ones, towards which the posteriors were drawn."""
    if common.model == "rasch":
        return replace(found, intercept=common.intercept + factor[:, 0, 0] * (found.intercept - common.intercept))
    gap = np.stack([found.slope - common.slope, found.intercept - common.intercept], axis=1)
    gap = np.einsum("jkl,jl->jk", factor, gap)
    return replace(found, slope=common.slope + gap[:, 0], intercept=common.intercept + gap[:, 1])


def _within(unseen: Floats, blocks: Floats) -> Floats:
    """Return the missing information, no direction's more than nine tenths of the whole."""
    root = np.linalg.cholesky(blocks)
    half = np.linalg.solve(root, np.swapaxes(np.linalg.solve(root, unseen), 1, 2))
    values, vectors = np.linalg.eigh(half)
    kept = (vectors * np.minimum(values, 0.9)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    bounded: Floats = root @ kept @ np.swapaxes(root, 1, 2)
    return bounded


def curve_gap(
    focal: GroupCurves, reference: GroupCurves, p: Parameters, group: int, grid: Floats, of_group: Floats
) -> CurveGap:
    """Compare two groups' curves where the focal group is; ``of_group``: variances of its mean and log sd."""
    mean, sd = float(p.mean[group]), float(p.sd[group])
    a, b = focal.parameters, reference.parameters
    covariance = focal.covariance + reference.covariance
    if p.model == "rasch":
        gap = (a.intercept - b.intercept)[:, None]
        covariance = covariance + (p.slope**2 * of_group[0])[:, None, None]
        error = np.sqrt(covariance[:, 0, 0])
        at_mean = gap[:, 0]
    else:
        gap = np.stack([a.slope - b.slope, a.intercept - b.intercept], axis=1)
        link = np.zeros((len(p.slope), 2, 2))
        link[:, 1, 1] = p.slope**2 * of_group[0]
        link[:, 0, 0] = p.slope**2 * of_group[1]
        covariance = covariance + link
        toward = np.array([mean, 1.0])
        at_mean, error = gap @ toward, np.sqrt(np.einsum("k,jkl,l->j", toward, covariance, toward))
    wald = np.einsum("jk,jk->j", gap, np.linalg.solve(covariance, gap[:, :, None])[:, :, 0])
    weight = np.exp(-0.5 * ((grid - mean) / sd) ** 2)
    apart = (chances(a, grid) - chances(b, grid)) @ (weight / weight.sum())
    return CurveGap(at_mean, error, wald, gap.shape[1], apart)
