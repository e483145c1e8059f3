"""A language model with known errors: it answers in text, as a real one would, so that protocols can be compared.

The error of one answer is made of parts that real protocols cannot tell apart: what the model gets wrong about a group
whatever the prompt, about an item in all prompts alike, what comes from the wording, and what from chance.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

from mensura.extrapolation.whole_pool import label_of
from mensura.llm import Answer, Question, Reader, UnreadableError


@dataclass(frozen=True)
class ErrorShape:
    """Standard deviations of the parts of an answer's error, in rates.

    ``item``: shared by every answer about an item. ``variant``: one per wording, common to all items. ``mixed``: per
    item and wording. ``repeat``: anew in every call. ``prompt``: one per prompt with several items, common to its
    items. ``silent``: the probability that a call is refused, or an item left out of a long answer.
    """

    item: float = 0.0
    variant: float = 0.0
    mixed: float = 0.0
    repeat: float = 0.0
    prompt: float = 0.0
    silent: float = 0.0

    @property
    def total(self) -> float:
        """The standard deviation of one answer's whole error."""
        parts = (self.item, self.variant, self.mixed, self.repeat, self.prompt)
        return float(np.sqrt(sum(part**2 for part in parts)))


@dataclass(frozen=True)
class SimulatedModel:
    """An asker that knows each item's true rate and answers it with errors; the same question, the same answer.

    It reads what it is asked about from :attr:`Question.about`, never from the prompt. Asked about several items it
    gives intervals of ±``stated`` around its estimates.
    """

    truth: Mapping[str, float]
    errors: ErrorShape = field(default_factory=ErrorShape)
    seed: int = 0
    stated: float = 0.08
    model: str = "simulated"

    def ask(self, questions: Sequence[Question], read: Reader) -> list[Answer]:
        """Answer every question in the words of its protocol, and let the reader take it apart."""
        return [self._answer(question, read) for question in questions]

    def _answer(self, question: Question, read: Reader) -> Answer:
        text = self._pool_text(question) if "items" in question.about else self._item_text(question)
        try:
            reading = read(text)
        except UnreadableError as fault:
            return Answer(question, text=text, error=str(fault), attempts=1)
        return Answer(question, text=text, value=reading.value, rationale=reading.rationale, attempts=1)

    def _item_text(self, question: Question) -> str:
        item, variant = question.about["item"], question.about.get("variant", "")
        if self._chance("silent", item, variant, question.repeat) < self.errors.silent:
            return "I cannot say how people would do on this."
        error = (
            self.errors.item * self._normal("item", item)
            + self.errors.variant * self._normal("variant", variant)
            + self.errors.mixed * self._normal("mixed", item, variant)
            + self.errors.repeat * self._normal("repeat", item, variant, question.repeat)
        )
        return f"Some adjustment is due here.\nFinal answer: {100 * self._rate(item, error):.2f}%"

    def _pool_text(self, question: Question) -> str:
        items = json.loads(question.about["items"])
        whole = self.errors.prompt * self._normal("prompt", question.prompt, question.repeat)
        rows = []
        for place, item in enumerate(items):
            if self._chance("silent", item, question.prompt, question.repeat) < self.errors.silent:
                continue
            own = self.errors.item * self._normal("item", item)
            anew = self.errors.repeat * self._normal("repeat", item, question.prompt, question.repeat)
            rate = self._rate(item, whole + own + anew)
            low, high = max(rate - self.stated, 0.0), min(rate + self.stated, 1.0)
            numbers = {"estimate": 100 * rate, "low": 100 * low, "high": 100 * high}
            rows.append({"item": label_of(place), **numbers})
        return json.dumps({"rationale": "simulated", "answers": rows})

    def _rate(self, item: str, error: float) -> float:
        return float(np.clip(self.truth[item] + error, 0.0, 1.0))

    def _normal(self, *key: object) -> float:
        return float(self._generator(*key).standard_normal())

    def _chance(self, *key: object) -> float:
        return float(self._generator(*key).random())

    def _generator(self, *key: object) -> np.random.Generator:
        text = json.dumps([self.seed, *map(str, key)])
        return np.random.default_rng(int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big"))
