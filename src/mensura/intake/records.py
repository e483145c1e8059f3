"""Records of JSON documents, JSON lines and archives of evaluation logs."""

import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from mensura.core.errors import MensuraError
from mensura.intake.packed import read_bytes, read_member
from mensura.intake.text import decoded_text

MOST_BYTES = 2**28
"""Bytes that a file of records may unpack to."""
JSON_FILES = (".json", ".jsonl", ".ndjson")
_LISTS = (
    *("examples", "samples", "items", "questions", "data", "records", "rows", "results", "entries", "problems"),
    *("tasks", "instances", "test", "validation", "dev", "train", "dataset", "quiz"),
)
"""Names under which a JSON object keeps its records."""


@dataclass(frozen=True)
class SourceRecord:
    """One record: its cells by title, nested as the file nests them, and its place for messages."""

    place: str
    cells: Mapping[str, Any]


def simple_name(title: str) -> str:
    """Return a title in small letters, words joined by one underscore: ``correctAnswer`` is ``correct_answer``."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", "_", title.strip())
    return re.sub(r"[^a-z0-9]+", "_", words.casefold()).strip("_")


def read_json(path: Path, name: str | None = None) -> list[SourceRecord]:
    """Read a JSON document, a list of records, an object that keeps them, or one object per line."""
    name = name or path.name
    text = decoded_text(read_bytes(path, MOST_BYTES), str(path))[0]
    try:
        return _of_document(json.loads(text), name)
    except (ValueError, RecursionError) as fault:
        if "\n" not in text.strip():
            raise MensuraError(f"{path}: not readable as JSON ({fault}); expected one object per item") from fault
    lines = json_lines(text.split("\n"), path)
    return [SourceRecord(f"{name}, line {number}", record) for number, record in lines]


def json_lines(lines: Iterable[str], path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the objects of JSON lines, each with the number of its line; blank lines are passed over."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as fault:
                raise MensuraError(
                    f"{path}, line {number}: not JSON ({fault}); expected one object per line"
                ) from fault
            if not isinstance(record, Mapping):
                raise MensuraError(f"{path}, line {number}: {line.strip()[:40]!r} is no JSON object; expected {{…}}")
            yield number, record


def inside(value: object, *keys: str) -> Any:
    """Return what a document has under keys within keys; None where one of them leads nowhere."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def as_object(value: object, path: Path, place: str) -> Mapping[str, Any]:
    """Return a JSON object, or refuse what is none with its place."""
    if not isinstance(value, Mapping):
        raise MensuraError(f"{path}, {place}: {str(value)[:40]!r}; expected an object. Write the log again")
    return value


def as_objects(value: object, path: Path, place: str) -> list[Mapping[str, Any]]:
    """Return a list of objects, empty where there is none; anything else is refused with its place."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        raise MensuraError(f"{path}, {place}: {str(value)[:40]!r}; expected a list of objects. Write the log again")
    return value


def _of_document(document: Any, name: str) -> list[SourceRecord]:
    if isinstance(document, Mapping):
        document = _rows_of(document)
    if not isinstance(document, list) or not all(isinstance(one, Mapping) for one in document):
        raise MensuraError(f"{name}: no items; expected a list of JSON objects, one per item")
    return [SourceRecord(f"{name}, record {number}", one) for number, one in enumerate(document, start=1)]


def _rows_of(document: Mapping[str, Any]) -> list[Any]:
    """Return the records that an object keeps: in a list, by column, by their ids; else it is the only record."""
    for title in _LISTS:
        rows, columns = document.get(title), document.get("columns")
        if isinstance(rows, Mapping):
            return _rows_of(rows)
        if isinstance(rows, list) and any(isinstance(row, Mapping) for row in rows):
            return rows
        if isinstance(rows, list) and isinstance(columns, list):
            return [dict(zip(map(str, columns), row, strict=True)) for row in rows]
    values = list(document.values())
    if len(values) > 1 and all(isinstance(one, list) and len(one) == len(values[0]) for one in values):
        return [dict(zip(document, row, strict=True)) for row in zip(*values, strict=True)]
    alike = all(isinstance(one, Mapping) and set(one) & set(values[0]) for one in values)
    if not values or not alike:
        return [document]
    if all(str(number).isdigit() for column in values for number in column):
        return [{title: column.get(number) for title, column in document.items()} for number in values[0]]
    return [{"id": name, **one} for name, one in document.items()]


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} is there twice in one object")
    return document


def parse_json(path: Path, advice: str = "write the log again") -> Any:
    """Return what a JSON file contains."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_without_twins)
    except (ValueError, RecursionError) as fault:
        raise MensuraError(f"{path}: not readable as JSON ({fault}); {advice}") from fault


class InspectArchive(NamedTuple):
    """An open Inspect log: its header and its samples are members of a zip file."""

    archive: zipfile.ZipFile

    def read(self, name: str, most: int = MOST_BYTES) -> Any:
        """Return a member of at most so many bytes."""
        return json.loads(read_member(self.archive, name, most))

    @property
    def samples(self) -> list[str]:
        """The members that are samples."""
        names = self.archive.namelist()
        return [name for name in names if name.startswith("samples/") and name.endswith(".json")]


@contextmanager
def open_inspect(path: Path) -> Iterator[InspectArchive]:
    """Open an Inspect archive; what is none is refused."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield InspectArchive(archive)
    except MensuraError:
        raise
    except (zipfile.BadZipFile, KeyError, ValueError, RecursionError) as fault:
        raise MensuraError(f"{path}: not an Inspect log ({fault}); check that the evaluation was finished") from fault


def read_archive(path: Path) -> list[SourceRecord]:
    """Read the samples of an Inspect archive; several epochs of one sample are one record."""
    with open_inspect(path) as log:
        samples = {name: log.read(name) for name in log.samples}
    first = {str(sample.get("id")): (name, sample) for name, sample in reversed(samples.items())}
    return [SourceRecord(f"{path.name}, {name}", sample) for name, sample in reversed(first.values())]
