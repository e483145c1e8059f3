"""Which subjects a trend is about: those with enough benchmarks, released late enough."""

from __future__ import annotations

from datetime import date
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.intake.tables import as_frame
from mensura.stitching import read_scores
from mensura.trends.capabilities import read_dates


def select_scores(scores: Any, *, since: date | None = None, fewest: int = 1) -> pl.DataFrame:  # noqa: ANN401
    """Return the scores of subjects with enough benchmarks (counted first) that were released late enough.

    Subjects without a date of release are left out, as published.
    """
    table = read_scores(as_frame(scores, name="scores"))
    require_columns(table, ["released"], name="scores")
    table = read_dates(table.drop_nulls("released"), name="scores")
    enough = table.filter(pl.col("benchmark").n_unique().over("subject") >= fewest)
    kept = enough if since is None else enough.filter(pl.col("released") >= since)
    if kept.is_empty():
        raise MensuraError(f"scores: no subject has {fewest} benchmarks and a release from {since} on; relax either")
    return kept
