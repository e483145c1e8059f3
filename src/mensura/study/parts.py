"""The slow parts of a study: IQs in this process, everything that needs no IQ in another one at the same time."""

from __future__ import annotations

from typing import Any, NamedTuple

from mensura.core.processes import Processes
from mensura.evidence import Evidence
from mensura.iq import IqResult, score_iq
from mensura.scale import Calibration
from mensura.stitching import People, Stitch, place_people, stitch
from mensura.study.ability import place_abilities
from mensura.study.pace import carry_example, report_pace, watch_evidence
from mensura.trends import mark_passed

DRAWS = 1000
"""Draws behind the intervals of the IQs."""
_MOST_DRAWN, _FEWEST_DRAWS = 500_000, 200
"""Largest product of models and draws, and the smallest number of draws: the memory of a laptop is the limit."""
SLOW_PARTS = ("groups", "pace", "watch", "world", "abilities")
"""Cached properties of a study that need no IQ and take seconds."""


class StitchedParts(NamedTuple):
    """Models and people on the stitched scale, and the slow parts that are already computed, by name."""

    fit: Stitch
    people: People
    parts: dict[str, Any]


def compute_iq(evidence: Evidence, method: str | None = None) -> IqResult:
    """Score the IQs of an evidence by a method of :func:`mensura.score_iq`."""
    return score_iq(evidence, method=method, draws=draws_for(evidence.models.height))


def draws_for(models: int) -> int:
    """Return the number of draws behind the intervals of so many models."""
    return min(DRAWS, max(_FEWEST_DRAWS, _MOST_DRAWN // max(1, models)))


def compute_both(evidence: Evidence, lines: Calibration, method: str | None = None) -> tuple[IqResult, StitchedParts]:
    """Score IQs here and compute everything else in another process at the same time."""
    with Processes(1) as processes:
        placed = processes.submit(_place_with_parts, evidence, lines)
        iq = compute_iq(evidence, method)
        _ = iq.drawn
        world = carry_example()  # here: the other process has more to do
        fit, people, parts = placed.result()
        return iq, StitchedParts(fit, people, {**parts, "world": world})


def place(evidence: Evidence) -> StitchedParts:
    """Put models and people on the stitched scale."""
    fit = stitch(evidence)
    return StitchedParts(fit, place_people(fit, evidence), {})


def _place_with_parts(evidence: Evidence, lines: Calibration) -> StitchedParts:
    fit, people, _ = place(evidence)
    parts = {
        "groups": mark_passed(people),
        "pace": report_pace(fit, evidence),
        "watch": watch_evidence(evidence),
        "abilities": place_abilities(evidence, lines),
    }
    return StitchedParts(fit, people, parts)
