"""What changed between two scorings: which composites moved, and through which input."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from mensura.frames import text_table
from mensura.iq.dimensions import COMPLETED, STATUSES
from mensura.iq.result import IqResult

_AVERAGED = list(STATUSES[1 : COMPLETED + 1])


@dataclass(frozen=True, repr=False)
class IqChange:
    """Two scorings side by side.

    ``composites``: subject, before, after (not rounded), change; null where one side has no composite.
    ``inputs``: subject, dimension, benchmark, before, after, contribution (points of the composite), cause; the
    contributions of a model add up to its change. ``benchmark`` is null where a dimension moved as a whole.
    """

    composites: pl.DataFrame
    inputs: pl.DataFrame

    def __str__(self) -> str:
        moved = self.composites.filter(pl.col("change").abs() > 0)
        return f"{moved.height} of {self.composites.height} composites moved\n{text_table(moved, digits=2)}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def _repr_html_(self) -> str:
        return self.composites._repr_html_()


def compare_iq(before: IqResult, after: IqResult) -> IqChange:
    """Compare two scorings: of two evidence versions, ladder sets, rules or sources."""
    exact = [_exact(result) for result in (before, after)]
    composites = (
        exact[0]
        .join(exact[1], on="subject", how="full", coalesce=True, maintain_order="right_left", suffix="_after")
        .select("subject", before="exact", after="exact_after", change=pl.col("exact_after") - pl.col("exact"))
        .sort(pl.col("change").abs(), descending=True, nulls_last=True, maintain_order=True)
    )
    moved = composites.filter(pl.col("change").is_not_null())["subject"]
    dimensions = _dimension_changes(before, after).filter(pl.col("subject").is_in(moved.to_list()))
    inputs = pl.concat([_by_benchmark(before, after, dimensions), _as_whole(dimensions)])
    return IqChange(composites, inputs.sort(pl.col("contribution").abs(), descending=True, maintain_order=True))


def _exact(result: IqResult) -> pl.DataFrame:
    values = pl.Series("exact", result.scored.composites[0], nan_to_null=True)
    return pl.DataFrame({"subject": result.field.subjects, "exact": values})


def _dimension_changes(before: IqResult, after: IqResult) -> pl.DataFrame:
    """Return one row per model and dimension of either side, with its share in the composite's change."""
    sides = []
    for result, suffix in ((before, ""), (after, "_after")):
        size = np.bincount(result.field.dimension_of)
        facts = pl.DataFrame({"dimension": result.field.dimensions, "weight": result.weights, "size": size})
        sides.append(
            result.dimensions.join(facts, on="dimension", maintain_order="left")
            .rename({name: name + suffix for name in ("iq", "status", "weight", "size")})
            .drop("low", "high")
        )
    joined = sides[0].join(
        sides[1], on=["subject", "dimension"], how="full", coalesce=True, maintain_order="left_right"
    )
    share = (pl.col("iq_after") * pl.col("weight_after")).fill_null(0) - (pl.col("iq") * pl.col("weight")).fill_null(0)
    same_benchmarks = before.field.benchmarks == after.field.benchmarks
    parts = (
        pl.lit(same_benchmarks)
        & pl.col("status").is_in(_AVERAGED)
        & pl.col("status_after").is_in(_AVERAGED)
        & (pl.col("weight") == pl.col("weight_after"))
    )
    return joined.with_columns(share=share, by_benchmark=parts.fill_null(False))


def _by_benchmark(before: IqResult, after: IqResult, dimensions: pl.DataFrame) -> pl.DataFrame:
    keys = ["subject", "benchmark", "dimension"]
    columns = [*keys, "iq", "step", "score"]
    split = dimensions.filter("by_benchmark").select("subject", "dimension", "weight", "size")
    was, now = pl.col("step"), pl.col("step_after")
    score, later = pl.col("score").round(4).cast(pl.String), pl.col("score_after").round(4).cast(pl.String)
    cause = (
        pl.when((was == "source") & (now == "source") & (pl.col("score") != pl.col("score_after")))
        .then(pl.format("score {} → {}", score, later))
        .when((was == "source") & (now == "source"))
        .then(pl.lit("ladder moved"))
        .when(now == "source")
        .then(pl.format("new score {}", later))
        .when(was == "source")
        .then(pl.format("score {} withdrawn, now by {}", score, now))
        .when(was != now)
        .then(pl.format("imputed by {} instead of {}", now, was))
        .otherwise(pl.format("imputed value moved ({})", now))
    )
    return (
        before.trail.select(columns)
        .join(after.trail.select(columns), on=keys, suffix="_after", maintain_order="left")
        .join(split, on=["subject", "dimension"], maintain_order="left")
        .filter(pl.col("iq") != pl.col("iq_after"))
        .select(
            *("subject", "dimension", "benchmark"),
            before="iq",
            after="iq_after",
            contribution=(pl.col("iq_after") - pl.col("iq")) * pl.col("weight") / pl.col("size"),
            cause=cause,
        )
    )


def _as_whole(dimensions: pl.DataFrame) -> pl.DataFrame:
    moved = dimensions.filter(~pl.col("by_benchmark") & (pl.col("share") != 0))
    cause = (
        pl.when(pl.col("status") == pl.col("status_after"))
        .then(pl.format("dimension {}", pl.col("status")))
        .otherwise(
            pl.format(
                "dimension {} → {}", pl.col("status").fill_null("absent"), pl.col("status_after").fill_null("absent")
            )
        )
    )
    return moved.select(
        *("subject", "dimension"),
        pl.lit(None, pl.String).alias("benchmark"),
        before="iq",
        after="iq_after",
        contribution="share",
        cause=cause,
    )
