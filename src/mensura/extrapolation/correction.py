"""What a language model's estimates are worth: the part of its shift that is real, and honest intervals.

In logits, with x the observed group's rate, e the model's estimate and h the half-width of its own 90% interval:

    reference_i − x_i = b + β (e_i − x_i) + ε_i,    b ~ N(0, σ_b²),    β ~ N(β₀, σ_β²),    ε_i ~ N(0, τ² + (c h_i / z)²)

b and β are one draw per focal group: a model misjudges a whole group together. β₀ below 1 says that models overdo
differences between groups. The five constants are learned on part-to-whole records of *other* pools
(``tools.learn_correction`` of a clone). Links of the pool at hand, where there are any, update b and β by the same
formula.

:class:`AskingMethod` is what both protocols share: whom they ask, the correction of replies, and warnings.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Ints, Mask, expit, logit
from mensura.core.errors import MensuraError
from mensura.extrapolation.distributions import normal_reach
from mensura.extrapolation.line_methods import ranked
from mensura.extrapolation.protocol import LEVEL, Prediction, check_level, empty_sensitivity
from mensura.extrapolation.straight_line import smooth
from mensura.people import WORLD

if TYPE_CHECKING:
    from pathlib import Path

    from mensura.extrapolation.protocol import Task
    from mensura.llm import Asker

STATED_LEVEL = 0.9
"""The probability that prompts ask intervals to have."""
Z = normal_reach(STATED_LEVEL)
NEAREST = 0.002
"""Rates closer than this to 0 or 1 are read as this far from them: models answer 0% and mean "hardly anyone"."""
TYPICAL_SLOPE = 0.2
"""Mean of p (1 − p) over items between 10% and 90%: by how much a rate moves per logit."""
SHIFT, DAMPING, ITEM = "shift of the group", "part of the shift that is real", "error of an item"
_SMALLEST_VARIANCE = 1e-12
_REASONS, _LONGEST = 3, 100  # commonest reasons of failures that a warning names, and characters of each
_NEVER_CHECKED = (
    "no world estimate has ever been checked against the world: the intervals are those of estimates for whole "
    "samples, where the truth is known"
)


@dataclass(frozen=True)
class Correction:
    """The five constants of the model above, in logits, and where they come from.

    ``damping``: β₀. ``damping_sd``: σ_β. ``shift_sd``: σ_b. ``item_sd``: τ. ``width``: c, the factor on the model's own
    intervals.
    """

    damping: float
    damping_sd: float
    shift_sd: float
    item_sd: float
    width: float
    origin: str = ""

    def __post_init__(self) -> None:
        for name in ("damping", "damping_sd", "shift_sd", "item_sd", "width"):
            value = getattr(self, name)
            if not np.isfinite(value) or (value < 0 and name != "damping"):
                raise MensuraError(f"correction: {name} must be a number of 0 or more, got {value}")

    def apply(self, task: Task, rate: Floats, half: Floats, level: float) -> tuple[Floats, Floats, Floats]:
        """Return corrected rates with bounds, draws × items, from the model's rates and half-widths in logits.

        An item without an estimate (NaN) stays without one. Part of a reference is the observed group itself: no rate
        leaves the range its share allows.
        """
        x, answered = logit(inside_edges(smooth(task.rate, task.n))), np.isfinite(rate)
        gap = np.where(answered, logit(inside_edges(rate)) - x, 0.0)
        noise = self.item_sd**2 + (self.width * np.where(answered, half, 0.0) / Z) ** 2
        mean, variance = self._predictive(task, x, gap, noise, task.known & answered)
        reach = normal_reach(level) * np.sqrt(variance)
        least = task.share * task.rate
        low, middle, high = (
            np.where(answered, np.clip(expit(x + mean + side), least, least + 1 - task.share), np.nan)
            for side in (-reach, 0.0, reach)
        )
        return middle, low, high

    def sensitivity(self, task: Task, rate: Floats, half: Floats, level: float) -> pl.DataFrame:
        """Return how the mean rate moves when b, β or an item's own error goes to the ends of its range.

        As if the error of every item had the same sign, so the third row speaks of one item rather than of the mean.
        Of one draw and without links, which narrow the first two.
        """
        answered = np.isfinite(rate)
        if task.draws > 1 or not answered.any():
            return empty_sensitivity()
        x = logit(inside_edges(smooth(task.rate, task.n)))[answered]
        gap, z = logit(inside_edges(rate[answered])) - x, normal_reach(level)
        own = np.sqrt(self.item_sd**2 + (self.width * half[answered] / Z) ** 2)
        rows = []
        for name, value, sd, per_sd in (
            (SHIFT, 0.0, self.shift_sd, 1.0),
            (DAMPING, self.damping, self.damping_sd, gap),
            (ITEM, 0.0, float(own.mean()), own / own.mean()),
        ):
            low, high = (float(expit(x + self.damping * gap + side * sd * per_sd).mean()) for side in (-z, z))
            rows.append((name, value, value - z * sd, value + z * sd, low, high))
        return ranked(rows)

    def _predictive(self, task: Task, x: Floats, gap: Floats, noise: Floats, mask: Mask) -> tuple[Floats, Floats]:
        """Return mean and variance of reference − x, draws × items, given the links of each draw."""
        X = np.stack([np.ones_like(gap), gap], axis=1)
        links = np.where(mask, task.links, 0.5)
        difference = logit(inside_edges(smooth(links, task.links_n))) - x
        sampling = 1 / (task.links_n * np.maximum(links * (1 - links), NEAREST))
        precision = np.where(mask, 1 / np.maximum(noise + sampling, _SMALLEST_VARIANCE), 0.0)
        prior = np.maximum(np.array([self.shift_sd, self.damping_sd]) ** 2, _SMALLEST_VARIANCE)
        A = np.einsum("di,ip,iq->dpq", precision, X, X) + np.diag(1 / prior)
        right = np.einsum("di,ip->dp", precision * difference, X) + np.array([0.0, self.damping]) / prior
        C = np.linalg.inv(A)
        theta = np.einsum("dpq,dq->dp", C, right)
        return theta @ X.T, np.einsum("ip,dpq,iq->di", X, C, X) + noise


def shipped_correction(pool: str = "") -> Correction:
    """Return the correction learned on the recorded estimates; without those of ``pool``, where it is one of them."""
    table = pl.read_csv((files("mensura.extrapolation") / "data" / "corrections.csv").read_bytes())
    without = pool if pool in table["without"] else "none"
    row = table.row(by_predicate=pl.col("without") == without, named=True)
    return Correction(**{field.name: row[field.name] for field in fields(Correction)})


def published_correction() -> Correction:
    """Return what the paper's tables say of one item per call: no shift to take back, and errors of that size.

    Its five models' root mean squared errors on ICAR, PISA and TIMSS, pooled, over the slope of rates in logits.
    """
    from mensura.evidence import load

    rows = load().validations.filter((pl.col("task") == "validation") & pl.col("rmse").is_not_null())
    error = float(np.sqrt((rows["rmse"].to_numpy() ** 2).mean())) / TYPICAL_SLOPE
    return Correction(1.0, 0.0, 0.0, error, 1.0, "published validation errors of five models on three tests")


def inside_edges(rate: Floats) -> Floats:
    """Return rates that keep their distance from 0 and 1."""
    return np.asarray(np.clip(rate, NEAREST, 1 - NEAREST))


@dataclass(frozen=True, eq=False)
class Replies:
    """The estimates of a language model for the items of a task, uncorrected.

    ``rate``: the mean estimate per item, NaN without a readable answer; ``half``: the half-width of its interval in
    logits; ``calls``: how often the item was asked about. ``answers``: item, rate, one row per answer, null where it
    could not be read. ``failures``: why each of those could not.
    """

    rate: Floats
    half: Floats
    calls: Ints
    answers: pl.DataFrame
    failures: list[str]


@dataclass(frozen=True, eq=False)
class AskingMethod:
    """Share what the methods have that ask a language model: whom they ask, and the correction of what it says.

    ``repeats``: how often everything is asked. ``correction``: the model's errors, as known from elsewhere; without
    one, the method's own. ``template``: a prompt of your own.
    """

    name: ClassVar[str]
    INTERVAL: ClassVar[str]

    asker: Asker | None = None
    repeats: int = 1
    correction: Correction | None = None
    level: float = LEVEL
    template: Path | None = None

    def __post_init__(self) -> None:
        check_level(self.level)
        if self.asker is None:
            raise MensuraError(
                f"method {self.name!r} needs asker, a language model: mensura.llm.open_asker(NAME), or --model NAME"
            )

    @property
    def model(self) -> str:
        """The name of the language model."""
        return self.whom.model

    @property
    def whom(self) -> Asker:
        """Whom to ask."""
        return cast("Asker", self.asker)

    def ask(self, task: Task) -> Replies:
        """Ask about every item of a task and return its estimates, uncorrected."""
        raise NotImplementedError

    def usual_correction(self, task: Task) -> Correction:
        """Return the correction of a method that was given none."""
        raise NotImplementedError

    def predict(self, task: Task) -> Prediction:
        """Return the estimates, corrected, with intervals of the error that such estimates have."""
        replies = self.ask(task)
        correction = self.correction or self.usual_correction(task)
        return Prediction(
            *correction.apply(task, replies.rate, replies.half, self.level),
            account=partial(correction.sensitivity, task, replies.rate, replies.half, self.level),
            warnings=(*_failures(replies), *([_NEVER_CHECKED] if task.reference.name == WORLD.name else [])),
            interval=self.INTERVAL.format(origin=correction.origin),
            calls=replies.calls,
        )


def _failures(replies: Replies) -> list[str]:
    """Say how many calls gave no readable answer, and the commonest reasons; nothing where none failed."""
    common = Counter(reason[:_LONGEST] for reason in replies.failures).most_common(_REASONS)
    reasons = "; ".join(f"{reason} ({count})" for reason, count in common)
    asked = int(replies.calls.sum())
    return [f"{len(replies.failures)} of {asked} answers could not be read: {reasons}"] if common else []
