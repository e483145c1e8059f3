"""The two halves of a study: the IQs, and everything that needs none; of many models, at once in two processes."""

from __future__ import annotations

from typing import Any, NamedTuple

from mensura.evidence import Evidence
from mensura.iq import IqResult, score_iq
from mensura.scale import Calibration
from mensura.site.ability import place_abilities
from mensura.site.aside import aside
from mensura.site.example import carry_example
from mensura.site.pace import report_pace, watch_evidence
from mensura.stitching import People, Stitch, place_people, stitch
from mensura.trends import mark_passed

DRAWS = 1000
"""Draws behind the intervals of the IQs."""
_MOST_DRAWN, _FEWEST_DRAWS = 500_000, 200
"""Models × draws that are kept, and the draws that remain: with thousands of models the memory of a laptop is the
bound; the ends of an interval then err by a sixth of a standard deviation."""
TWO_PROCESSES = 100
"""Models from which a second process pays, which has to start and to be handed what it works on."""
SLOW_PARTS = ("groups", "pace", "watch", "world", "abilities")
"""What of the second half takes seconds: cached properties of a study."""


class SecondHalf(NamedTuple):
    """What of a study needs no IQ: the stitched scale, and of the slow parts those that are computed already."""

    fit: Stitch
    people: People
    parts: dict[str, Any]


def compute_halves(evidence: Evidence, lines: Calibration) -> tuple[IqResult, SecondHalf]:
    """Score IQs and place models and people; of many models with all slow parts, which else wait until asked for."""
    if evidence.models.height < TWO_PROCESSES:
        return score_iq(evidence, draws=draws_for(evidence)), _place(evidence)
    with aside(_place_and_watch, evidence, lines) as placed:
        iq = score_iq(evidence, draws=draws_for(evidence))
        _ = iq.drawn
        return iq, placed()


def draws_for(evidence: Evidence) -> int:
    """Return how many draws stand behind the intervals of an evidence."""
    return min(DRAWS, max(_FEWEST_DRAWS, _MOST_DRAWN // max(1, evidence.models.height)))


def _place(evidence: Evidence) -> SecondHalf:
    """Put models and people on the stitched scale."""
    fit = stitch(evidence)
    return SecondHalf(fit, place_people(fit, evidence), {})


def _place_and_watch(evidence: Evidence, lines: Calibration) -> SecondHalf:
    fit, people, _ = _place(evidence)
    found = (
        mark_passed(people),
        report_pace(fit, evidence),
        watch_evidence(evidence),
        carry_example(),
        place_abilities(evidence, lines),
    )
    return SecondHalf(fit, people, dict(zip(SLOW_PARTS, found, strict=True)))
