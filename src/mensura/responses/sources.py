"""Where responses come from: evaluation logs, tables in either shape, and pools of people."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.core.addresses import address_of, is_address, parquet_files, read_parquet
from mensura.core.errors import MensuraError
from mensura.intake.matrices import WideCsv, read_matrix
from mensura.intake.samples import is_sample_log, read_samples
from mensura.intake.tables import as_frame, read_noted
from mensura.people import ItemPool
from mensura.people.pool import is_pool
from mensura.responses.counting import OUTCOMES, CountLog, WideTable

BATCH = 200_000
"""Outcomes that are in memory at a time while a log is read."""
TITLES = {
    "subject": ("subject", "model", "person", "student", "respondent", "name", "id"),
    "item": ("item", "question", "question_id", "doc_id", "instance_id", "sample_id", "task_id"),
    "value": ("correct", "right", "outcome", "score", "value", "rate", "acc"),
    "n": ("n", "trials", "attempts", "n_runs", "n_orders"),
    "group": ("group", "population"),
}
"""Names under which tables bring their columns, the first that is there."""
_TEXTS = TITLES["subject"] + TITLES["group"]
_BLOCK = 8_000_000
"""Values of a wide frame that are converted at a time."""
_MODELS, _ALL = "models", "all"
_UNNAMED = "If each row is one subject and each column one item, say: mensura responses read {} --set header=false"
_INSPECT_JSON = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d.*_.+_[0-9A-Za-z]{22}\.json$")
"""Inspect's names of logs that are one JSON file: time, task and a short unique id."""


Piece = pl.DataFrame | WideTable


def pieces(
    source: Any,  # noqa: ANN401
    *,
    subject: str | None = None,
    by: str | None = None,
    group: str | None = None,
    header: bool = True,
    log: CountLog | None = None,
) -> Iterator[Piece]:
    """Yield what a source holds: long tables (columns of ``OUTCOMES``) in batches, or one wide table.

    ``subject`` names whose samples a log holds that does not say so itself. ``by``: the column of a pool's persons
    (or of a table) that makes groups; subjects without it are left out. ``group``: the group of subjects for whom
    nothing else says it. ``header``: whether a CSV names its columns; without names each row is one subject. ``log``
    takes what was left out or chosen.
    """
    log = log or CountLog()
    if isinstance(source, ItemPool):
        yield _of_pool(source, by, log)
        return
    if isinstance(source, str | Path):
        path = Path(source)
        lake = [] if path.is_file() or is_pool(path) else _lake_files(source)
        if lake:
            yield from _of_lake(lake, by, group, log)
            return
        if path.is_dir():
            yield _of_folder(path, by, log)
            return
        if is_sample_log(path):
            yield from _of_log(path, subject, group)
            return
        unnamed = _UNNAMED.format(path)
        matrix = read_matrix(path, texts=[by or "", *_TEXTS], header=header, unnamed=unnamed)
        if matrix is not None and (wide := _of_matrix(matrix, by, group, header, log)) is not None:
            yield wide
            return
        read = read_noted(path, header=header, unnamed=unnamed)
        for note in read.notes:
            log.note("files", 1, note)
        frame = read.frame if header else _numbered(read.frame)
        yield from _of_table(frame, by, group, str(source), log)
        return
    yield from _of_table(as_frame(source, name="responses"), by, group, "responses", log)


def _lake_files(source: str | Path) -> list[Path | str]:
    """Return the Parquet files of a folder or address; an address may also be one file."""
    if is_address(source):
        whole = address_of(source)
        found: list[Path | str] = [whole] if whole.endswith(".parquet") else parquet_files(whole, "**/*.parquet")
        if not found:
            raise MensuraError(f"{whole}: no Parquet file; check the address")
        return found
    return parquet_files(source, "**/*.parquet") if Path(source).is_dir() else []


def _of_lake(files: list[Path | str], by: str | None, group: str | None, log: CountLog) -> Iterator[Piece]:
    """Yield Parquet files one after the other: they are parts of one long table, or one wide one."""
    for file in files:
        for piece in _of_table(read_parquet(file), by, group, str(file), log):
            if isinstance(piece, WideTable) and len(files) > 1:
                raise MensuraError(
                    f"{file}: no columns subject, item and correct; expected them in each file of a folder. Give wide "
                    "tables one by one"
                )
            yield piece


def owned(sources: Any, group: str | None, log: CountLog) -> list[tuple[Any, str | None]]:  # noqa: ANN401
    """Return every source on its own, people first, each with the group of subjects for whom nothing else says it.

    Folders of logs become their files, and a copy of a file is left out: the same run given twice is one run.
    """
    several = list(sources) if isinstance(sources, Sequence) and not isinstance(sources, str) else [sources]
    found: list[Any] = []
    seen: set[str] = set()
    for source in several:
        path = Path(source) if isinstance(source, str | Path) else None
        inside = _log_files(path) if path is not None and path.is_dir() and not is_pool(path) else []
        for one in inside or [source]:
            if isinstance(one, str | Path) and Path(one).is_file():
                digest = _fingerprint(Path(one))
                if digest in seen:
                    log.note("files with the same content as another", 1, "read once")
                    continue
                seen.add(digest)
            found.append(one)
    found.sort(key=lambda source: not is_pool(source))
    among_people = bool(found) and is_pool(found[0])
    return [(source, group or (_MODELS if among_people and not is_pool(source) else None)) for source in found]


def _fingerprint(path: Path) -> str:
    """Return a digest of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _log_files(folder: Path) -> list[Path]:
    """Return the evaluation logs under a folder, sorted; summaries beside them are not samples."""
    found = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [
        path
        for path in found
        if path.suffix == ".eval"
        or path.name == "per_instance_stats.json"
        or (path.suffix == ".jsonl" and path.name.startswith("samples_"))
        or _INSPECT_JSON.match(path.name)
    ]


def _numbered(frame: pl.DataFrame) -> pl.DataFrame:
    """Name the subjects of a table without names: its first column where that is text, else the number of the row."""
    first = frame.columns[0]
    if frame[first].dtype == pl.String:
        return frame.rename({first: "subject"})
    return frame.select(pl.int_range(1, pl.len() + 1).cast(pl.String).alias("subject"), pl.all())


def _of_matrix(matrix: WideCsv, by: str | None, group: str | None, header: bool, log: CountLog) -> WideTable | None:
    """Return the wide table in a matrix; None where a general reader has to find out more, or what is wrong."""
    columns = dict(matrix.texts)
    titles = {title.casefold(): title for title in columns}
    nobody: list[str | None] = [None] * len(matrix.values)
    if header:
        who = next((titles[title] for title in TITLES["subject"] if title in titles), "")
        grouped = by if by in columns else next((titles[title] for title in TITLES["group"] if title in titles), "")
        subjects, owners = columns.pop(who, None), columns.pop(grouped or "", nobody)
    else:
        numbers: list[str | None] = [str(row) for row in range(1, len(nobody) + 1)]
        subjects, owners = columns.pop("V1", numbers), nobody
    if subjects is None or columns:
        return None
    for note in matrix.notes:
        log.note("files", 1, note)
    kept = np.full(len(nobody), True)
    if by in matrix.texts:
        kept = np.array([owner is not None for owner in owners])
        log.group(str(by), int((~kept).sum()), "rows")
    names = pl.Series(subjects, dtype=pl.String).filter(pl.Series(kept))
    groups = [owner or group or _ALL for owner, stays in zip(owners, kept, strict=True) if stays]
    return WideTable(names, groups, matrix.titles, matrix.values if kept.all() else matrix.values[kept])


def _of_folder(folder: Path, by: str | None, log: CountLog) -> WideTable:
    if not is_pool(folder):
        raise MensuraError(
            f"{folder}: unknown folder; expected a pool of people (items.csv) or a folder of evaluation logs"
        )
    return _of_pool(ItemPool.read(folder), by, log)


def _of_log(path: Path, subject: str | None, group: str | None) -> Iterator[pl.DataFrame]:
    samples = read_samples(path, subject=subject)
    found = False
    while batch := list(islice(samples, BATCH)):
        found = True
        rows = [(sample.subject, group or _MODELS, sample.item, sample.value, 1) for sample in batch]
        yield pl.DataFrame(rows, schema=OUTCOMES, orient="row")
    if not found:
        raise MensuraError(f"{path}: no sample with an outcome; check that the evaluation was scored")


def _of_pool(pool: ItemPool, by: str | None, log: CountLog) -> WideTable:
    if pool.responses is None:
        raise MensuraError(
            f"pool {pool.name!r}: it has rates but no answers of persons; place subjects with rates instead"
        )
    if by is None:
        return _table(pool.responses, "person", [pool.name] * pool.responses.height)
    if pool.persons is None or by not in pool.persons.columns:
        known = ", ".join(pool.persons.columns) if pool.persons is not None else "none"
        raise MensuraError(f"by: pool {pool.name!r} has no column {by!r}; expected a column of persons: {known}")
    groups = pool.persons[by].cast(pl.String)
    log.group(by, groups.null_count(), "people")
    owners = [f"{pool.name}:{value}" for value in groups.drop_nulls()]
    if not owners:
        raise MensuraError(f"by: nobody in pool {pool.name!r} has a value of {by!r}; choose another column")
    return _table(pool.responses.filter(groups.is_not_null()), "person", owners)


def _of_table(frame: pl.DataFrame, by: str | None, group: str | None, name: str, log: CountLog) -> Iterator[Piece]:
    titles = {title.strip().casefold(): title for title in frame.columns}
    found = {what: next((titles[known] for known in names if known in titles), None) for what, names in TITLES.items()}
    if by is not None and by in frame.columns:
        found["group"] = by
        log.group(by, frame[by].null_count(), "rows")
        frame = frame.filter(pl.col(by).is_not_null())
    if found["subject"] is None:
        known = ", ".join(TITLES["subject"])
        raise MensuraError(
            f"{name}: no column says who answered; expected one of {known}, it has {_some(frame.columns)}"
        )
    who = found["subject"]
    if found["item"] is None or found["value"] is None:
        yield _wide(frame, who, found["group"], group, name)
        return
    _check_numbers(frame, found["value"], pl.Float64(), "outcomes are no numbers", "0 (wrong) to 1 (right) or blank")
    n = pl.lit(1) if found["n"] is None else pl.col(found["n"])
    if found["n"] is not None:
        _check_numbers(frame, found["n"], pl.Int64(), "counts are no whole numbers", "how often an item was tried")
    owner = (
        pl.lit(group or _ALL)
        if found["group"] is None
        else pl.col(found["group"]).cast(pl.String).fill_null(group or _ALL)
    )
    for start in range(0, max(frame.height, 1), BATCH):
        yield frame.slice(start, BATCH).select(
            pl.col(who).cast(pl.String).alias("subject"),
            owner.alias("group"),
            pl.col(found["item"]).cast(pl.String).alias("item"),
            pl.col(found["value"]).cast(pl.Float64).fill_nan(None).alias("value"),
            n.cast(pl.Int64).alias("n"),
        )


def _wide(frame: pl.DataFrame, who: str, grouped: str | None, group: str | None, name: str) -> WideTable:
    values = frame.drop([column for column in (grouped,) if column])
    words = [
        title
        for title, dtype in values.drop(who).schema.items()
        if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null) or values[title].null_count() == values.height)
    ]
    if words:
        raise MensuraError(
            f"{name}: column {words[0]!r} holds no outcomes; a wide table has {who!r} (and group) and one column of "
            "0, 1 or blank per item, a long one the columns subject, item, correct. If other columns describe people, "
            f"say which are items: mensura people import {name} --person {who} --items 'q*' --by {words[0]} --out pool"
        )
    if values.width < 2:
        raise MensuraError(f"{name}: no column of an item next to {who!r}; add one per item")
    owners = (
        frame[grouped].cast(pl.String).fill_null(group or _ALL).to_list() if grouped else [group or _ALL] * frame.height
    )
    return _table(values, who, owners)


def _table(frame: pl.DataFrame, who: str, groups: list[str]) -> WideTable:
    """Return a frame of outcomes as a wide table, some columns at a time."""
    items = [title for title in frame.columns if title != who]
    values = np.empty((frame.height, len(items)), dtype=np.float32)
    width = max(1, _BLOCK // max(1, frame.height))
    for start in range(0, len(items), width):
        values[:, start : start + width] = frame.select(items[start : start + width]).cast(pl.Float32).to_numpy()
    return WideTable(frame[who].cast(pl.String), groups, items, values)


def _check_numbers(frame: pl.DataFrame, title: str, kind: pl.DataType, what: str, expected: str) -> None:
    """Refuse words where numbers are expected, with one of them."""
    column = frame[title]
    wrong = column.filter(column.is_not_null() & column.cast(kind, strict=False).is_null())
    if wrong.len():
        raise MensuraError(f"{title}: {wrong.len()} {what}, such as {wrong[0]!r}; expected {expected}")


def _some(columns: list[str]) -> str:
    return ", ".join(columns[:8]) + (" …" if len(columns) > 8 else "")
