"""Where one model stands: what its IQ rests on, neighbours, people it passed, price, what to measure next.

What a score counts for: the IQ, the IQ of models with few scores, the capability, or nothing, and why.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from mensura.core.frames import sort_highest
from mensura.core.results import Result
from mensura.evidence import Evidence, require_subject
from mensura.iq.matrix import count_teachers
from mensura.iq.relatives import ENOUGH, TEACHERS
from mensura.iq.result import COUNTS
from mensura.scale.ranking import say_chance
from mensura.stitching.links import LINKED
from mensura.study.study import Study

NEIGHBOURS = 3
"""Models shown above and below."""
NEAR_IQ = 3.0
"""IQ points within which models count as equally good when prices are compared."""
_LEAST_SPREAD = 1e-9
_STANDING = [
    *("subject", "iq", "iq_low", "iq_high", *COUNTS, "status", "rank", "rank_low", "rank_high", "p_first"),
    *("capability", "capability_low", "capability_high", "sticker_price", "effective_cost"),
]


class Rows(NamedTuple):
    """A small table as plain rows: a report asks for several of each model, and a frame costs more than its rows.

    A row may hold more than the columns of the table: pages read the rest from it.
    """

    columns: tuple[str, ...]
    rows: list[dict[str, Any]]


@dataclass(frozen=True, eq=False, repr=False)
class Whereabouts(Result):
    """One model beside the others and beside people.

    Attributes
    ----------
    name
        The model's name.
    standing
        One row: IQ with interval and its base of scores, rank, capability with interval, prices.
    neighbours
        The models next to it by IQ, with the chance that it is above each.
    people
        The groups on tests it took, with the chance that it scores above them.
    dimensions
        Strongest first.
    prices
        Models about as good, cheapest first.
    next
        Benchmarks not measured yet, by the share of the IQ's variance that measuring them would take away.
    why_none, missing
        Why it has no IQ, and what a rank would need; empty where it has them.

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
    why_none: str  # why it has no IQ; empty where it has one
    missing: str  # what a rank would need; empty where it has one

    @property
    def heading(self) -> str:
        """The model in one sentence."""
        row = self.standing.row(0, named=True)
        if row["iq"] is None:
            return f"{self.name}: no IQ yet, since {self.why_none}"
        rests = f"{row['measured']} of {sum(row[c] for c in COUNTS)} benchmarks measured"
        ranked = f"too new to rank: it needs {self.missing}"
        if row["rank"] is not None:
            first = say_chance(row["p_first"])
            ranked = f"rank {row['rank']} ({row['rank_low']} to {row['rank_high']}; {first} chance of being first)"
        return f"{self.name}: IQ {row['iq']} ({row['iq_low']:.0f} to {row['iq_high']:.0f}; {rests}), {ranked}"

    @property
    def shown(self) -> pl.DataFrame:
        """The models next to it."""
        return self.neighbours


def find_whereabouts(study: Study, subject: str) -> Whereabouts:
    """Find where a model of a study stands.

    Parameters
    ----------
    study
        The study.
    subject
        The model's id, or a name that stands for one.

    Returns
    -------
    Whereabouts
        Its IQ, rank, neighbours, people, prices and what to measure next.

    Raises
    ------
    MensuraError
        If the model is not known.

    Examples
    --------
    >>> import mensura
    >>> from mensura.study import Study, find_whereabouts
    >>> find_whereabouts(Study.open(mensura.load()), "claude-opus-4.8").name  # doctest: +SKIP
    'Claude Opus 4.8'

    """
    subject = require_subject(study.evidence, subject)
    models, iq = study.models.schema, study.iq
    has = study.rows.by_subject[subject]["iq"] is not None
    return Whereabouts(
        why_none="" if has else iq.why_none(subject),
        missing=dict(study.too_new.select("subject", "missing").iter_rows()).get(subject, ""),
        name=study.rows.by_subject[subject]["name"],
        standing=study.models.filter(pl.col("subject") == subject).select(_STANDING),
        neighbours=_table(find_neighbours(study, subject), models, "chance_above"),
        people=_table(find_people(study, subject), study.people.tests.schema, "chance_above"),
        dimensions=_dimensions(study, subject),
        prices=_table(find_prices(study, subject), models),
        next=_table(find_next(study, subject), study.evidence.benchmarks.schema, "variance_explained"),
    )


def _table(listed: Rows, types: Mapping[str, pl.DataType], number: str = "") -> pl.DataFrame:
    """Return rows as a frame, its columns of the types they have where they come from."""
    schema = {name: pl.Float64() if name == number else types[name] for name in listed.columns}
    return pl.DataFrame(listed.rows, schema=schema, orient="row")


def find_neighbours(study: Study, subject: str) -> Rows:
    """Return the models next to this one by IQ; those not ranked stay out, except the model itself.

    A model that did no better than guessing has no chance to be above another.
    """
    columns = ("subject", "iq", "iq_low", "iq_high", "measured", "chance_above")
    own = study.rows.by_subject[subject]
    if own["iq"] is None:
        return Rows(columns, [])
    ranked = study.rows.ranked_rows
    higher = bisect_left(ranked, -own["exact_iq"], key=lambda row: -row["exact_iq"])
    equal = takewhile(lambda row: row is not own and row["exact_iq"] == own["exact_iq"], ranked[higher:])
    above = higher + len(list(equal))
    below = above + (above < len(ranked) and ranked[above] is own)
    near = [*ranked[max(0, above - NEIGHBOURS) : above], own, *ranked[below : below + NEIGHBOURS]]
    guesses = subject not in study.rows.beyond_guessing
    chances = [None if guesses or row is own else study.iq.drawn.ahead(subject, row["subject"]) for row in near]
    return Rows(columns, [{**row, "chance_above": chance} for row, chance in zip(near, chances, strict=True)])


def find_people(study: Study, subject: str) -> Rows:
    """Return the groups on tests that the model took, with the chance that its score is above theirs."""
    groups = [
        {**group, "chance_above": study.over_people[group["benchmark"], group["group"]].get(subject)}
        for group in study.rows.tested_people
        if group["benchmark"] in study.rows.printed_scores.get(subject, {})
    ]
    groups.sort(key=lambda row: (row["chance_above"] is None, -(row["chance_above"] or 0.0)))
    return Rows(("benchmark", "group", "status", "chance_above"), groups)


def _dimensions(study: Study, subject: str) -> pl.DataFrame:
    own = study.dimensions.filter(pl.col("subject") == subject)
    named = own.with_columns(dimension=pl.col("dimension").replace(study.dimension_names))
    return sort_highest(named.select("dimension", "iq", "low", "high", *COUNTS), "iq", "dimension")


def find_prices(study: Study, subject: str) -> Rows:
    """Return the ranked models within a few IQ points, cheapest first by list price."""
    columns = ("subject", "iq", "sticker_price", "effective_cost")
    own = study.rows.by_subject[subject]
    if own["exact_iq"] is None:
        return Rows(columns, [])

    def gap(row: dict[str, Any]) -> float:
        return float(own["exact_iq"] - row["exact_iq"])  # grows along the list

    ranked = study.rows.ranked_rows
    near = ranked[bisect_left(ranked, -NEAR_IQ, key=gap) : bisect_right(ranked, NEAR_IQ, key=gap)]
    if own["rank"] is None:
        near = sorted([*near, own], key=gap)
    return Rows(columns, sorted(near, key=lambda row: (row["sticker_price"] is None, row["sticker_price"] or 0.0)))


def find_next(study: Study, subject: str) -> Rows:
    """Return what each unmeasured benchmark would tell: the squared correlation of its draws with the composite's.

    Draws come from one joint model, so that share of the composite's variance goes away once the benchmark is known.
    """
    columns = ("benchmark", "name", "variance_explained")
    drawn, matrix = study.iq.drawn, study.iq.matrix
    at = drawn.places.get(subject)
    if at is None or not np.isfinite(drawn.composites[:, at]).all():
        return Rows(columns, [])
    values = drawn.benchmarks[:, at, :].astype(np.float64)
    asked = ~np.asarray(matrix.measured[at], dtype=bool) & np.isfinite(values).all(axis=0)
    composite = drawn.composites[:, at] - drawn.composites[:, at].mean()
    centred = values[:, asked] - values[:, asked].mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0) * (composite @ composite))
    varies = spread > _LEAST_SPREAD
    shares = np.where(varies, (composite @ centred) ** 2 / np.where(varies, spread, 1.0) ** 2, 0.0)
    names = [name for name, unknown in zip(matrix.benchmarks, asked, strict=True) if unknown]
    cells = zip(names, map(study.benchmark_names.__getitem__, names), shares.tolist(), strict=True)
    rows = [dict(zip(columns, row, strict=True)) for row in cells]
    return Rows(columns, sorted(rows, key=lambda row: -row["variance_explained"]))


# What a score counts for.

IQ, FEW, CAPABILITY, NEITHER = "IQ", "IQ (few scores)", "capability", "neither"
"""What a benchmark counts for; those that count for the IQ count for the capability too."""


def list_benchmarks(evidence: Evidence) -> pl.DataFrame:
    """List the benchmarks of an evidence and what each counts for.

    Parameters
    ----------
    evidence
        The evidence.

    Returns
    -------
    polars.DataFrame
        benchmark, name, counts_for, dimension, unit, models (with a score on it), newest (date of the newest score),
        because. Those of the IQ come first.

    Examples
    --------
    >>> import mensura
    >>> from mensura.study import list_benchmarks
    >>> list_benchmarks(mensura.load())["counts_for"][0]
    'IQ'

    """
    counted = evidence.primary_scores.group_by("benchmark").agg(pl.len().alias("models"), newest=pl.col("date").max())
    taught = count_teachers(evidence)
    benchmarks = evidence.benchmarks.join(counted, on="benchmark", how="left", maintain_order="left")
    benchmarks = benchmarks.with_columns(pl.col("models").fill_null(0).cast(pl.Int64))
    uses = [_use(row, taught.get(row["benchmark"])) for row in benchmarks.iter_rows(named=True)]
    order = {IQ: 0, FEW: 1, CAPABILITY: 2, NEITHER: 3}
    return (
        benchmarks.with_columns(
            pl.Series("counts_for", [use for use, _ in uses], dtype=pl.String),
            pl.Series("because", [why for _, why in uses], dtype=pl.String),
        )
        .sort(pl.col("counts_for").replace_strict(order, return_dtype=pl.Int64), maintain_order=True)
        .select("benchmark", "name", "counts_for", "dimension", "unit", "models", "newest", "because")
    )


def say_uses(evidence: Evidence, scores: pl.DataFrame) -> pl.DataFrame:
    """Say what each score counts for in an evidence that has it, and why.

    Parameters
    ----------
    evidence
        The evidence.
    scores
        subject, benchmark and other columns, which stay.

    Returns
    -------
    polars.DataFrame
        The scores with ``counts_for`` and ``because``.

    Examples
    --------
    >>> import mensura
    >>> from mensura.study import say_uses
    >>> evidence = mensura.load()
    >>> say_uses(evidence, evidence.scores.head(1)).columns[-2:]
    ['counts_for', 'because']

    """
    listed = list_benchmarks(evidence).select("benchmark", "counts_for", "because")
    part = evidence.benchmarks.filter("in_composite")["benchmark"].implode()
    own = evidence.primary_scores.filter(pl.col("benchmark").is_in(part)).group_by("subject").agg(own=pl.len())
    enough = (pl.col("counts_for") == FEW) & (pl.col("own") >= ENOUGH)
    reason = pl.lit("no part of the IQ, and its model has enough scores on tests that are")
    return (
        scores.join(listed, on="benchmark", how="left", maintain_order="left")
        .join(own, on="subject", how="left", maintain_order="left")
        .with_columns(
            counts_for=pl.when(enough).then(pl.lit(CAPABILITY)).otherwise("counts_for"),
            because=pl.when(enough).then(reason).otherwise("because"),
        )
        .drop("own")
    )


def _use(row: dict[str, object], taught: int | None) -> tuple[str, str]:
    """Say what one benchmark counts for; ``taught``: models through which it is read, None where it never is."""
    if row["in_composite"]:
        return IQ, f"part of {row['dimension']}"
    if row["unit"] not in LINKED:
        return NEITHER, f"no link from its unit ({row['unit']}) to a success rate is known"
    if taught is not None and taught >= TEACHERS:
        return FEW, f"no ladder; read through {taught} models while a model has fewer than {ENOUGH} scores of the IQ"
    if row["models"] == 1:
        return NEITHER, "only one model took it, so that it compares nobody"
    if taught is None:
        return CAPABILITY, f"a {row['kind']} test of {row['dimension'] or 'no dimension'}, never part of the IQ"
    return (
        CAPABILITY,
        f"no ladder; for the IQ {TEACHERS} models with {ENOUGH} of its scores must take it (now {taught})",
    )
