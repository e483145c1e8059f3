"""IQs on a scale that stands still: models of one edition keep their IQ, others are placed beside it one at a time.

The joint model that fills gaps is estimated from all scores together, so every score that is added moves every IQ a
little. On a frozen scale the models of an edition of the evidence have the IQs that this edition gives. Any other model
is scored beside that edition alone, without the other additions, and only its own row is kept: it moves nobody, nobody
who is added with it moves it, and two users who add different models read the same numbers for the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.cache import keep
from mensura.core.errors import MensuraError, listed_names
from mensura.core.frames import sort_highest
from mensura.core.results import Result
from mensura.evidence import Evidence, load
from mensura.evidence.store import FINGERPRINT_DIGITS, cells_of, fingerprint_of
from mensura.iq.result import IqResult
from mensura.iq.scoring import score_iq

IQ_SCALES = {"2026-12": "826a6ecfee7e"}
"""Frozen scales by name, with the fingerprint of the tables they are made of; those of one name never change."""
_TABLES = ("models", "benchmarks", "scores", "ladders")
_DESCENT = ("predecessor", "predecessor2")

Score = Callable[[Evidence], IqResult]
"""How an evidence is scored; with draws, so that there are intervals."""


@dataclass(frozen=True, eq=False, repr=False)
class FrozenIq(Result):
    """IQs on a frozen scale.

    Tables as those of :class:`IqResult`, with a column ``place``: "frozen" (as the edition has it) or "placed" (scored
    beside it). ``composites`` are sorted by ``exact``, the composite before rounding. ``draws`` holds each composite's.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("composites", "dimensions")
    DIGITS: ClassVar[int] = 1

    name: str
    composites: pl.DataFrame
    dimensions: pl.DataFrame
    draws: dict[str, Floats]

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        placed = self.composites.filter(place="placed").height
        return f"IQ on the frozen scale {self.name}: {self.composites.height} models, {placed} of them placed on it"

    @cached_property
    def ranked(self) -> pl.DataFrame:
        """The models with an IQ, best first."""
        return self.composites.drop_nulls("iq")

    def neighbours_of(self, subject: str, most: int = 3) -> pl.DataFrame:
        """Return the models next to one by IQ, and the chance that it is above each.

        Columns: subject, iq, low, high, measured, place, chance_above. What two models' errors share is not counted,
        so that a chance lies a little nearer to one half than in a common scoring.
        """
        names = self.ranked["subject"].to_list()
        if subject not in names:
            raise MensuraError(
                f"subject: {subject!r} has no IQ on the scale {self.name}, so it has no neighbours; choose a model "
                "with an IQ (mensura iq)"
            )
        at = names.index(subject)
        near = self.ranked.slice(max(0, at - most), min(at, most) + 1 + most)
        own = np.sort(self.draws[subject])
        chances = [
            None if other == subject else 1 - float(np.searchsorted(own, self.draws[other]).mean() / own.size)
            for other in near["subject"]
        ]
        return near.select("subject", "iq", "low", "high", "measured", "place").with_columns(
            chance_above=pl.Series(chances, dtype=pl.Float64)
        )


def place_iq(
    evidence: Evidence,
    score: Score,
    *,
    scale: str = "2026-12",
    only: Sequence[str] | None = None,
    advance: Callable[[], object] | None = None,
) -> FrozenIq:
    """Put the models of an evidence on a frozen scale; ``only`` these of the new ones.

    ``score`` scores an evidence, such as ``lambda evidence: score_iq(evidence, draws=1000)``; it is called for the
    edition and once for each model that the edition does not have. ``advance`` is called after each of those.
    """
    base = frozen_evidence(scale)
    new = [name for name in new_subjects(base, evidence) if only is None or name in only]
    entered = {name: beside(base, evidence, name) for name in new}  # one without a score is refused before any work
    frozen = score(base)
    parts = [_rows(frozen, base.models["subject"].to_list(), "frozen")]
    draws = _draws(frozen, base.models["subject"].to_list())
    for subject, one in entered.items():
        result = score(one)
        parts.append(_rows(result, [subject], "placed"))
        draws |= _draws(result, [subject])
        if advance is not None:
            advance()
    composites, dimensions = (pl.concat(tables) for tables in zip(*parts, strict=True))
    order = sort_highest(composites, "exact", "subject")
    return FrozenIq(scale, order, dimensions, draws)


def kept_scores(draws: int, seed: int = 0) -> Score:
    """Return how an evidence is scored with so many draws; what was scored once is kept (:mod:`mensura.core.cache`)."""

    def score(evidence: Evidence) -> IqResult:
        def compute() -> IqResult:
            result = score_iq(evidence, selected=(), draws=draws, seed=seed)  # as the scale was frozen
            _ = result.composites, result.dimensions, result.drawn  # kept with it
            return result

        return keep("iq-beside", evidence, {"draws": draws, "seed": seed}, compute)

    return score


def frozen_evidence(scale: str) -> Evidence:
    """Return the edition of the evidence that a frozen scale is made of."""
    if scale not in IQ_SCALES:
        raise MensuraError(f"scale: {scale!r} is not known; expected one of {', '.join(IQ_SCALES)}")
    base = load()
    tables = {name: table for name, table in base.tables().items() if name in _TABLES}
    if fingerprint_of(cells_of(tables))[:FINGERPRINT_DIGITS] != IQ_SCALES[scale]:
        raise MensuraError(
            f"scale: the embedded evidence is no longer that of {scale}; install the version of this package that "
            "has it (docs/citing.md), or choose a later scale"
        )
    return base


def new_subjects(base: Evidence, evidence: Evidence) -> list[str]:
    """Return the models of an evidence that an edition does not have, in their order."""
    return evidence.models.filter(~pl.col("subject").is_in(base.models["subject"].implode()))["subject"].to_list()


def beside(base: Evidence, evidence: Evidence, *subjects: str) -> Evidence:
    """Return an edition with more models: their scores on the edition's benchmarks, their predecessors if there."""
    mine = pl.col("subject").is_in(subjects)
    of_base = base.models["subject"].to_list()
    models = evidence.models.filter(mine).with_columns(
        pl.when(pl.col(name).is_in(of_base)).then(pl.col(name)).alias(name) for name in _DESCENT
    )
    scores = evidence.scores.filter(mine, pl.col("benchmark").is_in(base.benchmarks["benchmark"].implode()))
    without = sorted(set(subjects) - set(scores["subject"]))
    if without:
        tests = base.benchmarks["benchmark"].to_list()
        raise MensuraError(
            f"scores: {without[0]!r} has none on a benchmark of the scale; add a score on one of {listed_names(tests)}"
        )
    cited, there = (pl.col("source").is_in(table["source"].implode()) for table in (scores, base.sources))
    return replace(
        base,
        models=pl.concat([base.models, models]),
        scores=pl.concat([base.scores, scores]),
        sources=pl.concat([base.sources, evidence.sources.filter(cited & ~there)]),
        origin=" + ".join([base.origin, *subjects]),
    )


def _rows(result: IqResult, subjects: list[str], place: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows of some models, with the exact composites."""
    these = pl.col("subject").is_in(subjects)
    exact = result.composites.join(result.exact, on="subject", maintain_order="left").filter(these)
    return exact.with_columns(place=pl.lit(place)), result.dimensions.filter(these).with_columns(place=pl.lit(place))


def _draws(result: IqResult, subjects: list[str]) -> dict[str, Floats]:
    if not result.n_draws:
        raise MensuraError("draws: a frozen scale needs intervals; score with draws, such as 1000")
    places = {name: at for at, name in enumerate(result.drawn.subjects)}
    return {name: result.drawn.composites[:, places[name]] for name in subjects}
