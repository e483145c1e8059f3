"""Score answers: one scorer for people and models.

An answer is a list of option places (in the table's order) or a text. The result is a share of full credit from 0 to
1, or None where only a grader can tell.
"""

from __future__ import annotations

import unicodedata
from typing import TypeAlias

from mensura.core.arrays import MARGIN
from mensura.exam.items import ExamItem
from mensura.exam.numbers import read_number

Given: TypeAlias = "list[int] | str"
_AROUND = " \t\n.,;:!?\"'`*_()[]{}«»„“”‘’"


def score(item: ExamItem, given: Given) -> float | None:
    """Return the share of full credit of an answer; None for a rubric, which a grader decides."""
    if item.scoring == "rubric":
        return None
    if item.scoring in ("choice", "several"):
        return _score_options(item, given if isinstance(given, list) else [])
    text = given if isinstance(given, str) else ""
    if item.scoring == "number":
        return float(_is_near(item, read_number(text)))
    return float(fold(text) in {fold(key) for key in item.key})


def _score_options(item: ExamItem, chosen: list[int]) -> float:
    """Return 1 for the right options alone. With several, each wrong one takes back what a right one gives."""
    right, picked = item.right_options(), set(chosen)
    if item.scoring == "choice":
        return float(picked == right)
    return max(0.0, (len(picked & right) - len(picked - right)) / len(right))


def _is_near(item: ExamItem, number: float | None) -> bool:
    right = read_number(item.key[0])
    if number is None or right is None:
        return False
    relative = item.tolerance.endswith("%")
    allowed = float(item.tolerance.removesuffix("%"))
    allowed = abs(right) * allowed / 100.0 if relative else allowed
    return abs(number - right) <= allowed + MARGIN * max(1.0, abs(right))


def fold(text: str) -> str:
    """Return a text without case, accents, outer punctuation and double spaces."""
    parts = unicodedata.normalize("NFKD", text.strip(_AROUND)).casefold()
    return " ".join("".join(char for char in parts if not unicodedata.combining(char)).split())


def is_blank(given: Given) -> bool:
    """Whether nothing was answered."""
    return not given or (isinstance(given, str) and not given.strip())
