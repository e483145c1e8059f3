"""Calibrated lines as tables and classes: what a base is called, how far a line speaks, which of two answers."""

import math

import pytest

from mensura import MensuraError
from mensura.scale import Calibration, LevelLine, scaling_of


@pytest.mark.parametrize(
    ("base", "name"),
    [(31.95, "High"), (10.01, "High"), (10.0, "Standard"), (2.99, "Standard"), (2.9, "Slow"), (1.1, "Slow")],
)
def test_classes_of_bases(base, name):
    """Published with the bases: High above 10, Standard from 3 (2.99 is printed as Standard), else Slow."""
    assert scaling_of(base) == name
    assert LevelLine("d", math.log10(base), 0.0, printed_base=base).scaling == name


def test_a_printed_base_is_shown_and_any_other_is_computed():
    assert LevelLine("d", 0.3, 0.0, printed_base=2.01).base == 2.01
    assert LevelLine("d", 0.3, 0.0).base == pytest.approx(1.9952623)


def test_a_line_says_where_it_is_extrapolated():
    published, ours = LevelLine("volume", 1.0, 0.0), LevelLine("volume", 1.0, 0.0, covered=(2.0, 3.0))
    assert [published.outside(level) for level in (1.0, 3.0, 5.0)] == ["", "", ""]
    for level in (0.99, 5.01):
        said = f"level {level:.2f} lies beyond the levels 1 to 5 of the line: extrapolated"
        assert published.outside(level) == said
    assert (ours.outside(2.0), ours.outside(3.0), ours.outside(2.0 - 1e-13)) == ("", "", "")
    assert ours.outside(3.5) == "level 3.50 of volume is outside what its items cover (2 to 3): extrapolated"


def test_a_table_gives_lines_and_says_which_cannot_be_read():
    row = {"dimension": "a", "slope": 0.5, "intercept": 0.1, "base": 3.1, "lowest": 1, "highest": 4, "source": "here"}
    calibration = Calibration.from_rows(
        [
            {**row, "low": 2.0, "high": 20.0, "r_squared": 0.9, "r2": 0.1, "verdict": "High"},
            {**row, "dimension": "b", "low": 2.0, "high": "", "r2": 0.8, "highest": None},
            {**row, "dimension": "c", "low": 20.0, "high": 2.0},
            {**row, "dimension": "d", "verdict": "Inverted"},
            {**row, "dimension": "e", "slope": 0.0},
            {**row, "dimension": "f", "slope": ""},
        ]
    )
    a, b, c = calibration
    assert (a.printed_base, a.covered, a.r_squared, a.source) == (3.1, (1.0, 4.0), 0.9, "here")
    assert a.slope_error == pytest.approx(1.0 / (2 * 1.6448536))  # log10 of 20 / 2 is 1: two normal quantiles at 0.95
    assert (b.covered, b.r_squared, b.slope_error, c.slope_error) == (None, 0.8, None, None)
    assert calibration.unusable == {
        "d": "Inverted",
        "e": "its slope is 0: success does not fall with the level",
        "f": "no slope",
    }
    with pytest.raises(MensuraError, match="'D' cannot be read: Inverted; choose one of a, b, c"):
        calibration["D"]
    with pytest.raises(MensuraError, match=r"\(none is usable\)"):
        Calibration((), {"d": "Inverted"})["e"]
