"""A position keeps its interval through every conversion; a dimension's line reads levels both ways."""

import math

import pytest
from hypothesis import given, strategies as st

import mensura
from mensura.scale import Calibration, LevelLine, Position, band_of, rate_interval, say_rarity


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


@pytest.mark.parametrize(
    ("rate", "tested", "words"),
    [
        (0.04, None, "1 in 25 people"),
        (1 / 3, None, "1 in 3 people"),
        (0.3, None, "1 in 3.33 people"),
        (1 / 999, None, "1 in 999 people"),
        (1 / 1234.4, None, "1 in 1,234 people"),
        (1e-6, None, "1 in 1,000,000 people"),
        (1 / 142, 142.0, "1 in 142 people"),
        (1 / 143, 142.0, "at least 1 in 142 tested"),
        (1e-9, 12345.0, "at least 1 in 12,345 tested"),
    ],
)
def test_a_rarity_in_words(rate, tested, words):
    assert say_rarity(rate, tested) == words


@pytest.mark.parametrize(
    ("rate", "band"),
    [(1.0, "10–100%"), (0.11, "10–100%"), (0.1, "10–100%"), (0.0999, "1–10%"), (0.01, "1–10%"), (0.0003, "0.01–0.1%")],
)
def test_a_rate_at_the_lower_end_of_a_band_is_in_it(rate, band):
    assert band_of(rate) == band


def test_intervals_are_wilsons():
    """Seven of ten by the textbook: (k + z²/2 ± z √(k(n − k)/n + z²/4)) / (n + z²), with z = 1.645 or 1.282."""
    for side, z in (("both", 1.6448536), ("lower", 1.2815516), ("upper", 1.2815516)):
        half = z * math.sqrt(7 * 3 / 10 + z**2 / 4)
        low, high = ((7 + z**2 / 2 + sign * half) / (10 + z**2) for sign in (-1, 1))
        wanted = (0.0 if side == "upper" else low, 1.0 if side == "lower" else high)
        assert rate_interval(7, 10, side) == pytest.approx(wanted)
    assert rate_interval(0, 0) == (0.0, 1.0)
    assert rate_interval([0, 10], 10)[0].tolist() == [0.0, pytest.approx(10 / (10 + 1.6448536**2))]
    assert rate_interval([0, 10], 10)[1].tolist() == [pytest.approx(1.6448536**2 / (10 + 1.6448536**2)), 1.0]


def test_other_bases_conventions_and_lines_read_their_own_level():
    assert Position.from_level(2.0, base=4.0, convention="calibrated").rate.value == pytest.approx(1 / 16)
    assert Position(1 / 16).level(4.0, "calibrated").value == pytest.approx(2.0)
    assert Position.from_level(2.5).rate.value == pytest.approx(0.01)
    line = LevelLine("d", 0.5, 0.1)
    position = Position.from_dimension(line, 2.8, 1.8, 4.8)
    assert position.rate == pytest.approx((0.1, 0.01, 10**-0.5))
    assert position.annotated_level(line) == pytest.approx((2.8, 1.8, 4.8))
