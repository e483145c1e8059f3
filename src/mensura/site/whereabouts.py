"""Where one model stands: what its IQ rests on, neighbours, people it passed, its price, and what to measure next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.evidence import require_subject
from mensura.iq import COUNTS
from mensura.results import Result
from mensura.site.study import Study

NEIGHBOURS = 3
"""Models shown above and below."""
NEAR_IQ = 3.0
"""IQ points within which models count as equally good when prices are compared."""
_LEAST_SPREAD = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Whereabouts(Result):
    """One model beside the others and beside people.

    ``standing``: one row: IQ with interval and what it rests on, rank, capability with interval, prices.
    ``neighbours``: the models next to it by IQ, with the chance that it is above each. ``people``: the groups on tests
    it took, with the chance that it scores above them. ``dimensions``: strongest first. ``prices``: models about as
    good, cheapest first. ``next``: benchmarks not measured yet, by the share of the IQ's variance that measuring them
    would take away.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("standing", "neighbours", "people", "dimensions", "prices", "next")
    DIGITS: ClassVar[int] = 2

    name: str
    standing: pl.DataFrame
    neighbours: pl.DataFrame
    people: pl.DataFrame
    dimensions: pl.DataFrame
    prices: pl.DataFrame
    next: pl.DataFrame

    @property
    def heading(self) -> str:
        """The model in one sentence."""
        row = self.standing.row(0, named=True)
        if row["iq"] is None:
            return f"{self.name}: no IQ yet ({row['measured']} of {sum(row[c] for c in COUNTS)} benchmarks measured)"
        rests = f"{row['measured']} of {sum(row[c] for c in COUNTS)} benchmarks measured"
        place = f"rank {row['rank']} ({row['rank_low']} to {row['rank_high']})"
        ranked = place if row["rank"] is not None else "too little measured for a rank"
        return f"{self.name}: IQ {row['iq']} ({row['iq_low']:.0f} to {row['iq_high']:.0f}; {rests}), {ranked}"

    @property
    def shown(self) -> pl.DataFrame:
        """The models next to it."""
        return self.neighbours


def find_whereabouts(study: Study, subject: str) -> Whereabouts:
    """Say where a model of the study stands."""
    if subject not in study.evidence.models["subject"]:  # a name for people, or a near one
        subject = require_subject(study.evidence, subject)
    row = study.models.row(by_predicate=pl.col("subject") == subject, named=True)
    columns = [
        *("subject", "iq", "iq_low", "iq_high", *COUNTS, "status", "rank", "rank_low", "rank_high"),
        *("capability", "capability_low", "capability_high", "sticker_price", "effective_cost"),
    ]
    return Whereabouts(
        name=row["name"],
        standing=study.models.filter(pl.col("subject") == subject).select(columns),
        neighbours=_neighbours(study, subject),
        people=_people(study, subject),
        dimensions=_dimensions(study, subject),
        prices=_prices(study, row),
        next=_next(study, subject),
    )


def _neighbours(study: Study, subject: str) -> pl.DataFrame:
    """Return the models next to this one by IQ; those not ranked stay out, except the model itself."""
    listed = study.models.filter(pl.col("rank").is_not_null() | (pl.col("subject") == subject)).drop_nulls("iq")
    names = listed["subject"].to_list()
    if subject not in names:
        return pl.DataFrame(schema={"subject": pl.String, "iq": pl.Int64, "chance_above": pl.Float64})
    at = names.index(subject)
    near = listed.slice(max(0, at - NEIGHBOURS), min(at, NEIGHBOURS) + 1 + NEIGHBOURS)
    chances = [None if other == subject else study.iq.drawn.ahead(subject, other) for other in near["subject"]]
    return near.select("subject", "iq", "iq_low", "iq_high", "measured").with_columns(
        chance_above=pl.Series(chances, dtype=pl.Float64)
    )


def _people(study: Study, subject: str) -> pl.DataFrame:
    """Return the groups on tests that the model took, with the chance that its score is above theirs."""
    taken = study.evidence.primary_scores.filter(pl.col("subject") == subject)["benchmark"].to_list()
    tests = study.people.tests.filter(
        pl.col("benchmark").is_in(taken), pl.col("status").is_in(["measured", "judged", "panel"])
    )
    keys = tests.select("benchmark", "group").iter_rows()
    chances = [study.over_people[key].get(subject) for key in keys]
    return (
        tests.select("benchmark", "group", "status")
        .with_columns(chance_above=pl.Series(chances, dtype=pl.Float64))
        .sort("chance_above", descending=True, nulls_last=True)
    )


def _dimensions(study: Study, subject: str) -> pl.DataFrame:
    own = study.dimensions.filter(pl.col("subject") == subject)
    named = own.with_columns(dimension=pl.col("dimension").replace(study.dimension_names))
    return named.select("dimension", "iq", "low", "high", *COUNTS).sort("iq", descending=True)


def _prices(study: Study, row: dict[str, Any]) -> pl.DataFrame:
    """Return the ranked models within a few IQ points, cheapest first by list price."""
    if row["iq"] is None:
        return pl.DataFrame(schema={"subject": pl.String, "iq": pl.Int64, "sticker_price": pl.Float64})
    near = pl.col("rank").is_not_null() & ((pl.col("exact_iq") - row["exact_iq"]).abs() <= NEAR_IQ)
    listed = study.models.filter(near | (pl.col("subject") == row["subject"]))
    return listed.select("subject", "iq", "sticker_price", "effective_cost").sort("sticker_price", nulls_last=True)


def _next(study: Study, subject: str) -> pl.DataFrame:
    """Return what each unmeasured benchmark would tell: the squared correlation of its draws with the composite's.

    Draws come from one joint model, so that share of the composite's variance goes away once the benchmark is known.
    """
    schema = {"benchmark": pl.String, "name": pl.String, "variance_explained": pl.Float64}
    drawn, matrix = study.iq.drawn, study.iq.matrix
    at = drawn.subjects.index(subject) if subject in drawn.subjects else None
    if at is None or not np.isfinite(drawn.composites[:, at]).all():
        return pl.DataFrame(schema=schema)
    row = matrix.subjects.index(subject)
    values = drawn.benchmarks[:, at, :].astype(np.float64)
    asked = ~np.asarray(matrix.measured[row], dtype=bool) & np.isfinite(values).all(axis=0)
    composite = drawn.composites[:, at] - drawn.composites[:, at].mean()
    centred = values[:, asked] - values[:, asked].mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0) * (composite @ composite))
    told = spread > _LEAST_SPREAD
    shares = np.where(told, (composite @ centred) ** 2 / np.where(told, spread, 1.0) ** 2, 0.0)
    names = [name for name, unknown in zip(matrix.benchmarks, asked, strict=True) if unknown]
    rows = [(name, study.benchmark_names[name], float(share)) for name, share in zip(names, shares, strict=True)]
    return pl.DataFrame(rows, schema=schema, orient="row").sort("variance_explained", descending=True)
