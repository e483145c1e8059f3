"""Scores as a table writes them: one entry per score, without remarks, repetitions and people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from mensura.core.errors import MensuraError, listed_names
from mensura.intake.figures import read_figure
from mensura.intake.names import KnownNames
from mensura.intake.score_columns import OPTIONAL, CellTable, Shape, bare_title, find_shape, header_row

_PEOPLE = re.compile(r"(?<![^\W_])(humans?|people|crowd[ _-]?workers?)(?![^\W_])", re.IGNORECASE)
"""Words of a name that speak of people; a row with its own release date is a model all the same."""
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


def shape_of(cells: CellTable, known: Mapping[str, KnownNames]) -> Shape:
    """Say how a table holds its scores; where its header stands lower, say in which row."""
    try:
        return find_shape(cells.header, known["model"], known["benchmark"], name=cells.name)
    except MensuraError as fault:
        place = header_row(cells.rows[:_TITLE_ROWS])
        if place is None:
            raise
        row = cells.numbers[place]
        told = f"{cells.name}, row {row}: looks like the header; expected it in row 1. Delete the rows above it"
        raise MensuraError(told) from fault


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


def without_people(
    entries: Sequence[WrittenScore], models: KnownNames, name: str
) -> tuple[list[WrittenScore], list[WrittenScore]]:
    """Return the scores of models, and those of people: a leaderboard often has a row of them."""
    rest: list[WrittenScore] = []
    people: list[WrittenScore] = []
    for entry in entries:
        named = _PEOPLE.search(entry.subject) and "released" not in entry.extras
        (people if named and models.match(entry.subject).id is None else rest).append(entry)
    if not rest:
        raise MensuraError(
            f"{name}: only people, such as {people[0].subject}; expected models. Write benchmark, group, score of "
            "these people into a table, and use mensura add --people FILE"
        )
    return rest, people


def said_of_people(people: Sequence[WrittenScore]) -> str:
    """Say whose scores are left out as those of people, and where they belong."""
    names = listed_names(list(dict.fromkeys(entry.subject for entry in people)))
    return (
        f"left out, people and no model: {names}. Write their scores into a table of benchmark, group, score, and use "
        "mensura add --people FILE"
    )


def without_words(cells: CellTable, shape: Shape, known: KnownNames) -> Shape:
    """Leave out columns of remarks: cells without any figure below a title that is no known name."""
    remarks = [place for place in shape.across if _holds_remarks(cells, place, known)]
    return replace(
        shape,
        across=tuple(place for place in shape.across if place not in remarks),
        left_out=(*shape.left_out, *(cells.header[place] for place in remarks)),
    )


def _holds_remarks(cells: CellTable, place: int, known: KnownNames) -> bool:
    filled = [row[place] for row in cells.rows if row[place] is not None]
    if not filled or known.match(bare_title(cells.header[place])).id is not None:
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
