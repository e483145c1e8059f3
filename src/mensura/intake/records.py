"""Records of any file: rows of a table, JSON objects, lines, samples of evaluation logs."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mensura.core.errors import MensuraError
from mensura.intake.packed import read_bytes, read_member, suffix_of
from mensura.intake.tables import as_frame, read_noted
from mensura.intake.text import decoded_text, plain_cell, refuse_twice

MOST_BYTES = 2**28
"""Bytes that a file of records may unpack to."""
_LISTS = ("examples", "samples", "items", "questions", "data", "records", "rows")
"""Names under which a JSON object keeps its records."""
_ROW = "\0row"


@dataclass(frozen=True)
class SourceRecord:
    """One record: its cells by title, nested as the file nests them, and its place for messages."""

    place: str
    cells: Mapping[str, Any]


def simple_name(title: str) -> str:
    """Return a title in small letters, words joined by one underscore: ``Correct Answer`` is ``correct_answer``."""
    return re.sub(r"[^a-z0-9]+", "_", title.strip().casefold()).strip("_")


def read_records(source: Any, *, known: Iterable[str] = ()) -> tuple[str, list[SourceRecord]]:  # noqa: ANN401
    """Return the name of a source and its records.

    Parameters
    ----------
    source
        A file (any table that :func:`mensura.intake.read_table` reads, JSON, JSON lines, an Inspect log), a folder of
        JSON files with one record each, or a table of any library.
    known
        Titles in simple spelling. A CSV whose first row has none of them, and whose columns all but the last are no
        titles, has no header: its columns are V1, V2, ….

    """
    if not isinstance(source, str | Path):
        frame = as_frame(source, name="items")
        return "items", [
            SourceRecord(f"row {row}", cells) for row, cells in enumerate(frame.iter_rows(named=True), start=1)
        ]
    path = Path(source)
    if path.is_dir():
        files = sorted(path.rglob("*.json"))
        if not files:
            raise MensuraError(f"{path}: no JSON file in this folder; give a file, or a folder with one per item")
        return path.name, [record for file in files for record in _from_json(file, str(file.relative_to(path)))]
    if not path.is_file():
        raise MensuraError(f"{path}: no such file; check the name and the folder")
    suffix = suffix_of(path)
    if suffix in (".json", ".jsonl", ".ndjson"):
        records = _from_json(path, path.name)
    elif suffix == ".eval":
        records = _from_archive(path)
    else:
        records = _from_table(path, set(known))
    return path.name, _with_labels(records, path)


def _from_json(path: Path, name: str) -> list[SourceRecord]:
    """Read a JSON document, a list of records, an object that keeps them, or one object per line."""
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
        raise ValueError("no list of objects")
    return [SourceRecord(f"{name}, record {number}", one) for number, one in enumerate(document, start=1)]


def _from_archive(path: Path) -> list[SourceRecord]:
    """Read the samples of an Inspect archive; several epochs of one sample are one record."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.startswith("samples/") and name.endswith(".json")]
            samples = {name: json.loads(read_member(archive, name, MOST_BYTES)) for name in names}
    except (zipfile.BadZipFile, KeyError, ValueError, RecursionError) as fault:
        raise MensuraError(f"{path}: not an Inspect log ({fault}); check that the evaluation was finished") from fault
    first = {str(sample.get("id")): (name, sample) for name, sample in reversed(samples.items())}
    return [SourceRecord(f"{path.name}, {name}", sample) for name, sample in reversed(first.values())]


def _from_table(path: Path, known: set[str]) -> list[SourceRecord]:
    """Read a table; a CSV may lack the row of titles, as that of MMLU does."""
    if suffix_of(path) not in (".csv", ".tsv", ".txt"):
        frame = read_noted(path, infer=False).frame
        return [
            SourceRecord(f"{path.name}, row {row}", cells)
            for row, cells in enumerate(frame.iter_rows(named=True), start=2)
        ]
    frame = read_noted(path, infer=False, header=False, row=_ROW).frame
    rows, cells = frame[_ROW].to_list(), frame.drop(_ROW).rows()
    first = ["" if cell is None else str(cell).strip() for cell in cells[0]]
    titles, start = ["question", *"ABCDEFGHIJ"[: len(first) - 2], "answer"], 0
    if not known or known & set(map(simple_name, first)) or not _ends_in_letters(cells):
        refuse_twice(first, str(path))
        titles, start = [title or f"column {place}" for place, title in enumerate(first, start=1)], 1
    return [
        SourceRecord(
            f"{path.name}, row {row}", {title: plain_cell(cell) for title, cell in zip(titles, values, strict=True)}
        )
        for row, values in zip(rows[start:], cells[start:], strict=True)
    ]


def _ends_in_letters(rows: list[tuple[Any, ...]]) -> bool:
    """Tell whether every row ends in the letter of one of the cells before it."""
    width = len(rows[0]) - 2
    return width > 1 and all(row[-1] in tuple("ABCDEFGHIJ"[:width]) for row in rows)


def _with_labels(records: list[SourceRecord], path: Path) -> list[SourceRecord]:
    """Add the keys that a file beside it lists line by line: ``valid-labels.lst`` for ``valid.jsonl``."""
    beside = path.with_name(f"{path.name.partition('.')[0]}-labels.lst")
    if not beside.is_file() or any("label" in record.cells or "answer" in record.cells for record in records):
        return records
    labels = [line.strip() for line in beside.read_text(encoding="utf-8").splitlines() if line.strip()]
    if len(labels) != len(records):
        raise MensuraError(f"{beside}: {len(labels)} labels for {len(records)} items of {path.name}; expected one each")
    return [
        SourceRecord(record.place, {**record.cells, "label": int(label) if label.isdigit() else label})
        for record, label in zip(records, labels, strict=True)
    ]
