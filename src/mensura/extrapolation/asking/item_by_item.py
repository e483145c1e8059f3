"""As published: one item per call, in up to 27 variants of the prompt; the mean of the answers is the estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.extrapolation.asking.adaptive import Call, CallPlan, ask_adaptively, effects_design, levels_of
from mensura.extrapolation.asking.answering import ANSWER_COLUMNS, AskingMethod, failures_told, world_told
from mensura.extrapolation.asking.correction import NEAREST, Correction, Z, published_correction
from mensura.extrapolation.asking.item_facts import item_facts
from mensura.extrapolation.asking.percentages import read_percentage
from mensura.extrapolation.asking.wording import all_variants, ask_item
from mensura.extrapolation.protocol import LEVEL, Prediction, check_level

if TYPE_CHECKING:
    from pathlib import Path

    from mensura.extrapolation.protocol import Task
    from mensura.llm import Answer, Asker


@dataclass(frozen=True, eq=False)
class ItemByItem(AskingMethod):
    """One item per call, as published.

    ``variants`` (of 27) × ``repeats`` calls per item; with ``width``, an item is done as soon as the interval of its
    mean answer is that narrow, and ``budget`` bounds the calls per item on average. ``schema``: ask for JSON instead
    of free text. ``correction``: the model's errors, as known from elsewhere; without one, the published error level.
    ``template``: a prompt of your own.
    """

    NAME: ClassVar[str] = "item-by-item"

    asker: Asker | None = None
    variants: int = 27
    repeats: int = 1
    width: float | None = None
    budget: float | None = None
    schema: bool = False
    correction: Correction | None = None
    level: float = LEVEL
    template: Path | None = None

    def __post_init__(self) -> None:
        check_level(self.level)
        self.whom  # noqa: B018  refused here, before anything is asked
        if not 1 <= self.variants <= len(all_variants()):
            raise MensuraError(f"variants: expected 1 to {len(all_variants())}, got {self.variants}")
        self.plan  # noqa: B018  settings that make no plan are refused here, before anything is asked

    @property
    def plan(self) -> CallPlan:
        """How often each item is asked about."""
        return CallPlan(variants=self.variants, repeats=self.repeats, width=self.width, budget=self.budget)

    def predict(self, task: Task) -> Prediction:
        """Return the mean answers, corrected, with intervals of the error that such estimates have."""
        conversation = _Conversation(self, task)
        answers, made = ask_adaptively(conversation.ask, task.size, self.plan, conversation.design)
        levels = levels_of(answers, task.size, conversation.design)
        correction = self.correction or published_correction()
        rate = np.clip(levels.rate, NEAREST, 1 - NEAREST)
        half = Z * np.nan_to_num(levels.error) / (rate * (1 - rate))
        corrected = correction.apply(task, rate, half, self.level)
        return Prediction(
            *corrected,
            account=partial(correction.sensitivity, task, rate, half, self.level),
            warnings=(*failures_told(conversation.failures, int(made.sum())), *world_told(task)),
            interval=f"errors of such estimates elsewhere ({correction.origin}) and of the mean over calls",
            calls=made,
        )

    def answers(self, task: Task) -> pl.DataFrame:
        """Return every answer: item, variant, repeat, rate (null where unreadable), form, error (why)."""
        conversation = _Conversation(self, task)
        ask_adaptively(conversation.ask, task.size, self.plan, conversation.design)
        return pl.DataFrame(conversation.rows, schema=ANSWER_COLUMNS, orient="row")


class _Conversation:
    """The calls of one prediction: turns calls into questions and answers into rates, and remembers both."""

    def __init__(self, method: ItemByItem, task: Task) -> None:
        self._method, self._facts = method, item_facts(task)
        self._variants = all_variants()[: method.plan.variants]
        self.design = effects_design([(v.order, v.phrasing, v.numbers) for v in self._variants])
        self.rows: list[tuple[str, str, int, float | None, str, str]] = []
        self.failures: list[str] = []

    def ask(self, calls: Sequence[Call]) -> Floats:
        """Return the rates that the model gives, NaN where an answer cannot be read."""
        questions = [
            ask_item(
                self._facts[item],
                self._variants[variant],
                repeat,
                schema=self._method.schema,
                own=self._method.template,
            )
            for item, variant, repeat in calls
        ]
        answers = self._method.whom.ask(questions, read_percentage)
        return np.array([self._take(answer) for answer in answers])

    def _take(self, answer: Answer) -> float:
        value = answer.value if isinstance(answer.value, dict) else None
        rate = None if value is None else float(value["rate"])
        if rate is None:
            self.failures.append(answer.error or "no answer")
        about = answer.question.about
        form = "" if value is None else str(value["form"])
        self.rows.append((about["item"], about["variant"], answer.question.repeat, rate, form, answer.error))
        return np.nan if rate is None else rate
