"""People on the first screen: measured groups, each read off the ladder of the one test that they took."""

from __future__ import annotations

from collections.abc import Sequence

from mensura.charts.bell import Landmark
from mensura.charts.canvas import ROOT
from mensura.evidence import slug
from mensura.site.pictures.benchmark import group_subject
from mensura.site.pictures.first_answers import test_name
from mensura.study.headlines import passed_people
from mensura.study.study import Study

_APART = 3.0
"""IQ points between two landmarks, so that their words have room."""
_MOST_LANDMARKS = 3


def people_marks(study: Study) -> dict[str, list[Landmark]]:
    """Return measured people by dimension, each read off the ladder of the one test they took."""
    ladders = {ladder.benchmark: ladder for ladder in study.iq.matrix.ladders}
    dimension = dict(study.evidence.benchmarks.select("benchmark", "dimension").iter_rows())
    found: dict[str, list[Landmark]] = {}
    for one in passed_people(study):
        ladder = ladders.get(one.benchmark)
        if ladder is None or not ladder.scores[0] < one.score < ladder.scores[-1]:
            continue
        test = test_name(study, one)
        mark = Landmark(
            one.short,
            test,
            float(ladder.iq(one.score)),  # type: ignore[arg-type]
            group_subject(one.benchmark, one.group),
            f"{ROOT}benchmarks/{slug(one.benchmark)}.html#people",
        )
        found.setdefault(str(dimension[one.benchmark]), []).append(mark)
    return found


def thinned(marks: Sequence[Landmark]) -> list[Landmark]:
    """Keep landmarks above the average with room between them, highest first, and say that one test says so."""
    kept: list[Landmark] = []
    for mark in sorted(marks, key=lambda one: -one.iq):
        if mark.iq > 100 + _APART and all(abs(mark.iq - other.iq) >= _APART for other in kept):
            kept.append(mark)
    return [
        Landmark(one.name, f"{one.iq:.0f} on {one.note}, one test", one.iq, one.subject, one.href)
        for one in kept[:_MOST_LANDMARKS]
    ]
