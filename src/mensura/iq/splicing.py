"""A whole scoring on a frozen scale: the edition's rows as they are, and one row for each model placed beside them.

:func:`~mensura.iq.frozen.place_iq` gives the IQs; a report asks for more of a scoring (benchmark by benchmark, draws,
derivations, ranks). Here the arrays of the edition's scoring are continued by those of each placed model, taken from
the scoring in which it stands beside the edition alone. Ranks stand still too: a placed model's rank is one more than
the number of ranked models of the edition above it, so that two placed models may share one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import just_above
from mensura.core.results import set_computed
from mensura.evidence import Evidence
from mensura.iq.dimensions import ScoredDimensions
from mensura.iq.frozen import Score, beside, frozen_evidence, new_subjects
from mensura.iq.matrix import ScoreMatrix, build_matrix
from mensura.iq.own_mask import MaskCorrection
from mensura.iq.result import IqResult
from mensura.iq.uncertainty import IqDraws
from mensura.iq.waterfall import Filled
from mensura.scale.ranking import rank_interval

_DRAWN = ("composites", "dimensions", "benchmarks", "below", "above")
Placed = dict[str, IqResult]
"""Models by name, each with the scoring in which it stands beside the edition."""


@dataclass(frozen=True, eq=False, repr=False)
class SplicedIq(IqResult):
    """IQs on a frozen scale, with everything a scoring has; ``edition`` is the scoring of the scale's own models.

    What two models' errors share is counted between models of the edition only, as in
    :meth:`~mensura.iq.frozen.FrozenIq.neighbours_of`.
    """

    scale: str
    edition: IqResult

    def rank(self, least: float | None = None) -> pl.DataFrame:
        """Rank the edition's models among themselves, and each placed one among them (see :meth:`IqResult.rank`)."""
        standing = self.edition.rank(least)
        ranked, exact = self.ranked_by(least), self.scored.composites[0]
        drawn = self.drawn.composites[:, [self.edition.matrix.row(name) for name in standing["subject"]]]
        rows = []
        for row in range(len(self.edition.matrix.subjects), len(exact)):
            if not ranked[row]:
                continue
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

    @property
    def settings(self) -> dict[str, object]:
        """Everything the composites depend on, the frozen scale among it."""
        return {**super().settings, "scale": self.scale}

    @property
    def heading(self) -> str:
        """How many models stand on which scale, and how many were placed."""
        placed = f"{len(self.placed)} of them placed on it"
        return f"IQ of {self.ranking.height} ranked models on the frozen scale {self.scale}, {placed}"


def splice_iq(
    evidence: Evidence,
    score: Score,
    *,
    scale: str = "2026-12",
    advance: Callable[[], object] | None = None,
) -> SplicedIq:
    """Put the models of an evidence on a frozen scale and return a whole scoring of them.

    ``score`` and ``advance`` as in :func:`~mensura.iq.frozen.place_iq`. The result's evidence is that of
    :func:`spliced_evidence`.
    """
    base = frozen_evidence(scale)
    together, edition = spliced_evidence(evidence, scale), score(base)
    placed: Placed = {}
    draws = [edition.drawn]
    for subject in new_subjects(base, evidence):
        found = score(beside(base, evidence, subject))
        draws.append(_own_draws(found.drawn, subject))
        placed[subject] = replace(found)  # without all that it found on the way: there may be many
        if advance is not None:
            advance()
    spliced = SplicedIq(
        evidence=together,
        ladders=edition.ladders,
        source=edition.source,
        rules=edition.rules,
        weights=edition.weights,
        matrix=_matrix(together, edition),
        filled=_filled(edition, placed),
        scored=_scored(edition, placed),
        published=_rows(edition, placed, "published"),
        n_draws=edition.n_draws,
        seed=edition.seed,
        scale=scale,
        edition=edition,
    )
    drawn = IqDraws(
        (*edition.matrix.subjects, *placed),
        *(np.concatenate([getattr(part, name) for part in draws], axis=1) for name in _DRAWN),
    )
    return set_computed(spliced, drawn=drawn, errors=_rows(edition, placed, "errors"))


def spliced_evidence(evidence: Evidence, scale: str) -> Evidence:
    """Return the edition of a scale with every model of an evidence that it does not have, as each is placed on it.

    Scores that an evidence adds to models of the edition stay out, since those keep their place; a warning says so.
    """
    base = frozen_evidence(scale)
    together = beside(base, evidence, *new_subjects(base, evidence))
    of_edition = pl.col("subject").is_in(base.models["subject"].implode())
    cells = ["subject", "benchmark", "source", "score"]
    added = evidence.scores.filter(of_edition).join(base.scores, on=cells, how="anti", nulls_equal=True).height
    elsewhere = evidence.scores.filter(~of_edition).height - (together.scores.height - base.scores.height)
    said = [
        f"{count} {'score stays' if count == 1 else 'scores stay'} out of the frozen scale: {why}"
        for count, why in (
            (added, "of models that keep their place on it"),
            (elsewhere, "on benchmarks it does not have"),
        )
        if count
    ]
    origin = f"{evidence.origin}, on the frozen scale {scale}"
    return replace(together, origin=origin, warnings=(*evidence.warnings, *said))


def left_out(evidence: Evidence, scale: str) -> tuple[str, ...]:
    """Say which scores of an evidence stay out of a frozen scale, and why; nothing where none does."""
    return spliced_evidence(evidence, scale).warnings[len(evidence.warnings) :]


def _rows(edition: IqResult, placed: Placed, name: str, axis: int = 0) -> Any:  # noqa: ANN401
    """Continue an array of the edition's scoring by the row of each placed model in its own; ``axis``: the models'."""
    part = attrgetter(name)
    own = [np.take(part(found), [found.matrix.row(subject)], axis=axis) for subject, found in placed.items()]
    return np.concatenate([part(edition), *own], axis=axis)


def _matrix(evidence: Evidence, edition: IqResult) -> ScoreMatrix:
    """Lay out the evidence with the ladders and metrics of the edition: those of a common scoring would move."""
    laid = build_matrix(evidence, edition.rules, ladders=edition.ladders, source=edition.source)
    return replace(laid, ladders=edition.matrix.ladders, metrics=edition.matrix.metrics)


def _filled(edition: IqResult, placed: Placed) -> Filled:
    axes = {"iqs": 1, "errors": 1, "average": 1, "capability": 1, "steps": 0, "donors": 0, "known": 0}
    arrays = {name: _rows(edition, placed, f"filled.{name}", axis) for name, axis in axes.items()}
    correction = None
    if edition.filled.correction is not None:
        parts = [_rows(edition, placed, f"filled.correction.{part.name}") for part in fields(MaskCorrection)]
        correction = MaskCorrection(*parts)
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
