"""The trail behind every benchmark IQ: where it comes from, with its interval and error."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.iq.matrix import ScoreMatrix
from mensura.iq.waterfall import Filled


def trace_benchmarks(
    values: pl.DataFrame,
    matrix: ScoreMatrix,
    filled: Filled,
    errors: Floats,
    interval: tuple[Floats, Floats],
    scores: pl.DataFrame,
) -> pl.DataFrame:
    """Return the benchmark IQs ``values`` with interval, error and donor, and the score and source of each.

    ``errors`` are those of measured values and ``interval`` the bounds, models × benchmarks; ``scores`` the evidence's.
    """
    estimates = filled.iqs[0]
    there = ~np.isnan(estimates)
    error = np.where(matrix.measured, errors, filled.errors[0])
    donors = filled.donors[there]
    names = pl.Series([*matrix.subjects, None])
    sources = scores.select("subject", "benchmark", "score", "unit", "source", "date", "note")
    dimension = pl.Series(matrix.dimensions).gather(matrix.dimension_of)
    return (
        values.with_columns(
            low=pick_known(interval[0], estimates),
            high=pick_known(interval[1], estimates),
            error=error[there],
            donor=names.gather(np.where(donors < 0, len(names) - 1, donors)),
        )
        .join(pl.DataFrame({"benchmark": matrix.benchmarks, "dimension": dimension}), on="benchmark")
        .join(sources, on=["subject", "benchmark"], how="left", maintain_order="left")
    )


def gather_facts(dimensions: pl.DataFrame, trail: pl.DataFrame) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what is known of every dimension and benchmark of a model, by subject and its name."""
    facts: dict[tuple[str, str], dict[str, Any]] = {
        (row["subject"], row["dimension"]): row
        for row in dimensions.select("subject", "dimension", "low", "high").iter_rows(named=True)
    }
    told = trail.select("subject", "benchmark", "low", "high", "score", "unit", "source", "date")
    return facts | {(row["subject"], row["benchmark"]): row for row in told.iter_rows(named=True)}


def pick_known(values: Floats, where: Floats) -> pl.Series:
    """Return the values where ``where`` is known, in a row."""
    return pl.Series(values[~np.isnan(where)], nan_to_null=True)
