"""Items with several categories: the chance of each category at an ability.

With K categories, numbered from 0, the chance of category k at ability θ is

* ``graded``: P(Y ≥ k) = σ(aθ + dₖ), with d₁ > d₂ > …;
* ``partial-credit``: P(Y = k) in proportion to exp(k a θ + d₁ + … + dₖ);
* ``nominal``: P(Y = k) in proportion to exp(aₖ θ + dₖ), with a₀ = d₀ = 0.

Two categories make each of them the 2PL model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from mensura.core.arrays import Floats
from mensura.core.errors import check_choice
from mensura.responses.irt.namespace import Array

MODELS = ("graded", "partial-credit", "nominal")
_TINY = 1e-12
_ABSENT = -1e9


@dataclass(frozen=True)
class CategoryItems:
    """Parameters of items (items × parameters) and of groups; ``sizes``: how many categories each item has.

    ``values``: slope and d₁ … dₖ₋₁; of ``nominal`` K − 1 slopes, then d₁ … dₖ₋₁. Those that an item of fewer
    categories lacks are 0 and stay so. ``ties``: how values depend on fewer unknowns (items × parameters × unknowns);
    None: all are free (see :mod:`.ties`).
    """

    model: str
    sizes: np.ndarray[Any, np.dtype[np.int64]]
    values: Floats
    mean: Floats
    sd: Floats
    ties: Floats | None = None

    @property
    def most(self) -> int:
        """The largest number of categories, among all items of the fit."""
        width: int = self.values.shape[1]
        return width // 2 + 1 if self.model == "nominal" else width

    @property
    def here(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which categories the items have (items × categories)."""
        return np.asarray(np.arange(self.most) < self.sizes[:, None])

    @property
    def used(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which parameters the items have."""
        step = self.here[:, 1:]
        slopes = step if self.model == "nominal" else np.ones((len(step), 1), dtype=bool)
        return np.concatenate([slopes, step], axis=1)

    @property
    def count(self) -> int:
        """How many parameters of items are estimated."""
        return int(self.used.sum()) if self.ties is None else self.ties.shape[2]

    @property
    def unit(self) -> float:
        """Logits of one unit of the abilities that are reported."""
        return 1.0

    @property
    def free(self) -> tuple[tuple[str, int], ...]:
        """Parameters of groups that are estimated: the first group sets the measure."""
        return tuple((name, group) for group in range(1, len(self.mean)) for name in ("mean", "sd"))

    def of_items(self, chosen: Array) -> CategoryItems:
        """Return some of the items."""
        ties = None if self.ties is None else self.ties[chosen]
        return replace(self, sizes=self.sizes[chosen], values=self.values[chosen], ties=ties)

    def flat(self) -> Floats:
        """Return the parameters of items, then mean and log sd of every group but the first."""
        return np.concatenate([self.values.ravel(), np.stack([self.mean, np.log(self.sd)], axis=1)[1:].ravel()])

    def moved(self, step: Floats) -> CategoryItems:
        """Return the parameters after a step in the order of :meth:`flat`."""
        items, groups = step[: self.values.size].reshape(self.values.shape), step[self.values.size :]
        mean, sd = self.mean.copy(), self.sd.copy()
        mean[1:] += groups[0::2]
        sd[1:] *= np.exp(groups[1::2])
        return replace(self, values=self.values + items * self.used, mean=mean, sd=sd)

    def held_up(self, newton: Floats, plain: Floats) -> Floats:
        """Return Newton's step: no parameter has a bound."""
        return newton

    def chances(self, nodes: Floats) -> Floats:
        """Return the chance of every category (items × categories × nodes); absent categories have 0."""
        return np.asarray(np.exp(log_chances(self, nodes)) * self.here[:, :, None])

    def expected_scores(self, nodes: Floats) -> Floats:
        """Return the expected category of every item at nodes, the lowest being 0."""
        return np.asarray(np.einsum("k,jkq->jq", np.arange(float(self.most)), self.chances(nodes)))

    def score_slopes(self, nodes: Floats) -> Floats:
        """Return how the expected scores rise with ability."""
        scores, slopes = np.arange(float(self.most)), category_curves(self, nodes)[2]
        return np.asarray(np.einsum("k,jkq,jkq->jq", scores, self.chances(nodes), slopes))

    def _of_steps(self) -> tuple[Floats, Floats]:
        """Return the slope and the intercept that belong to each step (items × steps)."""
        steps = self.most - 1
        slopes = self.values[:, :steps] if self.model == "nominal" else np.repeat(self.values[:, :1], steps, axis=1)
        return slopes, self.values[:, -steps:]

    @property
    def slope(self) -> Floats:
        """The discrimination; of ``nominal`` that of the last category against the first, by step."""
        steps = self.sizes - 1
        last = self._of_steps()[0][np.arange(len(steps)), steps - 1]
        return np.asarray(last / steps if self.model == "nominal" else last)

    @property
    def difficulty(self) -> Floats:
        """The mean difficulty of the steps; of ``nominal`` where the last category is as likely as the first."""
        slopes, d = self._of_steps()
        steps, each = self.sizes - 1, np.arange(len(self.sizes))
        total = d[each, steps - 1] if self.model == "nominal" else d.sum(axis=1) / steps
        last = slopes[each, steps - 1]
        return np.asarray(-total / np.where(np.abs(last) > 1e-6, last, 1e-6))

    def stretched(self, factor: Floats, shift: Floats) -> CategoryItems:
        """Return the items with slopes times a factor and difficulties moved by a shift."""
        slopes, d = self._of_steps()
        moved = factor[:, None] * (d - slopes * shift[:, None])
        own = factor[:, None] * self.values[:, : self.values.shape[1] - d.shape[1]]
        return replace(self, values=np.concatenate([own, moved], axis=1) * self.used)

    def information(self, nodes: Floats) -> Floats:
        """Return what one answer to each item says about ability (items × nodes)."""
        return np.asarray(np.einsum("jkq,jkq->jq", self.chances(nodes), category_curves(self, nodes)[2] ** 2))

    def slopes_of(self, item: int) -> list[int]:
        """Return which of an item's parameters are slopes."""
        return list(range(self.sizes[item] - 1)) if self.model == "nominal" else [0]

    def unknowns(self, item: int) -> int:
        """Return how many parameters an item has."""
        return int(self.used[item].sum())

    def logit_weights(self, item: int, ability: float) -> Floats:
        """Return how the mean logit of an item's steps at an ability depends on its parameters."""
        steps, row = int(self.sizes[item]) - 1, np.zeros(self.values.shape[1])
        if self.model == "nominal":
            row[steps - 1], row[self.most - 2 + steps] = ability / steps, 1.0 / steps
        else:
            row[0], row[1 : steps + 1] = ability, 1.0 / steps
        return row


def begin(model: str, shares: Sequence[Floats], groups: int) -> CategoryItems:
    """Return where a fit begins, from each item's shares of its categories."""
    check_choice("model", model, MODELS)
    sizes = np.array([len(share) for share in shares])
    steps = int(sizes.max()) - 1
    values = np.zeros((len(sizes), 2 * steps if model == "nominal" else 1 + steps))
    for place, given in enumerate(shares):
        share, own = np.clip(given, 0.005, None), len(given) - 1
        if model == "graded":
            above = np.cumsum(share[::-1])[::-1][1:] / share.sum()  # each lies below the one before
            values[place, 0], values[place, 1 : own + 1] = 1.0, 1.2 * np.log(above / (1.0 - above))
        elif model == "partial-credit":
            values[place, 0], values[place, 1 : own + 1] = 0.7, np.diff(np.log(share))
        else:
            values[place, :own] = np.arange(1, own + 1) / own
            values[place, steps : steps + own] = np.log(share[1:] / share[0])
    return CategoryItems(model, sizes, values, np.zeros(groups), np.ones(groups))


def log_chances(p: CategoryItems, nodes: Floats) -> Floats:
    """Return ln P of every item and category at every node (items × categories × nodes)."""
    return category_curves(p, nodes)[0]


Curves: TypeAlias = tuple[Floats, Floats, Floats]


def category_curves(p: CategoryItems, nodes: Floats) -> Curves:
    """Return ln P, its derivatives by parameters (items × categories × parameters × nodes) and by θ."""
    if p.model == "graded":
        return _graded(p, nodes)
    items, most, count, here = len(p.sizes), p.most, len(nodes), p.here
    by = np.zeros((items, most, p.values.shape[1], count))
    if p.model == "partial-credit":
        by[:, :, 0] = (np.arange(most)[:, None] * nodes)[None]
        by[:, :, 1:] = (np.arange(1, most) <= np.arange(most)[:, None])[None, :, :, None]
        along = np.arange(most) * p.values[:, :1]
    else:
        kinds = np.eye(most)[:, 1:]
        by[:, :, : most - 1], by[:, :, most - 1 :] = kinds[None, :, :, None] * nodes, kinds[None, :, :, None]
        along = np.concatenate([np.zeros((items, 1)), p.values[:, : most - 1]], axis=1)
    height = np.where(here[:, :, None], np.einsum("jknq,jn->jkq", by, p.values), _ABSENT)
    height -= height.max(axis=1, keepdims=True)
    log_p = height - np.log(np.sum(np.exp(height), axis=1, keepdims=True))
    chance = np.exp(log_p)
    by -= np.einsum("jkq,jknq->jnq", chance, by)[:, None]
    slope = along[:, :, None] - np.einsum("jkq,jk->jq", chance, along)[:, None]
    return log_p * here[:, :, None], by * here[:, :, None, None], slope * here[:, :, None]


def _graded(p: CategoryItems, nodes: Floats) -> Curves:
    items, most, count, here = len(p.sizes), p.most, len(nodes), p.here
    z = p.values[:, :1, None] * nodes + np.where(here[:, 1:], p.values[:, 1:], _ABSENT)[:, :, None]
    rise = np.zeros((items, most + 1, count))
    rise[:, 0], rise[:, 1:-1] = 1.0, 1.0 / (1.0 + np.exp(-np.clip(z, -35.0, 35.0)))
    rise[:, 1:-1] *= here[:, 1:, None]
    bend = rise * (1.0 - rise)
    chance = np.maximum(rise[:, :-1] - rise[:, 1:], _TINY)
    by = np.zeros((items, most, most, count))
    steep = (bend[:, :-1] - bend[:, 1:]) / chance
    by[:, :, 0] = steep * nodes
    for step in range(1, most):
        by[:, step, step] = bend[:, step] / chance[:, step]
        by[:, step - 1, step] = -bend[:, step] / chance[:, step - 1]
    slope = steep * p.values[:, :1, None]
    return np.log(chance) * here[:, :, None], by * here[:, :, None, None], slope * here[:, :, None]
