"""Measurements behind the scores: one may be printed by several sources, rounded differently, and still is one."""

from __future__ import annotations

import polars as pl

from mensura.core.arrays import just_above
from mensura.evidence.evidence import Evidence
from mensura.intake.figures import RATE_UNITS

_SAME = 0.1
"""Readings of one evaluator that lie this near (in points of 100) are one measurement, printed twice."""
_WHOLE = 0.5
"""A whole number stands for everything that rounds to it."""


def trials() -> pl.Expr:
    """Return how many tries stand behind a score of a benchmark, items × repeats: what its sampling error follows."""
    return (pl.col("items") * pl.col("repeats").fill_null(1)).alias("trials")


def distinct_scores(evidence: Evidence) -> pl.DataFrame:
    """Return the scores without second readings of one measurement; the primary one, else the first, stays.

    A second reading: the same evaluator (of the source, or the upstream that the source's note names) and the same
    value but for rounding. Counted twice it would pass for agreement between sources.
    """
    rows = _with_evaluator(evidence).with_row_index("place").sort("primary", descending=True, maintain_order=True)
    rows = rows.with_row_index("turn")
    pairs = rows.join(rows, on=["subject", "benchmark", "evaluator"], suffix="_before").filter(
        (pl.col("turn_before") < pl.col("turn")) & _is_one_reading()
    )
    kept = rows.join(pairs.select("turn").unique(), on="turn", how="anti").sort("place")
    return kept.select(evidence.scores.columns)


def used_scores(evidence: Evidence) -> pl.DataFrame:
    """Return the distinct scores that count: those of a model on a test where none is primary are only on record."""
    counted = evidence.scores.filter("primary").select("subject", "benchmark")
    return distinct_scores(evidence).join(counted, on=["subject", "benchmark"], how="semi")


def _with_evaluator(evidence: Evidence) -> pl.DataFrame:
    upstream = pl.col("note").str.extract(r"^upstream: (.+)$")
    return (
        evidence.scores.join(
            evidence.sources.select("source", "evaluator"), on="source", how="left", maintain_order="left"
        )
        .with_columns(evaluator=pl.coalesce(upstream, "evaluator", "source"))
        .with_columns(points=pl.col("score") * 100 / pl.col("unit").replace_strict(RATE_UNITS, default=100.0))
    )


def _is_one_reading() -> pl.Expr:
    first, second = pl.col("points_before"), pl.col("points")
    whole = pl.min_horizontal((first - first.round()).abs(), (second - second.round()).abs()) <= just_above(0.0)
    return (first - second).abs() <= pl.when(whole).then(just_above(_WHOLE)).otherwise(just_above(_SAME))
