"""Ways to ask for the levels of many items: a call per cell, per item, or for a bundle of items.

All show the same rubrics and the same view of an item; they differ in packing, and so in cost. A *cell* is one item in
one dimension.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from string import Template
from typing import ClassVar, Protocol, TypeAlias

from mensura.core.errors import MensuraError
from mensura.demands.answers import level_of, read_level, read_object
from mensura.demands.dimensions import DATA, boundary_table
from mensura.demands.rubrics import LEVELS, Rubric
from mensura.demands.views import ItemView
from mensura.llm import AnswerReading, Question, UnreadableError

ITEMS_PER_CALL = 25
MOST_ITEMS_PER_CALL = 200
CellKey: TypeAlias = tuple[str, str]


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


class AnnotationProtocol(Protocol):
    """A way to pack cells into questions and to take levels from the answers."""

    @property
    def name(self) -> str:
        """As ``--protocol`` takes it."""
        ...

    def read(self, text: str) -> AnswerReading:
        """Take the value from an answer's text, or raise :class:`UnreadableError`."""
        ...

    def ask(self, views: Sequence[ItemView], rubrics: Mapping[str, Rubric], repeat: int) -> list[Packet]:
        """Return the questions of one repeat."""
        ...

    def cells(self, packet: Packet, value: object, rationale: str) -> AnswerCells:
        """Take the cells from an answer's value."""
        ...


@dataclass(frozen=True)
class CellProtocol:
    """One call per item and dimension, free reasoning, a closing sentence: as published."""

    name: ClassVar[str] = "cell"

    def read(self, text: str) -> AnswerReading:
        """Take the closing level."""
        return read_level(text)

    def ask(self, views: Sequence[ItemView], rubrics: Mapping[str, Rubric], repeat: int) -> list[Packet]:
        """Return items × dimensions questions."""
        return [_packet("cell", [view], {code: rubric}, repeat) for view in views for code, rubric in rubrics.items()]

    def cells(self, packet: Packet, value: object, rationale: str) -> AnswerCells:
        """Take the one level."""
        return _cells(packet, {0: {packet.dimensions[0]: _get(value, "level")}}, {0: rationale})


@dataclass(frozen=True)
class ItemProtocol:
    """One call per item for all dimensions, by a JSON schema."""

    name: ClassVar[str] = "item"

    def read(self, text: str) -> AnswerReading:
        """Take the JSON object."""
        return read_object(text)

    def ask(self, views: Sequence[ItemView], rubrics: Mapping[str, Rubric], repeat: int) -> list[Packet]:
        """Return one question per item."""
        return [_packet("item", [view], rubrics, repeat, _object_schema(rubrics)) for view in views]

    def cells(self, packet: Packet, value: object, rationale: str) -> AnswerCells:
        """Take the levels of the one item."""
        return _cells(packet, {0: _get(value, "levels")}, {0: rationale})


@dataclass(frozen=True)
class BundleProtocol:
    """Several items per call, all dimensions, by a JSON schema.

    Items are dealt to the calls by a digest of what is seen of them, differently in every repeat: neither the order of
    the table nor anything outside the view decides who stands beside whom.
    """

    items_per_call: int = ITEMS_PER_CALL
    name: ClassVar[str] = "bundle"

    def read(self, text: str) -> AnswerReading:
        """Take the JSON object."""
        return read_object(text)

    def __post_init__(self) -> None:
        if not 1 <= self.items_per_call <= MOST_ITEMS_PER_CALL:
            raise MensuraError(f"items_per_call: expected 1 to {MOST_ITEMS_PER_CALL}, got {self.items_per_call}")

    def ask(self, views: Sequence[ItemView], rubrics: Mapping[str, Rubric], repeat: int) -> list[Packet]:
        """Return one question per bundle; bundles differ in size by at most one."""
        dealt = sorted(views, key=lambda view: _digest(view, repeat))
        calls = -(-len(dealt) // self.items_per_call)
        bounds = [len(dealt) * call // calls for call in range(calls + 1)]
        groups = [dealt[start:end] for start, end in pairwise(bounds)]
        return [_packet("bundle", group, rubrics, repeat, _bundle_schema(rubrics)) for group in groups]

    def cells(self, packet: Packet, value: object, rationale: str) -> AnswerCells:
        """Take the levels of every item, by its number; an item given twice counts as contradicting itself."""
        listed = _get(value, "items")
        levels: dict[int, object] = {}
        why: dict[int, str] = {}
        for entry in listed if isinstance(listed, list) else []:
            place = _place(_get(entry, "item"), len(packet.items))
            if place is None:
                continue
            levels[place] = "given twice" if place in levels else _get(entry, "levels")
            told = _get(entry, "why")
            why[place] = told if isinstance(told, str) else rationale
        return _cells(packet, levels, why)


PROTOCOLS = ("bundle", "item", "cell")


def make_protocol(name: str, items_per_call: int = ITEMS_PER_CALL) -> AnnotationProtocol:
    """Return a protocol by its name."""
    if name == "bundle":
        return BundleProtocol(items_per_call)
    if name == "item":
        return ItemProtocol()
    if name == "cell":
        return CellProtocol()
    raise MensuraError(f"protocol: {name!r} is unknown; expected one of {', '.join(PROTOCOLS)}")


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


def _object_schema(codes: Iterable[str]) -> dict[str, object]:
    return _closed(_judgement(codes))


def _bundle_schema(codes: Iterable[str]) -> dict[str, object]:
    entry = _closed({"item": {"type": "integer"}, **_judgement(codes)})
    return _closed({"items": {"type": "array", "items": entry}})


def _judgement(codes: Iterable[str]) -> dict[str, object]:
    """Return the properties of one item's judgement: the reasons, then a level for each dimension."""
    level = {"type": "integer", "enum": list(LEVELS)}
    return {"why": {"type": "string"}, "levels": _closed(dict.fromkeys(codes, level))}


def _closed(properties: Mapping[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _digest(view: ItemView, repeat: int) -> str:
    return hashlib.sha256(f"{repeat}\n{view.as_text()}".encode()).hexdigest()


def _get(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else None


def _place(told: object, count: int) -> int | None:
    """Return the place of an item by the number it was shown with; None where there is no such item."""
    text = str(told).strip()
    return int(text) - 1 if text.isdecimal() and len(text) < 6 and 1 <= int(text) <= count else None


def _cells(packet: Packet, levels: Mapping[int, object], why: Mapping[int, str]) -> AnswerCells:
    """Sort what was given into levels and faults; every cell asked for ends in one of them."""
    found: dict[CellKey, int] = {}
    faults: dict[CellKey, str] = {}
    for place, item in enumerate(packet.items):
        given = levels.get(place)
        for code in packet.dimensions:
            if not isinstance(given, Mapping) or code not in given:
                faults[item, code] = "the item is given twice" if given == "given twice" else "not in the answer"
                continue
            try:
                found[item, code] = level_of(given[code])
            except UnreadableError as fault:
                faults[item, code] = str(fault)
    return AnswerCells(found, {packet.items[place]: text for place, text in why.items()}, faults)
