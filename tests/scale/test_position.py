"""A position keeps its interval through every conversion; a dimension's line reads levels both ways."""

import pytest
from hypothesis import given, strategies as st

import mensura
from mensura.scale import Calibration, LevelLine, Position


def test_interval_turns_round_with_the_unit():
    position = Position(0.038, 0.027, 0.053)
    assert position.iq.low < position.iq.value < position.iq.high
    assert position.iq.low == pytest.approx(Position(0.053).iq.value)
    assert position.one_in == pytest.approx((26.3158, 18.8679, 37.0370), abs=1e-3)


@pytest.mark.parametrize(
    "make", [Position.from_iq, Position.from_percentile, Position.from_one_in, Position.from_level]
)
def test_constructors_invert_their_reading(make):
    name = make.__name__.removeprefix("from_")
    position = make(70.0, 65.0, 75.0)
    reading = position.level() if name == "level" else getattr(position, name)
    assert reading == pytest.approx((70.0, 65.0, 75.0), rel=1e-6)


def test_interval_faults_are_named():
    with pytest.raises(mensura.MensuraError, match="got one end only"):
        Position(0.1, 0.05)
    with pytest.raises(mensura.MensuraError, match=r"rate 0.5 lies outside 0.1 to 0.2"):
        Position(0.5, 0.1, 0.2)
    with pytest.raises(mensura.MensuraError, match="low 140 is above high 120"):
        Position.from_iq(130, 140, 120)


@given(st.floats(0.05, 2.0), st.floats(-1.0, 3.0), st.floats(0.0, 20.0))
def test_line_leads_from_level_to_rate_and_back(slope, intercept, above):
    line = LevelLine("volume", slope, intercept)
    level = line.lowest_level + above
    assert line.level(line.rate(level)) == pytest.approx(level, abs=1e-9)


def test_one_level_divides_the_rate_by_the_base():
    line = LevelLine("volume", 1.5, -0.55)
    assert line.base == pytest.approx(31.62, abs=0.01)
    assert line.rate(2.0) / line.rate(3.0) == pytest.approx(line.base)


def test_dimension_is_found_by_id_code_or_name():
    calibration = Calibration((LevelLine("knowledge", 0.71, 0.8, "KN", "Knowledge"),))
    assert {calibration[key].dimension for key in ("knowledge", "KN", "KNn", "Knowledge")} == {"knowledge"}
    with pytest.raises(mensura.MensuraError, match="'memory' has no calibrated line; choose one of knowledge"):
        calibration["memory"]


def test_level_below_the_line_and_falling_line_are_refused():
    with pytest.raises(mensura.MensuraError, match=r"starts at 0.700, where everybody succeeds"):
        LevelLine("volume", 1.5, -0.55).rate(0.5)
    with pytest.raises(mensura.MensuraError, match="expected a slope above 0"):
        LevelLine("social", -0.2, 1.0)
