"""Read success rates by item: shares with their intervals, numbers of people and numbers of options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError
from mensura.intake.columns import read_columns

FEWEST_OPTIONS = 2
FIGURES = ("rate", "low", "high", "n", "options")
_SHARE = "a share from 0 to 1"


def read_rates(
    source: Any,  # noqa: ANN401
    *,
    name: str = "rates",
    needed: Sequence[str] = ("item", "rate"),
    figures: Sequence[str] = FIGURES,
    columns: Mapping[str, str] | None = None,
    one_pool: bool = True,
) -> pl.DataFrame:
    """Read rates by item from a table of any format or library.

    Parameters
    ----------
    source
        A table or path with item, rate and, where known, low, high (a 90% interval), n (people), options, pool. Of the
        items table of ``mensura baseline`` the rows of the world count.
    name
        The argument that messages name.
    needed
        Columns that must be there.
    figures
        Figures to read; other columns are passed over.
    columns
        The column of each field, where the user says it.
    one_pool
        Whether an item has one rate in the whole table; else one in each pool.

    Returns
    -------
    polars.DataFrame
        item, pool (null where the table has none) and ``figures``, null where unknown.

    Raises
    ------
    MensuraError
        If a column is missing, a figure is impossible, or an item has two rates.

    """
    name = str(source) if isinstance(source, str | Path) else name
    fields = [*dict.fromkeys((*needed, "item", "pool", *figures))]
    figures = [field for field in fields if field not in ("item", "pool")]
    frame = _of_the_world(read_columns(source, fields, name=name, needed=needed, columns=columns))
    frame = read_columns(frame, fields, name=name, needed=needed, numbers=figures)
    absent = [pl.lit(None, dtype=pl.Float64).alias(field) for field in figures if field not in frame.columns]
    if "pool" not in frame.columns:
        absent.append(pl.lit(None, dtype=pl.String).alias("pool"))
    frame = frame.with_columns(absent).select(pl.col("item", "pool").cast(pl.String), *figures)
    _refuse_wrong_figures(frame, name, figures)
    keys = ["item"] if one_pool else ["pool", "item"]
    twice = frame.filter(pl.struct(keys).is_duplicated())
    if twice.height:
        item = twice["item"][0]
        raise MensuraError(
            f"{name}: item {item!r} has {(twice['item'] == item).sum()} rates; give one row per item (one population, "
            "one estimate)"
        )
    return frame


def _of_the_world(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the world's rows of an items table of ``mensura baseline``; items without an estimate are left out."""
    if not {"population", "status", "rate"} <= set(frame.columns):
        return frame
    return frame.filter((pl.col("population") == "world") & pl.col("rate").is_not_null())


def _refuse_wrong_figures(frame: pl.DataFrame, name: str, figures: Sequence[str]) -> None:
    rules = {
        **{field: (pl.col(field).is_between(0, 1), _SHARE) for field in ("rate", "low", "high", "observed")},
        "n": (pl.col("n") > 0, "a number of people above 0"),
        "options": (pl.col("options") >= FEWEST_OPTIONS, "2 or more, empty if open"),
    }
    for field in figures:
        right, allowed = rules[field]
        wrong = frame.filter(~right)
        if wrong.height:
            more = f" ({wrong.height} such items)" if wrong.height > 1 else ""
            raise MensuraError(
                f"{name}: {field} of item {wrong['item'][0]!r} is {wrong[field][0]:g}; expected {allowed}{more}"
            )
    if "low" not in figures:
        return
    crossed = frame.filter((pl.col("low") > pl.col("rate")) | (pl.col("high") < pl.col("rate")))
    if crossed.height:
        item, low, rate, high = crossed.select("item", pl.col("low").fill_null(0.0), "rate", "high").row(0)
        raise MensuraError(
            f"{name}: item {item!r} has rate {rate:g} outside its interval {low:g} to {1.0 if high is None else high:g}"
            "; correct low, rate or high"
        )
