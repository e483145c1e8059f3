"""Persons and their answers in one table: which columns are items, who a person is, long tables made wide."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import polars as pl

from mensura.core.errors import MensuraError, listed_names
from mensura.core.frames import first_row
from mensura.intake.tables import NotedTable

_LINE = "\0line"
"""A column name that no file has."""
FIRST_LINE = 2
"""The first row of a file under its header."""


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
    raw: NotedTable, items: Sequence[str], person: Sequence[str] = (), covariates: Sequence[str] = ()
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
    raw: NotedTable, item: str, answer: str, person: Sequence[str], covariates: Sequence[str] = ()
) -> NotedTable:
    """Turn a long file, one row per person, item and answer, into one row per person and a column per item.

    A person answers an item once, and has one value of each covariate.
    """
    frame = raw.frame
    unknown = [name for name in (item, answer, *person, *covariates) if name not in frame.columns]
    if unknown or not person:
        wanted = f"no column {unknown[0]!r}" if unknown else "no column that names the person"
        raise MensuraError(f"long answers: {wanted}; choose from the columns {', '.join(frame.columns[:12])}")
    numbered = frame.with_row_index(_LINE, offset=FIRST_LINE)
    if row := first_row(numbered.filter(~pl.struct(*person, item).is_first_distinct())):
        who = "-".join(str(row[name]) for name in person)
        raise MensuraError(f"row {row[_LINE]}: person {who} answers item {row[item]!r} a second time; keep one row")
    facts = frame.select(*person, *covariates).unique(maintain_order=True)
    if row := first_row(facts.filter(pl.struct(list(person)).is_duplicated())):
        who = "-".join(str(row[name]) for name in person)
        raise MensuraError(f"person {who} has several values of {', '.join(covariates)}; give one per person")
    wide = frame.with_columns(pl.col(item).cast(pl.String)).pivot(item, index=list(person), values=answer)
    clash = sorted(set(wide.columns) & set(covariates))
    if clash:
        raise MensuraError(f"{clash[0]!r} is both an item and a covariate; rename one")
    return replace(raw, frame=facts.join(wide, on=list(person), how="left", maintain_order="left"))


def _named(column: pl.Series, codes: Mapping[str, str]) -> pl.Series:
    """Return a covariate with its codes replaced by what they mean; codes without a meaning stay."""
    if not codes:
        return column
    text = column.cast(pl.String)
    if column.dtype.is_float():
        text = text.str.replace(r"\.0$", "")
    return text.replace(dict(codes))
