"""Scores whose names are their own: the same door, for tables that need no model or benchmark to be known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.frames import as_frame
from mensura.evidence.intake.cells import CellTable, read_cells
from mensura.evidence.intake.columns import Shape, bare_title, find_shape, rename_columns
from mensura.evidence.intake.figures import read_figure, uses_decimal_commas
from mensura.evidence.intake.names import KnownNames
from mensura.evidence.intake.units_said import unit_word
from mensura.evidence.units import RATE_UNITS

_PLAIN = ({"subject", "model"}, {"benchmark", "item"}, {"score"})
_NUMBERS = ("stderr", "n", "chance", "ceiling")
_SHARES = ("score", "stderr")
"""Columns that a percent scale makes a hundred times as large."""
NOBODY = KnownNames(())


def read_own_scores(source: Any, *, unit: str | None = None, name: str = "scores") -> pl.DataFrame:  # noqa: ANN401
    """Return a table of scores with ``subject``, ``benchmark`` and ``score`` as a fraction, and what else it has.

    ``source`` is what :meth:`mensura.evidence.Evidence.add` takes: any usual file or frame, tidy or wide. Names stay as
    they are written. ``unit`` says percent or fraction; without it a percent sign, a header that says percent, a column
    ``unit`` and a value beyond 1 in a table that is not plain numbers say percent.
    """
    if unit is not None and unit not in RATE_UNITS:
        raise MensuraError(f"unit: got {unit!r}; expected {' or '.join(RATE_UNITS)}")
    plain = _plain(source, name)
    if plain is not None:
        return _scaled(plain) if unit == "percent" else plain
    cells = read_cells(source, name=name)
    header = rename_columns(cells.header, cells.name)
    if {"subject", "benchmark", "score"} <= set(header):
        rows = pl.DataFrame(list(cells.rows), schema=dict.fromkeys(header, pl.String), orient="row")
        frame = rows.with_columns(_row=pl.Series(cells.numbers, dtype=pl.Int64))
    else:
        frame = _unfolded(cells, find_shape(cells.header, NOBODY, NOBODY, name=cells.name))
    percent = next((title for title, new in zip(cells.header, header, strict=True) if new == "score"), "")
    return _read(frame.drop_nulls(["subject", "benchmark", "score"]), unit, "%" in percent, cells.name)


def _plain(source: Any, name: str) -> pl.DataFrame | None:  # noqa: ANN401
    """Return a table that has the columns under their own names and numbers for scores; None where it has not."""
    if isinstance(source, str | Path) and Path(source).suffix.lower() not in {".csv", ".parquet", ".pq"}:
        return None
    try:
        frame = as_frame(source, name=name)
    except MensuraError:
        if isinstance(source, str | Path):
            return None
        raise
    if not all(names & set(frame.columns) for names in _PLAIN):
        return None
    scores = frame["score"]
    readable = scores.cast(pl.Float64, strict=False).null_count() == scores.null_count()
    return frame if scores.dtype.is_numeric() or scores.dtype == pl.Boolean or readable else None


def _unfolded(cells: CellTable, shape: Shape) -> pl.DataFrame:
    """Turn a wide table into one row per score."""
    rows = []
    for number, row in zip(cells.numbers, cells.rows, strict=True):
        given = {column: row[place] for column, place in shape.columns.items()}
        for place in shape.across:
            title, percent = bare_title(cells.header[place]), place in shape.percent
            pair = {"benchmark": title} if shape.kind == "wide" else {"subject": title}
            said = "percent" if percent else given.get("unit")
            rows.append({"_row": number, **given, **pair, "score": row[place], "unit": said})
    return pl.DataFrame(rows, infer_schema_length=None)


def _read(frame: pl.DataFrame, unit: str | None, percent_header: bool, name: str) -> pl.DataFrame:
    """Read the cells as numbers, in fractions."""
    if frame.is_empty():
        raise MensuraError(f"{name}: every score is blank; there is nothing to read")
    comma = uses_decimal_commas(frame["score"])
    figures = [read_figure(cell, decimal_comma=comma) for cell in frame["score"]]
    wrong = next((place for place, figure in enumerate(figures) if figure is None), None)
    if wrong is not None:
        raise MensuraError(f"{name}, row {frame['_row'][wrong]}: {frame['score'][wrong]!r} is no score, such as 0.704")
    units = frame["unit"].to_list() if "unit" in frame.columns else [None] * frame.height
    said = [
        unit or ("percent" if (figure and figure.percent) or percent_header else unit_word(word))
        for figure, word in zip(figures, units, strict=True)
    ]
    values = [figure.value for figure in figures if figure]
    silent = [value for value, word in zip(values, said, strict=True) if word is None]
    if any(value > 1 for value in silent):
        raise MensuraError(f"{name}: {max(silent):g} is no fraction; say --unit percent (unit='percent' in Python)")
    percent = pl.Series([word == "percent" for word in said])
    numbers = [pl.col(column).cast(pl.Float64, strict=False) for column in _NUMBERS if column in frame.columns]
    read = frame.with_columns(pl.Series("score", values), *numbers).drop("_row", "unit", strict=False)
    parts = [pl.when(percent).then(pl.col(c) / 100).otherwise(c).alias(c) for c in _SHARES if c in read.columns]
    return read.with_columns(parts)


def _scaled(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col(column) / 100 for column in _SHARES if column in frame.columns)
