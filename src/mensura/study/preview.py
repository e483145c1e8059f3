"""What a change of the evidence does: which composites, ranks and capabilities move, and through which input."""

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from mensura.core.results import Result
from mensura.evidence import Evidence
from mensura.iq import IqResult, compare_iq, score_iq
from mensura.ledger import evidence_changes
from mensura.stitching import stitch

LEAST_IQ = 0.05
"""Points of composite IQ below which nothing counts as moved: half of the last digit shown."""
LEAST_CAPABILITY = 0.0025
"""The same for capabilities."""
SAMPLING = 0.6
"""Points of composite IQ that two scorings may differ by sampling alone: filled gaps are means of draws, so that each
scoring errs by about 0.15 (:data:`mensura.iq.joint.POINT_DRAWS`); three standard errors of a difference are 0.6."""
OWN = "its own scores"
_NUMBERS = (("rank", pl.Int64), ("published", pl.Float64))
_NAMED = 3  # benchmarks named as the way a capability moved
_SCORED = ("models", "benchmarks", "scores", "ladders")
"""Tables that instruments read; a change of another one moves no score."""
_SIDES = {f"{name}_{side}": kind for name, kind in _NUMBERS for side in ("before", "after")}
_MOVED = {"subject": pl.String, "before": pl.Float64, "after": pl.Float64, "change": pl.Float64}
_COMPOSITES = {**_MOVED, **_SIDES, "through": pl.String}
_INPUTS = {
    **dict.fromkeys(("subject", "dimension", "benchmark"), pl.String),
    **dict.fromkeys(("before", "after", "contribution"), pl.Float64),
    "cause": pl.String,
}
_CAPABILITIES = {**_MOVED, "through": pl.String}


@dataclass(frozen=True, eq=False, repr=False)
class Preview(Result):
    """Two versions of the evidence, scored side by side.

    ``cells``: table, row, field, old, new. ``composites``: subject, before, after, change, the published method's
    composites and the ranks on both sides, of models whose composite or rank moves, and ``through`` what: its own
    scores, estimates from others' scores, or only others' ranks or the sampling error of the estimates.
    ``inputs``: subject, dimension, benchmark, before, after, contribution (points of the composite), cause.
    ``capabilities``: subject, before, after, change, through (its own scores, or the joint fit).
    """

    TABLES: ClassVar[tuple[str, ...]] = ("cells", "composites", "inputs", "capabilities")

    cells: pl.DataFrame
    composites: pl.DataFrame
    inputs: pl.DataFrame
    capabilities: pl.DataFrame

    @property
    def heading(self) -> str:
        """How much moves."""
        ranks, capabilities = self.composites.height, self.capabilities.height
        return f"{self.cells.height} cells change; IQ or rank of {ranks} models moves, capability of {capabilities}"

    @property
    def shown(self) -> pl.DataFrame:
        """The composites that move."""
        return self.composites


def preview(before: Evidence, after: Evidence) -> Preview:
    """Score two versions of the evidence and say what moves between them; neither is changed."""
    cells = evidence_changes(before, after)
    if not cells["table"].is_in(_SCORED).any():
        return Preview(cells, *(pl.DataFrame(schema=schema) for schema in (_COMPOSITES, _INPUTS, _CAPABILITIES)))
    own, benchmarks = _changed_scores(cells)
    return Preview(cells, *_composites(before, after, own), _capabilities(before, after, own, benchmarks))


def _composites(before: Evidence, after: Evidence, own: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    old, new = (score_iq(evidence) for evidence in (before, after))
    change = compare_iq(old, new)
    joined = change.composites.join(_sides(old, "before"), on="subject", how="left", maintain_order="left").join(
        _sides(new, "after"), on="subject", how="left", maintain_order="left"
    )
    moved = pl.col("change").abs()
    by_rules = (pl.col("published_after") - pl.col("published_before")).abs() >= LEAST_IQ
    through = (
        pl.when(pl.col("before").is_null() | pl.col("after").is_null())
        .then(pl.lit("it gains or loses its composite"))
        .when(pl.col("subject").is_in(own) & (moved >= LEAST_IQ))
        .then(pl.lit(OWN))
        .when(by_rules | (moved >= SAMPLING))
        .then(pl.lit("estimates from others' scores"))
        .when(pl.col("rank_before").ne_missing(pl.col("rank_after")))
        .then(pl.lit("others' ranks, or sampling error"))
    )
    has_iq = pl.col("before").is_not_null() | pl.col("after").is_not_null()
    listed = joined.with_columns(through=through).filter(has_iq).drop_nulls("through").select(list(_COMPOSITES))
    order = pl.col("through").replace_strict({OWN: 0, "others' ranks, or sampling error": 2}, default=1)
    listed = listed.sort(order, moved, descending=[False, True], nulls_last=True, maintain_order=True)
    causes = change.inputs.filter(pl.col("subject").is_in(listed.filter(order < 2)["subject"].to_list()))
    return listed, causes.filter(pl.col("contribution").abs() >= LEAST_IQ / 10)


def _sides(result: IqResult, side: str) -> pl.DataFrame:
    """Return the rank and the published method's exact composite of every model, named by their side."""
    published = pl.Series(f"published_{side}", result.published, nan_to_null=True)
    subjects = pl.DataFrame({"subject": result.matrix.subjects}).with_columns(published)
    ranks = result.ranking.select("subject", pl.col("rank").alias(f"rank_{side}"))
    return subjects.join(ranks, on="subject", how="left", maintain_order="left")


def _changed_scores(cells: pl.DataFrame) -> tuple[list[str], list[str]]:
    """Return the models and the benchmarks of which a score changed."""
    keys = cells.filter(table="scores").select(key=pl.col("row").str.split(" · "))
    subjects, benchmarks = (keys.select(pl.col("key").list.get(place)).to_series().unique() for place in (0, 1))
    return subjects.to_list(), benchmarks.sort().to_list()


def _capabilities(before: Evidence, after: Evidence, own: list[str], benchmarks: list[str]) -> pl.DataFrame:
    old, new = (stitch(evidence).capabilities.select("subject", "capability") for evidence in (before, after))
    joined = old.join(new, on="subject", how="full", coalesce=True, maintain_order="right_left", suffix="_after")
    named = ", ".join(benchmarks[:_NAMED]) + (", …" if len(benchmarks) > _NAMED else "")
    fit = f"the joint fit of {named}" if benchmarks else "the joint fit"
    through = pl.when(pl.col("subject").is_in(own)).then(pl.lit(OWN)).otherwise(pl.lit(fit))
    return (
        joined.select(
            "subject",
            before="capability",
            after="capability_after",
            change=pl.col("capability_after") - pl.col("capability"),
            through=through,
        )
        .filter((pl.col("change").abs() >= LEAST_CAPABILITY) | pl.col("before").is_null().ne(pl.col("after").is_null()))
        .sort(pl.col("change").abs(), descending=True, nulls_last=True, maintain_order=True)
    )
