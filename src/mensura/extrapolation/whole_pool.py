"""All items of one focal group in one prompt, in chunks; answers taken apart item by item, each with an interval."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import expit, logit
from mensura.core.errors import MensuraError
from mensura.demands.protocols import closed_object
from mensura.extrapolation.correction import NEAREST, AskingMethod, Correction, Replies, shipped_correction
from mensura.extrapolation.prompts import fenced, fill, item_facts, read_template
from mensura.llm import AnswerReading, Question, UnreadableError

if TYPE_CHECKING:
    from pathlib import Path

    from mensura.extrapolation.prompts import ItemFacts
    from mensura.extrapolation.protocol import Task
    from mensura.llm import Answer

CHUNK = 45
"""Items per prompt: as many as in the recorded prompts that the shipped correction was learned on."""
_NUMBERS = ("estimate", "low", "high")
_NUMBER = re.compile(r"\s*\d+(?:\.\d+)?\s*%?\s*")


def _schema(more: Mapping[str, object], whole: Mapping[str, object]) -> Mapping[str, object]:
    """Return the schema of an answer; ``more`` are further fields of each item, ``whole`` of the answer."""
    numbers = {name: {"type": "number", "minimum": 0, "maximum": 100} for name in _NUMBERS}
    row = closed_object({"item": {"type": "string"}, **numbers, **more})
    return closed_object({"rationale": {"type": "string"}, **whole, "answers": {"type": "array", "items": row}})


SCHEMA = _schema({}, {})
_MEAN = {"type": ["number", "null"], "minimum": 0, "maximum": 100}
REMEMBERING: Mapping[str, Any] = _schema(
    {"remembered": {"type": "boolean"}}, {"benchmark": {"type": "string"}, "published_mean": _MEAN}
)
"""The schema of answers that also say whether the model recalls a published figure, of an item and of the benchmark."""


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
    answered twice, interval upside down). Labels that nobody asked for are passed over.
    """

    estimates: Mapping[int, ItemEstimate]
    faults: Mapping[int, str]


def label_of(place: int) -> str:
    """Return an item's label in the prompt: ``i1`` for the first. Ids of pools may be long, alike or hostile."""
    return f"i{place + 1}"


def deal(places: Sequence[int], size: int) -> list[list[int]]:
    """Deal items into chunks of at most ``size``, in turn, so that every chunk sees the whole range of the pool."""
    hands = -(-len(places) // size)
    return [list(places[start::hands]) for start in range(hands)]


def ask_pool(facts: Sequence[ItemFacts], share: float = 0.0, repeat: int = 0, own: Path | None = None) -> Question:
    """Return the question about all of ``facts``, which share test, people and reference.

    ``share``: the observed group's mean part of the reference's answers; 0 when the two are apart.
    ``own``: a template of the user's.
    """
    template, first = read_template("pool", own), facts[0]
    values = {
        "test": first.test,
        "people": first.people,
        "reference": first.reference or "everybody in the world, of every age and amount of schooling",
        "share": fill(template["part"], {"share": f"{share:.0%}"}) if share > 0 else template["apart"],
        "items": f"{len(facts)} items" if len(facts) > 1 else "1 item",
        "counts": " and how many answered" if any(one.n is not None for one in facts) else "",
        "year": "" if first.reference else template["world_year"],
        "factors": ", ".join(read_template("item")["factors"]["list"]),
        "table": "\n".join(_row(label_of(place), one) for place, one in enumerate(facts)),
        "first": label_of(0),
        "last": label_of(len(facts) - 1),
    }
    about = {**first.place, "protocol": "whole-pool", "items": json.dumps([one.item for one in facts])}
    prompt = fill(template["prompt"], values)
    return Question(prompt=prompt, system=template["system"], schema=SCHEMA, repeat=repeat, about=about)


def _row(label: str, facts: ItemFacts) -> str:
    count = [] if facts.n is None else [f"n = {facts.n:,}"]
    about = [facts.about] if facts.about else []
    options = [f"options: {' / '.join(map(_one_line, facts.options))}"] if facts.options else []
    texts = [_one_line(facts.stem), *options, f"correct: {_one_line(facts.answer)}"]
    return " | ".join([label, f"{facts.rate:.1%}", *count, *about, *texts])


def _one_line(text: str) -> str:
    return fenced(" ".join(text.split()))


def read_estimates(text: str) -> AnswerReading:
    """Take the rows of an answer (item, estimate, low, high, in per cent) or raise; rows are judged by :func:`match`.

    The answer must hold one JSON object with ``answers``; text around it is passed over, a broken object is refused.
    """
    answer = read_object(text)
    rows = answer.get("answers")
    if not isinstance(rows, list):
        raise UnreadableError("the JSON answer has no list 'answers'; expected one row per item")
    kept = [_plain_row(row) for row in rows if isinstance(row, dict)]
    if not kept:
        raise UnreadableError("the list 'answers' is empty; expected one row per item")
    return AnswerReading(value=kept, rationale=str(answer.get("rationale") or ""))


def read_object(text: str) -> Mapping[str, Any]:
    """Return the one JSON object of an answer, or raise; text around it is passed over."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        raise UnreadableError("no JSON object in the answer; expected one" if text.strip() else "the answer is empty")
    try:
        answer: Mapping[str, Any] = json.loads(text[start : end + 1])
    except (ValueError, RecursionError) as fault:
        raise UnreadableError(f"the answer is no valid JSON ({str(fault)[:80]}); expected one object") from None
    return answer


def _plain_row(row: Mapping[str, object]) -> dict[str, object]:
    """Return an item's label and numbers; None for what is no number between 0 and 100."""
    plain: dict[str, object] = {"item": str(row.get("item", "")).strip()}
    for name in _NUMBERS:
        value = row.get(name)
        if isinstance(value, str) and _NUMBER.fullmatch(value):  # "83%"
            value = float(value.strip(" %"))
        number = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 100
        plain[name] = float(str(value)) if number else None
    return plain | ({"remembered": True} if row.get("remembered") is True else {})


def match(rows: object, size: int) -> Matched:
    """Judge the rows of one answer against the ``size`` items asked for.

    An item answered twice with different numbers, or whose interval does not hold its estimate, counts as failed:
    which of the numbers was meant is not guessed.
    """
    places = {label_of(place): place for place in range(size)}
    judged: dict[int, ItemEstimate | str] = {}
    for row in rows if isinstance(rows, list) else []:
        place = places.get(str(row["item"]))
        if place is not None:
            verdict = judge_row(row)
            judged[place] = "answered twice, differently" if judged.get(place, verdict) != verdict else verdict
    estimates = {place: one for place, one in judged.items() if isinstance(one, ItemEstimate)}
    return Matched(estimates, {at: str(judged.get(at, "missing")) for at in range(size) if at not in estimates})


def judge_row(row: Mapping[str, object]) -> ItemEstimate | str:
    """Return the estimate of a row, or its fault."""
    values = [row[name] for name in _NUMBERS]
    if any(value is None for value in values):
        return "a number is missing or outside 0 to 100"
    rate, low, high = (float(str(value)) / 100 for value in values)
    if not low <= rate <= high:
        return "the interval does not hold the estimate"
    return ItemEstimate(rate, low, high, bool(row.get("remembered")))


@dataclass(frozen=True, eq=False)
class WholePool(AskingMethod):
    """One focal group's rates on all items in one prompt, ``chunk`` items at a time, asked ``repeats`` times.

    Items that an answer leaves out, answers twice or gives no sound interval for are asked again, in chunks half as
    large, in up to ``rounds`` rounds; what then is still without an answer has none. Without a ``correction``, the
    shipped one counts, which leaves out the pool at hand.
    """

    name: ClassVar[str] = "whole-pool"
    INTERVAL: ClassVar[str] = "the model's own intervals, set right by its errors elsewhere ({origin})"

    chunk: int = CHUNK
    rounds: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        for setting in ("chunk", "repeats", "rounds"):
            if getattr(self, setting) < 1:
                raise MensuraError(f"{setting} must be at least 1, got {getattr(self, setting)}")

    def usual_correction(self, task: Task) -> Correction:
        """Return the shipped correction."""
        return shipped_correction(task.pool)

    def ask(self, task: Task) -> Replies:
        """Ask about every item in chunks, again where an answer lacks it; means over repeats are those of logits."""
        estimates = np.full((3, self.repeats, task.size), np.nan)
        calls, failures = np.zeros(task.size, dtype=np.int64), list[str]()
        facts, share = item_facts(task), float(np.mean(task.share))
        for attempt in range(self.rounds):
            size = max(self.chunk >> attempt, 1)  # half as many items at each attempt
            chunks = [
                (repeat, places)
                for repeat in range(self.repeats)
                for places in deal(np.flatnonzero(np.isnan(estimates[0, repeat])).tolist(), size)
            ]
            questions = [
                ask_pool([facts[place] for place in places], share, repeat + attempt * self.repeats, self.template)
                for repeat, places in chunks
            ]
            answers = self.whom.ask(questions, read_estimates) if questions else []
            for (repeat, places), answer in zip(chunks, answers, strict=True):
                calls[places] += 1
                failures += _take(answer, places, estimates[:, repeat])
        rate, low, high = logit(np.clip(estimates, NEAREST, 1 - NEAREST))
        count = np.isfinite(rate).sum(axis=0)
        mean, half = (np.nansum(part, axis=0) / np.maximum(count, 1) for part in (rate, (high - low) / 2))
        table = pl.DataFrame({"item": task.names * self.repeats, "rate": estimates[0].ravel()}, nan_to_null=True)
        return Replies(np.where(count > 0, expit(mean), np.nan), half, calls, table, failures)


def _take(answer: Answer, places: Sequence[int], estimates: np.ndarray) -> list[str]:
    """Write the estimates of one answer (rate, low, high × items) and return why items have none."""
    if answer.value is None:
        return [answer.error or "no answer"] * len(places)
    matched = match(answer.value, len(places))
    for at, one in matched.estimates.items():
        estimates[:, places[at]] = one.rate, one.low, one.high
    return list(matched.faults.values())
