"""Reading the replies of models: the final answer, and what else a reply can be."""

from __future__ import annotations

import re

from mensura.exam.items import ExamItem
from mensura.exam.scoring import Given, fold
from mensura.intake.item_keys import LETTERS
from mensura.llm import AnswerReading, UnreadableError

MARK = "ANSWER:"
_FINAL = re.compile(r"^[\s*_#>`-]*answer[\s*_`]*:[\s*_`]*(.*)$", re.IGNORECASE | re.MULTILINE)
_REFUSAL = re.compile(
    r"^\W*(i['’]?m sorry|i am sorry|sorry,|i can(no|['’])t|i am unable|i['’]m unable|i won['’]t)", re.IGNORECASE
)
_LETTER = re.compile(r"\(?([A-Za-z])\)?[).:]?(?=\s|$)")
_BETWEEN = re.compile(r"\s*(?:[,;|/&]|\band\b)\s*", re.IGNORECASE)
_SHORT = 100
_AROUND = ' \t*_`"“”'


def read_reply(text: str) -> AnswerReading:
    """Take the final answer: after the last "ANSWER:", or a reply of one short line; the rest are the reasons."""
    if not text.strip():
        raise UnreadableError(f"empty; expected {MARK}")
    marked = [found for found in _FINAL.finditer(text) if found[1].strip(_AROUND)]
    if marked:
        return AnswerReading(marked[-1][1].strip(_AROUND), text[: marked[-1].start()].strip())
    line = text.strip()
    if _REFUSAL.match(line):
        raise UnreadableError(f"refused in words; expected {MARK}")
    if "\n" not in line and len(line) <= _SHORT:
        return AnswerReading(line.strip(_AROUND))
    raise UnreadableError(f"no answer; expected a line that begins with {MARK}")


def understand(item: ExamItem, order: list[int], text: str) -> Given | None:
    """Return an answer in the table's order of options; None where it names no option. ``order``: as shown."""
    if item.is_open:
        return text
    if item.scoring == "choice":
        place = _option(item, order, text)
        return None if place is None else [place]
    whole = _option(item, order, text)
    if whole is not None:
        return [whole]
    places = [_option(item, order, part) for part in _BETWEEN.split(text) if part.strip()]
    return sorted({place for place in places if place is not None}) if places and None not in places else None


def _option(item: ExamItem, order: list[int], text: str) -> int | None:
    folded = {fold(option): place for place, option in enumerate(item.options)}
    if fold(text) in folded:
        return folded[fold(text)]
    letter = _LETTER.match(text.strip())
    if letter is None:
        return None
    rest = text.strip()[letter.end() :]
    place = LETTERS.index(letter[1].upper())
    if place >= len(order) or (rest.strip() and fold(rest) != fold(item.options[order[place]])):
        return None
    return order[place]


def failure_of(error: str) -> str:
    """Return the outcome of a reply without an answer: refused, empty, cut, unreadable or failed."""
    if error.startswith(("refused", "filtered")) or "refused in words" in error:
        return "refused"
    if "cut off at max_tokens" in error:
        return "cut"
    if error.startswith("unreadable: empty"):
        return "empty"
    return "unreadable" if error.startswith("unreadable") else "failed"
