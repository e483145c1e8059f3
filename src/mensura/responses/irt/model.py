"""The models: what chance a subject of ability θ has at an item.

P(θ) = c + (1 − c) σ(aθ + d), with slope a (discrimination), intercept d (difficulty b = −d/a) and guessing c.
``rasch``: one slope for all items; ``2pl``: c = 0; ``3pl``: all three. Abilities are those of groups, each normal
with its own mean and standard deviation; the first group is the measure: mean 0, standard deviation 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from mensura.arrays import Floats
from mensura.errors import MensuraError

MODELS = ("rasch", "2pl", "3pl")
_FURTHEST = 35.0
"""Logits beyond which a chance is 0 or 1 in single precision's logarithms."""


class ItemPrior(NamedTuple):
    """A normal prior of one parameter of every item."""

    mean: float
    sd: float


@dataclass(frozen=True)
class Priors:
    """Priors of item parameters, weak by default: they decide only where responses are few or one-sided.

    ``slope`` of a (not for ``rasch``), ``intercept`` of d, ``guessing`` of logit c. None: no prior.
    """

    slope: ItemPrior | None = ItemPrior(1.0, 1.0)  # noqa: RUF009
    intercept: ItemPrior | None = ItemPrior(0.0, 3.0)  # noqa: RUF009
    guessing: ItemPrior | None = ItemPrior(-1.4, 0.5)  # noqa: RUF009


@dataclass(frozen=True)
class Parameters:
    """Items (``slope``, ``intercept``, ``guess`` = logit c, each per item) and groups (``mean``, ``sd``)."""

    model: str
    slope: Floats
    intercept: Floats
    guess: Floats
    mean: Floats
    sd: Floats

    @property
    def of_item(self) -> int:
        """How many parameters every item has of its own."""
        return {"rasch": 1, "2pl": 2, "3pl": 3}[self.model]

    @property
    def free(self) -> tuple[tuple[str, int], ...]:
        """Parameters of groups that are estimated: the first group sets the measure."""
        first = (("sd", 0),) if self.model == "rasch" else ()
        return first + tuple((name, group) for group in range(1, len(self.mean)) for name in ("mean", "sd"))

    def flat(self) -> Floats:
        """Return all estimated parameters in one row: item by item, then :attr:`free` (logarithms of sd)."""
        own = {"rasch": [self.intercept], "2pl": [self.slope, self.intercept]}
        items = np.stack(own.get(self.model, [self.slope, self.intercept, self.guess]), axis=1)
        groups = [self.mean[group] if name == "mean" else np.log(self.sd[group]) for name, group in self.free]
        return np.concatenate([items.ravel(), np.array(groups, dtype=np.float64)])

    def moved(self, items: Floats, groups: Floats) -> Parameters:
        """Return the parameters after a step; ``items`` has a row per item, ``groups`` the order of :attr:`free`."""
        mean, log_sd = self.mean.copy(), np.log(self.sd)
        for (name, group), step in zip(self.free, groups, strict=True):
            (mean if name == "mean" else log_sd)[group] += step
        moved = replace(self, mean=mean, sd=np.exp(log_sd))
        if self.model == "rasch":
            return replace(moved, intercept=self.intercept + items[:, 0])
        moved = replace(moved, slope=self.slope + items[:, 0], intercept=self.intercept + items[:, 1])
        return moved if self.model == "2pl" else replace(moved, guess=self.guess + items[:, 2])

    def standardised(self) -> Parameters:
        """Return the same model on the scale whose first group has mean 0 and standard deviation 1."""
        unit = float(self.sd[0])
        return replace(self, slope=self.slope * unit, mean=self.mean / unit, sd=self.sd / unit)


def check_model(model: str) -> str:
    """Return the model, or say which there are."""
    if model not in MODELS:
        raise MensuraError(f"model: got {model!r}; expected one of {', '.join(MODELS)}")
    return model


def log_chances(p: Parameters, nodes: Floats) -> tuple[Floats, Floats]:
    """Return ln P and ln (1 − P) of every item at every node."""
    z = np.clip(p.slope[:, None] * nodes[None, :] + p.intercept[:, None], -_FURTHEST, _FURTHEST)
    log_right, log_wrong = -np.logaddexp(0.0, -z), -np.logaddexp(0.0, z)
    if p.model != "3pl":
        return log_right, log_wrong
    log_c, log_rest = -np.logaddexp(0.0, -p.guess)[:, None], -np.logaddexp(0.0, p.guess)[:, None]
    return np.logaddexp(log_c, log_rest + log_right), log_rest + log_wrong


def chances(p: Parameters, nodes: Floats) -> Floats:
    """Return P of every item at every node."""
    rate: Floats = np.exp(log_chances(p, nodes)[0])
    return rate


def curve_derivatives(p: Parameters, nodes: Floats) -> tuple[Floats, Floats, Floats]:
    """Return P, its derivatives by the item's own parameters (items × nodes × parameters), and by θ."""
    z = np.clip(p.slope[:, None] * nodes[None, :] + p.intercept[:, None], -_FURTHEST, _FURTHEST)
    rise = 1.0 / (1.0 + np.exp(-z))
    bend = rise * (1.0 - rise)
    if p.model == "rasch":
        return rise, bend[:, :, None], p.slope[:, None] * bend
    if p.model == "2pl":
        return rise, np.stack([bend * nodes, bend], axis=2), p.slope[:, None] * bend
    c = (1.0 / (1.0 + np.exp(-p.guess)))[:, None]
    rate, bend = c + (1.0 - c) * rise, (1.0 - c) * bend
    by_guess = c * (1.0 - c) * (1.0 - rise)
    return rate, np.stack([bend * nodes, bend, by_guess], axis=2), p.slope[:, None] * bend


def prior_terms(p: Parameters, priors: Priors) -> tuple[float, Floats, Floats]:
    """Return the log density of the priors (up to a constant), its gradient and curvature per parameter."""
    wanted: list[tuple[Floats, ItemPrior | None]] = [(p.intercept, priors.intercept)]
    if p.model != "rasch":
        wanted.insert(0, (p.slope, priors.slope))
    if p.model == "3pl":
        wanted.append((p.guess, priors.guessing))
    density, gradient, curvature = 0.0, np.zeros((len(p.slope), len(wanted))), np.zeros((len(p.slope), len(wanted)))
    for place, (values, prior) in enumerate(wanted):
        if prior is not None:
            off = (values - prior.mean) / prior.sd
            density -= 0.5 * float(off @ off)
            gradient[:, place], curvature[:, place] = -off / prior.sd, prior.sd**-2.0
    return density, gradient, curvature


def as_dict(p: Parameters) -> dict[str, Any]:
    """Return the parameters as plain lists."""
    return {name: getattr(p, name).tolist() for name in ("slope", "intercept", "guess", "mean", "sd")}
