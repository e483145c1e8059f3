"""Emotional reasoning (EQ): a diagnostic beside the composite, never part of it."""

from __future__ import annotations

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError
from mensura.evidence import Evidence
from mensura.iq.matrix import scores_of
from mensura.iq.rules import EmotionalRule


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
