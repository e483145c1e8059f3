"""The models: what chance a subject of ability θ has at an item.

P(θ) = c + (1 − c) σ(aθ + d), with slope a (discrimination), intercept d (difficulty b = −d/a) and guessing c.
``rasch``: one slope for all items; ``2pl``: c = 0; ``3pl``: all three. Abilities are those of groups, each normal
with its own mean and standard deviation; the first group is the measure: mean 0, standard deviation 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from mensura.core.arrays import Floats, Mask
from mensura.responses.irt.category_curves import CategoryItems
from mensura.responses.irt.namespace import Array

MODELS = ("rasch", "2pl", "3pl")
LEAST_SD = 0.1
"""Subjects of a group differ by at least so many logits: where answers do not show that they differ at all, the
likelihood rises for ever towards 0, and nothing else would end a fit."""
_FURTHEST = 35.0
"""Logits beyond which a chance is taken as that at the end: 0 or 1."""
_FLOOR = 1e-9
_BLOCK_VALUES = 100_000
"""Items × nodes that are computed at a time: such arrays stay in a processor's cache."""


@dataclass(frozen=True)
class Parameters:
    """Items (``slope``, ``intercept``, ``guess`` = logit c, each per item) and groups (``mean``, ``sd``).

    ``shapes``: per group the shape of its abilities (see :meth:`Grid.log_prior`); None: all are normal. ``fixed``: the
    items whose parameters stay, which then set the measure, not the first group; None: none does.
    """

    model: str
    slope: Floats
    intercept: Floats
    guess: Floats
    mean: Floats
    sd: Floats
    shapes: Floats | None = None
    fixed: Mask | None = None

    @property
    def unit(self) -> float:
        """Logits of one unit of the abilities that are reported: a standard deviation of the first group, or 1."""
        return float(self.sd[0]) if self.fixed is None else 1.0

    def shape_of(self, group: int) -> Floats | None:
        """Return the shape of a group's abilities; None: they are normal."""
        return None if self.shapes is None else self.shapes[group]

    @property
    def of_item(self) -> int:
        """How many parameters every item has of its own."""
        return {"rasch": 1, "2pl": 2, "3pl": 3}[self.model]

    @property
    def free(self) -> tuple[tuple[str, int], ...]:
        """Parameters of groups that are estimated: the first group sets the measure."""
        first: tuple[tuple[str, int], ...] = (("sd", 0),) if self.model == "rasch" else ()
        first = first if self.fixed is None else (("mean", 0), ("sd", 0))
        return first + tuple((name, group) for group in range(1, len(self.mean)) for name in ("mean", "sd"))

    def of_items(self, chosen: Array) -> Parameters:
        """Return some of the items: a slice, places or a mask."""
        fixed = None if self.fixed is None else self.fixed[chosen]
        some = {name: getattr(self, name)[chosen] for name in ("slope", "intercept", "guess")}
        return replace(self, **some, fixed=fixed)

    def flat(self) -> Floats:
        """Return all estimated parameters in one row: item by item, then :attr:`free` (logarithms of sd)."""
        own = {"rasch": [self.intercept], "2pl": [self.slope, self.intercept]}
        items = np.stack(own.get(self.model, [self.slope, self.intercept, self.guess]), axis=1)
        groups = [self.mean[group] if name == "mean" else np.log(self.sd[group]) for name, group in self.free]
        return np.concatenate([items.ravel(), np.array(groups, dtype=np.float64)])

    def moved(self, step: Floats) -> Parameters:
        """Return the parameters after a step in the order of :meth:`flat`."""
        cut = len(self.slope) * self.of_item
        items, groups = step[:cut].reshape(-1, self.of_item), step[cut:]
        items = items if self.fixed is None else np.where(self.fixed[:, None], 0.0, items)
        mean, log_sd = self.mean.copy(), np.log(self.sd)
        for (name, group), change in zip(self.free, groups, strict=True):
            (mean if name == "mean" else log_sd)[group] += change
        moved = replace(self, mean=mean, sd=np.exp(log_sd))
        if self.model == "rasch":
            return replace(moved, intercept=self.intercept + items[:, 0])
        moved = replace(moved, slope=self.slope + items[:, 0], intercept=self.intercept + items[:, 1])
        return moved if self.model == "2pl" else replace(moved, guess=self.guess + items[:, 2])

    def held_up(self, newton: Floats, plain: Floats) -> Floats:
        """Return Newton's step of :meth:`flat`, unless it takes a standard deviation below :data:`LEAST_SD`.

        Then that one goes there and all others go the EM algorithm's way (``plain``), which asks nothing of it.
        """
        cut = len(self.slope) * self.of_item
        least = np.full(len(newton), -np.inf)
        for place, (name, group) in enumerate(self.free, start=cut):
            if name == "sd":
                least[place] = min(0.0, float(np.log(LEAST_SD / self.sd[group])))
        if self.fixed is not None:
            stay = np.append(np.repeat(self.fixed, self.of_item), np.zeros(len(self.free), dtype=bool))
            newton, plain = (np.where(stay, 0.0, step) for step in (newton, plain))
        below = newton < least
        return np.where(below, least, plain) if below.any() else newton

    def expected_scores(self, nodes: Floats) -> Floats:
        """Return the expected score of every item at nodes."""
        return chances(self, nodes)

    def score_slopes(self, nodes: Floats) -> Floats:
        """Return how the expected scores rise with ability."""
        return curve_derivatives(self, nodes)[2]

    def information(self, nodes: Floats) -> Floats:
        """Return what one answer to each item says about ability, P′²/(P(1−P)), items × nodes."""
        information = np.empty((len(self.slope), len(nodes)))
        for rows in item_blocks(*information.shape):
            rate, _, along = curve_derivatives(self.of_items(rows), nodes)
            information[rows] = along**2 / np.maximum(rate * (1.0 - rate), _FLOOR)
        return information

    @property
    def difficulty(self) -> Floats:
        """The ability at which half of those who do not guess are right."""
        return np.asarray(-self.intercept / np.where(np.abs(self.slope) > 1e-6, self.slope, 1e-6))

    def stretched(self, factor: Floats, shift: Floats) -> Parameters:
        """Return the items with slopes times a factor and difficulties moved by a shift."""
        return replace(self, slope=factor * self.slope, intercept=factor * (self.intercept - self.slope * shift))

    def slopes_of(self, item: int) -> list[int]:
        """Return which of an item's parameters are slopes."""
        return [] if self.model == "rasch" else [0]

    def unknowns(self, item: int) -> int:
        """Return how many parameters an item has."""
        return self.of_item

    def logit_weights(self, item: int, ability: float) -> Floats:
        """Return how the logit at an ability depends on an item's parameters."""
        return np.array({"rasch": [1.0], "2pl": [ability, 1.0]}.get(self.model, [ability, 1.0, 0.0]))

    def standardised(self) -> Parameters:
        """Return the same model on the scale whose first group has mean 0 and standard deviation 1."""
        unit = self.unit
        return replace(self, slope=self.slope * unit, mean=self.mean / unit, sd=self.sd / unit)


Items: TypeAlias = Parameters | CategoryItems
"""Parameters of items, answered right or wrong or in categories, and of groups."""


def log_chances(p: Parameters, nodes: Floats) -> tuple[Floats, Floats]:
    """Return ln P and ln (1 − P) of every item at every node."""
    log_rise, log_wrong = _log_rise(_logits(p, nodes)), log_wrong_chances(p, nodes)
    if p.model != "3pl":
        return log_rise, log_wrong
    log_c, log_rest = -np.logaddexp(0.0, -p.guess)[:, None], -np.logaddexp(0.0, p.guess)[:, None]
    return np.logaddexp(log_c, log_rest + log_rise), log_wrong


def log_wrong_chances(p: Parameters, nodes: Floats) -> Floats:
    """Return ln (1 − P) of every item at every node."""
    log_wrong = _log_rise(-_logits(p, nodes))
    return log_wrong - np.logaddexp(0.0, p.guess)[:, None] if p.model == "3pl" else log_wrong


def _logits(p: Parameters, nodes: Floats) -> Floats:
    """Return aθ + d of every item at every node."""
    return np.multiply.outer(p.slope, nodes) + p.intercept[:, None]


def _log_rise(z: Floats) -> Floats:
    """Return ln σ(z), exact however far z is: passes add it to multiples of z that nothing bounds."""
    tail = np.abs(z)
    np.negative(tail, out=tail)
    np.exp(tail, out=tail)
    tail += 1.0
    return np.subtract(np.minimum(z, 0.0), np.log(tail, out=tail), out=tail)


def chances(p: Parameters, nodes: Floats) -> Floats:
    """Return P of every item at every node."""
    rate: Floats = np.exp(log_chances(p, nodes)[0])
    return rate


def _rise(p: Parameters, nodes: Floats) -> Floats:
    """Return σ(aθ + d) of every item at every node."""
    z = np.clip(_logits(p, nodes), -_FURTHEST, _FURTHEST)
    np.exp(np.negative(z, out=z), out=z)
    z += 1.0
    return np.reciprocal(z, out=z)


def curve_derivatives(p: Parameters, nodes: Floats) -> tuple[Floats, Floats, Floats]:
    """Return P, its derivatives by the item's own parameters (items × nodes × parameters), and by θ."""
    rise = _rise(p, nodes)
    bend = rise * (1.0 - rise)
    if p.model == "rasch":
        return rise, bend[:, :, None], p.slope[:, None] * bend
    if p.model == "2pl":
        return rise, np.stack([bend * nodes, bend], axis=2), p.slope[:, None] * bend
    c = (1.0 / (1.0 + np.exp(-p.guess)))[:, None]
    rate, bend = c + (1.0 - c) * rise, (1.0 - c) * bend
    by_guess = c * (1.0 - c) * (1.0 - rise)
    return rate, np.stack([bend * nodes, bend, by_guess], axis=2), p.slope[:, None] * bend


class ItemCurves(NamedTuple):
    """Items at nodes (items × nodes): P, P(1−P) and P′ = ∂P/∂θ.

    An item's score is (y − P) u with u = ∂P/∂ξ / P(1−P); ``bent`` is ∂u/∂θ. Both are items × nodes × parameters, with
    one row where they are the same for all items.
    """

    rate: Floats
    spread: Floats
    by_ability: Floats
    u: Floats
    bent: Floats

    def squares(self, weights: Floats, *, bent: bool = False) -> Floats:
        """Return Σ weight · u uᵀ over the nodes of every item (items × k × k), or the same of ``bent``."""
        u = self.bent if bent else self.u
        if len(u) > 1:
            return np.asarray(np.einsum("jq,jqk,jql->jkl", weights, u, u, optimize=True))
        products = (u[0, :, :, None] * u[0, :, None, :]).reshape(u.shape[1], -1)
        return np.asarray((weights @ products).reshape(-1, u.shape[2], u.shape[2]))


def curves(p: Parameters, nodes: Floats) -> ItemCurves:
    """Return the curves of items and their scores at equally spaced nodes."""
    if p.model == "3pl":
        rate, by_item, by_ability = curve_derivatives(p, nodes)
        spread = np.maximum(rate * (1.0 - rate), _FLOOR)
        u = by_item / spread[:, :, None]
        return ItemCurves(rate, spread, by_ability, u, np.gradient(u, nodes, axis=1))
    rate = _rise(p, nodes)
    spread = np.maximum(rate * (1.0 - rate), _FLOOR)
    by_ability = p.slope[:, None] * spread
    ones = np.ones_like(nodes)
    of_model = slice(1, 2) if p.model == "rasch" else slice(0, 2)
    u = np.stack([nodes, ones], axis=1)[None, :, of_model]
    return ItemCurves(rate, spread, by_ability, u, np.stack([ones, 0.0 * ones], axis=1)[None, :, of_model])


def item_blocks(items: int, nodes: int) -> Iterator[slice]:
    """Yield slices of items that are computed at a time."""
    step = max(1, _BLOCK_VALUES // nodes)
    for start in range(0, items, step):
        yield slice(start, start + step)
