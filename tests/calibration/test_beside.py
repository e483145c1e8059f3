"""Lines that predict people badly place nobody, and published bases stand beside those of open items."""

import pytest

import mensura
from mensura.calibration import chosen_lines, profile_counts
from mensura.calibration.placing import doubt_of_lines
from mensura.demands.rubrics import annotated_dimensions
from mensura.scale import Calibration, LevelLine

PLACES = ("world_rate", "one_in", "percentile", "iq")
ALIKE = Calibration(tuple(LevelLine(code, 0.6, 0.5, code) for code in annotated_dimensions()))
"""One base for all dimensions: the largest demand decides, which is the bar."""


@pytest.mark.parametrize(("name", "skill"), [("published", "0.22"), ("open", "0.4")])
def test_lines_that_order_items_worse_than_the_largest_demand_place_nobody(name, skill):
    lines = chosen_lines(name)
    said = (
        f"the rank correlation of these lines with people's success is {skill}, that of the largest demand alone 0.47"
    )
    assert doubt_of_lines(lines).startswith(said)
    made = profile_counts(mensura.load().demand_outcomes, calibration=lines, draws=20)
    assert made.profile.select(PLACES).null_count().row(0) == (made.profile.height,) * 4
    assert made.positions["rate_low"].count() == made.positions["iq_high"].count() == 0
    assert made.positions["note"].str.starts_with(said).all()
    assert set(made.statements["statement"]) == {"not placed among people"}


def test_lines_as_good_as_the_largest_demand_place_people():
    assert doubt_of_lines(ALIKE) == ""
    made = profile_counts(mensura.load().demand_outcomes, calibration=ALIKE, draws=20)
    assert made.profile["iq"].count() > 200
