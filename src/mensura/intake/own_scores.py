"""Scores whose names are their own: the same door, for tables that need no model or benchmark to be known."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError
from mensura.intake.figures import RATE_UNITS, read_figure, unit_word, uses_decimal_commas
from mensura.intake.names import KnownNames
from mensura.intake.score_columns import Shape, bare_title, find_shape, rename_columns
from mensura.intake.score_logs import LOG_SUFFIXES, read_log
from mensura.intake.tables import as_frame, read_noted
from mensura.intake.text import plain_cell

_PLAIN = ({"subject", "model"}, {"benchmark", "item"}, {"score"})
_ALIASES = {"model": "subject", "item": "benchmark"}
_NUMBERS = ("stderr", "n", "chance", "ceiling")
_SHARES = ("score", "stderr")
"""Columns that a percent scale makes a hundred times as large."""
_ROW = "_row"
_UNIT_PLACES = {"_sign": "the cell", "_header": "the header", "_column": "the column 'unit'", "_option": "--unit"}
"""Where the unit of a score may stand, the strongest first."""
NOBODY = KnownNames(())


def read_own_scores(source: Any, *, unit: str | None = None, name: str = "scores") -> pl.DataFrame:
    """Return a table of scores with ``subject``, ``benchmark`` and ``score`` as a fraction, and what else it has.

    ``source`` is what :meth:`mensura.evidence.Evidence.add` takes: any usual file or frame, tidy or wide. Names stay as
    they are written. A percent sign, a header that says percent and a column ``unit`` give the unit of a score.
    ``unit`` gives that of all other scores; one that contradicts the table is refused.
    """
    if unit is not None and unit not in RATE_UNITS:
        raise MensuraError(f"unit: got {unit!r}; expected {' or '.join(RATE_UNITS)}")
    name = str(source) if isinstance(source, str | Path) else name
    frame = _table(source, name)
    titles = [title for title in frame.columns if title != _ROW]
    header = _header(titles, name)
    if {"subject", "benchmark", "score"} <= set(header):
        percent = any(new == "score" and "%" in title for title, new in zip(titles, header, strict=True))
        frame = frame.rename(dict(zip(titles, header, strict=True)))
        frame = frame.with_columns(_header=pl.lit("percent" if percent else None, dtype=pl.String))
    else:
        frame = _unfolded(frame, titles, find_shape(titles, NOBODY, NOBODY, name=name))
        if frame.is_empty():
            raise MensuraError(f"{name}: every score is blank; enter at least one score")
    return _as_fractions(frame, unit, name)


def _table(source: Any, name: str) -> pl.DataFrame:
    """Return a source as a table with the number of each row."""
    if not isinstance(source, str | Path):
        return as_frame(source, name=name).with_row_index(_ROW, offset=1)
    path = Path(source)
    if path.suffix.lower() in LOG_SUFFIXES:
        log = read_log(path)
        rows = [[plain_cell(value) for value in row] for row in log.rows]
        schema = dict.fromkeys(log.header, pl.String)
        return pl.DataFrame(rows, schema=schema, orient="row").with_row_index(_ROW, offset=1)
    return read_noted(path, row=_ROW).frame


def _header(titles: Sequence[str], name: str) -> list[str]:
    """Return the columns under the names they have here; a table that has those names keeps all others."""
    if not all(names & set(titles) for names in _PLAIN):
        return rename_columns(titles, name)
    renamed = {old: new for old, new in _ALIASES.items() if new not in titles}
    renamed |= {title: "unit" for title in titles if title.casefold() in ("unit", "units")}
    return [renamed.get(title, title) for title in titles]


def _unfolded(frame: pl.DataFrame, titles: Sequence[str], shape: Shape) -> pl.DataFrame:
    """Turn a wide table into one row per score."""
    given = [pl.col(_ROW), *(pl.col(titles[place]).alias(column) for column, place in shape.columns.items())]
    across = "benchmark" if shape.kind == "wide" else "subject"
    words = any(not frame[titles[place]].dtype.is_numeric() for place in shape.across)
    parts = [
        frame.select(
            *given,
            pl.lit(bare_title(titles[place])).alias(across),
            pl.col(titles[place]).cast(pl.String if words else pl.Float64).alias("score"),
            pl.lit("percent" if place in shape.percent else None, dtype=pl.String).alias("_header"),
        )
        for place in shape.across
    ]
    return pl.concat(parts).drop_nulls(["subject", "benchmark", "score"])


def _as_fractions(frame: pl.DataFrame, unit: str | None, name: str) -> pl.DataFrame:
    """Read the scores as numbers, each in its unit, and return them as fractions."""
    words = frame["unit"].cast(pl.String) if "unit" in frame.columns else pl.Series([None], dtype=pl.String)
    units = {word: unit_word(plain_cell(word)) for word in words.unique()}
    frame = _with_figures(frame, name).with_columns(
        _column=words.replace_strict(units, return_dtype=pl.String)
        if "unit" in frame.columns
        else pl.lit(None, pl.String),
        _option=pl.lit(unit, pl.String),
    )
    frame = frame.with_columns(_unit=pl.coalesce(*_UNIT_PLACES))
    _refuse_other_units(frame, name)
    silent = frame.filter(pl.col("_unit").is_null(), pl.col("score") > 1)
    if silent.height and words.count():
        number, score = silent.select(_ROW, "score").row(0)
        raise MensuraError(
            f"{name}, row {number}: {score:g} has no unit; fill in percent or fraction in the column unit"
        )
    texts = [frame[title] for title in _NUMBERS if title in frame.columns and frame[title].dtype == pl.String]
    numbers = [(text, text.cast(pl.Float64, strict=False)) for text in texts]
    frame = frame.with_columns(read for text, read in numbers if read.null_count() == text.null_count())
    shares = [title for title in _SHARES if title in frame.columns and frame[title].dtype.is_numeric()]
    percent = pl.col("_unit") == "percent"
    frame = frame.with_columns(pl.when(percent).then(pl.col(one) / 100).otherwise(one).alias(one) for one in shares)
    return frame.drop(_ROW, "_unit", "unit", *_UNIT_PLACES, strict=False)


def _with_figures(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """Read the scores as numbers; ``_sign`` says percent where a cell has its sign."""
    if frame["score"].dtype.is_numeric() or frame["score"].dtype == pl.Boolean:
        return frame.with_columns(pl.col("score").cast(pl.Float64), _sign=pl.lit(None, pl.String))
    cells = [plain_cell(cell) for cell in frame["score"]]
    comma = uses_decimal_commas(cells)
    figures = [None if cell is None else read_figure(cell, decimal_comma=comma) for cell in cells]
    for number, cell, figure in zip(frame[_ROW], cells, figures, strict=True):
        if cell is not None and figure is None:
            raise MensuraError(f"{name}, row {number}: {cell!r} is no score; expected a number such as 0.704")
    errors = pl.Series("stderr", [figure and figure.error for figure in figures], dtype=pl.Float64)
    if errors.count() and "stderr" not in frame.columns:
        frame = frame.with_columns(errors)
    return frame.with_columns(
        pl.Series("score", [figure and figure.value for figure in figures], dtype=pl.Float64),
        pl.Series("_sign", ["percent" if figure and figure.percent else None for figure in figures], dtype=pl.String),
    )


def _refuse_other_units(frame: pl.DataFrame, name: str) -> None:
    """Refuse a unit that is no share, and two units of one score."""
    for row in frame.filter(~pl.col("_unit").is_in(RATE_UNITS)).head(1).iter_rows(named=True):
        raise MensuraError(
            f"{name}, row {row[_ROW]}: unit {row['_unit']!r}; expected {' or '.join(RATE_UNITS)}. Leave such rows out"
        )
    for weaker, where in _UNIT_PLACES.items():
        for row in frame.filter(pl.col(weaker) != pl.col("_unit")).head(1).iter_rows(named=True):
            stronger = next(place for column, place in _UNIT_PLACES.items() if row[column] is not None)
            raise MensuraError(
                f"{name}, row {row[_ROW]}: {stronger} says {row['_unit']}, but {where} says {row[weaker]}; "
                + ("leave --unit out" if where == "--unit" else "correct one of them")
            )
