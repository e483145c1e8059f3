"""Readings: levels that annotators gave, one row per item, dimension, annotator and repeat, from wherever they come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.demands.rubrics import HIGHEST, load_rubrics
from mensura.intake.columns import FIELDS, parse_map, read_columns
from mensura.intake.text import BLANK

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


LEVEL_FIELDS = ("item", "dimension", "level", "annotator", "repeat", "spread")


def read_level_table(
    source: Any, codes: Iterable[str], *, name: str = "demands", columns: Mapping[str, str] | None = None
) -> pl.DataFrame:
    """Read a table of levels, long or wide, and give its columns Mensura's names; see :func:`read_demands`."""
    frame = read_columns(source, LEVEL_FIELDS, name=name, needed=["item"], columns=columns)
    spelled = {code.casefold(): code for code in codes if code not in frame.columns}
    return frame.rename({title: spelled.get(title.strip().casefold(), title) for title in frame.columns})


def read_demands(
    source: Any, *, codes: Iterable[str] | None = None, name: str = "demands", columns: str | None = None
) -> pl.DataFrame:
    """Read the levels that annotators gave, from a table of any format or library.

    Parameters
    ----------
    source
        A table or path, long (item, dimension, level, and where known annotator and repeat) or wide (item and a column
        per dimension), such as a filled annotation sheet. Empty cells are no readings. "5+" is 5.
    codes
        Dimensions to look for in a wide table; Mensura's own when not given.
    name
        The argument that messages name.
    columns
        Fields and their columns where names alone do not say it, such as ``item=qid,level=score``.

    Returns
    -------
    polars.DataFrame
        item, dimension, annotator, repeat, level: one row per reading.

    Raises
    ------
    MensuraError
        If levels are missing, outside 0 to 5, or given twice by one annotator.

    Examples
    --------
    >>> import polars as pl
    >>> from mensura.demands import read_demands
    >>> read_demands(pl.DataFrame({"item": ["a", "b"], "KNc": [2, 3]}))["level"].to_list()
    [2.0, 3.0]

    """
    wanted = list(codes) if codes is not None else list(load_rubrics())
    if isinstance(source, str | Path):
        name = str(source)
    frame = read_level_table(source, wanted, name=name, columns=parse_map(columns, FIELDS, "item=qid,level=score"))
    if not {"dimension", "level"} <= set(frame.columns):
        present = [code for code in wanted if code in frame.columns]
        if not present:
            raise MensuraError(
                f"{name}: no levels; expected the columns dimension and level, or a column per dimension "
                f"({', '.join(wanted)}); it has {', '.join(frame.columns)}"
            )
        index = [column for column in ("item", "annotator", "repeat") if column in frame.columns]
        wide = frame.select(*index, pl.col(present).cast(pl.String))
        frame = wide.unpivot(index=index, on=present, variable_name="dimension", value_name="level")
    return _checked(frame, Path(name).stem if isinstance(source, str | Path) else name, name)


def refuse_unknown_dimensions(readings: pl.DataFrame, codes: Sequence[str]) -> None:
    """Refuse a dimension that is not known, offering the nearest code."""
    for code in readings["dimension"].unique(maintain_order=True):
        if code not in codes:
            near = [other for other in codes if other.casefold() == code.casefold()]
            near = near or get_close_matches(code, codes, 1, 0.6)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise MensuraError(f"demands: unknown dimension {code!r}{hint} (expected one of {', '.join(codes)})")


def mean_levels(readings: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return item and a column per dimension, readings averaged, and a warning on items left out: they lack a level."""
    means = readings.group_by("item", "dimension", maintain_order=True).agg(pl.col("level").mean())
    wide = means.pivot("dimension", index="item", values="level", maintain_order=True)
    whole = wide.drop_nulls()
    lost = wide.height - whole.height
    return whole, [f"{lost} items lack a level in some dimension and are left out"] if lost else []


def combine(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Put readings of several sources under each other.

    Parameters
    ----------
    tables
        Readings, as :func:`read_demands` returns them. The same annotator in two of them counts as two repeats.

    Returns
    -------
    polars.DataFrame
        item, dimension, annotator, repeat, level.

    Raises
    ------
    MensuraError
        If no table is given.

    Examples
    --------
    >>> import polars as pl
    >>> from mensura.demands import combine, read_demands
    >>> sheet = read_demands(pl.DataFrame({"item": ["a"], "KNc": [2]}))
    >>> combine([sheet, sheet])["repeat"].to_list()
    [0, 1]

    """
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
    readings = long.drop("row", strict=False).with_row_index("row")
    defaults = {"annotator": pl.lit(label), "repeat": pl.lit(0)}
    readings = readings.with_columns(value.alias(key) for key, value in defaults.items() if key not in readings.columns)
    readings = readings.with_columns(
        pl.col("item", "dimension").cast(pl.String),
        pl.col("annotator").cast(pl.String).fill_null(label),
        pl.col("repeat").cast(pl.Int64, strict=False).fill_null(0),
        pl.col("level").cast(pl.String).str.strip_chars().alias("written"),
    ).filter(~pl.col("written").str.to_lowercase().is_in(BLANK).fill_null(True))
    readings = readings.with_columns(level=pl.col("written").str.strip_suffix("+").cast(pl.Float64, strict=False))
    wrong = readings.filter(~pl.col("level").is_between(0, HIGHEST).fill_null(False))
    if wrong.height:
        item, dimension, value = wrong.select("item", "dimension", "written").row(0)
        raise MensuraError(
            f"{name}: {value!r} for item {item!r}, dimension {dimension}, is no level; expected a number from 0 to "
            f"{HIGHEST}, or an empty cell ({wrong.height} such cells)"
        )
    if readings["item"].null_count() or readings["dimension"].null_count():
        raise MensuraError(
            f"{name}: a level without item or dimension (row {readings['row'][0] + 1} or later); fill in both columns"
        )
    twice = readings.filter(pl.struct("item", "dimension", "annotator", "repeat").is_duplicated())
    if twice.height:
        item, dimension, annotator = twice.select("item", "dimension", "annotator").row(0)
        raise MensuraError(
            f"{name}: item {item!r}, dimension {dimension}, has two levels by {annotator!r}; "
            "give repeats a column 'repeat' and persons a column 'annotator'"
        )
    if readings.is_empty():
        raise MensuraError(f"{name}: no level in it; fill the sheet, levels are whole numbers from 0 to {HIGHEST}")
    return readings.select(READING_COLUMNS)
