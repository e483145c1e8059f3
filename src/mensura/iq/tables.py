"""Tables of a result: the trail behind every benchmark IQ, and emotional reasoning (EQ), in no composite."""

from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.evidence import Evidence
from mensura.iq.matrix import ScoreMatrix, scores_of
from mensura.iq.rules import EmotionalRule
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
    scores = trail.select("subject", "benchmark", "low", "high", "score", "unit", "source", "date")
    return facts | {(row["subject"], row["benchmark"]): row for row in scores.iter_rows(named=True)}


def pick_known(values: Floats, where: Floats) -> pl.Series:
    """Return the values where ``where`` is known, in a row."""
    return pl.Series(values[~np.isnan(where)], nan_to_null=True)


def score_emotional(evidence: Evidence, rule: EmotionalRule, source: str | None = None) -> pl.DataFrame:
    """Return one row per model with a component: its EQ, the number of components, and each component's EQ.

    Scores are mapped by linear interpolation along the published curve and held at its ends. The adjusted component
    loses its points before the curve, for models of the named provider only. With fewer components than the rule asks
    for the EQ is null.
    """
    models = evidence.models.select("subject", "provider")
    shift = pl.when((pl.col("benchmark") == rule.adjusted) & (pl.col("provider") == rule.provider))
    scores = (
        scores_of(evidence, source)
        .join(models, on="subject")
        .with_columns(pl.col("score") + shift.then(rule.adjustment).otherwise(0.0))
    )
    table, curves = models.select("subject"), []
    for curve in evidence.eq_ladders.sort("score").partition_by("benchmark", maintain_order=True):
        name = curve["benchmark"][0]
        if curve["eq"].diff().drop_nulls().le(0).any():
            raise MensuraError(f"eq_ladders.csv, {name}: expected a rising curve, got {curve['eq'].to_list()}")
        own = scores.filter(pl.col("benchmark") == name)
        values = np.interp(own["score"].to_numpy(), curve["score"].to_numpy(), curve["eq"].to_numpy())
        part = pl.DataFrame({"subject": own["subject"], name: values})
        table = table.join(part, on="subject", how="left", maintain_order="left")
        curves.append(name)
    count = pl.sum_horizontal(pl.col(curves).is_not_null()).cast(pl.Int64)
    mean = pl.when(count >= rule.minimum).then(pl.mean_horizontal(*curves))
    return table.select("subject", mean.alias("eq"), count.alias("components"), *curves).filter(
        pl.col("components") > 0
    )
