"""Options and keys as benchmarks write them: lists, labels, letters, numbers, texts."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from mensura.intake.records import simple_name

_NUMPY_LISTS = re.compile(r"['\"](\w+)['\"]:\s*(\[[^\]]*\])")
"""The lists of a mapping that NumPy wrote, by their names."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LABEL = re.compile(r"^\(?([A-Z]|\d{1,2})[).:]\s+(?=\S)")
_IN_TEXT = re.compile(r"^\s*\(?([A-Z])[).:]\s*(\S.*)$")
_HEADING = re.compile(r"\s*\b(?:answer )?(?:options|choices):?\s*$", re.IGNORECASE)
_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_YES = {"true": 1, "yes": 1, "false": 0, "no": 0}
_PAIRS = (("no", "yes"), ("false", "true"))
_LETTERED = re.compile(r"\(?[A-J]\)?(?:\s*(?:[,;&/+]|and)?\s*\(?[A-J]\)?)+")
"""Several letters as one key: ``A,C``, ``AC`` or ``(A) and (C)``."""


ResolvedKey = tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...]]
"""Options, keys in words, and the places of the right options."""


@dataclass(frozen=True)
class RawItem:
    """One row before its key is understood."""

    place: str
    cells: Mapping[str, Any]
    text: str
    options: tuple[str, ...]
    labels: tuple[str, ...]
    key: Any
    first_is_one: bool


def cell_words(cell: Any) -> str:  # noqa: ANN401
    """Return a cell as text: of a conversation the words of its user."""
    if cell is None:
        return ""
    if isinstance(cell, list):
        parts = [part for part in cell if not isinstance(part, Mapping) or part.get("role") in (None, "user")]
        texts = [
            cell_words(part.get("content", part.get("text"))) if isinstance(part, Mapping) else str(part)
            for part in parts
        ]
        return "\n".join(text for text in texts if text)
    return str(cell).strip()


def option_list(cell: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:  # noqa: ANN401
    """Return options and their labels from a list, from texts with labels, or from text that writes either."""
    if isinstance(cell, str):
        cell = _parsed(cell)
    if isinstance(cell, Mapping):
        texts = cell.get("text", cell.get("choices"))
        if texts is None and not _are_marks(cell):
            labelled = {str(label): cell_words(one) for label, one in cell.items() if one is not None}
            return tuple(labelled.values()), tuple(labelled)
        labels = cell.get("label", [])
        texts = list(cell) if texts is None else texts
        return tuple(cell_words(one) for one in texts), tuple(map(str, labels))
    if isinstance(cell, list | tuple):
        if cell and all(isinstance(one, Mapping) for one in cell):
            labels = tuple(str(one["label"]) for one in cell if "label" in one)
            return tuple(cell_words(one.get("text", one.get("content"))) for one in cell), labels
        return _unlabelled([cell_words(one) for one in cell])
    return (), ()


def _are_marks(cell: Mapping[Any, Any]) -> bool:
    """Tell whether a mapping marks options as right (1) and wrong (0), and has no text for each label."""
    numbers = all(isinstance(one, int | float) and 0 <= one <= 1 for one in cell.values())
    return numbers and not set(cell) <= set(LETTERS)


def _unlabelled(texts: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Take labels such as ``A)`` from the front of options, where all have one in order; drop empty ones at the end."""
    while texts and not texts[-1]:
        texts.pop()
    marks = [match[1] if (match := _LABEL.match(text)) else "" for text in texts]
    if len(texts) > 1 and (marks == list(LETTERS[: len(texts)]) or marks == [str(n + 1) for n in range(len(texts))]):
        return tuple(_LABEL.sub("", text) for text in texts), tuple(marks)
    return tuple(texts), ()


def _parsed(cell: str) -> Any:  # noqa: ANN401
    """Return what a cell of text writes: a JSON value, a Python literal, NumPy's form of a list, or parts."""
    text = cell.strip()
    if text.startswith(("[", "{", "array(")):
        with suppress(ValueError):
            return json.loads(text)
        plain = re.sub(r"\barray\(\s*|,\s*dtype=\w+\s*\)|(?<=\])\s*\)", "", text)
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            value = ast.literal_eval(plain)
            if isinstance(value, list) and all(isinstance(one, str) for one in value):
                strings = [ast.literal_eval(one) for one in _STRING.findall(plain)]
                return strings if len(strings) != len(value) else value  # NumPy leaves the commas out
            if not isinstance(value, Mapping) or plain == text:
                return value
            return {name: _parsed(part) for name, part in _NUMPY_LISTS.findall(plain)} or value
    mark = next((mark for mark in ("||", "\n", " | ", "|", ";") if mark in text), None)
    return [part.strip() for part in text.split(mark) if part.strip()] if mark else [text] if text else []


def _bare(key: str) -> str:
    return key.strip().strip("().:").strip()


def resolve_keys(raws: Sequence[RawItem], first: int | None) -> tuple[list[ResolvedKey], list[str]]:
    """Return options, keys in words and places of the right options of every item, and how numbers were counted."""
    keys = [_key_list(raw.key, raw.options) for raw in raws]
    bare = [(raw, key) for raw, key in zip(raws, keys, strict=True) if not raw.options]
    open_keys = {str(one).casefold() for _, key in bare for one in key}
    about_truth = len(bare) == len(raws) and all(key and _is_truth(key[0], raw) for raw, key in bare)
    pair = _PAIRS[0] if about_truth else next((pair for pair in _PAIRS if open_keys == set(pair)), ())
    chosen = [(raw, key) for raw, key in zip(raws, keys, strict=True) if raw.options]
    lettered = all(_bare(one).upper() in LETTERS[: len(raw.options)] for raw, key in chosen for one in map(str, key))
    numbers = [
        (int(number), len(raw.options)) for raw, key in chosen for one in key if (number := _number(one, raw, lettered))
    ]
    start = first
    if numbers and start is None:
        from_one = any(raw.first_is_one for raw in raws) or any(number == size for number, size in numbers)
        start = 1 if from_one and not any(number == 0 for number, _ in numbers) else 0
    notes = []
    if numbers:
        notes.append(
            f"keys are numbers of options, read as counted from {start}; "
            f"if that is wrong, say --map key=COLUMN:{1 - (start or 0)}"
        )
    resolved: list[ResolvedKey] = []
    for raw, key in zip(raws, keys, strict=True):
        if pair and key and not raw.options:
            right = int(_YES.get(str(key[0]).casefold(), key[0]))
            resolved.append((pair, (pair[right],), (right,)))
        elif raw.options:
            places = [_place(one, raw, lettered, start or 0) for one in key]
            words = tuple(
                str(one) if place is None else raw.options[place] for one, place in zip(key, places, strict=True)
            )
            resolved.append((raw.options, words, tuple(place for place in places if place is not None)))
        else:
            resolved.append(((), tuple(_open_answer(str(one)) for one in key), ()))
    return resolved, notes


def separate_keys(key: Any) -> Any:  # noqa: ANN401
    """Return the keys of a cell that writes several: between bars, or on lines of their own."""
    if not isinstance(key, str) or key.strip().startswith("["):
        return key
    parts = [part.strip() for part in key.split("\n" if "\n" in key.strip() else "|")]
    return [part for part in parts if part]


def _key_list(key: Any, options: Sequence[str]) -> list[Any]:  # noqa: ANN401
    if isinstance(key, str) and key.strip().startswith(("[", "{")):
        parsed = _parsed(key)
        key = parsed if isinstance(parsed, list | Mapping) else key
    if isinstance(key, Mapping):  # of an open question: one answer, and other spellings of it
        spellings = [key.get(name) for name in ("value", "text", "aliases")]
        key = list(dict.fromkeys(one for cell in spellings for one in (cell if isinstance(cell, list) else [cell])))
    if isinstance(key, str) and _LETTERED.fullmatch(key.strip()) and key.strip() not in options:
        letters = re.findall("[A-J]", key)
        if max(letters) in LETTERS[: len(options)] and len({*letters}) == len(letters):
            return letters
    if isinstance(key, list | tuple):
        return [one for one in key if one is not None and str(one).strip()]
    return [] if key is None or (isinstance(key, str) and not key.strip()) else [key]


def _is_truth(key: Any, raw: RawItem) -> bool:  # noqa: ANN401
    """Tell whether a key says yes or no: true and false, or the 0 and 1 of a question about a passage."""
    if isinstance(key, bool) or str(key).casefold() in ("true", "false"):
        return isinstance(key, bool) or "passage" in map(simple_name, raw.cells)
    return str(key) in ("0", "1") and "passage" in map(simple_name, raw.cells)


def _number(key: Any, raw: RawItem, lettered: bool) -> str:  # noqa: ANN401
    """Return a key's digits where it can only be the number of an option."""
    text = _bare(str(key))
    if not text.isdigit() or lettered or text in raw.labels:
        return ""
    return "" if isinstance(key, str) and text in raw.options else text


def _place(key: Any, raw: RawItem, lettered: bool, start: int) -> int | None:  # noqa: ANN401
    """Return the place of the option that a key names: by its label, letter, text or number."""
    text, bare = str(key).strip(), _bare(str(key))
    if isinstance(key, int) and raw.labels == () and 0 <= key - start < len(raw.options):
        return key - start
    for wanted in (text, bare):
        if wanted in raw.labels:
            return raw.labels.index(wanted)
    if lettered and len(bare) == 1:
        return LETTERS.index(bare.upper())
    folded = [option.casefold() for option in raw.options]
    if text.casefold() in folded:
        return folded.index(text.casefold())
    if len(bare) == 1 and bare.upper() in LETTERS[: len(raw.options)]:
        return LETTERS.index(bare.upper())
    if bare.isdigit() and 0 <= int(bare) - start < len(raw.options):
        return int(bare) - start
    return None


def _open_answer(key: str) -> str:
    """Return the answer to an open item; of a worked solution the part behind ``####``, without thousands' commas."""
    if "####" not in key:
        return key.strip()
    answer = key.rpartition("####")[2].strip()
    return answer.replace(",", "") if re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?", answer) else answer


def marked_option(targets: Any, key: Any) -> Any:  # noqa: ANN401
    """Return the option that is marked 1 in ``mc1_targets``."""
    if isinstance(targets, str):
        targets = _parsed(targets)
    if isinstance(targets, Mapping):
        marks, texts = list(targets.get("labels", targets.values())), list(targets.get("choices", targets))
        return texts[marks.index(1)] if 1 in marks else key
    return key


def options_in_text(text: str, key: str) -> tuple[str, tuple[str, ...]]:
    """Take options that stand as lettered lines at the end of a question, if the key is one of their letters."""
    lines = text.splitlines()
    start = next((row for row, line in enumerate(lines) if (match := _IN_TEXT.match(line)) and match[1] == "A"), None)
    if start is None:
        return text, ()
    matches = [_IN_TEXT.match(line) for line in lines[start:] if line.strip()]
    marks = [match[1] for match in matches if match]
    if len(marks) < len(matches) or marks != list(LETTERS[: len(marks)]) or _bare(key).upper() not in marks:
        return text, ()
    question = _HEADING.sub("", "\n".join(lines[:start])).rstrip()
    return question, tuple(match[2].strip() for match in matches if match)


def boxed_answer(solution: str) -> str:
    r"""Return the content of the last ``\boxed{…}``, braces inside it included; the whole text where there is none."""
    start = solution.rfind("\\boxed{")
    if start < 0:
        return solution
    depth, begin = 1, start + len("\\boxed{")
    for place in range(begin, len(solution)):
        depth += {"{": 1, "}": -1}.get(solution[place], 0)
        if not depth:
            return solution[begin:place]
    return solution
