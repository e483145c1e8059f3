"""Which column is what: header variants people use, tidy tables and both kinds of wide ones."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from mensura.core.errors import MensuraError
from mensura.intake.columns import NAMES
from mensura.intake.figures import read_figure
from mensura.intake.names import KnownNames
from mensura.intake.packed import suffix_of
from mensura.intake.score_logs import LOG_SUFFIXES, LogRows, read_log
from mensura.intake.shared_records import OtherKindError
from mensura.intake.tables import as_frame, read_noted
from mensura.intake.text import plain_cell

OPTIONAL: dict[str, dict[str, Any]] = NAMES["optional"]
"""Optional columns: the names of headers they go by, and what each is about."""
_IGNORED = {"rank", "index", "row", "id", "ci", "unnamed 0"}


@dataclass(frozen=True)
class Shape:
    """How a table holds its scores.

    ``columns``: place of each column that is known by its header. ``across``: places of the columns that stand for
    benchmarks (``wide``) or models (``turned``); empty in a tidy table. ``percent``: columns whose header says so.
    """

    kind: str
    columns: Mapping[str, int]
    across: tuple[int, ...]
    percent: frozenset[int]
    left_out: tuple[str, ...]


def find_shape(header: Sequence[str], models: KnownNames, benchmarks: KnownNames, *, name: str) -> Shape:
    """Say how a table holds its scores, or what is missing."""
    columns, rest = _known_columns(header, name)
    percent = frozenset(place for place, title in enumerate(header) if _says_percent(title))
    ignored = tuple(header[place] for place in rest if _simple(header[place]) in _IGNORED or not header[place])
    across = tuple(place for place in rest if header[place] not in ignored)
    if {"subject", "benchmark", "score"} <= set(columns):
        if across:
            _refuse_unknown([header[place] for place in across], name)
        return Shape("tidy", columns, (), percent, ignored)
    if "score" not in columns and across:
        if "subject" in columns and "benchmark" not in columns:
            return Shape("wide", columns, across, percent, ignored)
        if "benchmark" in columns and "subject" not in columns:
            return Shape("turned", columns, across, percent, ignored)
    if not columns and len(header) > 1:
        first = _first_column(header, models, benchmarks)
        if first is not None:
            return first
    raise MensuraError(
        f"{name}: expected columns model, benchmark, score (one row per score), or model and one column per benchmark; "
        f"it has {', '.join(header) or 'none'}. Rename its columns"
    )


def _first_column(header: Sequence[str], models: KnownNames, benchmarks: KnownNames) -> Shape | None:
    """Read a wide table whose first column has no telling header, by what the other headers name."""
    places = tuple(range(1, len(header)))
    percent = frozenset(place for place, title in enumerate(header) if _says_percent(title))
    for kind, column, names in (("wide", "subject", benchmarks), ("turned", "benchmark", models)):
        if sum(names.match(bare_title(header[place])).id is not None for place in places) > len(places) / 2:
            return Shape(kind, {column: 0}, places, percent, ())
    return None


@cache
def _targets() -> dict[str, str]:
    variants = NAMES["scores"] | {target: [target, *column["names"]] for target, column in OPTIONAL.items()}
    return {_simple(variant): target for target, names in variants.items() for variant in names}


def _known_columns(header: Sequence[str], name: str) -> tuple[dict[str, int], list[int]]:
    targets = _targets()
    columns: dict[str, int] = {}
    rest = []
    for place, title in enumerate(header):
        target = targets.get(_simple(bare_title(title)))
        if target is None:
            rest.append(place)
        elif target in columns:
            twins = f"{header[columns[target]]!r} and {title!r}"
            raise MensuraError(f"{name}: columns {twins} both look like the {target}; rename or drop one")
        else:
            columns[target] = place
    return columns, rest


def rename_columns(header: Sequence[str], name: str) -> list[str]:
    """Return the header with known columns under the names they have in the evidence, the others as they are."""
    columns, _ = _known_columns(header, name)
    targets = {place: target for target, place in columns.items()}
    return [targets.get(place, title) for place, title in enumerate(header)]


def header_row(rows: Sequence[Sequence[str | None]]) -> int | None:
    """Return the place of the first row that reads like a header: a title above the table hides it."""
    names = {*NAMES["scores"]["subject"], *NAMES["scores"]["benchmark"]}
    for place, row in enumerate(rows):
        titles = [_simple(bare_title(cell)) for cell in row if cell is not None]
        if len(titles) > 1 and names & set(titles):
            return place
    return None


def _refuse_unknown(titles: Sequence[str], name: str) -> None:
    optional = ", ".join(OPTIONAL)
    raise MensuraError(
        f"{name}: unknown column {', '.join(map(repr, titles))}; rename or remove it (optional columns: {optional})"
    )


@lru_cache(4096)
def bare_title(title: str) -> str:
    """Return a header without what it says of units: ``Accuracy (%)`` is Accuracy."""
    return re.sub(r"[\s_]*[(\[]?\s*(?:%|percent|pct)\s*[)\]]?\s*$", "", title, flags=re.IGNORECASE).strip() or title


@lru_cache(4096)
def _says_percent(title: str) -> bool:
    return bool(re.search(r"%|\bpercent\b|_percent$|\bpct\b", title, re.IGNORECASE))


@lru_cache(4096)
def _simple(title: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", title.casefold()))


# Tables as their users wrote them: any encoding and separator, frames of any library, evaluation logs.

MOST_BYTES = 64 * 2**20
"""A table of scores larger than this is something else; nothing is read of it."""
LONGEST_CELL = 10_000
_ROW = "\0row of the file"


@dataclass(frozen=True)
class CellTable:
    """A table as text: None where a cell is blank; ``numbers`` are the rows as the user's own file counts them."""

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    numbers: tuple[int, ...]
    notes: tuple[str, ...] = ()


def read_cells(source: Any, *, name: str = "scores", metric: str | None = None) -> CellTable:
    """Read a file (CSV with any usual separator and encoding, Parquet, JSON and logs) or a frame of any library."""
    if not isinstance(source, str | Path):
        return _from_frame(source, name)
    path = Path(source)
    if not path.is_file():
        raise MensuraError(f"{path}: no such file; expected a table of scores or an evaluation log")
    size, suffix = path.stat().st_size, suffix_of(path)
    if size > MOST_BYTES:
        raise MensuraError(f"{path}: {size / 2**20:.0f} MB is no table of scores (at most {MOST_BYTES // 2**20} MB)")
    if suffix in LOG_SUFFIXES:
        return _from_log(read_log(path, metric), str(path))
    read = read_noted(path, infer=False, row=_ROW, most=MOST_BYTES)
    refuse_others(read.frame.columns, path)
    return _from_frame(read.frame, str(path), read.notes)


def refuse_others(titles: Sequence[str], path: Path) -> None:
    """Refuse a table of another kind with the command for it."""
    for other in NAMES["others"].values():
        if any(set(columns) <= set(titles) for columns in other["columns"]):
            command = other["command"].format(path)
            raise OtherKindError(f"{path}: {other['what']}, not what this command reads; use mensura {command}")


def _from_frame(source: Any, name: str, notes: tuple[str, ...] = ()) -> CellTable:
    frame = as_frame(source, name=name)
    numbers = tuple(frame[_ROW]) if _ROW in frame.columns else tuple(range(1, frame.height + 1))
    frame = frame.drop(_ROW, strict=False)
    rows = tuple(tuple(plain_cell(value) for value in row) for row in frame.iter_rows())
    return _checked(CellTable(name, tuple(frame.columns), rows, numbers, notes))


def _from_log(log: LogRows, name: str) -> CellTable:
    rows = tuple(tuple(plain_cell(value) for value in row) for row in log.rows)
    return CellTable(name, log.header, rows, tuple(range(1, len(rows) + 1)), log.notes)


def _checked(cells: CellTable) -> CellTable:
    """Refuse a table that holds no rows, or cells and rows of a length that no score has."""
    if not cells.rows:
        raise MensuraError(f"{cells.name}: no rows; expected a header and one row per score (or one row per model)")
    for number, row in zip(cells.numbers, cells.rows, strict=True):
        _refuse_long(cells.name, number, row)
    return cells


def _refuse_long(name: str, number: int, row: Sequence[str | None]) -> None:
    longest = max((len(cell) for cell in row if cell), default=0)
    if longest > LONGEST_CELL:
        raise MensuraError(
            f"{name}, row {number}: a cell of {longest:,} characters; expected a table of scores. Remove the long text"
        )
    whole = sum(len(cell or "") for cell in row) + len(row) - 1
    if whole > LONGEST_CELL * 10:
        raise MensuraError(
            f"{name}, row {number}: a line of {whole:,} characters; expected a table of scores. Remove the long text"
        )


# Scores as a table writes them: one entry per score, without remarks, repetitions and people.

_TITLE_ROWS = 10
"""Rows in which a header is looked for below a title."""


class WrittenScore(NamedTuple):
    """One score as it was written: its row, both names, the cell, what else the row says, percent in its header."""

    row: int
    subject: str
    benchmark: str
    cell: str
    extras: Mapping[str, str]
    percent: bool


def shape_of(cells: CellTable, names: Mapping[str, KnownNames]) -> Shape:
    """Say how a table holds its scores; where its header stands lower, say in which row."""
    try:
        return find_shape(cells.header, names["model"], names["benchmark"], name=cells.name)
    except MensuraError as fault:
        place = header_row(cells.rows[:_TITLE_ROWS])
        if place is None:
            raise
        where = f"{cells.name}, row {cells.numbers[place]}"
        raise MensuraError(f"{where}: looks like the header; expected it in row 1. Delete the rows above it") from fault


def unfold_entries(cells: CellTable, shape: Shape) -> tuple[list[WrittenScore], list[tuple[int, str, str]]]:
    """Unfold a table into one entry per score; cells without one are listed."""
    entries, dropped = [], []
    for number, row in zip(cells.numbers, cells.rows, strict=True):
        given = {column: cell for column, place in shape.columns.items() if (cell := row[place]) is not None}
        extras = {column: cell for column, cell in given.items() if column in OPTIONAL}
        for subject, benchmark, cell, percent in _scores_of(row, given, cells.header, shape):
            if subject is None or benchmark is None or cell is None:
                missing = [n for n, v in (("model", subject), ("benchmark", benchmark), ("score", cell)) if v is None]
                dropped.append((number, benchmark or subject or "", f"no {' and no '.join(missing)}"))
            else:
                entries.append(WrittenScore(number, subject, benchmark, cell, extras, percent))
    return entries, dropped


def without_words(cells: CellTable, shape: Shape, names: KnownNames) -> Shape:
    """Leave out columns of remarks: cells without any figure below a title that is no known name."""
    remarks = [place for place in shape.across if _holds_remarks(cells, place, names)]
    return replace(
        shape,
        across=tuple(place for place in shape.across if place not in remarks),
        left_out=(*shape.left_out, *(cells.header[place] for place in remarks)),
    )


def _holds_remarks(cells: CellTable, place: int, names: KnownNames) -> bool:
    filled = [row[place] for row in cells.rows if row[place] is not None]
    if not filled or names.match(bare_title(cells.header[place])).id is not None:
        return False
    return not any(read_figure(str(cell), decimal_comma=comma) for cell in filled for comma in (True, False))


def read_once(entries: Sequence[WrittenScore]) -> tuple[list[WrittenScore], list[str]]:
    """Return the scores without rows that repeat another word for word, and the numbers of those rows."""
    first: dict[tuple[object, ...], WrittenScore] = {}
    repeated = []
    for entry in entries:
        key = (entry.subject, entry.benchmark, entry.cell, *sorted(entry.extras.items()))
        if first.setdefault(key, entry) is not entry:
            repeated.append(str(entry.row))
    return list(first.values()), list(dict.fromkeys(repeated))


def _scores_of(
    row: Sequence[str | None], given: Mapping[str, str], header: Sequence[str], shape: Shape
) -> Iterator[tuple[str | None, str | None, str | None, bool]]:
    """Yield model, benchmark, cell and whether the header says percent, for every score of one row."""
    subject, benchmark = given.get("subject"), given.get("benchmark")
    if shape.kind == "tidy":
        yield subject, benchmark, given.get("score"), shape.columns["score"] in shape.percent
    for place in shape.across:
        title, percent = bare_title(header[place]), place in shape.percent
        pair = (subject, title) if shape.kind == "wide" else (title, benchmark)
        yield *pair, row[place], percent
