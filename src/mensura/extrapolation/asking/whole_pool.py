"""All items of one focal group in one prompt, in chunks; one estimate with an interval per item."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Ints, expit, logit
from mensura.core.errors import MensuraError
from mensura.extrapolation.asking.answering import ANSWER_COLUMNS, AskingMethod, failures_told, world_told
from mensura.extrapolation.asking.correction import NEAREST, Correction, shipped_correction
from mensura.extrapolation.asking.item_facts import item_facts
from mensura.extrapolation.asking.pool_prompt import ItemEstimate, ask_pool, match, read_estimates
from mensura.extrapolation.protocol import LEVEL, Prediction, check_level

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mensura.extrapolation.protocol import Task
    from mensura.llm import Answer, Asker

CHUNK = 45
"""Items per prompt: as many as in the recorded prompts that the shipped correction was learned on."""


@dataclass(frozen=True, eq=False)
class WholePool(AskingMethod):
    """One focal group's rates on all items in one prompt, ``chunk`` items at a time, asked ``repeats`` times.

    Items that an answer leaves out, answers twice or gives no sound interval for are asked again, in chunks half as
    large, in up to ``rounds`` rounds; what then is still without an answer has none. ``correction``: how models
    misjudge groups, learned on other pools; without one, the shipped one (which leaves out the pool at hand).
    ``template``: a prompt of your own.
    """

    NAME: ClassVar[str] = "whole-pool"

    asker: Asker | None = None
    chunk: int = CHUNK
    repeats: int = 1
    rounds: int = 3
    correction: Correction | None = None
    level: float = LEVEL
    template: Path | None = None

    def __post_init__(self) -> None:
        check_level(self.level)
        self.whom  # noqa: B018  refused here, before anything is asked
        for setting in ("chunk", "repeats", "rounds"):
            if getattr(self, setting) < 1:
                raise MensuraError(f"{setting} must be at least 1, got {getattr(self, setting)}")

    def predict(self, task: Task) -> Prediction:
        """Return the estimates, corrected, with intervals of the error that such estimates have."""
        found = self.ask(task)
        correction = self.correction or shipped_correction(task.pool)
        rate, half = found.summary()
        corrected = correction.apply(task, rate, half, self.level)
        return Prediction(
            *corrected,
            account=partial(correction.sensitivity, task, rate, half, self.level),
            warnings=(*failures_told(found.failures, found.asked), *world_told(task)),
            interval=f"the model's own intervals, set right by its errors elsewhere ({correction.origin})",
            calls=found.calls,
        )

    def answers(self, task: Task) -> pl.DataFrame:
        """Return every answer before correction: item, variant (the protocol), repeat, rate, form, error (why none)."""
        found = self.ask(task)
        rows = [
            (item, self.name, repeat, *((float(rate), "schema", "") if np.isfinite(rate) else (None, "", "no answer")))
            for repeat, rates in enumerate(found.rate)
            for item, rate in zip(task.names, rates, strict=True)
        ]
        return pl.DataFrame(rows, schema=ANSWER_COLUMNS, orient="row")

    def ask(self, task: Task) -> Replies:
        """Ask about every item of a task and return what the model said, uncorrected."""
        replies = Replies.none(task.size, self.repeats)
        facts, share = item_facts(task), float(np.mean(task.share))
        size = self.chunk
        for attempt in range(self.rounds):
            chunks = [
                (repeat, places) for repeat in range(self.repeats) for places in deal(replies.missing(repeat), size)
            ]
            if not chunks:
                break
            questions = [
                ask_pool([facts[place] for place in places], share, repeat + attempt * self.repeats, self.template)
                for repeat, places in chunks
            ]
            answers = self.whom.ask(questions, read_estimates)
            for (repeat, places), answer in zip(chunks, answers, strict=True):
                replies.take(repeat, places, answer)
            size = max(size // 2, 1)
        return replies


@dataclass(frozen=True, eq=False)
class Replies:
    """What a model said: repeats × items of rate, low and high (NaN where nothing readable), calls, failures."""

    rate: Floats
    low: Floats
    high: Floats
    calls: Ints
    failures: list[str]

    @classmethod
    def none(cls, size: int, repeats: int) -> Replies:
        """Return replies before anything was asked."""
        rate, low, high = np.full((3, repeats, size), np.nan)
        return cls(rate, low, high, np.zeros(size, dtype=np.int64), [])

    @property
    def asked(self) -> int:
        """How many answers about items were asked for."""
        return int(self.calls.sum())

    def missing(self, repeat: int) -> list[int]:
        """Return the items still without an answer in one repeat."""
        return np.flatnonzero(np.isnan(self.rate[repeat])).tolist()

    def take(self, repeat: int, places: Sequence[int], answer: Answer) -> None:
        """Note one answer: its estimates, and why items have none."""
        self.calls[list(places)] += 1
        if answer.value is None:
            self.failures.extend([answer.error or "no answer"] * len(places))
            return
        matched = match(answer.value, len(places))
        self.failures.extend(matched.faults.values())
        for at, estimate in matched.estimates.items():
            self._set(repeat, places[at], estimate)

    def _set(self, repeat: int, place: int, estimate: ItemEstimate) -> None:
        self.rate[repeat, place] = estimate.rate
        self.low[repeat, place] = estimate.low
        self.high[repeat, place] = estimate.high

    def summary(self) -> tuple[Floats, Floats]:
        """Return per item the mean estimate over repeats, by logits, and the mean half-width in logits."""
        rate, low, high = (logit(np.clip(part, NEAREST, 1 - NEAREST)) for part in (self.rate, self.low, self.high))
        answered = np.isfinite(rate)
        count = np.maximum(answered.sum(axis=0), 1)
        none = ~answered.any(axis=0)
        centre = np.where(answered, rate, 0.0).sum(axis=0) / count
        half = np.where(answered, (high - low) / 2, 0.0).sum(axis=0) / count
        return np.where(none, np.nan, expit(centre)), half


def deal(places: Sequence[int], size: int) -> list[list[int]]:
    """Deal items into chunks of at most ``size``, in turn, so that every chunk sees the whole range of the pool."""
    hands = -(-len(places) // size)
    return [list(places[start::hands]) for start in range(hands)]
