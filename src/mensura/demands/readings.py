"""Readings: levels that annotators gave, one row per item, dimension, annotator and repeat, from wherever they come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.demands.rubrics import HIGHEST, load_rubrics
from mensura.intake.tables import as_frame, read_table

READING_COLUMNS = ("item", "dimension", "annotator", "repeat", "level")


@dataclass(frozen=True, eq=False)
class ReadingGrid:
    """Readings as an array raters × items × dimensions, NaN where there is none; a rater is an annotator's repeat."""

    raters: tuple[tuple[str, int], ...]
    items: tuple[str, ...]
    dimensions: tuple[str, ...]
    levels: Floats

    @classmethod
    def of(cls, readings: pl.DataFrame) -> ReadingGrid:
        """Arrange checked readings; raters, items and dimensions in order of appearance."""
        raters = tuple(readings.select("annotator", "repeat").unique(maintain_order=True).iter_rows())
        items, dimensions = (tuple(readings[name].unique(maintain_order=True)) for name in ("item", "dimension"))
        places = [{value: at for at, value in enumerate(axis)} for axis in (raters, items, dimensions)]
        levels = np.full((len(raters), len(items), len(dimensions)), np.nan)
        for item, dimension, annotator, repeat, level in readings.select(READING_COLUMNS).iter_rows():
            levels[places[0][annotator, repeat], places[1][item], places[2][dimension]] = level
        return cls(raters, items, dimensions, levels)

    @property
    def rater_names(self) -> tuple[str, ...]:
        """The annotators, with the number of the repeat where there are several."""
        several = {name for name, repeat in self.raters if repeat > 0}
        return tuple(f"{name} #{repeat + 1}" if name in several else name for name, repeat in self.raters)


def read_demands(source: Any, *, codes: Iterable[str] | None = None, name: str = "demands") -> pl.DataFrame:  # noqa: ANN401
    """Return readings from a table or file: long (item, dimension, level), or wide with a column per dimension.

    Long tables may have ``annotator`` and ``repeat``; wide ones are filled annotation sheets, with ``annotator`` where
    several people share one. ``codes``: the dimensions to look for in a wide table (ours, when not given). Empty cells
    are no readings. Levels are numbers from 0 to 5; "5+" is 5.
    """
    if isinstance(source, str | Path):
        path = Path(source)
        name = str(path)
        frame = read_table(path, infer=False)
    else:
        frame = as_frame(source, name=name)
    require_columns(frame, ["item"], name=name)
    if {"dimension", "level"} <= set(frame.columns):
        long = frame
    else:
        known = list(codes) if codes is not None else list(load_rubrics())
        found = [code for code in known if code in frame.columns]
        if not found:
            raise MensuraError(
                f"{name}: no levels; expected the columns dimension and level, or a column per dimension "
                f"({', '.join(known)}); "
                f"it has {', '.join(frame.columns)}"
            )
        index = [column for column in ("item", "annotator", "repeat") if column in frame.columns]
        wide = frame.select(*index, pl.col(found).cast(pl.String))
        long = wide.unpivot(index=index, on=found, variable_name="dimension", value_name="level")
    return _checked(long, Path(name).stem if isinstance(source, str | Path) else name, name)


def combine(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Put readings of several sources under each other; the same annotator in two of them counts as two repeats."""
    taken: set[tuple[str, int]] = set()
    parts = []
    for table in tables:
        raters = table.select("annotator", "repeat").unique(maintain_order=True)
        renamed = []
        for annotator, repeat in raters.iter_rows():
            free = repeat
            while (annotator, free) in taken:
                free += 1
            taken.add((annotator, free))
            renamed.append((annotator, repeat, free))
        schema = {"annotator": pl.String, "repeat": pl.Int64, "free": pl.Int64}
        numbered = table.join(
            pl.DataFrame(renamed, schema=schema, orient="row"), on=["annotator", "repeat"], maintain_order="left"
        )
        parts.append(numbered.with_columns(repeat=pl.col("free")).select(READING_COLUMNS))
    if not parts:
        raise MensuraError("demands: no table given; give at least one")
    return pl.concat(parts)


def _checked(long: pl.DataFrame, label: str, name: str) -> pl.DataFrame:
    """Return the columns of readings, levels as numbers; refuse what is no level, and a cell that is given twice."""
    told = long.drop("row", strict=False).with_row_index("row")
    defaults = {"annotator": pl.lit(label), "repeat": pl.lit(0)}
    told = told.with_columns(value.alias(key) for key, value in defaults.items() if key not in told.columns)
    told = told.with_columns(
        pl.col("item", "dimension").cast(pl.String),
        pl.col("annotator").cast(pl.String).fill_null(label),
        pl.col("repeat").cast(pl.Int64, strict=False).fill_null(0),
        pl.col("level").cast(pl.String).str.strip_chars().alias("told"),
    ).filter(pl.col("told").is_not_null() & (pl.col("told") != ""))
    told = told.with_columns(level=pl.col("told").str.strip_suffix("+").cast(pl.Float64, strict=False))
    wrong = told.filter(~pl.col("level").is_between(0, HIGHEST).fill_null(False))
    if wrong.height:
        item, dimension, value = wrong.select("item", "dimension", "told").row(0)
        raise MensuraError(
            f"{name}: {value!r} for item {item!r}, dimension {dimension}, is no level; expected a number from 0 to "
            f"{HIGHEST}, or an empty cell ({wrong.height} such cells)"
        )
    if told["item"].null_count() or told["dimension"].null_count():
        raise MensuraError(
            f"{name}: a level without item or dimension (row {told['row'][0] + 1} or later); fill in both columns"
        )
    twice = told.filter(pl.struct("item", "dimension", "annotator", "repeat").is_duplicated())
    if twice.height:
        item, dimension, annotator = twice.select("item", "dimension", "annotator").row(0)
        raise MensuraError(
            f"{name}: item {item!r}, dimension {dimension}, has two levels by {annotator!r}; "
            "give repeats a column 'repeat' and persons a column 'annotator'"
        )
    if told.is_empty():
        raise MensuraError(f"{name}: no level in it; fill the sheet, levels are whole numbers from 0 to {HIGHEST}")
    return told.select(READING_COLUMNS)
