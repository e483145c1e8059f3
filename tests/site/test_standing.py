"""Words of a model's page about the people whom it passed."""

import pytest

from mensura.charts.standing import Duel
from mensura.site.pictures.standing import passed_said


def duel(verdict, measured):
    return Duel("A class", "A test", 50.0, 60.0, "90%", verdict, measured)


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
