"""The annotation sheet for people: one row per item, a column per dimension to fill in, a CSV out and back."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from mensura.demands.rubrics import load_rubrics
from mensura.demands.views import item_table, view_items


def annotation_sheet(
    pool: Any,  # noqa: ANN401
    *,
    rubrics: str | Path | None = None,
    dimensions: Iterable[str] | None = None,
) -> pl.DataFrame:
    """Return the empty sheet: item, text, options, key, scoring, annotator, a column per dimension, comment.

    People see what a language model sees. Filled in, :func:`mensura.demands.read_demands` reads it back; cells that
    stay empty are no readings.
    """
    codes = list(load_rubrics(rubrics, dimensions))
    views, _ = view_items(item_table(pool))
    rows = [(view.item, view.text, "\n".join(view.options), view.key, view.scoring) for view in views]
    seen = pl.DataFrame(rows, schema=["item", "text", "options", "key", "scoring"], orient="row")
    empty = [pl.lit(None, dtype=pl.String).alias(name) for name in ("annotator", *codes, "comment")]
    return seen.with_columns(empty)
