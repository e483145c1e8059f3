"""Why a model has its IQ: the whole derivation as a tree that people and pages can read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mensura.iq.dimensions import GLOBAL, MATCHED, MISSING, NEAREST, STATUSES, comparable
from mensura.iq.field import Field
from mensura.iq.quantiles import masked_quantile, smallest
from mensura.iq.waterfall import (
    COMPLETION,
    CORRELATION,
    NONE,
    PEERS,
    PREDECESSOR,
    SOURCE,
    STEPS,
    WITHIN,
    ZERO,
    peer_groups,
    peer_keys,
)

if TYPE_CHECKING:
    from mensura.iq.result import IqResult


@dataclass(frozen=True)
class Explanation:
    """One node: what it is, its IQ and interval, how it came about in a word and in a sentence, and its parts."""

    label: str
    iq: float | None
    low: float | None
    high: float | None
    status: str
    note: str
    parts: tuple[Explanation, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain mappings and lists."""
        own = {name: getattr(self, name) for name in ("label", "iq", "low", "high", "status", "note")}
        return {**own, "parts": [part.to_dict() for part in self.parts]}

    @property
    def heading(self) -> str:
        """The node on one line, without its parts."""
        value = "no value" if self.iq is None else f"{self.iq:.1f}".removesuffix(".0")
        span = "" if self.low is None or self.high is None else f" ({self.low:.1f} to {self.high:.1f})"
        return f"{self.label}: {value}{span} [{self.status}] {self.note}".rstrip()

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield self.heading
        for place, part in enumerate(self.parts):
            last = place == len(self.parts) - 1
            for index, line in enumerate(part._lines()):
                yield (("└─ " if last else "├─ ") if index == 0 else ("   " if last else "│  ")) + line


def explain_subject(result: IqResult, subject: str) -> Explanation:
    """Explain one model's composite down to every score and every filled gap."""
    field, row = result.field, result.field.row(subject)
    facts = result.evidence.models.row(by_predicate=pl.col("subject") == subject, named=True)
    composite = result.composites.row(row, named=True)
    exact = float(result.scored.composites[0, row])
    parts = tuple(_dimension(result, row, place) for place in range(len(field.dimensions)))
    if np.isnan(exact):
        note = f"{composite['scored_dimensions']}/{len(parts)} dimensions scored; no composite"
    else:
        equal = np.allclose(result.weights, result.weights[0])
        kind = "mean" if equal else "weighted mean"
        note = f"{kind} of {len(parts)} dimensions, {exact:.2f} before rounding; "
        note += f"{composite['scored_dimensions']}/{len(parts)} scored"
    note += f"; released {facts['released']}, ladders {result.ladders}"
    return Explanation(
        facts["name"], composite["iq"], composite["low"], composite["high"], composite["status"], note, parts
    )


def _dimension(result: IqResult, row: int, place: int) -> Explanation:
    field, scored = result.field, result.scored
    status = int(scored.statuses[row, place])
    value = scored.dimensions[0, row, place]
    columns = np.flatnonzero(field.dimension_of == place)
    shown = columns[result.filled.steps[row, columns] != NONE]  # what a missing dimension lacks needs no line each
    parts = tuple(_benchmark(result, row, int(column)) for column in shown)
    rule = result.rules.dimensions[field.dimensions[place]]
    if status == MISSING:
        note = "no evidence, and no model of its time was measured here"
    elif status >= MATCHED:
        note = _missing_dimension_note(result, row, place)
    else:
        measured = int(field.measured[row, columns].sum())
        note = f"mean of {columns.size} benchmarks, {measured} measured"
    low, high = _span(result, field.dimensions[place], row)
    return Explanation(rule.name, _number(value), low, high, STATUSES[status], note, parts)


def _missing_dimension_note(result: IqResult, row: int, place: int) -> str:
    field, scored, rules = result.field, result.scored, result.rules
    count = scored.scored.sum(axis=1)
    peers = np.flatnonzero(scored.scored[:, place] & (count >= rules.dimension.minimum_scored))
    known = np.where(scored.scored, scored.dimensions[0], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        other = (known.sum(axis=1) - known[:, place]) / (count - 1)
    alike, _ = comparable(field, scored.own, other[None], np.array([row]), peers, rules)
    cap = float(masked_quantile(scored.dimensions[0, peers, place], alike[0, 0], rules.dimension.percentile))
    names = _listed(field, peers[alike[0, 0]])
    status = int(scored.statuses[row, place])
    kind = {NEAREST: "nearest models", GLOBAL: "models of its time"}.get(status, "models alike")
    return (
        f"not measured: the smaller of its own average {scored.own[0, row]:.1f} and "
        f"percentile {rules.dimension.percentile:g} of {kind} {cap:.1f} ({names})"
    )


def _benchmark(result: IqResult, row: int, column: int) -> Explanation:
    field, filled = result.field, result.filled
    step = int(filled.steps[row, column])
    value = filled.iqs[0, row, column]
    low, high = _span(result, field.benchmarks[column], row)
    note = ""
    parts: tuple[Explanation, ...] = ()
    if step == SOURCE:
        note = _source_note(result, row, column)
    elif step == PREDECESSOR:
        donor = int(filled.donors[row, column])
        note = f"missing; from predecessor {field.subjects[donor]}: {_source_note(result, donor, column)}"
    elif step == PEERS:
        note = _peers_note(result, row, column)
    elif step == ZERO:
        note = "missing; a score of 0 is assumed"
    elif step == CORRELATION:
        note, parts = _correlation_note(result, row, column)
    elif step == WITHIN:
        note = _within_note(result, row, column)
    elif step == COMPLETION:
        note = f"missing; completed from the model's {int(field.measured[row].sum())} measured benchmarks"
    return Explanation(field.benchmarks[column], _number(value), low, high, STEPS[step], note, parts)


def _source_note(result: IqResult, row: int, column: int) -> str:
    field = result.field
    found = result.facts[field.subjects[row], field.benchmarks[column]]
    ladder = field.ladders[column]
    low, high = ladder.segment(field.scores[row, column])
    points = dict(zip(range(70, 161, 15), ladder.scores, strict=True))
    if low == high:
        segment = f"past the ladder's end, IQ {low} = {points[low]:g}"
    else:
        segment = f"between IQ {low} = {points[low]:g} and IQ {high} = {points[high]:g}"
    return f"score {found['score']:g} {found['unit']} ({found['source']}, {found['date']}), {segment}"


def _peers_note(result: IqResult, row: int, column: int) -> str:
    field, rule = result.field, result.rules.peers
    targets, peers, kind = peer_groups(field, column)
    nearest = smallest(peer_keys(kind, result.filled.capability, targets, peers), rule.count)
    chosen = peers[nearest[0, int(np.flatnonzero(targets == row)[0])]]
    return f"missing; percentile {rule.percentile:g} of {chosen.size} comparable models ({_listed(field, chosen)})"


def _correlation_note(result: IqResult, row: int, column: int) -> tuple[str, tuple[Explanation, ...]]:
    field, filled, rule = result.field, result.filled, result.rules.correlation
    lines = filled.correlations
    predictors = np.flatnonzero(field.measured[row] & (lines.weight[0, :, column] > 0))
    parts, weights = [], lines.weight[0, predictors, column]
    estimates = lines.intercept[0, predictors, column] + lines.slope[0, predictors, column] * field.iqs[row, predictors]
    for predictor, estimate in zip(predictors, estimates, strict=True):
        n, shrunk = lines.overlap[predictor, column], lines.shrunk[0, predictor, column]
        note = f"at {field.iqs[row, predictor]:.1f} predicts this; shrunk correlation {shrunk:.2f} over {n:.0f} models"
        parts.append(Explanation(f"from {field.benchmarks[predictor]}", float(estimate), None, None, "predictor", note))
    place = field.dimension_of[column]
    single = filled.known[row, place] == 1
    penalty, margin = (rule.penalty_single, rule.margin_single) if single else (rule.penalty, rule.margin)
    estimate = float(weights @ estimates / weights.sum())
    error = float(filled.errors[0, row, column]) / np.sqrt(1 + penalty**2)
    cap = float(filled.average[0, row, place]) - margin
    note = (
        f"missing; estimate {estimate:.1f} less {penalty:g} × its error {error:.1f}, at most "
        f"{cap:.1f} ({margin:g} below the observed average)"
    )
    return note, tuple(parts)


def _within_note(result: IqResult, row: int, column: int) -> str:
    field, filled = result.field, result.filled
    average = float(filled.average[0, row, field.dimension_of[column]])
    cap = float(filled.caps[0, column])
    percentile = result.rules.within.percentile
    return f"missing; observed average {average:.1f}, at most percentile {percentile:g} of the benchmark, {cap:.1f}"


def _span(result: IqResult, name: str, row: int) -> tuple[float | None, float | None]:
    """Return the interval of a benchmark or dimension, if it has one."""
    found = result.facts.get((result.field.subjects[row], name), {})
    return found.get("low"), found.get("high")


def _listed(field: Field, rows: Any, most: int = 5) -> str:  # noqa: ANN401
    names = [field.subjects[row] for row in rows]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
