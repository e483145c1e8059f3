"""Scores as the fits take them: read, checked, encoded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from mensura.errors import MensuraError
from mensura.frames import as_frame, require_columns
from mensura.stitching.layout import Floats, Layout

Duplicates = Literal["max", "mean", "all"]
DUPLICATES: tuple[Duplicates, ...] = ("max", "mean", "all")


@dataclass(frozen=True)
class ScoreSet:
    """Checked scores, one per subject and benchmark, sorted by subject; ``counts`` tells how many rows made each."""

    subjects: tuple[str, ...]
    benchmarks: tuple[str, ...]
    layout: Layout
    y: Floats
    counts: Floats

    def subject_index(self) -> dict[str, int]:
        """Position of every subject."""
        return {name: i for i, name in enumerate(self.subjects)}

    def benchmark_index(self) -> dict[str, int]:
        """Position of every benchmark."""
        return {name: i for i, name in enumerate(self.benchmarks)}


def read_scores(table: Any, *, name: str = "scores") -> pl.DataFrame:  # noqa: ANN401
    """Return a table with ``subject``, ``benchmark``, ``score`` (and what else it had), or say what is wrong with it."""
    frame = as_frame(table, name=name)
    if "subject" not in frame.columns and "model" in frame.columns:
        frame = frame.rename({"model": "subject"})
    require_columns(frame, ["subject", "benchmark", "score"], name=name)
    if frame.height == 0:
        raise MensuraError(f"{name}: no rows; one row per subject, benchmark and score is expected")
    frame = frame.with_columns(pl.col("subject").cast(pl.String), pl.col("benchmark").cast(pl.String))
    for column in ("subject", "benchmark"):
        if empty := frame.filter(pl.col(column).is_null() | (pl.col(column) == "")).height:
            raise MensuraError(f"{name}: {empty} rows have no {column}; fill it in or drop those rows")
    return _check_range(_numeric(frame, name), name)


def _numeric(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    if frame["score"].dtype.is_numeric() or frame["score"].dtype == pl.Boolean:
        return frame.with_columns(pl.col("score").cast(pl.Float64))
    cast = frame["score"].cast(pl.Float64, strict=False)
    bad = frame.filter(cast.is_null() & frame["score"].is_not_null())
    if bad.height:
        raise MensuraError(f"{name}: {bad.height} scores are not numbers, the first is {bad['score'][0]!r}")
    return frame.with_columns(cast.alias("score"))


def _check_range(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    bad = frame.filter(pl.col("score").is_null() | ~pl.col("score").is_finite())
    if bad.height:
        where = ", ".join(f"{row['subject']} on {row['benchmark']}" for row in bad.head(3).to_dicts())
        raise MensuraError(
            f"{name}: {bad.height} scores are missing or not finite ({where}); drop those rows"
        )
    out = frame.filter((pl.col("score") < 0) | (pl.col("score") > 1))
    if out.height:
        where = ", ".join(
            f"{row['subject']} on {row['benchmark']}: {row['score']:g}" for row in out.head(3).to_dicts()
        )
        advice = "divide percentages by 100" if out["score"].max() > 1.5 else "correct or drop them"  # type: ignore[operator]
        raise MensuraError(f"{name}: {out.height} scores lie outside [0, 1] ({where}); {advice}")
    return frame


def encode(frame: pl.DataFrame, duplicates: Duplicates) -> ScoreSet:
    """Merge duplicates by the stated policy and index subjects and benchmarks by name.

    ``max`` (as published) and ``mean`` give one score of weight one; ``all`` keeps the weight of every row: for least
    squares, k scores of one cell are their mean with weight k.
    """
    if duplicates not in DUPLICATES:
        raise MensuraError(f"duplicates: {duplicates!r} is not known; choose one of {', '.join(DUPLICATES)}")
    score = pl.col("score").max() if duplicates == "max" else pl.col("score").mean()
    merged = (
        frame.group_by("subject", "benchmark")
        .agg(score, pl.len().alias("count"))
        .sort("subject", "benchmark")
    )
    subjects, benchmarks = merged["subject"].unique().sort(), merged["benchmark"].unique().sort()
    rows = subjects.search_sorted(merged["subject"]).to_numpy()
    cols = benchmarks.search_sorted(merged["benchmark"]).to_numpy()
    counts = merged["count"].to_numpy().astype(float) if duplicates == "all" else np.ones(merged.height)
    layout = Layout.of(rows, cols)
    return ScoreSet(
        tuple(subjects), tuple(benchmarks), layout, merged["score"].to_numpy().astype(float), counts
    )
