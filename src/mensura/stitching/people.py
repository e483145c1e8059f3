"""People on the models' scale: where human groups stand, and who beats whom at what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from mensura.errors import MensuraError
from mensura.evidence import Evidence, load
from mensura.results import Result
from mensura.stitching.checks import position
from mensura.stitching.draws import PositionDraws
from mensura.stitching.links import link
from mensura.stitching.place import place
from mensura.stitching.predict import expected_scores

if TYPE_CHECKING:
    from mensura.stitching.result import Stitch

RANGE_ERRORS = 2 * 1.645
"""Standard errors in a source's range, read as a central 90% interval of a normal distribution."""
PRIOR_TRIALS = 20
"""The rate behind a binomial error is drawn towards ½ by one success and one failure beside so many trials, so that a
perfect score still errs."""
ASSUMED_ERROR = 0.05
"""Standard error taken for a group's score where the source gives neither range nor number of people or items."""


@dataclass(frozen=True, eq=False, repr=False)
class People(Result):
    """Human groups placed on a fit.

    ``table``: group, benchmarks, status, capability, low, high. ``draws`` hold models and groups together, for
    ranks and comparisons; :func:`mensura.trends.mark_passed` says from them when the frontier passed each group.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("table",)

    fit: Stitch
    draws: PositionDraws
    table: pl.DataFrame

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        return f"{self.table.height} human groups on the {self.fit.method} scale"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Whether the fit or some placings did not arrive."""
        return self.fit.convergence.warnings + self.draws.warnings

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups, in the order of the draws, where they follow the models."""
        return self.draws.subjects[len(self.fit.data.subjects) :]

    def beats(self, model: str, group: str, benchmark: str) -> float:
        """Probability that ``model``'s expected score on ``benchmark`` exceeds that of ``group``."""
        rows = np.array([position(self.draws.subjects, name, "subject") for name in (model, group)])
        col = position(self.draws.names, benchmark, "benchmark")
        scores = expected_scores(self.fit.model, self.draws.positions, rows, np.array([col, col]))
        return float((scores[:, 0] > scores[:, 1]).mean())


def place_people(fit: Stitch, evidence: Evidence | None = None, *, seed: int = 0) -> People:
    """Place the human groups of the evidence (default: the embedded one) on a fit, without moving it.

    To let people move the fit, add :func:`people_scores` to the scores before stitching.
    """
    people = people_scores(load() if evidence is None else evidence)
    known = people.filter(pl.col("benchmark").is_in(list(fit.data.benchmarks)))
    if known.height == 0:
        raise MensuraError(
            "people: no human group was scored on a benchmark of this fit; "
            f"groups are known for {', '.join(people['benchmark'].unique().sort())}"
        )
    draws = place(fit, known, seed=seed)
    groups = draws.subjects[len(fit.data.subjects) :]
    about = known.group_by("subject").agg(
        pl.col("benchmark").sort().str.join(", ").alias("benchmarks"), pl.col("status").unique().sort().str.join(", ")
    )
    table = (
        pl.DataFrame({"subject": groups})
        .join(about, on="subject", how="left")
        .join(draws.capabilities, on="subject", how="left")
        .rename({"subject": "group"})
        .sort("capability", descending=True)
    )
    return People(fit, draws, table)


def people_scores(evidence: Evidence) -> pl.DataFrame:
    """Human references as a score table: subject (the group), benchmark, score, stderr, status.

    The standard error comes from the range the source gives (read as 90%), from the number of people, from the number
    of items, or is assumed (0.05). Groups by construction (guessing, a perfect score) are not people and stay out.
    """
    measured = evidence.human_references.filter(pl.col("status") != "constructed")
    linked = link(measured, evidence, "score", "low", "high")
    items = evidence.benchmarks.select("benchmark", "items")
    p = (pl.col("score") * PRIOR_TRIALS + 1) / (PRIOR_TRIALS + 2)
    binomial = (p * (1 - p) / pl.coalesce("n", "items")).sqrt()
    ranged = (pl.col("high") - pl.col("low")) / RANGE_ERRORS
    error = pl.when(pl.col("status") == "measured").then(pl.coalesce(ranged, binomial)).otherwise(ranged)
    return linked.join(items, on="benchmark", how="left").select(
        pl.col("group").alias("subject"), "benchmark", "score", error.fill_null(ASSUMED_ERROR).alias("stderr"), "status"
    )
