"""How often to ask about each item: variants in a balanced order, more calls only where answers still disagree.

An answer about item i in variant v is taken as μ_i + (effects of v's order, phrasing and numbers) + noise. The
effects are common to all items and estimated from all answers together, so that an item asked in few variants is not
pushed by which ones they were; μ_i is what all variants would say on average. Noise differs between items: each
item's variance is shrunk towards the common one. An item is done when the interval of its μ is narrower than asked.

That interval is about asking, not about the truth: errors that all variants share do not shrink with more calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from mensura.core.arrays import Floats, Ints
from mensura.core.errors import MensuraError

STEP = 3
"""Calls per item and round: three variants that differ in order, phrasing and numbers, so that main effects cancel."""
PRIOR_DF = 4.0
"""What the common variance counts for beside an item's own, in degrees of freedom."""

Call: TypeAlias = tuple[int, int, int]
"""Item, variant (by its place in the balanced order) and repeat."""


@dataclass(frozen=True)
class CallPlan:
    """How many calls an item may get: ``variants`` × ``repeats`` at most, until its interval is below ``width``.

    ``width`` None asks everything. ``budget``: the most calls per item on average over all items; what is left at the
    end goes to the widest. ``first``: calls before anything is judged. ``level``: of the interval.
    """

    variants: int = 27
    repeats: int = 5
    width: float | None = None
    budget: float | None = None
    first: int = 2 * STEP
    level: float = 0.9

    def __post_init__(self) -> None:
        for name in ("variants", "repeats", "first"):
            if getattr(self, name) < 1:
                raise MensuraError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.width is not None and not 0 < self.width < 1:
            raise MensuraError(f"width: expected a rate between 0 and 1 (exclusive), got {self.width}")

        if self.budget is not None and not self.budget >= 1:
            raise MensuraError(f"budget: expected at least 1 call per item, got {self.budget}")

    @property
    def most(self) -> int:
        """The most calls an item gets."""
        return self.variants * self.repeats

    @property
    def opening(self) -> int:
        """Calls about every item before anything is judged; all there are, where nothing is. A budget goes round."""
        wanted = self.most if self.width is None else self.first
        return wanted if self.budget is None else min(wanted, int(self.budget))

    def calls(self, item: int, done: int, more: int) -> list[Call]:
        """Return an item's next calls: every variant once before any is repeated, each item starting elsewhere.

        Items start at different triples, so that all variants are in use from the first round on.
        """
        start = item * STEP
        return [
            (item, (start + k) % self.variants, k // self.variants) for k in range(done, min(done + more, self.most))
        ]


@dataclass(frozen=True)
class Answers:
    """The readable answers: item, variant and rate of each."""

    item: Ints
    variant: Ints
    rate: Floats


@dataclass(frozen=True)
class Levels:
    """Per item: the mean answer μ, its standard error, the half-width of its interval, and how many answers it has."""

    rate: Floats
    error: Floats
    half: Floats
    n: Ints


def ask_adaptively(
    ask: Callable[[Sequence[Call]], Floats], size: int, plan: CallPlan, design: Floats
) -> tuple[Answers, Ints]:
    """Ask about ``size`` items as planned; return the readable answers and the calls made per item.

    ``ask`` answers calls with rates, NaN for what could not be read: a failed call counts, and is not asked again in
    the same words. ``design``: variants × columns of effects (:func:`effects_design`).
    """
    made = np.zeros(size, dtype=np.int64)
    answers = Answers(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
    left = size * plan.most if plan.budget is None else int(size * plan.budget)
    open_items, more = np.arange(size), plan.opening
    while len(open_items) and left > 0:
        calls = [call for item in open_items for call in plan.calls(int(item), int(made[item]), more)][:left]
        left -= len(calls)
        rates = ask(calls)
        asked = np.array(calls, dtype=np.int64).reshape(-1, 3)
        made += np.bincount(asked[:, 0], minlength=size)
        readable = np.isfinite(rates)
        answers = Answers(
            np.concatenate([answers.item, asked[readable, 0]]),
            np.concatenate([answers.variant, asked[readable, 1]]),
            np.concatenate([answers.rate, rates[readable]]),
        )
        if plan.width is None:
            break
        half = levels_of(answers, size, design, plan.level).half
        wide = np.flatnonzero(~(2 * half <= plan.width) & (made < plan.most))
        open_items, more = wide[np.argsort(-np.nan_to_num(half[wide], nan=np.inf), kind="stable")], STEP
    return answers, made


def levels_of(answers: Answers, size: int, design: Floats, level: float = 0.9) -> Levels:
    """Return each item's mean over all variants, with its error; NaN for an item without answers."""
    n = np.bincount(answers.item, minlength=size)
    adjusted = answers.rate - design[answers.variant] @ _effects(answers, n, design)
    mean = _mean_by(answers.item, adjusted, n)
    residual = adjusted - mean[answers.item]
    squares = np.bincount(answers.item, residual**2, minlength=size)
    free = max(len(adjusted) - int((n > 0).sum()), 0)
    common = squares.sum() / free if free else np.nan
    own = np.maximum(n - 1, 0)
    variance = (PRIOR_DF * common + squares) / (PRIOR_DF + own)
    with np.errstate(divide="ignore"):
        error = np.where(n > 0, np.sqrt(variance / n), np.nan)
    from scipy.special import stdtrit

    reach = np.asarray(stdtrit(PRIOR_DF + own, (1 + level) / 2), dtype=np.float64)
    return Levels(mean, error, reach * error, n)


def effects_design(names: Sequence[tuple[str, ...]]) -> Floats:
    """Return variants × columns: for each part of a variant's name and each of its levels but the last, +1, 0 or −1.

    Sum-to-zero coding: the effects of a part add up to 0 over its levels.
    """
    columns = []
    for part in range(len(names[0]) if names else 0):
        found = [name[part] for name in names]
        *levels, last = dict.fromkeys(found)
        columns += [[float(value == level) - float(value == last) for value in found] for level in levels]
    return np.array(columns).reshape(len(columns), len(names)).T


def _effects(answers: Answers, n: Ints, design: Floats) -> Floats:
    """Return the effects by least squares within items; zero where the answers cannot tell them."""
    X, y = design[answers.variant], answers.rate
    columns = design.shape[1]
    if not columns or len(y) - int((n > 0).sum()) < 2 * columns:
        return np.zeros(columns)
    means = np.stack([_mean_by(answers.item, X[:, k], n) for k in range(columns)], axis=1)
    inside, left = X - means[answers.item], y - _mean_by(answers.item, y, n)[answers.item]
    effects: Floats = np.linalg.lstsq(inside, left, rcond=None)[0].astype(np.float64, copy=False)
    return effects


def _mean_by(item: Ints, values: Floats, n: Ints) -> Floats:
    total = np.bincount(item, values, minlength=len(n))
    mean: Floats = np.where(n > 0, total / np.maximum(n, 1), np.nan)
    return mean
