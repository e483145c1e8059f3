"""One door to the formats human data comes in: CSV, Parquet, SPSS, R and fixed-width text."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib import import_module
from typing import TYPE_CHECKING, Any

import polars as pl

from mensura.core.errors import MensuraError, listed_names
from mensura.intake.packed import SPREADSHEETS, measure, refuse_vast, suffix_of
from mensura.intake.tables import read_noted
from mensura.people.fixed_width import read_fixed_width, read_layout

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

FORMATS = ".csv, .tsv, .parquet, .sav, .zsav, .por (SPSS), .rda, .RData, .rds (R), .txt (with a layout)"

_LINE = "\0line"
"""A column name that no file has."""
FIRST_LINE = 2
"""The first row of a file under its header."""
_UNNAMED = "Say --no-header: columns are then V1, V2, … (--items 'V*')"
WHOLE = 2.0**53
"""Below this every whole number is itself as a float; a larger one in a file is an accident, and stays a float."""


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """A table as published: one row per person; ``labels`` of its columns, and ``codes`` of their values, where known.

    ``codes`` maps a column to what its values mean, such as sex to 1 female, 2 male: these become names of groups.
    ``notes``: choices of the reader, such as an encoding.
    """

    frame: pl.DataFrame
    labels: Mapping[str, str] = field(default_factory=dict)
    codes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_raw(
    path: Path,
    *,
    layout: Path | None = None,
    object_name: str | None = None,
    encoding: str | None = None,
    header: bool = True,
    codes: Sequence[str] = (),
) -> PublishedTable:
    """Read a file by its suffix; ``layout`` is the control file of fixed-width text.

    ``object_name`` picks one of several objects in an R file. ``encoding`` of text is found by itself when not given
    (UTF-8 for fixed-width text). ``header``: whether a CSV names its columns; without names they are V1, V2, ….
    ``codes`` for missing answers are kept as they are, so that harmonisation can treat omitted and not reached apart.
    """
    suffix = suffix_of(path)
    if layout is not None:
        encoding = encoding or "utf-8"
        described = read_layout(layout, encoding=encoding)
        return PublishedTable(read_fixed_width(path, described, encoding=encoding), described.labels)
    if not path.is_file():
        raise MensuraError(f"{path}: no such file; check the path")
    if suffix in {".csv", ".tsv", ".parquet", ".pq"}:
        read = read_noted(path, encoding=encoding, header=header, codes=codes, unnamed=_UNNAMED)
        return PublishedTable(read.frame, notes=read.notes)
    if suffix in {".sav", ".zsav", ".por"}:
        return _read_spss(path)
    if suffix in {".rda", ".rdata", ".rds"}:
        return PublishedTable(_read_r(path, object_name))
    if suffix in {".txt", ".dat"}:
        raise MensuraError(f"{path}: fixed-width text needs its control file (SPSS .sps or SAS); give it as layout")
    if suffix in SPREADSHEETS:
        raise MensuraError(f"{path}: a spreadsheet; save the sheet as CSV and give that file")
    raise MensuraError(f"{path}: unknown format {path.suffix!r}; expected {FORMATS}")


def choose_columns(pattern: str, columns: Sequence[str]) -> list[str]:
    r"""Return the columns that a pattern names, or refuse a pattern that names none.

    Wildcards match whole names: ``*`` any letters, ``?`` one, ``[ab]`` one of these; commas part several. A pattern
    with ``^ $ \ + ( ) | { }`` or ``.*``, or without ``*`` and ``?``, is a regular expression found anywhere in a name.
    """
    regular = bool(re.search(r"[\^$\\+()|{}]|\.\*", pattern))
    parts = [part.strip() for part in pattern.split(",") if part.strip()]
    named = [] if regular else [name for name in columns if any(fnmatchcase(name, part) for part in parts)]
    if not named and (regular or not re.search(r"[*?]", pattern)):
        try:
            named = [name for name in columns if re.search(pattern, name)]
        except re.error as fault:
            raise MensuraError(f"--items {pattern!r}: not a CSV file and not a valid pattern ({fault})") from fault
    if not named:
        kind = "regular expression" if regular else "wildcard"
        hint = ". For one row per answer say --long item,correct" if {"item", "correct"} <= set(columns) else ""
        raise MensuraError(
            f"--items {pattern!r}: this {kind} matches none of the {len(columns)} columns "
            f"({listed_names(columns)}){hint}"
        )
    return named


def split_persons(
    raw: PublishedTable, items: Sequence[str], person: Sequence[str] = (), covariates: Sequence[str] = ()
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split a table into answers (person, items) and persons (person, covariates).

    ``person``: the columns that identify a person together; rows are numbered when none is given.
    """
    frame = raw.frame
    columns = set(frame.columns)
    unknown = [name for name in (*person, *covariates, *items) if name not in columns]
    if unknown:
        shown = ", ".join(frame.columns[:12])
        raise MensuraError(
            f"no column {unknown[0]!r}; choose one of the file's {len(frame.columns)} columns: {shown} …"
        )
    key = (
        pl.concat_str([pl.col(name).cast(pl.String) for name in person], separator="-", ignore_nulls=True)
        if person
        else pl.int_range(1, pl.len() + 1)
    )
    frame = frame.with_columns(key.alias("person"))
    kept = [_named(frame[name], raw.codes.get(name, {})) for name in covariates if name != "person"]
    return frame.select("person", *items), pl.DataFrame([frame["person"], *kept])


def widen_answers(
    raw: PublishedTable, item: str, answer: str, person: Sequence[str], covariates: Sequence[str] = ()
) -> PublishedTable:
    """Turn a long file, one row per person, item and answer, into one row per person and a column per item.

    A person answers an item once, and has one value of each covariate.
    """
    frame = raw.frame
    unknown = [name for name in (item, answer, *person, *covariates) if name not in frame.columns]
    if unknown or not person:
        wanted = f"no column {unknown[0]!r}" if unknown else "no column that names the person"
        raise MensuraError(f"long answers: {wanted}; choose from the columns {', '.join(frame.columns[:12])}")
    numbered = frame.with_row_index(_LINE, offset=FIRST_LINE)
    again = numbered.filter(~pl.struct(*person, item).is_first_distinct())
    if again.height:
        row = again.row(0, named=True)
        who = "-".join(str(row[name]) for name in person)
        raise MensuraError(f"row {row[_LINE]}: person {who} answers item {row[item]!r} a second time; keep one row")
    facts = frame.select(*person, *covariates).unique(maintain_order=True)
    torn = facts.filter(pl.struct(list(person)).is_duplicated())
    if torn.height:
        who = "-".join(str(torn[name][0]) for name in person)
        raise MensuraError(f"person {who} has several values of {', '.join(covariates)}; give one per person")
    wide = frame.with_columns(pl.col(item).cast(pl.String)).pivot(item, index=list(person), values=answer)
    clash = sorted(set(wide.columns) & set(covariates))
    if clash:
        raise MensuraError(f"{clash[0]!r} is both an item and a covariate; rename one")
    return PublishedTable(facts.join(wide, on=list(person), how="left", maintain_order="left"), raw.labels, raw.codes)


def _named(column: pl.Series, codes: Mapping[str, str]) -> pl.Series:
    """Return a covariate with its codes replaced by what they mean; codes without a meaning stay."""
    if not codes:
        return column
    text = column.cast(pl.String)
    if column.dtype.is_float():
        text = text.str.replace(r"\.0$", "")
    return text.replace(dict(codes))


def _read_spss(path: Path) -> PublishedTable:
    reader = _library("pyreadstat")
    read = reader.read_por if path.suffix.lower() == ".por" else reader.read_sav
    extra = {} if path.suffix.lower() == ".por" else {"user_missing": True}
    try:
        _, told = read(str(path), metadataonly=True)
        refuse_vast(path, max(told.number_rows or 0, 0), told.number_columns)
        columns, about = read(str(path), output_format="dict", **extra)
    except MensuraError:
        raise
    except Exception as fault:
        raise MensuraError(f"{path}: not a readable SPSS file ({fault}); download or export it again") from fault
    labels = {name: text for name, text in about.column_names_to_labels.items() if text}
    codes = {
        name: {_code(value): str(text) for value, text in meanings.items()}
        for name, meanings in about.variable_value_labels.items()
    }
    return PublishedTable(pl.DataFrame([_series(name, values) for name, values in columns.items()]), labels, codes)


def _code(value: object) -> str:
    """Return a code as the text it has in a column: whole numbers without a decimal point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _read_r(path: Path, object_name: str | None) -> pl.DataFrame:
    reader = _library("rdata")
    measure(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # classes it does not know; what is not a table is refused below
            content = reader.read_rds(path) if path.suffix.lower() == ".rds" else reader.read_rda(path)
    except Exception as fault:
        raise MensuraError(f"{path}: not a readable R data file ({fault}); save it again with saveRDS") from fault
    if path.suffix.lower() != ".rds":
        content = _pick(content, path, object_name)
    if hasattr(content, "dims") and hasattr(content, "to_pandas"):
        content = content.to_pandas()
    if hasattr(content, "ndim") and not hasattr(content, "columns") and content.ndim == 2:
        return pl.DataFrame({f"V{index + 1}": content[:, index] for index in range(content.shape[1])})
    if not hasattr(content, "columns"):
        raise MensuraError(f"{path}: contains a {type(content).__name__}; expected a data frame or matrix")
    columns = {str(name): content[name] for name in content.columns}
    return pl.DataFrame(
        [_series(name, column.astype(object).where(column.notna(), None)) for name, column in columns.items()]
    )


def _pick(content: Mapping[str, Any], path: Path, object_name: str | None) -> Any:  # noqa: ANN401
    tables = {name: value for name, value in content.items() if hasattr(value, "columns") or hasattr(value, "ndim")}
    if object_name is not None:
        if object_name not in content:
            raise MensuraError(f"{path}: no object {object_name!r}; expected one of {', '.join(content)}")
        return content[object_name]
    if len(tables) != 1:
        raise MensuraError(f"{path}: holds {', '.join(content)}; say which object is the table of answers")
    return next(iter(tables.values()))


def _series(name: str, values: Any) -> pl.Series:  # noqa: ANN401
    """Return a column, with not-a-number as null and whole numbers as integers."""
    plain = [None if value is None or value != value else value for value in list(values)]
    series = pl.Series(name, plain, strict=False)
    if series.dtype.is_float() and ((series.drop_nulls() % 1 == 0) & (series.drop_nulls().abs() < WHOLE)).all():
        return series.cast(pl.Int64)
    return series.set(series == "", None) if series.dtype == pl.String else series


def _library(name: str) -> Any:  # noqa: ANN401
    try:
        return import_module(name)
    except ImportError as fault:
        raise MensuraError(
            f"this format needs the package {name!r}: install Mensura with its extra 'readers'"
        ) from fault
