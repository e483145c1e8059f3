"""How far the evidence reaches: scores by benchmark, by dimension and by source, and how sources disagree."""

from __future__ import annotations

import polars as pl

from mensura.core.arrays import just_below
from mensura.evidence.evidence import Evidence
from mensura.evidence.measurements import distinct_scores
from mensura.intake.figures import RATE_UNITS


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


# Scores to look at again: a model far below the one it follows, where a version or a mode may have been mixed up.

FAR = 8.0
"""Points of 100 that a model must be below its predecessor; with the usual number of items sampling rarely gives so
many."""


def far_below_predecessor(evidence: Evidence) -> pl.DataFrame:
    """Return the primary scores that lie far below those of the model's predecessor on the same benchmark.

    A newer model of the same line and tier seldom loses so much. Often the two scores are of different versions of the
    test, or of different modes of the model. Columns subject, benchmark, score, predecessor, predecessor_score, widest
    difference first.
    """
    scores = evidence.scores.filter(pl.col("primary") & pl.col("unit").is_in(list(RATE_UNITS))).select(
        "subject", "benchmark", "score", points=pl.col("score") * 100 / pl.col("unit").replace_strict(RATE_UNITS)
    )
    models = evidence.models.select("subject", "line", "tier", "predecessor")
    alike = models.join(models, left_on="predecessor", right_on="subject", suffix="_before").filter(
        (pl.col("line") == pl.col("line_before")) & (pl.col("tier") >= pl.col("tier_before"))
    )
    before = scores.rename({"subject": "predecessor", "score": "predecessor_score", "points": "points_before"})
    pairs = alike.join(scores, on="subject").join(before, on=["predecessor", "benchmark"])
    lost = pl.col("points_before") - pl.col("points")
    found = pairs.filter(lost >= just_below(FAR)).sort(lost, "subject", descending=[True, False])
    return found.select("subject", "benchmark", "score", "predecessor", "predecessor_score")
