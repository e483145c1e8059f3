"""As published: one item per call, in up to 27 variants of the prompt; the mean of the answers is the estimate.

Variants come in a balanced order, with more calls only where answers still disagree. An answer about item i in variant
v is taken as μ_i + (effects of v's order, phrasing and numbers) + noise. The effects are common to all items and
estimated from all answers together, so that an item asked in few variants is not pushed by which ones they were; μ_i is
what all variants would say on average. Noise differs between items: each item's variance is shrunk towards the common
one. An item is done when the interval of its μ is narrower than asked.

That interval is about asking, not about the truth: errors that all variants share do not shrink with more calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Ints
from mensura.core.errors import MensuraError
from mensura.extrapolation.correction import NEAREST, AskingMethod, Correction, Replies, Z, published_correction
from mensura.extrapolation.prompts import all_variants, ask_item, item_facts, read_percentage

if TYPE_CHECKING:
    from mensura.extrapolation.protocol import Task

STEP = 3
"""Calls per item and round: three variants that differ in order, phrasing and numbers, so that main effects cancel."""
PRIOR_DF = 4.0
"""What the common variance counts for beside an item's own, in degrees of freedom."""
LEVEL = 0.9
"""Probability of the interval of μ that ends the calls about an item."""

Call: TypeAlias = tuple[int, int, int]
"""Item, variant (by its place in the balanced order) and repeat."""


@dataclass(frozen=True)
class CallPlan:
    """How many calls an item may get: ``variants`` × ``repeats`` at most, until its interval is below ``width``.

    ``width`` None asks everything. ``budget``: the most calls per item on average over all items; what is left at the
    end goes to the widest.
    """

    variants: int = 27
    repeats: int = 5
    width: float | None = None
    budget: float | None = None

    def __post_init__(self) -> None:
        for name in ("variants", "repeats"):
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
        wanted = self.most if self.width is None else 2 * STEP
        return wanted if self.budget is None else min(wanted, int(self.budget))

    def calls(self, item: int, done: int, more: int) -> list[Call]:
        """Return an item's next calls: every variant once before any is repeated, each item starting elsewhere.

        Items start at different triples, so that all variants are in use from the first round on.
        """
        places = range(done, min(done + more, self.most))
        return [(item, (item * STEP + k) % self.variants, k // self.variants) for k in places]


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
    asked, rates = np.zeros((0, 3), dtype=np.int64), np.zeros(0)
    left = size * plan.most if plan.budget is None else int(size * plan.budget)
    open_items, more = np.arange(size), plan.opening
    while len(open_items) and left > 0:
        calls = [call for item in open_items for call in plan.calls(int(item), int(made[item]), more)][:left]
        left -= len(calls)
        asked, rates = np.vstack([asked, calls]), np.concatenate([rates, ask(calls)])
        made = np.bincount(asked[:, 0], minlength=size)
        readable = np.isfinite(rates)
        answers = Answers(asked[readable, 0], asked[readable, 1], rates[readable])
        if plan.width is None:
            break
        half = levels_of(answers, size, design).half
        wide = np.flatnonzero(~(2 * half <= plan.width) & (made < plan.most))
        open_items, more = wide[np.argsort(-np.nan_to_num(half[wide], nan=np.inf), kind="stable")], STEP
    return answers, made


def levels_of(answers: Answers, size: int, design: Floats) -> Levels:
    """Return each item's mean over all variants, with its error; NaN for an item without answers."""
    from scipy.special import stdtrit

    n = np.bincount(answers.item, minlength=size)
    adjusted = answers.rate - design[answers.variant] @ _effects(answers, n, design)
    mean = _mean_by(answers.item, adjusted, n)
    squares = np.bincount(answers.item, (adjusted - mean[answers.item]) ** 2, minlength=size)
    free = max(len(adjusted) - int((n > 0).sum()), 0)
    common = squares.sum() / free if free else np.nan
    own = np.maximum(n - 1, 0)
    variance = (PRIOR_DF * common + squares) / (PRIOR_DF + own)
    error = np.where(n > 0, np.sqrt(variance / np.maximum(n, 1)), np.nan)
    half = np.asarray(stdtrit(PRIOR_DF + own, (1 + LEVEL) / 2) * error, dtype=np.float64)
    return Levels(mean, error, half, n)


def effects_design(names: Sequence[tuple[str, ...]]) -> Floats:
    """Return variants × columns: for each part of a variant's name and each of its levels but the last, +1, 0 or −1.

    Sum-to-zero coding: the effects of a part add up to 0 over its levels.
    """
    columns = []
    for values in zip(*names, strict=True):
        *levels, last = dict.fromkeys(values)
        columns += [[float(value == level) - float(value == last) for value in values] for level in levels]
    return np.array(columns).reshape(len(columns), len(names)).T


def _effects(answers: Answers, n: Ints, design: Floats) -> Floats:
    """Return the effects by least squares within items; zero where the answers cannot tell them."""
    X, y = design[answers.variant], answers.rate
    columns = design.shape[1]
    if not columns or len(y) - int((n > 0).sum()) < 2 * columns:
        return np.zeros(columns)
    means = np.stack([_mean_by(answers.item, X[:, k], n) for k in range(columns)], axis=1)
    inside, left = X - means[answers.item], y - _mean_by(answers.item, y, n)[answers.item]
    return np.asarray(np.linalg.lstsq(inside, left, rcond=None)[0].astype(np.float64, copy=False))


def _mean_by(item: Ints, values: Floats, n: Ints) -> Floats:
    total = np.bincount(item, values, minlength=len(n))
    return np.asarray(np.where(n > 0, total / np.maximum(n, 1), np.nan))


@dataclass(frozen=True, eq=False)
class ItemByItem(AskingMethod):
    """One item per call, as published.

    ``variants`` (of 27) × ``repeats`` calls per item; with ``width``, an item is done as soon as the interval of its
    mean answer is that narrow, and ``budget`` bounds the calls per item on average. Without a ``correction``, intervals
    have the published error level.
    """

    name: ClassVar[str] = "item-by-item"
    INTERVAL: ClassVar[str] = "errors of such estimates elsewhere ({origin}) and of the mean over calls"

    variants: int = 27
    width: float | None = None
    budget: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.variants <= len(all_variants()):
            raise MensuraError(f"variants: expected 1 to {len(all_variants())}, got {self.variants}")
        self.plan  # noqa: B018  settings that make no plan are refused here, before anything is asked

    @property
    def plan(self) -> CallPlan:
        """How often each item is asked about."""
        return CallPlan(self.variants, self.repeats, self.width, self.budget)

    def usual_correction(self, task: Task) -> Correction:
        """Return a correction that changes no estimate and has errors of the published size."""
        del task
        return published_correction()

    def ask(self, task: Task) -> Replies:
        """Ask about every item as planned."""
        facts, variants = item_facts(task), all_variants()[: self.variants]
        design = effects_design(variants)
        rows: list[tuple[str, float | None]] = []
        failures: list[str] = []

        def send(calls: Sequence[Call]) -> Floats:
            questions = [
                ask_item(facts[item], variants[variant], repeat, own=self.template) for item, variant, repeat in calls
            ]
            for answer in self.whom.ask(questions, read_percentage):
                rate = float(answer.value["rate"]) if isinstance(answer.value, dict) else None
                rows.append((answer.question.about["item"], rate))
                failures.extend([answer.error or "no answer"] if rate is None else [])
            return np.array([rate for _, rate in rows[-len(calls) :]], dtype=np.float64)

        answers, calls = ask_adaptively(send, task.size, self.plan, design)
        levels = levels_of(answers, task.size, design)
        rate = np.clip(levels.rate, NEAREST, 1 - NEAREST)
        half = Z * np.nan_to_num(levels.error) / (rate * (1 - rate))
        table = pl.DataFrame(rows, schema={"item": pl.String, "rate": pl.Float64}, orient="row")
        return Replies(rate, half, calls, table, failures)
