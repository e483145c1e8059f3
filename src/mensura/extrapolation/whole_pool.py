"""Many items of one focal group in one prompt, and the answers taken apart item by item.

All items of one focal group in one prompt, in chunks; one estimate with an interval per item.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Ints, expit, logit
from mensura.core.errors import MensuraError
from mensura.extrapolation.correction import (
    ANSWER_COLUMNS,
    NEAREST,
    AskingMethod,
    Correction,
    failures_told,
    shipped_correction,
    world_told,
)
from mensura.extrapolation.prompts import fenced, fill, item_facts, read_template
from mensura.extrapolation.protocol import LEVEL, Prediction, check_level
from mensura.llm import AnswerReading, Question, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mensura.extrapolation.prompts import ItemFacts
    from mensura.extrapolation.protocol import Task
    from mensura.llm import Answer, Asker

_NUMBERS = ("estimate", "low", "high")


def _schema(more: Mapping[str, object]) -> Mapping[str, object]:
    """Return the schema of an answer; ``more`` are further fields of each item."""
    numbers = {name: {"type": "number", "minimum": 0, "maximum": 100} for name in _NUMBERS}
    row = {
        "type": "object",
        "properties": {"item": {"type": "string"}, **numbers, **more},
        "required": ["item", *_NUMBERS, *more],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"rationale": {"type": "string"}, "answers": {"type": "array", "items": row}},
        "required": ["rationale", "answers"],
        "additionalProperties": False,
    }


SCHEMA = _schema({})
REMEMBERING = _schema({"remembered": {"type": "boolean"}})
"""The schema of answers that also say whether the model recalls a published figure."""


@dataclass(frozen=True)
class ItemEstimate:
    """One item's rate with the 90% interval that the model gave, all between 0 and 1.

    ``remembered``: the model says that it recalls a published figure.
    """

    rate: float
    low: float
    high: float
    remembered: bool = False


@dataclass(frozen=True)
class Matched:
    """The answers of one prompt against the items it asked for.

    ``estimates``: by the place of the item in the prompt. ``faults``: by the same, why an item has none (missing,
    answered twice, interval upside down). ``unknown``: labels that nobody asked for.
    """

    estimates: Mapping[int, ItemEstimate]
    faults: Mapping[int, str]
    unknown: tuple[str, ...]


def label_of(place: int) -> str:
    """Return an item's label in the prompt: ``i1`` for the first. Ids of pools may be long, alike or hostile."""
    return f"i{place + 1}"


def ask_pool(facts: Sequence[ItemFacts], share: float = 0.0, repeat: int = 0, own: Path | None = None) -> Question:
    """Return the question about all of ``facts``, which share test, people and reference.

    ``share``: the observed group's mean part of the reference's answers; 0 when the two are apart.
    ``own``: a template of the user's.
    """
    template, first = read_template("pool", own), facts[0]
    rows = [_row(label_of(place), one) for place, one in enumerate(facts)]
    values = {
        "test": first.test,
        "people": first.people,
        "reference": first.reference or "everybody in the world, of every age and amount of schooling",
        "share": fill(template["part"], {"share": f"{share:.0%}"}) if share > 0 else template["apart"],
        "items": f"{len(facts)} items" if len(facts) > 1 else "1 item",
        "counts": " and how many answered" if any(one.n is not None for one in facts) else "",
        "year": "" if first.reference else template["world_year"],
        "factors": ", ".join(read_template("item")["factors"]["list"]),
        "table": "\n".join(rows),
        "first": label_of(0),
        "last": label_of(len(facts) - 1),
    }
    prompt = fill(template["prompt"], values)
    about = {**first.place, "protocol": "whole-pool", "items": json.dumps([one.item for one in facts])}
    return Question(prompt=prompt, system=template["system"], schema=SCHEMA, repeat=repeat, about=about)


def _row(label: str, facts: ItemFacts) -> str:
    parts = [label, f"{facts.rate:.1%}"]
    if facts.n is not None:
        parts.append(f"n = {facts.n:,}")
    if facts.about:
        parts.append(facts.about)
    parts.append(_one_line(facts.stem))
    if facts.options:
        parts.append(f"options: {' / '.join(map(_one_line, facts.options))}")
    parts.append(f"correct: {_one_line(facts.answer)}")
    return " | ".join(parts)


def _one_line(text: str) -> str:
    return fenced(" ".join(text.split()))


def read_estimates(text: str) -> AnswerReading:
    """Take the rows of an answer (item, estimate, low, high, in per cent) or raise; rows are judged by :func:`match`.

    The answer must hold one JSON object with ``answers``; text around it is passed over, a broken object is refused.
    """
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        raise UnreadableError("no JSON object in the answer; expected one" if text.strip() else "the answer is empty")
    try:
        found = json.loads(text[start : end + 1])
    except (ValueError, RecursionError) as fault:
        raise UnreadableError(f"the answer is no valid JSON ({str(fault)[:80]}); expected one object") from None
    rows = found.get("answers") if isinstance(found, dict) else None
    if not isinstance(rows, list):
        raise UnreadableError("the JSON answer has no list 'answers'; expected one row per item")
    kept = [_plain_row(row) for row in rows if isinstance(row, dict)]
    if not kept:
        raise UnreadableError("the list 'answers' is empty; expected one row per item")
    return AnswerReading(value=kept, rationale=str(found.get("rationale") or ""))


def _plain_row(row: Mapping[str, object]) -> dict[str, object]:
    plain: dict[str, object] = {"item": str(row.get("item", "")).strip()}
    plain |= {name: _finite(row.get(name)) for name in _NUMBERS}
    return plain | ({"remembered": True} if row.get("remembered") is True else {})


def _finite(value: object) -> float | None:
    """Return a number between 0 and 100 as it is, anything else as None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        return None
    return float(value)


def match(rows: object, size: int) -> Matched:
    """Judge the rows of one answer against the ``size`` items asked for.

    An item answered twice with different numbers, or whose interval does not hold its estimate, counts as failed:
    which of the numbers was meant is not guessed.
    """
    places = {label_of(place): place for place in range(size)}
    found: dict[int, ItemEstimate | str] = {}
    unknown = []
    for row in rows if isinstance(rows, list) else []:
        place = places.get(str(row["item"]))
        if place is None:
            unknown.append(str(row["item"]))
            continue
        judged = _judge(row)
        found[place] = "answered twice, differently" if place in found and found[place] != judged else judged
    estimates = {place: one for place, one in found.items() if isinstance(one, ItemEstimate)}
    faults = {place: found.get(place, "missing") for place in range(size) if place not in estimates}
    return Matched(estimates, {place: str(fault) for place, fault in faults.items()}, tuple(unknown))


def _judge(row: Mapping[str, object]) -> ItemEstimate | str:
    values = [row[name] for name in _NUMBERS]
    if any(value is None for value in values):
        return "a number is missing or outside 0 to 100"
    rate, low, high = (float(str(value)) / 100 for value in values)
    if not low <= rate <= high:
        return "the interval does not hold the estimate"
    return ItemEstimate(rate, low, high, bool(row.get("remembered")))


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
