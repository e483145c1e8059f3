"""Options and keys as benchmarks write them: lists, labels, letters, numbers, texts."""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from mensura.intake.columns import NAMES
from mensura.intake.records import simple_name

_NUMPY_LISTS = re.compile(r"['\"](\w+)['\"]:\s*(\[[^\]]*\])")
"""The lists of a mapping that NumPy wrote, by their names."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LABEL = re.compile(r"^\(?([A-Za-z]|\d{1,2})(?:\s?\)\s*|[.:]\s+)(?=\S)")
_IN_TEXT = re.compile(r"(?:^|(?<=[\s,;]))\(?([A-Za-z]|\d{1,2})(?:\s?\)\s*|[.:]\s+)(?=\S)")
_OPTION_TEXTS, _OPTION_LABELS, _OPTION_MARKS = (NAMES["parts_of_options"][name] for name in ("text", "label", "mark"))
"""What the parts of an option are called where it is an object of its own."""
_BULLETS = re.compile(r"\n\s*(?:answer )?(?:options|choices):?\s*\n((?:\s*[-*•] *\S.*(?:\n|$))+)\s*$", re.IGNORECASE)
_HEADING = re.compile(r"\s*\b(?:answer )?(?:options|choices):?\s*$", re.IGNORECASE)
_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_YES = {"true": 1, "t": 1, "yes": 1, "y": 1, "false": 0, "f": 0, "no": 0, "n": 0}
_PAIRS = (("no", "yes"), ("false", "true"))
_LETTERED = re.compile(r"\(?[A-J]\)?(?:\s*(?:[,;&/+|]|and)?\s*\(?[A-J]\)?)+")
"""Several letters as one key: ``A,C``, ``AC`` or ``(A) and (C)``."""
_NUMBERED = re.compile(r"\d{1,2}(?:\s*[,;|]\s*\d{1,2})+")
_WHOLE = re.compile(r"(\d{1,2})\.0+")
"""A number of an option as tables with empty cells print it: 2.0."""


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


def cell_words(cell: Any) -> str:
    """Return a cell as text: of a conversation the words of its user."""
    if cell is None:
        return ""
    if isinstance(cell, list):
        return "\n".join(filter(None, (text for speaker, text in turns(cell) if speaker in (None, "user", "human"))))
    return str(cell).strip()


def turns(cell: Sequence[Any]) -> list[tuple[Any, str]]:
    """Return who speaks in each part of a conversation, and the words."""
    parts = [part if isinstance(part, Mapping) else {"text": part} for part in cell]
    return [(one.get("role", one.get("from")), cell_words(_part(one, ("content", "text", "value")))) for one in parts]


def _part(option: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first of these parts that an object has, whatever the spelling of its name."""
    simple = {simple_name(str(name)): cell for name, cell in option.items()}
    return next((simple[name] for name in names if name in simple), None)


def option_list(cell: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return options and their labels from a list, from texts with labels, or from text that writes either."""
    if isinstance(cell, str):
        cell = _parsed(cell)
    if isinstance(cell, Mapping):
        texts = _part(cell, _OPTION_TEXTS)
        if not isinstance(texts, list) and not _are_marks(cell):
            labelled = {str(label): cell_words(one) for label, one in cell.items() if one is not None}
            return tuple(labelled.values()), tuple(labelled)
        labels = _part(cell, _OPTION_LABELS) if isinstance(texts, list) else None
        return tuple(map(cell_words, texts if isinstance(texts, list) else cell)), tuple(map(str, labels or ()))
    if isinstance(cell, list | tuple):
        if cell and all(isinstance(one, Mapping) for one in cell):
            marks = [_part(one, _OPTION_LABELS) for one in cell]
            return _unlabelled([cell_words(_part(one, _OPTION_TEXTS)) for one in cell], marks)
        if cell and all(isinstance(one, list | tuple) and len(one) == 2 for one in cell):
            return _unlabelled([cell_words(text) for _, text in cell], [label for label, _ in cell])
        return _unlabelled([cell_words(one) for one in cell])
    return (), ()


def _are_marks(cell: Mapping[Any, Any]) -> bool:
    """Tell whether a mapping marks options as right (1) and wrong (0), and has no text for each label."""
    numbers = all(isinstance(one, int | float) and 0 <= one <= 1 for one in cell.values())
    return numbers and not set(cell) <= set(LETTERS)


def _unlabelled(texts: list[str], labels: Sequence[Any] = ()) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Take labels such as ``A)`` from the front of options, where all have one in order; drop empty ones at the end."""
    while texts and not texts[-1]:
        texts.pop()
    if len(texts) == 1 and (run := _labelled_run(texts[0])) and not run[0]:
        return run[2], run[1]
    marks = [match[1].upper() if (match := _LABEL.match(text)) else "" for text in texts]
    if len(texts) > 1 and (marks == list(LETTERS[: len(texts)]) or marks == [str(n + 1) for n in range(len(texts))]):
        return tuple(_LABEL.sub("", text) for text in texts), tuple(marks)
    return tuple(texts), tuple(map(str, labels)) if None not in labels else ()


def _labelled_run(text: str) -> tuple[str, tuple[str, ...], tuple[str, ...]] | None:
    """Return the words before the last run of options such as ``A) … B) …``, its labels and its options."""
    marks = list(_IN_TEXT.finditer(text))
    for first in reversed(range(len(marks))):
        begin = marks[first].start()
        if marks[first][1] not in ("A", "a", "1") or (marks[first][1] == "1" and not _starts_line(text, begin)):
            continue
        order = LETTERS if marks[first][1] == "A" else LETTERS.lower() if marks[first][1] == "a" else "123456789"
        run = [marks[first]]
        for mark in marks[first + 1 :]:
            follows = mark[1] == order[len(run) : len(run) + 1]
            run += [mark] if follows and (order[0] != "1" or _starts_line(text, mark.start())) else []
        if len(run) > 1:
            ends = [*(mark.start() for mark in run[1:]), len(text)]
            options = [text[mark.end() : end].partition("\n\n")[0] for mark, end in zip(run, ends, strict=True)]
            labels = tuple(mark[1].upper() for mark in run)
            return text[: run[0].start()], labels, tuple(option.strip(" \t\r\n,;") for option in options)
    return None


def _starts_line(text: str, place: int) -> bool:
    """Return whether only blanks stand before a place in its line; numbers within a line are seldom labels."""
    return not text[:place].rpartition("\n")[2].strip()


def _parsed(cell: str) -> Any:
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
    return key.strip().strip("()[]*.:").strip()


def resolve_keys(raws: Sequence[RawItem], first: int | None) -> tuple[list[ResolvedKey], list[str]]:
    """Return options, keys in words and places of the right options of every item, and how numbers were counted."""
    keys = [_key_list(raw.key, raw.options) for raw in raws]
    bare = [(raw, key) for raw, key in zip(raws, keys, strict=True) if not raw.options]
    open_keys = {str(one).casefold() for _, key in bare for one in key}
    about_truth = len(bare) == len(raws) and all(key and _is_truth(key[0], raw) for raw, key in bare)
    written = (pair for pair in _PAIRS if open_keys in (set(pair), {word[0] for word in pair}))
    pair = _PAIRS[0] if about_truth else next(written, ())
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


def separate_keys(key: Any) -> Any:
    """Return the keys of a cell that writes several: between bars, or on lines of their own."""
    if not isinstance(key, str) or key.strip().startswith("["):
        return key
    parts = [part.strip() for part in key.split("\n" if "\n" in key.strip() else "|")]
    return [part for part in parts if part]


def _key_list(key: Any, options: Sequence[str]) -> list[Any]:
    if isinstance(key, str) and key.strip().startswith(("[", "{")):
        parsed = _parsed(key)
        key = parsed if isinstance(parsed, list | Mapping) else key
    if isinstance(key, Mapping):  # of an open question: one answer, and other spellings of it
        spellings = [key.get(name) for name in ("value", "text", "aliases", "answer", "input_text", "number", "spans")]
        key = list(dict.fromkeys(one for cell in spellings for one in (cell if isinstance(cell, list) else [cell])))
    if options and (whole := _WHOLE.fullmatch(str(key))) and str(key) not in options:
        key = whole[1] if isinstance(key, str) else int(key)
    if isinstance(key, str) and options and key not in options and _NUMBERED.fullmatch(key.strip()):
        return re.findall(r"\d+", key)
    if isinstance(key, str) and _LETTERED.fullmatch(key.strip()) and key.strip() not in options:
        letters = re.findall("[A-J]", key)
        if max(letters) in LETTERS[: len(options)] and len({*letters}) == len(letters):
            return letters
    if isinstance(key, list | tuple):
        if len(key) == len(options) and set(key) <= {0, 1} and 1 in key:  # one mark for each option
            return [option for option, mark in zip(options, key, strict=True) if mark]
        answers = [_part(one, _OPTION_TEXTS) if isinstance(one, Mapping) else one for one in key]
        return [one for one in dict.fromkeys(answers) if one is not None and str(one).strip()]
    return [] if key is None or (isinstance(key, str) and not key.strip()) else [key]


def _is_truth(key: Any, raw: RawItem) -> bool:
    """Tell whether a key says yes or no: true and false, or the 0 and 1 of a question about a passage."""
    if isinstance(key, bool) or str(key).casefold() in ("true", "false"):
        return isinstance(key, bool) or "passage" in map(simple_name, raw.cells)
    return str(key) in ("0", "1") and "passage" in map(simple_name, raw.cells)


def _number(key: Any, raw: RawItem, lettered: bool) -> str:
    """Return a key's digits where it can only be the number of an option."""
    text = _bare(str(key))
    if not text.isdigit() or lettered or text in raw.labels:
        return ""
    return "" if isinstance(key, str) and text in raw.options else text


def _place(key: Any, raw: RawItem, lettered: bool, start: int) -> int | None:
    """Return the place of the option that a key names: by its label, letter, text or number."""
    text, bare = str(key).strip(), _bare(str(key))
    folded = [option.casefold().rstrip(". ") for option in raw.options]
    if isinstance(key, bool):
        words = ("true", "yes") if key else ("false", "no")
        return next((folded.index(word) for word in words if word in folded), None)
    if isinstance(key, int) and raw.labels == () and 0 <= key - start < len(raw.options):
        return key - start
    for wanted in (text, bare):
        if wanted in raw.labels:
            return raw.labels.index(wanted)
    if lettered and len(bare) == 1:
        return LETTERS.index(bare.upper())
    if text in raw.options:
        return raw.options.index(text)
    if text.casefold().rstrip(". ") in folded:
        return folded.index(text.casefold().rstrip(". "))
    label = _LABEL.match(text)
    if label and label[1].upper() in LETTERS[: len(folded)]:  # "B) Danube"
        place = LETTERS.index(label[1].upper())
        return place if _LABEL.sub("", text).casefold() == folded[place] else None
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


def marked_options(cell: Any) -> list[str]:
    """Return the options that are marked as right: by 1 in ``mc1_targets``, or ``"correct": true`` of an option."""
    if isinstance(cell, str):
        cell = _parsed(cell)
    if isinstance(cell, Mapping) and ("labels" in cell or _are_marks(cell)):
        marks, texts = list(cell.get("labels", cell.values())), list(cell.get("choices", cell))
    elif isinstance(cell, list) and cell and all(isinstance(one, Mapping) for one in cell):
        marks, texts = [_part(one, _OPTION_MARKS) for one in cell], [_part(one, _OPTION_TEXTS) for one in cell]
    else:
        return []
    return [cell_words(text) for text, mark in zip(texts, marks, strict=False) if mark == 1]


def options_in_text(text: str, key: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Take options that stand with labels at the end of a question, if the key is one of them or of their labels."""
    run, bullets = _labelled_run(text), _BULLETS.search(text)
    if bullets is not None:
        listed = tuple(line.strip().lstrip("-*•").strip() for line in bullets[1].strip().splitlines())
        run = text[: bullets.start()], (), listed
    if run is None:
        return text, (), ()
    question, labels, options = run
    names = {_bare(key).upper(), match[1].upper() if (match := _LABEL.match(key)) else ""}
    if not question.strip() or not (names & set(labels) or key.casefold() in map(str.casefold, options)):
        return text, (), ()
    return _HEADING.sub("", question).rstrip(), labels, options


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
