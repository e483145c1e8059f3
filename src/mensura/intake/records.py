"""Records of JSON documents, JSON lines and archives of evaluation logs."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mensura.core.errors import MensuraError
from mensura.intake.packed import read_bytes, read_member
from mensura.intake.text import decoded_text

MOST_BYTES = 2**28
"""Bytes that a file of records may unpack to."""
JSON_FILES = (".json", ".jsonl", ".ndjson")
_LISTS = ("examples", "samples", "items", "questions", "data", "records", "rows")
"""Names under which a JSON object keeps its records."""


@dataclass(frozen=True)
class SourceRecord:
    """One record: its cells by title, nested as the file nests them, and its place for messages."""

    place: str
    cells: Mapping[str, Any]


def simple_name(title: str) -> str:
    """Return a title in small letters, words joined by one underscore: ``Correct Answer`` is ``correct_answer``."""
    return re.sub(r"[^a-z0-9]+", "_", title.strip().casefold()).strip("_")


def read_json(path: Path, name: str | None = None) -> list[SourceRecord]:
    """Read a JSON document, a list of records, an object that keeps them, or one object per line."""
    name = name or path.name
    text = decoded_text(read_bytes(path, MOST_BYTES), str(path))[0]
    try:
        return _of_document(json.loads(text), name)
    except (ValueError, RecursionError) as fault:
        if "\n" not in text.strip():
            raise MensuraError(f"{path}: not readable as JSON ({fault}); expected one object per item") from fault
    records = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as fault:
                raise MensuraError(
                    f"{path}, line {number}: not JSON ({fault}); expected one object per line"
                ) from fault
            if not isinstance(record, Mapping):
                raise MensuraError(f"{path}, line {number}: {line.strip()[:40]!r} is no JSON object; expected {{…}}")
            records.append(SourceRecord(f"{name}, line {number}", record))
    return records


def _of_document(document: Any, name: str) -> list[SourceRecord]:  # noqa: ANN401
    if isinstance(document, Mapping):
        inside = next((document[title] for title in _LISTS if isinstance(document.get(title), list)), None)
        if inside is None:
            return [SourceRecord(name, document)]
        document = inside
    if not isinstance(document, list) or not all(isinstance(one, Mapping) for one in document):
        raise MensuraError(f"{name}: no items; expected a list of JSON objects, one per item")
    return [SourceRecord(f"{name}, record {number}", one) for number, one in enumerate(document, start=1)]


def read_archive(path: Path) -> list[SourceRecord]:
    """Read the samples of an Inspect archive; several epochs of one sample are one record."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.startswith("samples/") and name.endswith(".json")]
            samples = {name: json.loads(read_member(archive, name, MOST_BYTES)) for name in names}
    except (zipfile.BadZipFile, KeyError, ValueError, RecursionError) as fault:
        raise MensuraError(f"{path}: not an Inspect log ({fault}); check that the evaluation was finished") from fault
    first = {str(sample.get("id")): (name, sample) for name, sample in reversed(samples.items())}
    return [SourceRecord(f"{path.name}, {name}", sample) for name, sample in reversed(first.values())]
