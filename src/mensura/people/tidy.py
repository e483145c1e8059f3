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
from mensura.core.frames import require_columns
from mensura.intake.tables import read_table
from mensura.people.administration import UNKNOWN, Administration
from mensura.people.rates import RATE_COLUMNS
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


# The tables of a pool, checked and in our columns: items, persons, rates of groups.

LARGEST_GAP = 0.1
"""Between a rate and ``n_correct / n``: beyond it they are of different samples."""


def check_items(items: pl.DataFrame, *, name: str) -> pl.DataFrame:
    """Return the item table with text ids and a ``domain``; ids must be there and differ."""
    require_columns(items, ["item"], name=name)
    items = items.with_columns(pl.col("item").cast(pl.String))
    _refuse_blank_or_twice(items["item"], name=name)
    if "domain" not in items.columns:
        items = items.with_columns(domain=pl.lit(None, dtype=pl.String))
    if "n_options" in items.columns:
        items = items.with_columns(pl.col("n_options").cast(pl.Int64, strict=False))
    if "needs_picture" in items.columns and items["needs_picture"].dtype == pl.String:
        truth = pl.col("needs_picture").str.to_lowercase().is_in(["true", "yes", "1"])
        items = items.with_columns(needs_picture=truth)
    return items


def check_persons(persons: pl.DataFrame, *, name: str) -> pl.DataFrame:
    """Return the person table; a person may occur once."""
    require_columns(persons, ["person"], name=name)
    _refuse_blank_or_twice(persons["person"], name=name)
    return persons


def check_rates(rates: pl.DataFrame, *, name: str) -> tuple[pl.DataFrame, list[str]]:
    """Return the rate table in our columns and the warnings; counts and rates must agree with each other.

    Rows with n = 0 hold no information: they are dropped, with a warning. A missing ``n_correct`` is the
    rounded product of n and rate, a missing ``rate`` their quotient, a missing ``se`` the binomial one. A rate
    that differs from ``n_correct / n`` by more than rounding, up to 0.1, is taken for a weighted one, with a warning.
    """
    require_columns(rates, ["item", "group", "n"], name=name)
    if "covariate" not in rates.columns:
        rates = rates.with_columns(covariate=pl.col("group").cast(pl.String).str.split("=").list.first())
    rates = rates.rename({"n_correct": "correct"} if "n_correct" in rates.columns else {})
    if "correct" not in rates.columns and "rate" not in rates.columns:
        raise MensuraError(f"{name}: needs column 'n_correct' or 'rate'; it has {', '.join(rates.columns)}")
    for column in ("correct", "rate", "se"):
        if column not in rates.columns:
            rates = rates.with_columns(pl.lit(None, dtype=pl.Float64).alias(column))
    numbers = ["n", "correct", "rate", "se"]
    try:
        rates = rates.with_columns(
            pl.col("item", "covariate", "group").cast(pl.String), pl.col(numbers).cast(pl.Float64)
        )
    except pl.exceptions.PolarsError as fault:
        raise MensuraError(
            f"{name}: n, n_correct, rate and se must be numbers: {str(fault).splitlines()[0]}"
        ) from fault
    empty = rates.filter(pl.col("n") == 0).height
    warnings = [f"{empty} rows with n = 0 left out of the rates"] if empty else []
    rates = rates.filter((pl.col("n") != 0) | pl.col("n").is_null())
    rates = rates.with_columns(
        correct=pl.coalesce("correct", (pl.col("n") * pl.col("rate")).round()),
        rate=pl.coalesce("rate", pl.col("correct") / pl.col("n")),
    )
    _refuse(rates, ~(pl.col("n") > 0).fill_null(False), name, "n must be a number above 0")
    _refuse(rates, ~pl.col("rate").is_between(0, 1).fill_null(False), name, "rate must lie between 0 and 1")
    _refuse(
        rates,
        ~pl.col("correct").is_between(0, pl.col("n")).fill_null(False),
        name,
        "n_correct must lie between 0 and n",
    )
    slack = 0.006 + 1 / pl.col("n")
    gap = (pl.col("rate") - pl.col("correct") / pl.col("n")).abs()
    _refuse(rates, gap > LARGEST_GAP, name, "rate and n_correct / n disagree")
    apart = rates.filter(gap > slack).height
    if apart:
        warnings.append(f"{apart} rates differ from n_correct / n, as weighted rates do; the rates are used")
    _refuse(rates, pl.struct("item", "covariate", "group").is_duplicated(), name, "an item has two rows for one group")
    spread = (pl.col("rate") * (1 - pl.col("rate")) / pl.col("n")).sqrt()
    rates = rates.with_columns(pl.coalesce("se", spread).alias("se"), pl.col("n", "correct").round().cast(pl.Int64))
    extra = [column for column in rates.columns if column not in RATE_COLUMNS]
    return rates.select(*RATE_COLUMNS, *extra), warnings


def _refuse_blank_or_twice(ids: pl.Series, *, name: str) -> None:
    if ids.null_count():
        raise MensuraError(f"{name}: {ids.null_count()} rows without {ids.name}; fill in the column")
    twice = ids.filter(ids.is_duplicated())
    if twice.len():
        raise MensuraError(
            f"{name}: {ids.name} {twice[0]!r} occurs more than once; each {ids.name} has one row. Remove the others"
        )


def _refuse(rates: pl.DataFrame, fault: pl.Expr, name: str, rule: str) -> None:
    bad = rates.filter(fault)
    if bad.height:
        row = bad.select("item", "group", "n", "correct", "rate").row(0, named=True)
        shown = ", ".join(f"{key} {value}" for key, value in row.items())
        raise MensuraError(f"{name}: {rule}; {bad.height} rows break this. Correct them; the first is {shown}")
