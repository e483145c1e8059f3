"""Taking levels from answers: never a crash, never a silent guess."""

from __future__ import annotations

import json
import re
from typing import Any

from mensura.demands.rubrics import HIGHEST
from mensura.llm import AnswerReading, UnreadableError

_CLOSING = re.compile(r"\blevel of \S+ that this item demands is\s*:?\s*\W*(\d+(?:\.\d+)?\+?)\W*$", re.IGNORECASE)
_OF_FIVE = re.compile(r"(\d)\s*(?:/|out of|of)\s*5\b", re.IGNORECASE)
_SCALE = re.compile(r"\(?\b(?:from\s+)?0\s*(?:-|–|to)\s*5\b\+?\)?", re.IGNORECASE)
_RANGE = re.compile(r"\d\s*(?:-|–|—|to|or)\s*\d", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:[.,]\d+)?")
_SECTION = re.compile(r"^\W*\d+[.)]\s+(?=\S)")


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
    found = closing[1] if closing else _last_number(last)
    return AnswerReading({"level": _whole(found.removesuffix("+"))}, rationale)


def read_object(text: str) -> AnswerReading:
    """Take the last JSON object that stands by itself in the text, fenced or bare; its ``why`` is the rationale."""
    found = None
    decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=lambda _: None)
    at = text.find("{")
    while at >= 0:
        try:
            found, end = decoder.raw_decode(text, at)
        except RecursionError as fault:
            raise UnreadableError("the answer is nested too deeply; expected one JSON object") from fault
        except ValueError:
            end = at + 1
        at = text.find("{", end)
    if not isinstance(found, dict):
        raise UnreadableError("no JSON object in the answer; expected one")
    why = found.get("why")
    return AnswerReading(found, why if isinstance(why, str) else "")


def level_of(value: Any) -> int:  # noqa: ANN401
    """Return a level that stands in an object, or say why it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise UnreadableError(f"{_shown(value)} is no level; expected 0 to {HIGHEST}")
    return _whole(str(value).strip().removesuffix("+"))


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object; a name given twice with different values is a contradiction and becomes no level."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        found[name] = {"twice": [found[name], value]} if name in found and found[name] != value else value
    return found


def _last_number(paragraph: str) -> str:
    told = _SCALE.sub(" ", _OF_FIVE.sub(r"\1", _SECTION.sub("", paragraph)))
    if _RANGE.search(told):
        raise UnreadableError("the last paragraph gives a range; expected one level")
    numbers = _NUMBER.findall(told)
    if not numbers:
        raise UnreadableError("no number in the last paragraph; expected a level")
    return str(numbers[-1])


def _whole(told: str) -> int:
    if not re.fullmatch(r"\d+(\.0+)?", told):
        raise UnreadableError(f"{_shown(told)} is no whole number; expected 0 to {HIGHEST}")
    if len(told) > 6 or (level := int(float(told))) > HIGHEST:
        raise UnreadableError(f"{_shown(told)} is outside the levels; expected 0 to {HIGHEST}")
    return level


def _shown(value: object) -> str:
    return repr(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))[:60]
