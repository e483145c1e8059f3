"""The tables of a pool, checked and in our columns: items, persons, rates of groups."""

from __future__ import annotations

import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.people.rates import RATE_COLUMNS

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
