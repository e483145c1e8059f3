"""Scores to look at again: a model far below the one it follows, where a version or a mode may have been mixed up."""

from __future__ import annotations

import polars as pl

from mensura.core.arrays import just_below
from mensura.evidence.evidence import Evidence
from mensura.intake.figures import RATE_UNITS

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
