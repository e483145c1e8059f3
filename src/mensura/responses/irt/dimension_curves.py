"""Chances of answers at nodes of several abilities: right or wrong, graded, partial credit.

All three depend on z_k = a₁θ₁ + … + a_Dθ_D + d_k, one per step of an item. Right or wrong has one step. The chance of
category k of a graded item is σ(z_k) − σ(z_{k+1}) = σ(z_k) σ(−z_{k+1}) (1 − exp(d_{k+1} − d_k)). The last factor does
not depend on θ, so the answer counts as right at step k and wrong at step k + 1. Steps of partial credit depend on one
another: P(Y = k) is in proportion to exp(z₁ + … + z_k).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mensura.core.arrays import Floats
from mensura.responses.irt.dimension_items import DimensionItems

DIMENSION_MODELS = ("2pl", "graded", "partial-credit")


class StepCurves(NamedTuple):
    """Steps at nodes (last axis): log likelihood (without that axis), its gradient by z, and the information.

    ``information`` has one column per pair of steps of an item, ``first`` and ``second``.
    """

    like: Floats
    off: Any
    information: Any
    first: NDArray[np.intp]
    second: NDArray[np.intp]


def step_answers(model: str, counts: Floats, p: DimensionItems) -> tuple[Floats, Floats]:
    """Return answers as right ones and trials of steps, from counts of categories (subjects × items × categories)."""
    item, step = p.rows
    if model == "graded":
        right = counts[:, item, step + 1]
        return right, right + counts[:, item, step]
    above = np.cumsum(counts[:, :, ::-1], axis=2)[:, :, ::-1]
    return above[:, item, step + 1], above[:, item, 0]


def curves_at(p: DimensionItems, rows: NDArray[np.intp], z: Any, y: Any, n: Any) -> StepCurves:  # noqa: ANN401
    """Return the steps ``rows`` at their z (subjects × nodes × nodes × steps), which is overwritten."""
    np.clip(z, -35.0, 35.0, out=z)
    like = np.einsum("cqkj,cj->cqk", z, y).astype(np.float64)
    if p.model == "partial-credit":
        return _adjacent(p, rows, z, y, n, like)
    np.exp(z, out=z)
    z += 1.0  # 1 / (1 − P)
    like -= np.einsum("cqkj,cj->cqk", np.log(z), n)
    np.reciprocal(z, out=z)
    y, n = y[:, None, None, :], n[:, None, None, :]
    each = np.arange(len(rows))
    return StepCurves(like, y - n * (1.0 - z), z * (1.0 - z) * n, each, each)


def _adjacent(p: DimensionItems, rows: NDArray[np.intp], z: Any, y: Any, n: Any, like: Floats) -> StepCurves:  # noqa: ANN401
    item, step = (one[rows] for one in p.rows)
    of_step = [np.flatnonzero(step == one) for one in range(int(step.max()) + 1)]
    place = np.cumsum(step == 0) - 1  # of each row's item among those of the part
    for below, at in pairwise(of_step):
        z[..., at] += z[..., below[np.isin(item[below], item[at])]]
    chance = np.exp(z.astype(np.float64))  # 20 categories of at most exp(35) each stay finite
    total = np.ones((*z.shape[:3], len(of_step[0])))
    for at in of_step:
        total[..., place[at]] += chance[..., at]
    like -= np.einsum("cqkj,cj->cqk", np.log(total), n[:, of_step[0]])
    above = (chance / total[..., place]).astype(np.float32)
    for at, higher in zip(of_step[-2::-1], of_step[:0:-1], strict=True):  # chance of this category or a higher one
        above[..., at[np.isin(item[at], item[higher])]] += above[..., higher]
    apart = [np.flatnonzero(item[higher:] == item[: len(item) - higher]) for higher in range(len(of_step))]
    first = np.concatenate(apart)
    second = np.concatenate([at + higher for higher, at in enumerate(apart)])
    n = n[:, None, None, :]
    information = n[..., first] * above[..., second] * (1.0 - above[..., first])
    return StepCurves(like, y[:, None, None, :] - n * above, information, first, second)


def gap_scores(p: DimensionItems, right: Floats) -> Floats:
    """Return the gradient of Σ ln(1 − exp(d_{k+1} − d_k)) over graded answers k (subjects × items × parameters).

    ``right``: answers of each category above the lowest (subjects × steps of items).
    """
    scores = np.zeros((len(right), *p.values.shape))
    rise = _of_gaps(p, right) / np.expm1(p.gaps)
    cut = p.slopes.shape[1]
    scores[:, :, cut : cut + rise.shape[2]] = rise
    scores[:, :, cut + 1 :][:, :, : rise.shape[2]] -= rise
    return scores


def _of_gaps(p: DimensionItems, right: Floats) -> Floats:
    """Return the answers whose chance has a gap, of every gap (subjects × items × steps − 1)."""
    counts = np.zeros((len(right), *p.steps.shape))
    counts[:, p.steps] = right
    return (counts[:, :, :-1] * p.steps[:, 1:])[:, :, : p.gaps.shape[1]]


def gap_terms(p: DimensionItems, right: Floats) -> tuple[float, Floats, Floats]:
    """Return log likelihood, gradient and information of the same sum; ``right``: of all subjects (steps of items)."""
    information = np.zeros((*p.values.shape, p.values.shape[1]))
    gaps, counts = p.gaps, _of_gaps(p, right[None])[0]
    bend = counts / (np.expm1(gaps) * -np.expm1(-gaps))
    for step in range(gaps.shape[1]):
        one = p.slopes.shape[1] + step
        information[:, one : one + 2, one : one + 2] += bend[:, step, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return float(np.sum(counts * np.log(-np.expm1(-gaps)))), gap_scores(p, right[None])[0], information
