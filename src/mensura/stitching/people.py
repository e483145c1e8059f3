"""People on the models' scale: where human groups stand, when the frontier passed them, who beats whom at what."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mensura.errors import MensuraError
from mensura.evidence import Evidence, load
from mensura.frames import text_table
from mensura.stitching.checks import position
from mensura.stitching.draws import Draws
from mensura.stitching.layout import Floats
from mensura.stitching.links import link
from mensura.stitching.place import place
from mensura.stitching.predict import expected_scores

if TYPE_CHECKING:
    from mensura.stitching.result import Stitch

ASSUMED_ERROR = 0.05
"""Standard error taken for a group's score where the source gives neither range nor number of people or items."""


@dataclass(frozen=True)
class People:
    """Human groups placed on a fit.

    ``table``: group, benchmarks, status, capability, low, high, passed, passed_low, passed_high (dates on which the
    best model so far came to stand above the group; null: not yet), probability (that it has been passed). ``draws``
    hold models and groups together, for ranks and comparisons.
    """

    fit: Stitch
    draws: Draws
    table: pl.DataFrame

    def __str__(self) -> str:
        return f"{self.table.height} human groups on the {self.fit.method} scale\n{text_table(self.table, rows=20)}"

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    def beats(self, model: str, group: str, benchmark: str) -> float:
        """Probability that ``model``'s expected score on ``benchmark`` exceeds that of ``group``."""
        rows = np.array([position(self.draws.subjects, name, "subject") for name in (model, group)])
        col = position(self.draws.names, benchmark, "benchmark")
        scores = expected_scores(self.fit.model, self.draws.positions, rows, np.array([col, col]))
        return float((scores[:, 0] > scores[:, 1]).mean())


def place_people(fit: Stitch, evidence: Any = None, *, seed: int = 0) -> People:  # noqa: ANN401
    """Place the human groups of the evidence (default: the embedded one) on a fit, without moving it.

    To let people move the fit, add :func:`people_scores` to the scores before stitching.
    """
    people = people_scores(evidence if isinstance(evidence, Evidence) else load())
    known = people.filter(pl.col("benchmark").is_in(list(fit.data.benchmarks)))
    if known.height == 0:
        raise MensuraError(
            "people: no human group was scored on a benchmark of this fit; "
            f"groups are known for {', '.join(people['benchmark'].unique().sort())}"
        )
    draws = place(fit, known, seed=seed)
    first = len(fit.data.subjects)
    groups = draws.subjects[first:]
    about = known.group_by("subject").agg(
        pl.col("benchmark").sort().str.join(", ").alias("benchmarks"), pl.col("status").unique().sort().str.join(", ")
    )
    table = (
        pl.DataFrame({"subject": groups})
        .join(about, on="subject", how="left")
        .join(draws.capabilities, on="subject", how="left")
        .hstack(_passed(fit, draws, first))
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
    p = (pl.col("score") * 20 + 1) / 22
    binomial = (p * (1 - p) / pl.coalesce("n", "items")).sqrt()
    ranged = (pl.col("high") - pl.col("low")) / (2 * 1.645)
    error = pl.when(pl.col("status") == "measured").then(pl.coalesce(ranged, binomial)).otherwise(ranged)
    return linked.join(items, on="benchmark", how="left").select(
        pl.col("group").alias("subject"), "benchmark", "score", error.fill_null(ASSUMED_ERROR).alias("stderr"), "status"
    )


def _passed(fit: Stitch, draws: Draws, first: int) -> pl.DataFrame:
    """When the running maximum of the dated models first exceeded each group, in every draw."""
    years = fit.data.years
    dated = np.flatnonzero(np.isfinite(years))
    dated = dated[np.argsort(years[dated], kind="stable")]
    groups = draws.positions.capability[:, first:]
    empty = np.full(groups.shape, np.inf)
    if dated.size:
        frontier = np.maximum.accumulate(draws.positions.capability[:, dated], axis=1)
        above = frontier[:, :, None] > groups[:, None]
        when = np.where(above.any(axis=1), years[dated][above.argmax(axis=1)], np.inf)
    else:
        when = empty
    middle, low, high = np.quantile(when, [0.5, 0.05, 0.95], axis=0, method="inverted_cdf")
    columns = {"passed": middle, "passed_low": low, "passed_high": high}
    dates = {name: [_date(year) for year in values] for name, values in columns.items()}
    probability = pl.Series("probability", np.isfinite(when).mean(axis=0))
    return pl.DataFrame(dates, schema=dict.fromkeys(dates, pl.Date)).with_columns(probability)


def _date(year: float | Floats) -> date | None:
    return date(1970, 1, 1) + timedelta(days=round((float(year) - 1970) * 365.2425)) if np.isfinite(year) else None
