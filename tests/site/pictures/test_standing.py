"""Words of a model's page about the people whom it passed."""

import re

import pytest

from mensura.site.pictures.standing import against_people, passed_said, people_rows


def duel(verdict, measured):
    return {"verdict": verdict, "status": "measured, n = 20" if measured else "judged"}


@pytest.mark.parametrize(
    ("duels", "said"),
    [
        ([duel("passed", True)], "1 of 1 measured group of people"),
        ([duel("passed", True), duel("behind", True)], "1 of 2 measured groups of people"),
        (
            [duel("passed", True), duel("behind", False), duel("behind", False)],
            "1 of 1 measured group of people and none of 2 judged groups of people",
        ),
    ],
)
def test_measured_and_judged_groups_are_never_added_up(duels, said):
    assert passed_said(duels) == said


def test_groups_that_are_counted_and_not_drawn_are_said_to_be_in_the_table(study):
    found = 0
    for subject, row in study.rows.by_subject.items():
        figure = against_people(study, row) if row["exact_iq"] is not None else None
        if figure is not None:
            drawn = int(re.search(r"and (\d+) groups of people", figure.drawing.wide)[1])
            left = len(people_rows(study, subject)) - drawn
            assert (f"; {left} only in the table below" in figure.finding) is (left > 0)
            found += left > 0
    assert found > 0
