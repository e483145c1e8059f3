"""The tidy folder: items, group rates, persons and responses as CSV or Parquet, found and read.

``items``: item, domain and what else is known. ``group_rates``: item, covariate, group, n, n_correct, rate,
se, where group ``all`` is the whole sample, focal groups included. ``persons``: person and covariates.
``responses``: person, item, correct (1, 0 or empty), one row per answer. ``administration``: year, language and mode
of the test, one row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from mensura.core.errors import MensuraError
from mensura.intake.tables import read_table
from mensura.people.administration import UNKNOWN, Administration
from mensura.people.tables import check_items, check_persons, check_rates
from mensura.people.wide import widen

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, eq=False)
class TidyTables:
    """The tables of a folder, checked and in our columns; ``responses`` wide, one Int8 column per item."""

    items: pl.DataFrame
    rates: pl.DataFrame | None
    persons: pl.DataFrame | None
    responses: pl.DataFrame | None
    warnings: tuple[str, ...]
    administration: Administration = UNKNOWN


def read_tables(folder: Path) -> TidyTables:
    """Read a tidy folder; ``items`` and one of ``group_rates`` and ``responses`` must be there."""
    if not folder.is_dir():
        raise MensuraError(f"{folder}: no such folder; expected one with items.csv and group_rates.csv")
    items = read_items(folder)
    published, persons = (_find(folder, name) for name in ("group_rates", "persons"))
    answers = _scan(folder, "responses")
    if published is None and answers is None:
        raise MensuraError(f"{folder}: neither group_rates nor responses (CSV or Parquet); a pool needs one of them")
    responses = None
    if answers is not None:
        try:
            responses = widen(answers, items["item"].to_list(), name=f"{folder}/responses")
        except pl.exceptions.PolarsError as fault:
            raise MensuraError(
                f"{folder}/responses: damaged, it cannot be read to the end ({fault}); restore the file"
            ) from fault
    if persons is not None:
        persons = check_persons(persons, name=f"{folder}/persons")
    rates: pl.DataFrame | None = None
    warnings: list[str] = []
    if published is not None:
        rates, warnings = check_rates(published, name=f"{folder}/group_rates")
        items, added = _adopt(items, rates["item"])
        warnings += added
    if responses is not None:
        items, added = _adopt(items, pl.Series("item", responses.columns[1:], dtype=pl.String))
        warnings += added
    given = _find(folder, "administration")
    known = UNKNOWN if given is None else Administration.from_table(given, name=f"{folder}/administration")
    return TidyTables(items, rates, persons, responses, tuple(warnings), known)


def read_items(place: Path) -> pl.DataFrame:
    """Read the item table alone: that of a tidy folder, whether or not it has rates, or a file by its name."""
    if not place.exists():
        raise MensuraError(f"{place}: no such folder or file; expected a tidy folder with items.csv, or an items file")
    items = _find(place, "items") if place.is_dir() else read_table(place)
    if items is None:
        raise MensuraError(f"{place}: no items.csv or items.parquet; add one")
    return check_items(items, name=f"{place}/items" if place.is_dir() else str(place))


def refuse_shadows(folder: Path) -> None:
    """Refuse a folder in which a file of another form would stand beside one that a written pool has."""
    for written in ("items.csv", "group_rates.csv", "persons.csv", "responses.parquet", "administration.csv"):
        other = (folder / written).with_suffix(".csv" if written.endswith(".parquet") else ".parquet")
        if other.exists():
            raise MensuraError(f"{other}: would stand beside the new {written} as a second one; move it away first")


def _refuse_two(folder: Path, stem: str) -> None:
    if all((folder / f"{stem}{suffix}").is_file() for suffix in (".csv", ".parquet")):
        raise MensuraError(f"{folder}: both {stem}.csv and {stem}.parquet; remove one of them")


def _find(folder: Path, stem: str) -> pl.DataFrame | None:
    _refuse_two(folder, stem)
    for suffix in (".csv", ".parquet"):
        if (folder / f"{stem}{suffix}").is_file():
            return read_table(folder / f"{stem}{suffix}")
    return None


def _scan(folder: Path, stem: str) -> pl.DataFrame | pl.LazyFrame | None:
    """Find a table as :func:`_find` does, a Parquet file without reading it whole."""
    path = folder / f"{stem}.parquet"
    if not path.is_file() or (folder / f"{stem}.csv").is_file():
        return _find(folder, stem)  # which refuses both at once
    try:
        pl.read_parquet_schema(path)
    except (pl.exceptions.PolarsError, OSError) as fault:
        raise MensuraError(f"{path}: not a readable CSV or Parquet file ({fault}); save it again") from fault
    return pl.scan_parquet(path, glob=False)


def _adopt(items: pl.DataFrame, mentioned: pl.Series) -> tuple[pl.DataFrame, list[str]]:
    """Give items that only the rates or answers mention a row of their own, with a warning."""
    unknown = mentioned.unique(maintain_order=True)
    unknown = unknown.filter(~unknown.is_in(items["item"].implode()))
    if unknown.is_empty():
        return items, []
    shown = ", ".join(unknown.head(3).to_list())
    warning = f"{unknown.len()} items are not in the item table and have no domain there: {shown}"
    return pl.concat([items, pl.DataFrame({"item": unknown})], how="diagonal"), [warning]
