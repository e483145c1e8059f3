"""Why a model has its IQ: the whole derivation as a tree that people and pages can read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import counted
from mensura.core.results import Result
from mensura.iq.dimensions import GLOBAL, MATCHED, MISSING, NEAREST, STATUSES, ScoredDimensions
from mensura.iq.ladders import LEVELS
from mensura.iq.matrix import ScoreMatrix
from mensura.iq.relatives import ENOUGH, TEACHERS
from mensura.iq.rules import IqRules
from mensura.iq.waterfall import CORRELATION, JOINT, NONE, PEERS, PREDECESSOR, SOURCE, STEPS, WITHIN, ZERO, Filled

_FACTS = ("label", "iq", "low", "high", "status", "note")
_NODE = {"depth": pl.Int64, **dict.fromkeys(_FACTS, pl.String), **dict.fromkeys(("iq", "low", "high"), pl.Float64)}


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """One node: what it is, its IQ and interval, how it came about in a word and in a sentence, and its parts.

    ``print`` shows the whole tree, a notebook the node and its parts. ``nodes`` has one row per node of the tree, in
    its order: depth (0 = this node), label, iq, low, high, status, note.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("nodes",)
    DIGITS: ClassVar[int] = 1

    label: str
    iq: float | None
    low: float | None
    high: float | None
    status: str
    note: str
    parts: tuple[Explanation, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain mappings and lists."""
        return {**{name: getattr(self, name) for name in _FACTS}, "parts": [part.to_dict() for part in self.parts]}

    @property
    def nodes(self) -> pl.DataFrame:
        """Every node of the tree as a table."""
        return pl.DataFrame(list(self._rows(0)), schema=_NODE, orient="row")

    @property
    def heading(self) -> str:
        """The node on one line, without its parts."""
        value = "no value" if self.iq is None else f"{self.iq:.1f}".removesuffix(".0")
        span = "" if self.low is None or self.high is None else f" ({self.low:.1f} to {self.high:.1f})"
        return f"{self.label}: {value}{span} [{self.status}] {self.note}".rstrip()

    @property
    def shown(self) -> pl.DataFrame:
        """The parts of this node."""
        return self.nodes.filter(depth=1).select("label", "iq", "low", "high", "status")

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        return f"<{Result.__str__(self)}>"

    def _rows(self, depth: int) -> Iterator[tuple[object, ...]]:
        yield depth, *(getattr(self, name) for name in _FACTS)
        for part in self.parts:
            yield from part._rows(depth + 1)

    def _lines(self) -> Iterator[str]:
        yield self.heading
        for place, part in enumerate(self.parts):
            last = place == len(self.parts) - 1
            for index, line in enumerate(part._lines()):
                yield (("└─ " if last else "├─ ") if index == 0 else ("   " if last else "│  ")) + line


class Scoring(NamedTuple):
    """What an explanation reads of a scoring: its arrays and rules, and rows by (subject, benchmark or dimension)."""

    matrix: ScoreMatrix
    filled: Filled
    scored: ScoredDimensions
    rules: IqRules
    weights: Floats
    ladders: str
    models: pl.DataFrame
    composites: pl.DataFrame
    facts: Mapping[tuple[str, str], Mapping[str, Any]]


def explain_subject(scoring: Scoring, subject: str) -> Explanation:
    """Explain one model's composite down to every score and every filled gap."""
    matrix, row = scoring.matrix, scoring.matrix.row(subject)
    facts = scoring.models.row(row, named=True)  # in the order of the matrix
    composite = scoring.composites.row(row, named=True)
    exact = float(scoring.scored.composites[0, row])
    parts = tuple(_dimension(scoring, row, place) for place in range(len(matrix.dimensions)))
    if np.isnan(exact):
        note = f"no IQ: {no_composite(matrix, scoring.scored, scoring.rules, row)}"
    else:
        kind = "mean" if np.allclose(scoring.weights, scoring.weights[0]) else "weighted mean"
        note = f"{kind} of {len(parts)} dimensions, {exact:.2f} before rounding"
        if composite["published"] is not None:
            note += f" (by the published method {composite['published']})"
    note += f"; of {len(matrix.benchmarks)} benchmarks {composite['measured']} measured, "
    note += f"{composite['inherited']} inherited, {composite['estimated']} estimated"
    if read := _relatives_read(matrix, row):
        note += f"; also read: {', '.join(read)}"
    note += f"; released {facts['released']}, ladders {scoring.ladders}"
    return Explanation(
        facts["name"], composite["iq"], composite["low"], composite["high"], composite["status"], note, parts
    )


def no_composite(matrix: ScoreMatrix, scored: ScoredDimensions, rules: IqRules, row: int) -> str:
    """Return why a model has no composite."""
    if rules.imputation.is_joint:
        return _too_few(matrix, rules, row)
    if not matrix.measured[row].any():
        return "none of its scores is on a benchmark of the composite"
    scored_dimensions, needed = int(scored.scored[row].sum()), rules.dimension.minimum_scored
    if scored_dimensions < needed:
        return f"scores in {scored_dimensions} of {len(matrix.dimensions)} dimensions, and a composite needs {needed}"
    lacking = np.array(matrix.dimensions)[np.isnan(scored.dimensions[0, row])]
    return f"no model of the time was measured in {', '.join(lacking)}"


def _too_few(matrix: ScoreMatrix, rules: IqRules, row: int) -> str:
    """Say which scores the joint model lacks for an IQ of this model."""
    needed, relatives = rules.imputation.minimum_scores, matrix.relatives
    count = int(matrix.scored[row])
    reason = f"{count} of its scores {'counts' if count == 1 else 'count'} for the IQ and {needed} must"
    if needed == 1:
        reason = f"it has no score on any of the {len(matrix.benchmarks)} benchmarks that count (mensura benchmarks)"
    taught = relatives.teachers(matrix.measured)
    single = [
        f"{relatives.names[place]} (so far {taught[place]})"
        for place in np.flatnonzero(~np.isnan(relatives.odds[row]) & (taught < TEACHERS))
    ]
    if single:
        reason += f"; a test outside the {len(matrix.benchmarks)} is read once {TEACHERS} models with {ENOUGH} scores "
        reason += f"that count took it: {', '.join(single)}"
    return reason


def _relatives_read(matrix: ScoreMatrix, row: int) -> list[str]:
    """Return the tests without a ladder that inform a model's IQ."""
    return [matrix.relatives.names[place] for place in np.flatnonzero(matrix.relatives_read[row])]


def _dimension(scoring: Scoring, row: int, place: int) -> Explanation:
    matrix, scored = scoring.matrix, scoring.scored
    status = int(scored.statuses[row, place])
    value = scored.dimensions[0, row, place]
    columns = np.flatnonzero(matrix.dimension_of == place)
    shown = columns[scoring.filled.steps[row, columns] != NONE]  # what a missing dimension lacks needs no line each
    parts = tuple(_benchmark(scoring, row, int(column)) for column in shown)
    rule = scoring.rules.dimensions[matrix.dimensions[place]]
    measured = int(matrix.measured[row, columns].sum())
    if status == MISSING:
        note = _nothing_note(scoring, row, measured)
    elif status >= MATCHED:
        note = _missing_dimension_note(scoring, row, status)
    else:
        note = f"mean of {columns.size} benchmarks, {measured} measured"
    low, high = _span(scoring, matrix.dimensions[place], row)
    return Explanation(rule.name, _number(value), low, high, STATUSES[status], note, parts)


def _nothing_note(scoring: Scoring, row: int, measured: int) -> str:
    """Say why a dimension has no value."""
    basis = f"{measured} measured" if measured else "nothing measured"
    if np.isnan(scoring.scored.composites[0, row]):
        return f"{basis}, and too little of the model to estimate the rest"
    return f"{basis}, and no model of its time was measured here"


def _missing_dimension_note(scoring: Scoring, row: int, status: int) -> str:
    kind = {NEAREST: "the nearest models", GLOBAL: "models of its time"}.get(status, "models alike")
    return (
        f"not measured: the smaller of its own average {scoring.scored.own[0, row]:.1f} and "
        f"percentile {scoring.rules.dimension.percentile:g} of {kind}"
    )


def _benchmark(scoring: Scoring, row: int, column: int) -> Explanation:
    matrix, filled, rules = scoring.matrix, scoring.filled, scoring.rules
    step = int(filled.steps[row, column])
    value = filled.iqs[0, row, column]
    low, high = _span(scoring, matrix.benchmarks[column], row)
    if step == SOURCE:
        note = _source_note(scoring, row, column)
    elif step == PREDECESSOR:
        donor = int(filled.donors[row, column])
        note = f"missing; from predecessor {matrix.subjects[donor]}: {_source_note(scoring, donor, column)}"
    elif step == JOINT:
        count = int(matrix.measured[row].sum())
        basis = [counted(count, "measured benchmark")] if count else []
        note = f"missing; estimated from the model's {' and '.join([*basis, *_relatives_read(matrix, row)])}"
    else:
        within, peers = rules.within.percentile, rules.peers.percentile
        reasons = {
            PEERS: f"percentile {peers:g} of comparable models",
            ZERO: "a score of 0 is assumed",
            CORRELATION: "predicted from the model's other benchmarks of the dimension, less a penalty for the error",
            WITHIN: f"observed average of the dimension, at most percentile {within:g} of all models",
        }
        note = f"missing; {reasons[step]}"
    return Explanation(matrix.benchmarks[column], _number(value), low, high, STEPS[step], note)


def _source_note(scoring: Scoring, row: int, column: int) -> str:
    matrix = scoring.matrix
    fact = scoring.facts[matrix.subjects[row], matrix.benchmarks[column]]
    ladder = matrix.ladders[column]
    low, high = ladder.segment(matrix.scores[row, column])
    points = dict(zip(LEVELS, ladder.scores, strict=True))
    if low == high:
        segment = f"past the ladder's end, IQ {low} = {points[low]:g}"
    else:
        segment = f"between IQ {low} = {points[low]:g} and IQ {high} = {points[high]:g}"
    return f"score {fact['score']:g} {fact['unit']} ({fact['source']}, {fact['date']}), {segment}"


def _span(scoring: Scoring, name: str, row: int) -> tuple[float | None, float | None]:
    """Return the interval of a benchmark or dimension, if it has one."""
    fact = scoring.facts.get((scoring.matrix.subjects[row], name), {})
    return fact.get("low"), fact.get("high")


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
