"""Ways to ask for the levels of many items: a call per cell, per item, or for a bundle of items.

All show the same rubrics and the same view of an item; they differ in packing, and so in cost. A *cell* is one item in
one dimension. Levels are taken from answers without a crash and without a silent guess.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from string import Template
from typing import Any, TypeAlias

from mensura.core.errors import MensuraError, check_choice
from mensura.demands.rubrics import DATA, HIGHEST, LEVELS, Rubric, boundary_table
from mensura.demands.views import ItemView
from mensura.llm import AnswerReading, Question, UnreadableError

ITEMS_PER_CALL = 25
MOST_ITEMS_PER_CALL = 200
CellKey: TypeAlias = tuple[str, str]
_CLOSING = re.compile(r"\blevel of \S+ that this item demands is\s*:?\s*\W*(\d+(?:\.\d+)?\+?)\W*$", re.IGNORECASE)
_OF_FIVE = re.compile(r"(\d)\s*(?:/|out of|of)\s*5\b", re.IGNORECASE)
_SCALE = re.compile(r"\(?\b(?:from\s+)?0\s*(?:-|–|to)\s*5\b\+?\)?", re.IGNORECASE)
_RANGE = re.compile(r"\d\s*(?:-|–|—|to|or)\s*\d", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:[.,]\d+)?")
_SECTION = re.compile(r"^\W*\d+[.)]\s+(?=\S)")


@dataclass(frozen=True)
class Packet:
    """One question and what its answer must hold: the items, in the order the prompt numbers them, and dimensions."""

    question: Question
    items: tuple[str, ...]
    dimensions: tuple[str, ...]

    @property
    def cells(self) -> list[CellKey]:
        """Every cell the answer must hold."""
        return [(item, code) for item in self.items for code in self.dimensions]


@dataclass(frozen=True)
class AnswerCells:
    """What an answer gave: levels, reasons by item, and for each cell without a level the fault."""

    levels: Mapping[CellKey, int]
    why: Mapping[str, str]
    faults: Mapping[CellKey, str]


PROTOCOLS = ("bundle", "item", "cell")


@dataclass(frozen=True)
class AnnotationProtocol:
    """A way to pack cells into questions and to take levels from the answers.

    ``bundle``: several items per call, all dimensions, by a JSON schema. Items are dealt to the calls by a digest of
    what is seen of them, differently in every repeat: neither the order of the table nor anything outside the view
    decides who stands beside whom. ``item``: one call per item for all dimensions, by a JSON schema. ``cell``: one call
    per item and dimension, free reasoning, a closing sentence, as published.
    """

    name: str = "bundle"
    items_per_call: int = ITEMS_PER_CALL

    def __post_init__(self) -> None:
        check_choice("protocol", self.name, PROTOCOLS)
        if not 1 <= self.items_per_call <= MOST_ITEMS_PER_CALL:
            raise MensuraError(f"items_per_call: expected 1 to {MOST_ITEMS_PER_CALL}, got {self.items_per_call}")
        if self.name != "bundle" and self.items_per_call != ITEMS_PER_CALL:
            raise MensuraError(
                f"items_per_call: the protocol {self.name} does not use it; leave it out, or choose bundle"
            )

    def read(self, text: str) -> AnswerReading:
        """Take the value from an answer's text, or raise :class:`UnreadableError`."""
        return read_level(text) if self.name == "cell" else read_object(text)

    def ask(self, views: Sequence[ItemView], rubrics: Mapping[str, Rubric], repeat: int) -> list[Packet]:
        """Return the questions of one repeat; bundles differ in size by at most one."""
        if self.name == "cell":
            pairs = [(view, code) for view in views for code in rubrics]
            return [_packet("cell", [view], {code: rubrics[code]}, repeat) for view, code in pairs]
        judgement = _judgement(rubrics)
        if self.name == "item":
            return [_packet("item", [view], rubrics, repeat, closed_object(judgement)) for view in views]
        entry = closed_object({"item": {"type": "integer"}, **judgement})
        schema = closed_object({"items": {"type": "array", "items": entry}})
        dealt = sorted(views, key=lambda view: _digest(view, repeat))
        calls = -(-len(dealt) // self.items_per_call)
        bounds = [len(dealt) * call // calls for call in range(calls + 1)]
        return [_packet("bundle", dealt[start:end], rubrics, repeat, schema) for start, end in pairwise(bounds)]

    def cells(self, packet: Packet, value: object, rationale: str) -> AnswerCells:
        """Take the cells from an answer's value; an item given twice in a bundle counts as contradicting itself."""
        if self.name == "cell":
            return _cells(packet, {0: {packet.dimensions[0]: _get(value, "level")}}, {0: rationale})
        if self.name == "item":
            return _cells(packet, {0: _get(value, "levels")}, {0: rationale})
        listed = _get(value, "items")
        levels: dict[int, object] = {}
        why: dict[int, str] = {}
        for entry in listed if isinstance(listed, list) else []:
            place = _place(_get(entry, "item"), len(packet.items))
            if place is None:
                continue
            levels[place] = "given twice" if place in levels else _get(entry, "levels")
            reason = _get(entry, "why")
            why[place] = reason if isinstance(reason, str) else rationale
        return _cells(packet, levels, why)


def _packet(
    name: str,
    views: Sequence[ItemView],
    rubrics: Mapping[str, Rubric],
    repeat: int,
    schema: Mapping[str, object] | None = None,
) -> Packet:
    """Build one question from a template file; the items' names go into ``about`` only."""
    codes, items = tuple(rubrics), tuple(view.item for view in views)
    shown = [view.as_text() for view in views]
    if name == "bundle":
        shown = [f"--- Item {number} ---\n{text}" for number, text in enumerate(shown, 1)]
    prompt = _template(name).substitute(
        rubrics="\n\n".join(rubric.as_text() for rubric in rubrics.values()),
        boundaries=_boundaries(codes),
        items="\n\n".join(shown),
        codes=", ".join(codes),
        first=codes[0],
        count=str(len(views)),
        code=codes[0],
        name=rubrics[codes[0]].dimension.name,
    )
    about = {"task": "demands", "protocol": name}
    about |= {"items": json.dumps(items, ensure_ascii=False)} if name == "bundle" else {"item": items[0]}
    about |= {"dimension": codes[0]} if name == "cell" else {"dimensions": " ".join(codes)}
    return Packet(Question(prompt, _template("system").template.strip(), schema, repeat, about), items, codes)


@lru_cache(maxsize=8)
def _template(name: str) -> Template:
    return Template((DATA / "prompts" / f"{name}.txt").read_text(encoding="utf-8"))


@lru_cache(maxsize=64)
def _boundaries(codes: tuple[str, ...]) -> str:
    """Return the rules about where things belong that speak of one of the dimensions asked for."""
    rows = boundary_table().iter_rows()
    rules = [f"- {topic}: {rule}" for topic, about, rule in rows if set(about.split()) & set(codes)]
    return _template("boundaries").substitute(rules="\n".join(rules)) if rules else ""


def _judgement(codes: Iterable[str]) -> dict[str, object]:
    """Return the properties of one item's judgement: the reasons, then a level for each dimension."""
    level = {"type": "integer", "enum": list(LEVELS)}
    return {"why": {"type": "string"}, "levels": closed_object(dict.fromkeys(codes, level))}


def closed_object(properties: Mapping[str, object]) -> Mapping[str, object]:
    """Return the schema of an object that has these fields and no others."""
    required = {"required": list(properties), "additionalProperties": False}
    return {"type": "object", "properties": properties, **required}


def _digest(view: ItemView, repeat: int) -> str:
    return hashlib.sha256(f"{repeat}\n{view.as_text()}".encode()).hexdigest()


def _get(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else None


def _place(number: object, count: int) -> int | None:
    """Return the place of an item by the number it was shown with; None where there is no such item."""
    text = str(number).strip()
    return int(text) - 1 if text.isdecimal() and len(text) < 6 and 1 <= int(text) <= count else None


def _cells(packet: Packet, levels: Mapping[int, object], why: Mapping[int, str]) -> AnswerCells:
    """Sort what was given into levels and faults; every cell asked for ends in one of them."""
    read: dict[CellKey, int] = {}
    faults: dict[CellKey, str] = {}
    for place, item in enumerate(packet.items):
        given = levels.get(place)
        for code in packet.dimensions:
            if not isinstance(given, Mapping) or code not in given:
                faults[item, code] = "the item is given twice" if given == "given twice" else "not in the answer"
                continue
            try:
                read[item, code] = level_of(given[code])
            except UnreadableError as fault:
                faults[item, code] = str(fault)
    return AnswerCells(read, {packet.items[place]: text for place, text in why.items()}, faults)


# Taking levels from answers.


def read_level(text: str) -> AnswerReading:
    """Take the level from free reasoning: the closing sentence, else the last whole number of the last paragraph.

    This is the published rule, with its ways to go wrong closed: "3 out of 5" is 3, a section number is no level, and
    a range, a fraction or a number outside 0 to 5 is refused.
    """
    paragraphs = [part.strip() for part in re.split(r"\n\s*\n", text.strip()) if part.strip()]
    if not paragraphs:
        raise UnreadableError("empty answer; expected a level")
    last = paragraphs[-1]
    rationale = "\n\n".join(paragraphs[:-1]) or last
    closing = _CLOSING.search(last)
    number = closing[1] if closing else _last_number(last)
    return AnswerReading({"level": _whole(number.removesuffix("+"))}, rationale)


def read_object(text: str) -> AnswerReading:
    """Take the last JSON object that stands by itself in the text, fenced or bare; its ``why`` is the rationale."""
    record = None
    decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=lambda _: None)
    at = text.find("{")
    while at >= 0:
        try:
            record, end = decoder.raw_decode(text, at)
        except RecursionError as fault:
            raise UnreadableError("the answer is nested too deeply; expected one JSON object") from fault
        except ValueError:
            end = at + 1
        at = text.find("{", end)
    if not isinstance(record, dict):
        raise UnreadableError("no JSON object in the answer; expected one")
    why = record.get("why")
    return AnswerReading(record, why if isinstance(why, str) else "")


def level_of(value: Any) -> int:
    """Return a level that stands in an object, or say why it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise UnreadableError(f"{_shown(value)} is no level; expected 0 to {HIGHEST}")
    return _whole(str(value).strip().removesuffix("+"))


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object; a name given twice with different values is a contradiction and becomes no level."""
    record: dict[str, Any] = {}
    for name, value in pairs:
        record[name] = {"twice": [record[name], value]} if name in record and record[name] != value else value
    return record


def _last_number(paragraph: str) -> str:
    text = _SCALE.sub(" ", _OF_FIVE.sub(r"\1", _SECTION.sub("", paragraph)))
    if _RANGE.search(text):
        raise UnreadableError("the last paragraph gives a range; expected one level")
    numbers = _NUMBER.findall(text)
    if not numbers:
        raise UnreadableError("no number in the last paragraph; expected a level")
    return str(numbers[-1])


def _whole(text: str) -> int:
    if not re.fullmatch(r"\d+(\.0+)?", text):
        raise UnreadableError(f"{_shown(text)} is no whole number; expected 0 to {HIGHEST}")
    if len(text) > 6 or (level := int(float(text))) > HIGHEST:
        raise UnreadableError(f"{_shown(text)} is outside the levels; expected 0 to {HIGHEST}")
    return level


def _shown(value: object) -> str:
    return repr(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))[:60]
