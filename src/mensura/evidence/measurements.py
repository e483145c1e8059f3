"""Measurements behind the scores: one may be printed by several sources, rounded differently, and still is one."""

from __future__ import annotations

from math import log

import polars as pl

from mensura.core.arrays import just_above
from mensura.evidence.evidence import Evidence
from mensura.intake.figures import RATE_UNITS

_ELO_LOGIT = 400 / log(10)  # Elo points per logit of the expected win rate
_SPANS = {**RATE_UNITS, "index": 200.0, "elo": 4 * _ELO_LOGIT}
"""Points of a unit in which a rate rises from 0 to 1; of Elo as it rises at a rate of one half."""
_SAME = 0.1
"""Readings of one evaluator that lie this near (in points of 100) are one measurement, printed twice."""
_WHOLE = 0.5
"""A whole number stands for everything that rounds to it."""


def trials() -> pl.Expr:
    """Return how many tries stand behind a score of a benchmark, items × repeats: what its sampling error follows."""
    return (pl.col("items") * pl.col("repeats").fill_null(1)).alias("trials")


def with_tries(evidence: Evidence, scores: pl.DataFrame) -> pl.DataFrame:
    """Return scores with the column ``tries``: answers behind each, which its sampling error follows.

    They are as many as the score's own number of answers and its standard error tell, the fewer of the two, else the
    benchmark's items × repeats; null where nobody knows. A standard error of 0 tells nothing.
    """
    span = pl.col("source_unit").replace_strict(_SPANS, default=None)
    place = pl.when(pl.col("source_unit") == "index").then(0.5).otherwise(0.0)
    rate = pl.when(pl.col("source_unit") == "elo").then(0.5).otherwise(pl.col("source_score") / span + place)
    error = pl.when(pl.col("stderr") > 0).then(pl.col("stderr") / span)
    told = pl.max_horizontal(rate * (1 - rate) / error**2, 1 / error)
    items = evidence.benchmarks.select("benchmark", items_tried=trials())
    return (
        scores.join(items, on="benchmark", how="left", maintain_order="left")
        .with_columns(tries=pl.coalesce(pl.min_horizontal(told, "n"), "items_tried").cast(pl.Float64))
        .drop("items_tried")
    )


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
