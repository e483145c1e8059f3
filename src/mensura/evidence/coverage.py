"""How far the evidence reaches: scores by benchmark, by dimension and by source, and how sources disagree."""

from __future__ import annotations

import polars as pl

from mensura.evidence.evidence import Evidence
from mensura.evidence.measurements import distinct_scores


def benchmark_coverage(evidence: Evidence) -> pl.DataFrame:
    """Return one row per benchmark: models with a score, first and last release among them, human groups."""
    released = evidence.models.select("subject", "released")
    counted = (
        evidence.primary_scores.join(released, on="subject")
        .group_by("benchmark")
        .agg(pl.len().alias("models"), pl.min("released").alias("first"), pl.max("released").alias("last"))
    )
    second = evidence.scores.filter(~pl.col("primary")).group_by("benchmark").agg(pl.len().alias("second_sources"))
    groups = evidence.human_references.group_by("benchmark").agg(pl.len().alias("human_groups"))
    return (
        evidence.benchmarks.select("benchmark", "dimension", "unit")
        .join(counted, on="benchmark", how="left", maintain_order="left")
        .join(second, on="benchmark", how="left", maintain_order="left")
        .join(groups, on="benchmark", how="left", maintain_order="left")
        .with_columns(pl.col("models", "second_sources", "human_groups").fill_null(0))
    )


def source_coverage(evidence: Evidence) -> pl.DataFrame:
    """Return one row per source: its scores, and how many of them are primary."""
    counted = evidence.scores.group_by("source").agg(pl.len().alias("scores"), pl.sum("primary").alias("primary"))
    named = evidence.sources.select("source", "name", "date", "kind")
    return named.join(counted, on="source", how="left", maintain_order="left").with_columns(
        pl.col("scores", "primary").fill_null(0)
    )


def source_disagreement(evidence: Evidence) -> pl.DataFrame:
    """Return one row per benchmark with second sources: how far they lie from the primary score, in its unit.

    A second printing of one measurement is no second source.
    """
    keys = ["subject", "benchmark"]
    primary = evidence.primary_scores.select(*keys, first="score")
    second = distinct_scores(evidence).filter(~pl.col("primary")).join(primary, on=keys)
    gap = (pl.col("score") - pl.col("first")).abs()
    return (
        second.group_by("benchmark")
        .agg(pl.len().alias("pairs"), gap.median().alias("median_gap"), gap.max().alias("largest_gap"))
        .join(evidence.benchmarks.select("benchmark", "unit"), on="benchmark")
        .sort("pairs", "benchmark", descending=[True, False])
    )
