"""IQs on a scale that stands still: models of one edition keep their IQ, others are placed beside it one at a time.

The joint model that fills gaps is estimated from all scores together, so every score that is added moves every IQ a
little. On a frozen scale the models of an edition of the evidence have the IQs that this edition gives. Any other model
is scored beside that edition alone, without the other additions, and only its own row is kept: it moves nobody, nobody
who is added with it moves it, and two users who add different models read the same numbers for the rest.

The result is a whole scoring: the arrays of the edition's are continued by those of each placed model. Ranks stand
still too: a placed model's rank is one more than the number of ranked models of the edition above it, so that two
placed models may share one.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import just_above
from mensura.core.errors import MensuraError, listed_names
from mensura.core.frames import sort_highest
from mensura.core.results import set_computed
from mensura.evidence import Evidence, load
from mensura.evidence.store import FINGERPRINT_DIGITS, cells_of, fingerprint_of
from mensura.iq.dimensions import ScoredDimensions
from mensura.iq.matrix import build_matrix
from mensura.iq.result import IqResult
from mensura.iq.same_gaps import GapCorrection
from mensura.iq.scoring import Score
from mensura.iq.uncertainty import IqDraws
from mensura.iq.waterfall import Filled
from mensura.scale.ranking import rank_interval

IQ_SCALES = {"2026-12": "826a6ecfee7e"}
"""Frozen scales by name, with the fingerprint of the tables they are made of; those of one name never change."""
_TABLES = ("models", "benchmarks", "scores", "ladders")
_DESCENT = ("predecessor", "predecessor2")

_KEPT = ("ladders", "source", "rules", "weights", "n_draws", "seed", "begun")
_DRAWN = ("composites", "dimensions", "benchmarks", "below", "above")
Placed = dict[str, IqResult]
"""Models by name, each with the scoring in which it stands beside the edition."""


@dataclass(frozen=True, eq=False, repr=False)
class FrozenIq(IqResult):
    """IQs on a frozen scale, with everything a scoring has; ``edition`` is the scoring of the scale's own models.

    What two models' errors share is counted between models of the edition only.
    """

    scale: str
    edition: IqResult

    def rank(self, least: float | None = None) -> pl.DataFrame:
        """Rank the edition's models among themselves, and each placed one among them (see :meth:`IqResult.rank`)."""
        standing = self.edition.rank(least)
        ranked, exact = self.ranked_by(least), self.scored.composites[0]
        drawn = self.drawn.composites[:, [self.edition.matrix.row(name) for name in standing["subject"]]]
        rows, first = [], len(self.edition.matrix.subjects)
        for row in first + np.flatnonzero(ranked[first:]):
            rank = 1 + int((standing["exact"] > just_above(float(exact[row]))).sum())
            above = (drawn > self.drawn.composites[:, [row]]).sum(axis=1)
            low, high = (int(end[0]) for end in rank_interval(1.0 + above[:, None]))
            ends = min(low, rank), max(high, rank), float((above == 0).mean())
            rows.append((rank, self.matrix.subjects[row], exact[row], *ends, int(self.matrix.measured[row].sum())))
        placed = pl.DataFrame(rows, schema=standing.schema, orient="row")
        return pl.concat([standing, placed]).sort("exact", descending=True, maintain_order=True)

    @property
    def placed(self) -> tuple[str, ...]:
        """The models that the edition does not have."""
        return self.matrix.subjects[len(self.edition.matrix.subjects) :]

    @cached_property
    def standing(self) -> pl.DataFrame:
        """The composites, highest first, with ``exact`` (not rounded) and ``place``: "frozen" or "placed"."""
        exact = self.mark_places(self.composites.join(self.exact, on="subject", maintain_order="left"))
        return sort_highest(exact, "exact", "subject")

    def mark_places(self, table: pl.DataFrame) -> pl.DataFrame:
        """Add the column ``place``: "frozen" (as the edition has it) or "placed" (scored beside it)."""
        is_placed = pl.col("subject").is_in(self.placed)
        return table.with_columns(place=pl.when(is_placed).then(pl.lit("placed")).otherwise(pl.lit("frozen")))

    def neighbours_of(self, subject: str, most: int = 3) -> pl.DataFrame:
        """Return the models next to one by IQ, and the chance that it is above each.

        Columns: subject, iq, low, high, measured, place, chance_above. Errors that two models share do not count, so
        a chance is a little nearer to one half than in a common scoring.
        """
        ranked = self.standing.drop_nulls("iq")
        names = ranked["subject"].to_list()
        if subject not in names:
            raise MensuraError(
                f"subject: {subject!r} has no IQ on the scale {self.scale}, so it has no neighbours; choose a model "
                "with an IQ (mensura iq)"
            )
        at = names.index(subject)
        near = ranked.slice(max(0, at - most), min(at, most) + 1 + most)
        draws = {name: self.drawn.composites[:, self.drawn.places[name]] for name in near["subject"]}
        own = np.sort(draws[subject])
        chances = [
            None if other == subject else 1 - float(np.searchsorted(own, draws[other]).mean() / own.size)
            for other in near["subject"]
        ]
        return near.select("subject", "iq", "low", "high", "measured", "place").with_columns(
            chance_above=pl.Series(chances, dtype=pl.Float64)
        )

    @property
    def settings(self) -> dict[str, object]:
        """Everything the composites depend on, the frozen scale among it."""
        return {**super().settings, "scale": self.scale}

    @property
    def heading(self) -> str:
        """How many models stand on which scale, and how many were placed."""
        placed = f"{len(self.placed)} of them placed on it"
        return f"IQ of {self.ranking.height} ranked models on the frozen scale {self.scale}, {placed}"


def place_iq(
    evidence: Evidence,
    score: Score,
    *,
    scale: str = "2026-12",
    only: Sequence[str] | None = None,
    advance: Callable[[], object] | None = None,
) -> FrozenIq:
    """Put the models of an evidence on a frozen scale.

    Parameters
    ----------
    evidence : Evidence
        The models; those that the edition of the scale has keep their IQ.
    score : callable
        Scores an evidence with draws, as :func:`kept_scores` returns it. It is called for the edition and once for
        each model that the edition does not have.
    scale : str
        Name of a scale (:data:`IQ_SCALES`).
    only : list of str, optional
        Place only these of the new models.
    advance : callable, optional
        Called after each model that is placed.

    Returns
    -------
    FrozenIq
        A whole scoring, with ``standing`` and ``neighbours_of``.

    Raises
    ------
    MensuraError
        If the scale is unknown, or a new model has no score on a benchmark of it.

    Examples
    --------
    >>> import mensura
    >>> from mensura.iq import kept_scores, place_iq
    >>> placed = place_iq(mensura.load(), kept_scores(draws=20))
    >>> placed.placed
    ()

    """
    base = frozen_evidence(scale)
    new = [name for name in new_subjects(base, evidence) if only is None or name in only]
    together, edition = _together(evidence, base, new, scale), score(base)
    if not edition.n_draws:
        raise MensuraError("draws: a frozen scale needs intervals; score with draws, such as 1000")
    placed: Placed = {}
    draws = [edition.drawn]
    for subject in new:
        scored = score(beside(base, evidence, subject))
        draws.append(_own_draws(scored.drawn, subject))
        placed[subject] = replace(scored)  # without all that it found on the way: there may be many
        if advance is not None:
            advance()
    parts: dict[str, Any] = {name: getattr(edition, name) for name in _KEPT}
    laid = build_matrix(together, edition.rules, ladders=edition.ladders, source=edition.source)
    matrix = replace(laid, ladders=edition.matrix.ladders, metrics=edition.matrix.metrics)  # a new scoring moves them
    parts |= {"matrix": matrix, "filled": _filled(edition, placed)}
    parts |= {"scored": _scored(edition, placed), "published": _rows(edition, placed, "published")}
    whole = FrozenIq(evidence=together, **parts, scale=scale, edition=edition)
    drawn = IqDraws(
        (*edition.matrix.subjects, *placed),
        *(np.concatenate([getattr(part, name) for part in draws], axis=1) for name in _DRAWN),
    )
    return set_computed(whole, drawn=drawn, errors=_rows(edition, placed, "errors"))


def frozen_evidence(scale: str) -> Evidence:
    """Return the edition of the evidence that a frozen scale is made of.

    Parameters
    ----------
    scale : str
        Name of a scale (:data:`IQ_SCALES`).

    Returns
    -------
    Evidence
        The embedded evidence, if it is that of the scale.

    Examples
    --------
    >>> from mensura.iq import frozen_evidence
    >>> frozen_evidence("2026-12").edition["edition"]
    '2026-12'

    """
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


def _together(evidence: Evidence, base: Evidence, new: Sequence[str], scale: str) -> Evidence:
    """Return the edition of a scale with some models of an evidence; a warning says which scores stay out."""
    together = beside(base, evidence, *new)
    origin = f"{evidence.origin}, on the frozen scale {scale}"
    return replace(together, origin=origin, warnings=(*evidence.warnings, *left_out(evidence, scale)))


def left_out(evidence: Evidence, scale: str) -> tuple[str, ...]:
    """Say which scores of an evidence stay out of a frozen scale.

    Parameters
    ----------
    evidence : Evidence
        The scores.
    scale : str
        Name of a scale (:data:`IQ_SCALES`).

    Returns
    -------
    tuple of str
        A sentence for the scores of models that keep their place, and one for those on other benchmarks.

    Examples
    --------
    >>> import mensura
    >>> from mensura.iq import left_out
    >>> left_out(mensura.load(), "2026-12")
    ()

    """
    base = frozen_evidence(scale)
    of_edition = pl.col("subject").is_in(base.models["subject"].implode())
    on_scale = pl.col("benchmark").is_in(base.benchmarks["benchmark"].implode())
    cells = ["subject", "benchmark", "source", "score"]
    added = evidence.scores.filter(of_edition).join(base.scores, on=cells, how="anti", nulls_equal=True).height
    elsewhere = evidence.scores.filter(~of_edition & ~on_scale).height
    reasons = {"of models that keep their place on it": added, "on benchmarks it does not have": elsewhere}
    return tuple(
        f"{count} {'score stays' if count == 1 else 'scores stay'} out of the frozen scale: {why}"
        for why, count in reasons.items()
        if count
    )


def _rows(edition: IqResult, placed: Placed, name: str, axis: int = 0) -> Any:
    """Continue an array of the edition's scoring by the row of each placed model in its own; ``axis``: the models'."""
    part = attrgetter(name)
    own = [np.take(part(result), [result.matrix.row(subject)], axis=axis) for subject, result in placed.items()]
    return np.concatenate([part(edition), *own], axis=axis)


def _filled(edition: IqResult, placed: Placed) -> Filled:
    axes = {"iqs": 1, "errors": 1, "steps": 0, "donors": 0}
    arrays = {name: _rows(edition, placed, f"filled.{name}", axis) for name, axis in axes.items()}
    correction = None
    if edition.filled.correction is not None:
        parts = [_rows(edition, placed, f"filled.correction.{part.name}") for part in fields(GapCorrection)]
        correction = GapCorrection(*parts)
    return replace(edition.filled, **arrays, correction=correction)


def _scored(edition: IqResult, placed: Placed) -> ScoredDimensions:
    axes = {"dimensions": 1, "composites": 1, "own": 1, "statuses": 0, "scored": 0}
    return ScoredDimensions(**{name: _rows(edition, placed, f"scored.{name}", axis) for name, axis in axes.items()})


def _own_draws(drawn: IqDraws, subject: str) -> IqDraws:
    """Return the draws of one placed model, in an order that depends on nothing but its name.

    Every placing draws the same random numbers for its last row; left in their order, the draws of two placed models
    would rise and fall together.
    """
    seed = int.from_bytes(hashlib.sha256(subject.encode()).digest()[:8], "big")
    order, row = np.random.default_rng(seed).permutation(len(drawn.composites)), drawn.places[subject]
    return IqDraws((subject,), *(getattr(drawn, name)[order, row : row + 1] for name in _DRAWN))
