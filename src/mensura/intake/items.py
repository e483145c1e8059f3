"""Read test items in the layouts that benchmarks use: one question, its options, its key.

A file says where its questions, options and keys are by the names of its columns. Where these names are unknown, the
user maps fields to columns: ``text=question_stem,key=answerKey,options=choices.text``.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from mensura.core.errors import MensuraError, listed_names
from mensura.intake.records import SourceRecord, read_records, simple_name

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
FIELDS: dict[str, tuple[str, ...]] = {
    "item": (*("item", "id", "qid", "question_id", "sample_id", "doc_id", "item_id", "record_id", "unique_id"),),
    "text": (
        *("question.stem", "question_stem", "question", "text", "problem", "prompt", "input", "query", "stem"),
        *("goal", "sentence", "ctx"),
    ),
    "context": ("passage", "context"),
    "options": ("question.choices", "choices", "options", "alternatives", "endings", "mc1_targets"),
    "key": (
        *("answerkey", "answer_key", "key", "target", "gold", "ideal", "correct_answer", "right_answer", "best_answer"),
        *("correct_option", "answer", "label", "answer_index", "expected", "solution"),
    ),
    "domain": ("domain", "high_level_domain", "subject", "category", "topic"),
    "picture": ("needs_picture", "image", "picture", "image_path", "figure"),
}
"""Columns by meaning, in simple spelling; the first that a file has counts."""
_NUMBERED = re.compile(r"^(?:option|choice|opt|sol|ending|answer)?_?(?:([a-j])|(\d{1,2}))$")
_WRONG = re.compile(r"^(?:best_)?(?:incorrect|wrong)_(?:answer|option)s?(?:_?\d+)?$|^distractor_?\d+$")
_LABEL = re.compile(r"^\(?([A-Z]|\d{1,2})[).:]\s+(?=\S)")
_IN_TEXT = re.compile(r"^\s*\(?([A-Z])[).:]\s*(\S.*)$")
_HEADING = re.compile(r"\s*\b(?:answer )?(?:options|choices):?\s*$", re.IGNORECASE)
_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_YES = {"true": 1, "yes": 1, "false": 0, "no": 0}
_FEWEST = 5
"""Items from which it is worth a note that the right option always comes first."""


@dataclass(frozen=True)
class FieldMap:
    """Where a user says that fields are: a column (dotted for nested ones) per field, and where keys count from."""

    columns: Mapping[str, str]
    first: int | None = None

    @classmethod
    def parse(cls, text: str | None) -> FieldMap:
        """Read ``text=question_stem,key=answer:1``; the number behind a colon is that of the first option."""
        columns: dict[str, str] = {}
        first = None
        for part in (text or "").split(","):
            if not part.strip():
                continue
            field, _, column = part.partition("=")
            field, column = field.strip(), column.strip()
            if field == "key" and column.rpartition(":")[2] in ("0", "1") and ":" in column:
                column, _, number = column.rpartition(":")
                first = int(number)
            if field not in FIELDS or not column:
                raise MensuraError(
                    f"--map {part.strip()!r}: expected FIELD=COLUMN with a field of {', '.join(FIELDS)}, "
                    "such as text=question_stem,key=answerKey"
                )
            columns[field] = column
        return cls(columns, first)


@dataclass(frozen=True)
class TestItem:
    """One item as it was read.

    ``keys``: the right answers in words: texts of options, or the accepted answers of an open item. ``right``: places
    of the right options. ``rest``: what else its row holds. ``place``: where it stands, for messages.
    """

    place: str
    item: str
    text: str
    context: str
    options: tuple[str, ...]
    keys: tuple[str, ...]
    right: tuple[int, ...]
    domain: str
    rest: Mapping[str, Any]

    __test__ = False


@dataclass(frozen=True)
class ItemFile:
    """The items of one source, and the choices that the reader made."""

    name: str
    items: tuple[TestItem, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Raw:
    """One row before its key is understood."""

    place: str
    cells: Mapping[str, Any]
    text: str
    options: tuple[str, ...]
    labels: tuple[str, ...]
    key: Any
    first_is_one: bool


def read_items(source: Any, *, columns: str | None = None) -> ItemFile:  # noqa: ANN401
    """Read the items of a file, a folder of JSON files, or a table of any library.

    Parameters
    ----------
    source
        CSV, JSON, JSON lines, Parquet, Excel and others (:func:`mensura.intake.read_records`), evaluation logs too.
    columns
        Fields and their columns where names alone do not say it, such as ``text=question_stem,key=answer:1``.

    Returns
    -------
    ItemFile
        The items in the order of the file, and notes on how keys were read.

    Raises
    ------
    MensuraError
        If no column holds the questions, or a mapped column is missing.

    """
    said = FieldMap.parse(columns)
    name, records = read_records(source, known={path for paths in FIELDS.values() for path in paths})
    records = [replace_nested(record) for record in records]
    if not records:
        raise MensuraError(f"{name}: no items; expected one row or JSON object per item")
    titles = list(dict.fromkeys(title for record in records for title in record.cells))
    found = {field: _column_of(field, titles, said, name) for field in FIELDS}
    if found["text"] is None and found["item"] is None:
        raise MensuraError(
            f"{name}: no column holds the questions; it has {listed_names(titles)}. Say which: "
            "--map text=COLUMN,key=COLUMN,options=COLUMN"
        )
    raws = [_raw_item(record, found) for record in records]
    notes = _option_notes(raws)
    ids = _ids(records, found["item"], name)
    keys, key_notes = _resolve_keys(raws, said.first)
    items = tuple(
        TestItem(
            raw.place,
            number,
            raw.text,
            _words(_at(raw.cells, found["context"])),
            options,
            words,
            right,
            _words(_at(raw.cells, found["domain"])),
            {title: raw.cells.get(title) for title in titles if title not in found.values()},
        )
        for raw, number, (options, words, right) in zip(raws, ids, keys, strict=True)
    )
    return ItemFile(name, items, (*notes, *key_notes, *_order_notes(items)))


def replace_nested(record: SourceRecord) -> SourceRecord:
    """Lift ``question.stem`` and ``doc.question`` to columns of their own, the parts of a question among them."""
    cells = dict(record.cells)
    document = cells.pop("doc", None)
    if isinstance(document, Mapping):
        cells = {**document, **{title: cells[title] for title in ("doc_id", "target") if title in cells}}
    question = cells.get("question")
    if isinstance(question, Mapping):
        del cells["question"]
        cells |= {f"question.{title}": cell for title, cell in question.items()}
    return replace(record, cells=cells)


def _column_of(field: str, titles: Sequence[str], said: FieldMap, name: str) -> str | None:
    """Return the column of a field: as the user says, else the first known name."""
    wanted = said.columns.get(field)
    if wanted is not None:
        top = [title for title in titles if wanted == title or wanted.startswith(f"{title}.")]
        if not top:
            raise MensuraError(f"{name}: --map {field}={wanted}: no such column; it has {listed_names(list(titles))}")
        return wanted
    simple = {_simple_path(title): title for title in reversed(titles)}
    return next((simple[known] for known in FIELDS[field] if known in simple), None)


def _simple_path(title: str) -> str:
    return ".".join(simple_name(part) for part in title.split("."))


def _at(cells: Mapping[str, Any], path: str | None) -> Any:  # noqa: ANN401
    """Return the cell at a column, or at a dotted path inside one; a path through a list takes that part of each."""
    if path is None or path in cells:
        return cells.get(path or "")
    value: Any = cells
    for part in path.split("."):
        if isinstance(value, list):
            value = [one.get(part) if isinstance(one, Mapping) else None for one in value]
        else:
            value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _words(cell: Any) -> str:  # noqa: ANN401
    """Return a cell as text: of a conversation the words of its user."""
    if cell is None:
        return ""
    if isinstance(cell, list):
        parts = [part for part in cell if not isinstance(part, Mapping) or part.get("role") in (None, "user")]
        texts = [
            _words(part.get("content", part.get("text"))) if isinstance(part, Mapping) else str(part) for part in parts
        ]
        return "\n".join(text for text in texts if text)
    return str(cell).strip()


def _raw_item(record: SourceRecord, found: Mapping[str, str | None]) -> _Raw:
    cells = record.cells
    text, key = _words(_at(cells, found["text"])), _at(cells, found["key"])
    options, labels = _option_list(_at(cells, found["options"]))
    first_is_one = False
    if not options:
        options, key, first_is_one = _from_columns(cells, key)
    if found["options"] is not None and simple_name(found["options"]) == "mc1_targets":
        key = _marked(_at(cells, found["options"]), key)
    if not options and not isinstance(key, bool | int):
        text, options = _from_text(text, _words(key))
        labels = tuple(LETTERS[: len(options)])
    if not options and found["key"] is not None and simple_name(found["key"]) == "solution":
        key = _boxed(_words(key))
    return _Raw(record.place, cells, text, options, labels, key, first_is_one)


def _option_list(cell: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:  # noqa: ANN401
    """Return options and their labels from a list, from texts with labels, or from text that writes either."""
    if isinstance(cell, str):
        cell = _parsed(cell)
    if isinstance(cell, Mapping):
        texts = cell.get("text", cell.get("choices"))
        labels = cell.get("label", [])
        texts = list(cell) if texts is None else texts
        return tuple(_words(one) for one in texts), tuple(map(str, labels))
    if isinstance(cell, list | tuple):
        if cell and all(isinstance(one, Mapping) for one in cell):
            labels = tuple(str(one["label"]) for one in cell if "label" in one)
            return tuple(_words(one.get("text", one.get("content"))) for one in cell), labels
        return _unlabelled([_words(one) for one in cell])
    return (), ()


def _unlabelled(texts: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Take labels such as ``A)`` from the front of options, where all have one in order."""
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
            return {name: _parsed(part) for name, part in _mapping_parts(plain).items()} or value
    mark = next((mark for mark in ("||", "\n", " | ", "|", ";") if mark in text), None)
    return [part.strip() for part in text.split(mark) if part.strip()] if mark else [text] if text else []


def _mapping_parts(text: str) -> dict[str, str]:
    """Return the lists of a mapping that NumPy wrote, each as text, by their names."""
    return dict(re.findall(r"['\"](\w+)['\"]:\s*(\[[^\]]*\])", text))


def _from_columns(cells: Mapping[str, Any], key: Any) -> tuple[tuple[str, ...], Any, bool]:  # noqa: ANN401
    """Return options that have a column each, the key, and whether these columns count from 1.

    Columns A, B, C or option1, option2, …; or the right answer's column beside columns of wrong ones.
    """
    simple = {simple_name(title): title for title in cells}
    wrong = [title for name, title in simple.items() if _WRONG.match(name)]
    single = [title for title in wrong if not simple_name(title).endswith("s")]
    if wrong and _words(key):
        texts = [_words(cells[title]) for title in single]
        if not single:
            texts = [part.strip() for title in wrong for part in _words(cells[title]).split(";")]
        return (_words(key), *(text for text in texts if text)), key, False
    numbered = {match: title for name, title in simple.items() if (match := _NUMBERED.match(name))}
    if len(numbered) < 2:
        return (), key, False
    ordered = sorted(numbered, key=lambda match: (match[1] or "", int(match[2] or 0)))
    options = [_words(cells[numbered[match]]) for match in ordered]
    while options and not options[-1]:
        options.pop()
    return tuple(options), key, ordered[0][2] == "1"


def _marked(targets: Any, key: Any) -> Any:  # noqa: ANN401
    """Return the option that is marked 1 in ``mc1_targets``."""
    if isinstance(targets, str):
        targets = _parsed(targets)
    if isinstance(targets, Mapping):
        marks, texts = list(targets.get("labels", targets.values())), list(targets.get("choices", targets))
        return texts[marks.index(1)] if 1 in marks else key
    return key


def _from_text(text: str, key: str) -> tuple[str, tuple[str, ...]]:
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


def _boxed(solution: str) -> str:
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


def _ids(records: Sequence[SourceRecord], title: str | None, name: str) -> list[str]:
    if title is None:
        return [str(number) for number in range(1, len(records) + 1)]
    ids = [_words(_at(record.cells, title)) for record in records]
    repeated = [one for one, count in Counter(ids).items() if count > 1 or not one]
    if repeated:
        raise MensuraError(f"{name}: item ids occur twice or are empty ({listed_names(repeated)}); give each its own")
    return ids


def _option_notes(raws: Sequence[_Raw]) -> list[str]:
    sizes = sorted({len(raw.options) for raw in raws if raw.options})
    if len(sizes) < 2:
        return []
    counts = ", ".join(f"{sum(len(raw.options) == size for raw in raws)} with {size}" for size in sizes)
    return [f"items differ in their number of options: {counts}; check that none was split or joined"]


def _bare(key: str) -> str:
    return key.strip().strip("().:").strip()


def _resolve_keys(
    raws: Sequence[_Raw], first: int | None
) -> tuple[list[tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...]]], list[str]]:
    """Return options, keys in words and places of the right options of every item, and how numbers were counted."""
    keys = [_key_list(raw.key) for raw in raws]
    truth = [raw for raw, key in zip(raws, keys, strict=True) if not raw.options and key and _is_truth(key[0], raw)]
    yes_or_no = len(truth) == len(raws)
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
    resolved = []
    for raw, key in zip(raws, keys, strict=True):
        if yes_or_no:
            right = int(_YES.get(str(key[0]).casefold(), key[0]))
            resolved.append((("no", "yes"), (("no", "yes")[right],), (right,)))
        elif raw.options:
            places = [_place(one, raw, lettered, start or 0) for one in key]
            words = tuple(
                str(one) if place is None else raw.options[place] for one, place in zip(key, places, strict=True)
            )
            resolved.append((raw.options, words, tuple(place for place in places if place is not None)))
        else:
            resolved.append(((), tuple(_open_answer(str(one)) for one in key), ()))
    return resolved, notes


def _key_list(key: Any) -> list[Any]:  # noqa: ANN401
    if isinstance(key, str) and key.strip().startswith("["):
        parsed = _parsed(key)
        key = parsed if isinstance(parsed, list) else key
    if isinstance(key, list | tuple):
        return [one for one in key if one is not None and str(one).strip()]
    return [] if key is None or (isinstance(key, str) and not key.strip()) else [key]


def _is_truth(key: Any, raw: _Raw) -> bool:  # noqa: ANN401
    """Tell whether a key says yes or no: true and false, or the 0 and 1 of a question about a passage."""
    if isinstance(key, bool) or str(key).casefold() in ("true", "false"):
        return isinstance(key, bool) or "passage" in map(simple_name, raw.cells)
    return str(key) in ("0", "1") and "passage" in map(simple_name, raw.cells)


def _number(key: Any, raw: _Raw, lettered: bool) -> str:  # noqa: ANN401
    """Return a key's digits where it can only be the number of an option."""
    text = _bare(str(key))
    if not text.isdigit() or lettered or text in raw.labels:
        return ""
    return "" if isinstance(key, str) and text in raw.options else text


def _place(key: Any, raw: _Raw, lettered: bool, start: int) -> int | None:  # noqa: ANN401
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


def _order_notes(items: Iterable[TestItem]) -> list[str]:
    chosen = [item for item in items if len(item.options) > 1 and item.right]
    if len(chosen) >= _FEWEST and all(item.right == (0,) for item in chosen):
        return ["the right option comes first in every item: shuffle the options before anybody sees them"]
    return []
