"""The tidy folder: items, group rates, persons and responses as tables of any format, found, read and checked.

``items``: item, domain and what else is known. ``group_rates``: item, covariate, group, n, n_correct, rate,
se, where group ``all`` is the whole sample, focal groups included. ``persons``: person and covariates.
``responses``: person, item, correct (1, 0 or empty), one row per answer. ``administration``: year, language and mode
of the test, one row.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError, counted, listed_names
from mensura.core.frames import first_row, require_columns, says_yes
from mensura.intake.tables import find_table, read_table
from mensura.people.rates import NO_ANSWER, RATE_COLUMNS

TABLES = ("items", "group_rates", "persons", "responses", "administration")
LARGEST_GAP = 0.1
"""Between a rate and ``n_correct / n``: beyond it they are of different samples."""
_UNSET = NO_ANSWER + 1
"""In the matrix of answers: there is no row."""


def read_tables(folder: Path) -> tuple[dict[str, pl.DataFrame], list[str]]:
    """Read the tables of a tidy folder, by name and checked, and the warnings; ``responses`` wide, Int8 by item.

    ``items`` and one of ``group_rates`` and ``responses`` must be there.
    """
    if not folder.is_dir():
        raise MensuraError(f"{folder}: no folder; expected one with items.csv and group_rates.csv")
    tables = {"items": read_items(folder)}
    files = {stem: find_table(folder, stem) for stem in TABLES[1:]}
    if files["group_rates"] is None and files["responses"] is None:
        raise MensuraError(f"{folder}: neither group_rates nor responses (CSV or Parquet); a pool needs one of them")
    tables |= {stem: read_table(file) for stem, file in files.items() if file is not None}
    warnings: list[str] = []
    mentioned: list[pl.Series] = []
    if "persons" in tables:
        check_persons(tables["persons"], name=f"{folder}/persons")
    if "group_rates" in tables:
        tables["group_rates"], warnings = check_rates(tables["group_rates"], name=f"{folder}/group_rates")
        mentioned.append(tables["group_rates"]["item"])
    if "responses" in tables:
        tables["responses"] = widen(tables["responses"], tables["items"]["item"].to_list(), name=f"{folder}/responses")
        mentioned.append(pl.Series("item", tables["responses"].columns[1:], dtype=pl.String))
    for items in mentioned:
        tables["items"], added = _adopt(tables["items"], items)
        warnings += added
    return tables, warnings


def read_items(place: Path) -> pl.DataFrame:
    """Read the item table alone: that of a tidy folder, whether or not it has rates, or a file by its name."""
    if not place.exists():
        raise MensuraError(f"{place}: no such folder or file; expected a tidy folder with items.csv, or an items file")
    file = find_table(place, "items") if place.is_dir() else place
    if file is None:
        raise MensuraError(f"{place}: no items.csv or items.parquet; add one")
    return check_items(read_table(file), name=f"{place}/items" if place.is_dir() else str(place))


def _adopt(items: pl.DataFrame, mentioned: pl.Series) -> tuple[pl.DataFrame, list[str]]:
    """Give items that only the rates or answers mention a row of their own, with a warning."""
    unknown = mentioned.unique(maintain_order=True)
    unknown = unknown.filter(~unknown.is_in(items["item"].implode()))
    if unknown.is_empty():
        return items, []
    missing = f"{counted(unknown.len(), 'item')} without a row in the item table, so without a domain"
    warning = f"{missing}: {listed_names(unknown.to_list())}"
    return pl.concat([items, pl.DataFrame({"item": unknown})], how="diagonal"), [warning]


def widen(answers: pl.DataFrame, items: Sequence[str], *, name: str) -> pl.DataFrame:
    """Turn one row per answer into one row per person and one Int8 column per item (1, 0, null).

    Columns come in the order of ``items``, then those unknown to it; persons in order of appearance.
    """
    require_columns(answers, ["person", "item", "correct"], name=name)
    if answers.is_empty():
        raise MensuraError(f"{name}: no rows; add at least one answer")
    for column in ("person", "item"):
        if empty := answers[column].null_count():
            raise MensuraError(f"{name}: {empty} rows without {column}; fill in the column")
    values = _outcomes(answers, name)
    given = answers["item"].cast(pl.String)
    persons, named = answers["person"].unique(maintain_order=True), given.unique(maintain_order=True)
    present = pl.concat([pl.Series("item", items, dtype=pl.String), named]).unique(maintain_order=True)
    present = present.filter(present.is_in(named.implode()))
    matrix = np.full((present.len(), persons.len()), _UNSET, dtype=np.int8)
    matrix[_places(given, present), _places(answers["person"], persons)] = values
    if np.count_nonzero(matrix != _UNSET) != answers.height:
        twice = answers.filter(pl.struct("person", "item").is_duplicated()).row(0, named=True)
        raise MensuraError(
            f"{name}: person {twice['person']} answers item {twice['item']!r} more than once; keep one row"
        )
    columns = [pl.Series(item, row) for item, row in zip(present, matrix, strict=True)]
    return pl.DataFrame([persons, *(column.set(column >= NO_ANSWER, None) for column in columns)])


def _outcomes(answers: pl.DataFrame, name: str) -> np.ndarray:
    """Return 1, 0 or, for an empty field, NO_ANSWER; refuse anything else."""
    values = answers["correct"].cast(pl.Float64, strict=False)
    if row := first_row(answers.filter(answers["correct"].is_not_null() & ~values.is_in([0.0, 1.0]).fill_null(False))):
        raise MensuraError(
            f"{name}: column 'correct' must be 0, 1 or empty, got {row['correct']!r} "
            f"(person {row['person']}, item {row['item']!r}); "
            "score choices and points with `mensura people import`"
        )
    return values.fill_null(NO_ANSWER).cast(pl.Int8).to_numpy()


def _places(values: pl.Series, levels: pl.Series) -> np.ndarray:
    """Return the place of each value among the levels."""
    if levels.dtype == pl.String:
        return values.cast(pl.Enum(levels)).to_physical().to_numpy()
    lookup = pl.DataFrame({"level": levels, "place": np.arange(levels.len())})
    joined = pl.DataFrame({"level": values}).join(lookup, on="level", how="left", maintain_order="left")
    return joined["place"].to_numpy()


def check_items(items: pl.DataFrame, *, name: str) -> pl.DataFrame:
    """Return the item table with text ids and a ``domain``; ids must be there and differ."""
    require_columns(items, ["item"], name=name)
    items = items.with_columns(pl.col("item").cast(pl.String))
    _refuse_blank_or_twice(items["item"], name=name)
    if "domain" not in items.columns:
        items = items.with_columns(domain=pl.lit(None, dtype=pl.String))
    if "n_options" in items.columns:
        items = items.with_columns(pl.col("n_options").cast(pl.Int64, strict=False))
    if "needs_picture" in items.columns:
        items = items.with_columns(needs_picture=says_yes("needs_picture"))
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
    for sound, rule in (
        (pl.col("n") > 0, "n must be a number above 0"),
        (pl.col("rate").is_between(0, 1), "rate must lie between 0 and 1"),
        (pl.col("correct").is_between(0, pl.col("n")), "n_correct must lie between 0 and n"),
    ):
        _refuse(rates, ~sound.fill_null(False), name, rule)
    slack = 0.006 + 1 / pl.col("n")
    gap = (pl.col("rate") - pl.col("correct") / pl.col("n")).abs()
    _refuse(rates, gap > LARGEST_GAP, name, "rate and n_correct / n disagree")
    if weighted := rates.filter(gap > slack).height:
        warnings.append(f"{weighted} rates differ from n_correct / n, as weighted rates do; the rates are used")
    _refuse(rates, pl.struct("item", "covariate", "group").is_duplicated(), name, "an item has two rows for one group")
    spread = (pl.col("rate") * (1 - pl.col("rate")) / pl.col("n")).sqrt()
    rates = rates.with_columns(pl.coalesce("se", spread).alias("se"), pl.col("n", "correct").round().cast(pl.Int64))
    return rates.select(*RATE_COLUMNS, *[column for column in rates.columns if column not in RATE_COLUMNS]), warnings


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
