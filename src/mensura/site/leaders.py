"""The best model on each benchmark, beside the people who took the same test."""

from __future__ import annotations

import polars as pl

from mensura.evidence import Evidence


def leaders_beside_people(evidence: Evidence) -> pl.DataFrame:
    """Return one row per benchmark with a human reference: the leader, its score, and the best human group's.

    The human group is the highest-scoring one that was measured or estimated; ``human_status`` says which. A group
    that follows from the scoring rule (guessing, a perfect score by construction) is no group of people.
    """
    names = evidence.models.select("subject", "name", "released")
    best = (
        evidence.primary_scores.join(names, on="subject")
        .sort("benchmark", "score", "released", descending=[False, True, False])
        .unique("benchmark", keep="first", maintain_order=True)
        .select("benchmark", "unit", model="name", released="released", score="score", source="source")
    )
    people = (
        evidence.human_references.filter(pl.col("status") != "constructed")
        .sort("benchmark", "score", descending=[False, True])
        .unique("benchmark", keep="first", maintain_order=True)
        .select("benchmark", people="group", human_score="score", human_status="status")
    )
    named = evidence.benchmarks.select("benchmark", title="name")
    joined = named.join(best, on="benchmark", maintain_order="left").join(people, on="benchmark", maintain_order="left")
    gap = pl.col("score") - pl.col("human_score")
    ahead = pl.when(gap > 0).then(pl.lit("model")).when(gap < 0).then(pl.lit("people")).otherwise(pl.lit("level"))
    return joined.with_columns(ahead=ahead)
