"""Calibrated lines as tables and classes: what a base is called, how far a line speaks, which of two answers."""

import math

import pytest

from mensura import MensuraError
from mensura.scale import Calibration, LevelLine, scaling_of, score_to_capability, share_above_chance


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


def test_a_row_keeps_its_code_name_error_and_people_tested():
    row = {"dimension": "knowledge", "slope": "0.71", "intercept": "0.8", "code": "KN", "name": "Knowledge of things"}
    (line,) = Calibration.from_rows([row | {"low": 5.0, "high": 5.0, "tested": "142", "verdict": "Standard"}])
    assert (line.dimension, line.code, line.name, line.source) == ("knowledge", "KN", "Knowledge of things", "")
    assert (line.slope, line.intercept, line.tested, line.printed_base) == (0.71, 0.8, 142.0, None)
    assert line.slope_error == 0.0, "an interval without width is one"
    (open_end,) = Calibration.from_rows([row | {"low": 0.0, "high": 5.0, "lowest": 1, "highest": ""}])
    assert (open_end.slope_error, open_end.covered, open_end.r_squared) == (None, None, None)
    with pytest.raises(MensuraError, match="no dimension given; expected at least one row"):
        Calibration.from_rows([])


@pytest.mark.parametrize(
    ("wanted", "found"), [("KNOWLEDGE", "knowledge"), ("kn", "knowledge"), ("KNx", "knowledge"), ("vo", "volume")]
)
def test_a_line_is_found_by_id_code_or_specific_code(wanted, found):
    lines = Calibration(
        (LevelLine("volume", 1.5, 0.0, "VO"), LevelLine("knowledge", 0.7, 0.0, "KN"), LevelLine("x", 1.0, 0))
    )
    assert lines[wanted].dimension == found
    assert [line.dimension for line in lines] == ["volume", "knowledge", "x"]
    for unknown in ("KNxy", "", "kx"):
        with pytest.raises(MensuraError, match="choose one of volume, knowledge, x"):
            lines[unknown]


def test_a_line_starts_where_everybody_succeeds_and_falls_by_its_base():
    """A rate of 1 is the empirical level 0.5: with slope 0.5 and intercept 0.1 that is the annotated level 0.8."""
    line = LevelLine("d", 0.5, 0.1)
    assert line.lowest_level == pytest.approx(0.8)
    assert line.rate(0.8) == pytest.approx(1.0)
    assert line.rate([2.8, 4.8]) == pytest.approx([0.1, 0.01])
    assert line.level([0.1, 0.01]) == pytest.approx([2.8, 4.8])
    with pytest.raises(MensuraError, match=r"level: got 0.5; on dimension 'd' the calibrated line starts at 0.800"):
        line.rate([2.0, 0.5])


def test_a_score_is_read_between_nothing_and_everything_unless_told_otherwise():
    assert share_above_chance(0.3) == pytest.approx(0.3)
    assert score_to_capability(0.9, 0.5, 2.0) == pytest.approx(0.5 + math.log(9) / 2)


def test_a_score_is_read_on_the_curve_between_chance_and_ceiling():
    """Half way from 0.2 to 0.8 is the difficulty; nine tenths of the way is a logit of ln 9 above it."""
    assert share_above_chance([0.2, 0.5, 0.8, 0.1], 0.2, 0.8) == pytest.approx([0, 0.5, 1, -1 / 6])
    found = score_to_capability([0.5, 0.74, 0.1, 0.9], 1.0, 2.0, 0.2, 0.8)
    edge = math.log(99) / 2
    assert found == pytest.approx([1.0, 1 + math.log(9) / 2, 1 - edge, 1 + edge])
