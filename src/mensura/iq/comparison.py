"""What changed between two scorings: which composites moved, and through which input."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from mensura.core.arguments import check_arguments
from mensura.core.arrays import just_above
from mensura.core.results import Result
from mensura.iq.dimensions import ESTIMATED, MEASURED, STATUSES
from mensura.iq.result import COUNTS, IqResult

_AVERAGED = list(STATUSES[MEASURED : ESTIMATED + 1])  # the others are estimated as a whole
_DIGITS = 4  # of a score in words


@dataclass(frozen=True, eq=False, repr=False)
class IqChange(Result):
    """Two scorings side by side.

    ``composites``: subject, before, after (not rounded), change; null where one side has no composite.
    ``inputs``: subject, dimension, benchmark, before, after, contribution (points of the composite), cause; the
    contributions of a model add up to its change. ``benchmark`` is null where a dimension moved as a whole.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("composites", "inputs")
    DIGITS: ClassVar[int] = 2

    composites: pl.DataFrame
    inputs: pl.DataFrame

    @property
    def heading(self) -> str:
        """How many composites moved."""
        return f"{self.shown.height} of {self.composites.height} composites moved"

    @property
    def shown(self) -> pl.DataFrame:
        """The composites that moved, furthest first."""
        return self.composites.filter(pl.col("change").abs() > just_above(0.0))


@check_arguments
def compare_iq(before: IqResult, after: IqResult) -> IqChange:
    """Compare two scorings: of two evidence versions, ladder sets, rules or sources.

    Parameters
    ----------
    before, after : IqResult
        The two scorings.

    Returns
    -------
    IqChange
        Which composites moved, and through which input.

    Examples
    --------
    >>> import mensura
    >>> evidence = mensura.load()
    >>> before = mensura.score_iq(evidence, method="published")
    >>> after = mensura.score_iq(evidence, method="published", weights={"mathematical-reasoning": 2.0})
    >>> change = mensura.compare_iq(before, after)
    >>> change.composites.columns
    ['subject', 'before', 'after', 'change']

    """
    exact = [before.exact, after.exact]
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


def _dimension_changes(before: IqResult, after: IqResult) -> pl.DataFrame:
    """Return one row per model and dimension of either side, with its share in the composite's change."""
    sides = []
    for result, suffix in ((before, ""), (after, "_after")):
        size = np.bincount(result.matrix.dimension_of)
        facts = pl.DataFrame({"dimension": result.matrix.dimensions, "weight": result.weights, "size": size})
        sides.append(
            result.dimensions.join(facts, on="dimension", maintain_order="left")
            .rename({name: name + suffix for name in ("iq", "status", "weight", "size")})
            .drop("low", "high", *COUNTS)
        )
    joined = sides[0].join(
        sides[1], on=["subject", "dimension"], how="full", coalesce=True, maintain_order="left_right"
    )
    share = (pl.col("iq_after") * pl.col("weight_after")).fill_null(0) - (pl.col("iq") * pl.col("weight")).fill_null(0)
    same_benchmarks = before.matrix.benchmarks == after.matrix.benchmarks
    averaged = (pl.col(name).is_in(_AVERAGED) for name in ("status", "status_after"))
    parts = pl.all_horizontal(pl.lit(same_benchmarks), *averaged, pl.col("weight") == pl.col("weight_after"))
    return joined.with_columns(share=share, by_benchmark=parts.fill_null(False))


def _by_benchmark(before: IqResult, after: IqResult, dimensions: pl.DataFrame) -> pl.DataFrame:
    keys = ["subject", "benchmark", "dimension"]
    columns = [*keys, "iq", "step", "score"]
    split = dimensions.filter("by_benchmark").select("subject", "dimension", "weight", "size")
    was, now = pl.col("step"), pl.col("step_after")
    score, later = (pl.col(name).round(_DIGITS).cast(pl.String) for name in ("score", "score_after"))
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
        .filter((pl.col("iq") - pl.col("iq_after")).abs() > just_above(0.0))
        .select(
            *("subject", "dimension", "benchmark"),
            before="iq",
            after="iq_after",
            contribution=(pl.col("iq_after") - pl.col("iq")) * pl.col("weight") / pl.col("size"),
            cause=cause,
        )
    )


def _as_whole(dimensions: pl.DataFrame) -> pl.DataFrame:
    moved = dimensions.filter(~pl.col("by_benchmark") & (pl.col("share").abs() > just_above(0.0)))
    was, now = (pl.col(name).fill_null("absent") for name in ("status", "status_after"))
    cause = pl.when(was == now).then(pl.format("dimension {}", was)).otherwise(pl.format("dimension {} → {}", was, now))
    return moved.select(
        *("subject", "dimension"),
        pl.lit(None, pl.String).alias("benchmark"),
        before="iq",
        after="iq_after",
        contribution="share",
        cause=cause,
    )
