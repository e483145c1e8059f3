"""The paper's language-model figures: errors beside ours where the test is of the same kind, and distances apart.

Its "calibration" tables hold no errors: they compare estimates for the world with the rates of the people tested, and
nobody knows the world's rates. Here they are distances, and stand in a table of their own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from mensura.evidence import load

if TYPE_CHECKING:
    from collections.abc import Mapping

COLUMNS = ("method", "origin", "n", "mae", "rmse", "pearson", "spearman", "correlations", "note")
_CALIBRATION = "calibration"
_NOTE = "other items, countries and years than here: orientation, no head-to-head"


def published_errors(validations: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the published rows whose truth was known: a whole sample's rates, predicted or taken over as they are.

    ``validations``: the evidence table, the packaged one when not given.
    """
    table = load().validations if validations is None else validations
    return table.filter(pl.col("task") != _CALIBRATION)


def published_distances(validations: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return pool, method, n, distance, rms_distance, pearson, spearman, source of the published world estimates.

    ``distance``: mean of |world estimate − rate of the people tested|, printed as MAE in the paper.
    """
    table = load().validations if validations is None else validations
    rows = table.filter(pl.col("task") == _CALIBRATION)
    return rows.drop("task").rename({"mae": "distance", "rmse": "rms_distance"})


def comparison(description: str, ours: Mapping[str, object], method: str, predictions: int) -> pl.DataFrame:
    """Return the paper's validation rows for this assessment and two rows of ours, in the form of its tables.

    Same kind: part-to-whole on ICAR, PISA or TIMSS from the description of the groups. ``ours``: the row of
    all groups of the overall table. The paper's models are scored over all predictions pooled, its baseline as
    a mean over groups; ours is given both ways. Empty where the paper has no such test.
    """
    test = re.search(r"(?<![a-z])(icar|pisa|timss)", description.lower())
    if test is None:
        return pl.DataFrame(schema=dict.fromkeys(COLUMNS, pl.String))
    rows = published_errors().filter(pl.col("pool") == test[1].upper())
    theirs = rows.select(
        "method",
        origin=pl.lit("paper"),
        n=pl.col("n").cast(pl.Float64),
        mae="mae",
        rmse="rmse",
        pearson="pearson",
        spearman="spearman",
        correlations=pl.when(pl.col("task") == "baseline").then(pl.lit("within")).otherwise(pl.lit("pooled")),
        note=pl.lit(_NOTE),
    )
    own = [
        {
            "method": method,
            "origin": "here",
            "n": float(predictions),
            "mae": ours["mae"],
            "rmse": ours["rmse"],
            "pearson": ours[f"pearson_{kind}"],
            "spearman": ours[f"spearman_{kind}"],
            "correlations": kind,
            "note": "mean over groups" if kind == "within" else "errors: mean over groups; correlations: all pairs",
        }
        for kind in ("pooled", "within")
    ]
    return pl.concat([pl.DataFrame(own, schema=theirs.schema), theirs])
