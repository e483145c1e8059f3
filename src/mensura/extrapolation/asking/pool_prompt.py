"""Many items of one focal group in one prompt, and the answers taken apart item by item."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mensura.extrapolation.asking.wording import fenced, fill, read_template
from mensura.llm import AnswerReading, Question, UnreadableError

if TYPE_CHECKING:
    from pathlib import Path

    from mensura.extrapolation.asking.item_facts import ItemFacts

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
