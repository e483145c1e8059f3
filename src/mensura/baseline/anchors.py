"""Anchors: human rates on some items, which tie an estimate down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.intake.tables import as_frame, read_table

USUAL_N = 100
"""People behind an anchor that states no n."""
_TOO_FAR = 4.0  # standard errors between two rates of one item, from which they contradict each other


def read_anchors(source: Any) -> pl.DataFrame:  # noqa: ANN401
    """Return item, rate, n, population (null: of every population); refuse anchors that contradict each other.

    Several rates of one item that agree within sampling error become one.
    """
    name = str(source) if isinstance(source, str | Path) else "anchors"
    frame = read_table(Path(source)) if isinstance(source, str | Path) else as_frame(source, name=name)
    require_columns(frame, ["item", "rate"], name=name)
    columns = frame.columns
    table = frame.select(
        pl.col("item").cast(pl.String),
        pl.col("rate").cast(pl.Float64, strict=False),
        (
            pl.col("n").cast(pl.Float64, strict=False).fill_null(USUAL_N) if "n" in columns else pl.lit(float(USUAL_N))
        ).alias("n"),
        (pl.col("population").cast(pl.String) if "population" in columns else pl.lit(None, pl.String)).alias(
            "population"
        ),
    )
    wrong = table.filter(pl.col("rate").is_null() | ~pl.col("rate").is_between(0, 1) | ~(pl.col("n") > 0))
    if wrong.height:
        row = wrong.row(0, named=True)
        raise MensuraError(
            f"{name}, item {row['item']}: rate {row['rate']} with n {row['n']:g} is no anchor; expected a rate "
            "from 0 to 1 and n above 0. Correct the row"
        )
    return _merged(table, name)


def _merged(table: pl.DataFrame, name: str) -> pl.DataFrame:
    for (item, _), rows in table.group_by("item", "population", maintain_order=True):
        if rows.height > 1 and (gap := _gap(rows)) > _TOO_FAR:
            low, high = rows.sort("rate").row(0, named=True), rows.sort("rate").row(-1, named=True)
            raise MensuraError(
                f"{name}, item {item}: rates {low['rate']:g} (n {low['n']:g}) and {high['rate']:g} (n {high['n']:g}) "
                f"contradict each other ({gap:.0f} standard errors apart); expected one rate per item and population. "
                "Remove one, or name its population in a column"
            )
    return table.group_by("item", "population", maintain_order=True).agg(
        rate=(pl.col("rate") * pl.col("n")).sum() / pl.col("n").sum(), n=pl.col("n").sum()
    )


def _gap(rows: pl.DataFrame) -> float:
    ends = rows.sort("rate")
    low, high = ends.row(0, named=True), ends.row(-1, named=True)
    rate, n = rows["rate"].to_numpy(), rows["n"].to_numpy()
    pooled = float(np.clip(np.average(rate, weights=n), 0.01, 0.99))
    return float((high["rate"] - low["rate"]) / np.sqrt(pooled * (1 - pooled) * (1 / low["n"] + 1 / high["n"])))
