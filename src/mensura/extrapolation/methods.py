"""The statistical extrapolators, from plain to informed; each turns a case and its links into rates.

``carry(case, known)`` works on arrays: ``known`` (draws × items) marks the items whose reference rate may be
looked at, one row per draw of links. :mod:`mensura.extrapolation.extrapolators` wraps a method for tables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from mensura.extrapolation.line import (
    Case,
    Floats,
    Line,
    Mask,
    Rates,
    bounds,
    expit,
    fit_line,
    logit,
    smooth,
)
from mensura.extrapolation.slices import Slices, feature_variances, fold_mean, learn_prior

LEVEL = 0.9


class Method(Protocol):
    """A way to carry item rates from a focal group to its reference."""

    @property
    def name(self) -> str:
        """The name used in tables and by ``--method``."""
        ...

    def carry(self, case: Case, known: Mask) -> Rates:
        """Return the reference rates of all items, once per row of ``known``."""
        ...


@dataclass(frozen=True)
class Identity:
    """The focal rate is the prediction: the paper's baseline. Intervals come from the line's priors."""

    name: str = "identity"
    level: float = LEVEL

    def carry(self, case: Case, known: Mask) -> Rates:
        """Return the focal rates, whatever is known."""
        plain = replace(case, offset=np.zeros_like(case.offset))
        prior = replace(case.prior, shift_sd=np.hypot(case.prior.shift_sd, case.offset.mean()), slope=1.0)
        around = bounds(case, fit_line(plain, np.zeros_like(known), prior), self.level)
        return _centred(np.broadcast_to(case.rate, known.shape), around)


@dataclass(frozen=True)
class ConstantShift:
    """One logit shift for all items: the mean difference on the links, undamped, or a known difference.

    ``difference``: reference minus focal mean, in logits, where it is known from elsewhere.
    """

    name: str = "shift"
    difference: float | None = None
    level: float = LEVEL

    def carry(self, case: Case, known: Mask) -> Rates:
        """Shift the focal logits by the mean difference of the links (no links, no known difference: by 0)."""
        x = case.x
        whole = logit(smooth(case.reference, case.rest + case.n * (case.share > 0)))
        links = known.sum(axis=1, keepdims=True)
        mean = np.where(known, whole - x, 0.0).sum(axis=1, keepdims=True) / np.maximum(links, 1)
        shift = np.full_like(mean, self.difference) if self.difference is not None else mean
        interaction = case.prior.interaction**2 + (case.prior.gap_interaction * np.abs(shift)) ** 2
        spread = interaction * (1 + 1 / np.maximum(links, 1)) * (1 - case.share) ** 2
        variance = np.where(links > 0, spread, spread + case.prior.shift_sd**2)
        line = Line(x + shift, variance + case.x_noise, shift[:, 0], np.ones(len(known)), np.sqrt(spread[:, 0]))
        return bounds(replace(case, share=np.zeros_like(case.share)), line, self.level)


@dataclass(frozen=True)
class Described:
    """The line with the shift that public facts predict, whatever links there are: nothing but descriptions."""

    name: str = "described"
    level: float = LEVEL

    def carry(self, case: Case, known: Mask) -> Rates:
        """Return the prediction of the prior."""
        return bounds(case, fit_line(case, np.zeros_like(known), case.prior), self.level)


@dataclass(frozen=True)
class Linked:
    """The line updated by the links: a shift damped towards what the descriptions predict."""

    name: str = "linked"
    level: float = LEVEL

    def carry(self, case: Case, known: Mask) -> Rates:
        """Return the prediction of the posterior given each row of links."""
        return bounds(case, fit_line(case, known, case.prior), self.level)


@dataclass(frozen=True)
class Hierarchical:
    """The line with priors learned from the other groups of the pool, and a shift per grouping of items.

    ``slices`` are the other groups. With ``means``, their mean success on the items to be predicted is known
    too, though not their rate on any one of them (that is what the leave-one-group-out regression knows).
    """

    slices: Slices
    means: bool = True
    groupings: bool = True
    name: str = "hierarchical"
    level: float = LEVEL

    def carry(self, case: Case, known: Mask) -> Rates:
        """Return one prediction per row of ``known``; the other groups are seen on the same items."""
        rows = [self._one(case, row[None]) for row in known]
        return Rates(*(np.concatenate([getattr(r, part) for r in rows]) for part in ("rate", "low", "high")))

    def _one(self, case: Case, known: Mask) -> Rates:
        prior = learn_prior(self.slices, case, known[0])
        variances = feature_variances(self.slices, case, known[0]) if self.groupings else None
        line = fit_line(case, known, prior, variances)
        return bounds(case, fold_mean(self.slices, case, known[0], line) if self.means else line, self.level)


@dataclass(frozen=True)
class Ensemble:
    """A mean of methods on the logit scale, weighted by the inverse squared error on links held out in turn."""

    members: tuple[Method, ...]
    folds: int = 5
    name: str = "ensemble"

    def carry(self, case: Case, known: Mask) -> Rates:
        """Weigh the members per draw; with fewer than two links all weigh the same."""
        weights = self.weights(case, known)
        parts = [member.carry(case, known) for member in self.members]

        def mixed(name: str) -> Floats:
            stack = np.stack([logit(np.clip(getattr(part, name), 1e-6, 1 - 1e-6)) for part in parts])
            return expit(np.einsum("md,mdk->dk", weights, stack))

        return Rates(mixed("rate"), mixed("low"), mixed("high"))

    def weights(self, case: Case, known: Mask) -> Floats:
        """Return the weights, members × draws."""
        fold = np.where(known, np.cumsum(known, axis=1) % self.folds, -1)
        error = np.zeros((len(self.members), len(known)))
        for k in range(self.folds):
            held = fold == k
            if not held.any():
                continue
            for m, member in enumerate(self.members):
                predicted = member.carry(case, known & ~held).rate
                error[m] += np.where(held, np.nan_to_num((predicted - case.reference) ** 2), 0.0).sum(axis=1)
        links = known.sum(axis=1)
        mean = np.where(links > 1, error / np.maximum(links, 1), 1.0) + 1e-4
        weights: Floats = (1 / mean) / (1 / mean).sum(axis=0)
        return weights


def _centred(rate: Floats, around: Rates) -> Rates:
    """Move intervals so that they bracket ``rate`` at the same distances on the logit scale."""
    centre = logit(np.clip(around.rate, 1e-6, 1 - 1e-6))
    at = logit(np.clip(rate, 1e-4, 1 - 1e-4))
    low, high = (expit(at + logit(np.clip(bound, 1e-6, 1 - 1e-6)) - centre) for bound in (around.low, around.high))
    return Rates(np.asarray(rate), np.minimum(low, rate), np.maximum(high, rate))
