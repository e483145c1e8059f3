"""The ends of the ruler: what is said where doubles run out, and that every reading still leads back."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mensura import MensuraError, scale
from mensura.scale import Calibration, LevelLine, Position
from mensura.scale.ruler import HIGHEST_IQ, LOWEST_IQ, SMALLEST_RATE


def test_the_lowest_iq_has_a_rate_below_one_that_leads_back():
    rate = scale.iq_to_rate(LOWEST_IQ)
    assert rate == 1 - 2**-53  # the largest double below 1
    assert LOWEST_IQ < scale.rate_to_iq(rate) < LOWEST_IQ + 1


def test_the_highest_iq_is_that_of_the_smallest_rate():
    assert HIGHEST_IQ - 1 < scale.rate_to_iq(SMALLEST_RATE) < HIGHEST_IQ
    assert scale.iq_to_rate(HIGHEST_IQ) < SMALLEST_RATE
    with pytest.raises(MensuraError, match="rate: got 9e-301"):
        scale.rate_to_iq(9e-301)


def test_the_smallest_rate_leads_back_through_every_unit():
    for read, back in ((scale.rate_to_level, scale.level_to_rate), (scale.rate_to_one_in, scale.one_in_to_rate)):
        assert back(read(SMALLEST_RATE)) == pytest.approx(SMALLEST_RATE, rel=1e-9)


def test_no_rate_has_a_percentile_of_100():
    assert scale.rate_to_percentile(1e-300) == math.nextafter(100, 0)
    assert 0 < scale.percentile_to_rate(scale.rate_to_percentile(1e-300)) < 1e-15


def test_everybody_has_a_level_and_a_rarity_but_no_iq():
    assert scale.rate_to_level(1.0) == 0.5
    assert scale.rate_to_level(1.0, convention="calibrated") == 0.0
    assert scale.rate_to_one_in(1.0) == 1.0
    assert scale.rate_to_percentile(1.0) == 0.0
    assert (scale.level_to_rate(0.5), scale.one_in_to_rate(1.0), scale.percentile_to_rate(0.0)) == (1.0, 1.0, 1.0)
    with pytest.raises(MensuraError, match=r"rate: got 1; expected a number from 1e-300 to below 1$"):
        scale.rate_to_iq(1.0)


@pytest.mark.parametrize(
    ("iq", "rate"),
    [(70, 0.9772498680518208), (85, 0.8413447460685429), (130, 0.02275013194817921), (145, 0.0013498980316300933)],
)
def test_shares_of_the_normal_distribution(iq, rate):
    """Tables of Φ at −2, −1, 2 and 3 standard deviations."""
    assert scale.iq_to_rate(iq) == pytest.approx(rate, rel=1e-12)
    assert scale.rate_to_iq(rate) == pytest.approx(iq, rel=1e-12)


def test_hints_say_what_was_probably_meant():
    with pytest.raises(MensuraError, match=r"\(is it a percentage\? 100% is 1\)"):
        scale.rate_to_level(100)
    with pytest.raises(MensuraError) as refusal:
        scale.rate_to_level(101)
    assert "percentage" not in str(refusal.value)
    for wrong in (lambda: scale.rate_to_level(-0.1), lambda: scale.one_in_to_rate(0.0)):
        with pytest.raises(MensuraError) as refusal:
            wrong()
        assert "upper bound" not in str(refusal.value)
    with pytest.raises(MensuraError, match="base: got inf"):
        scale.rate_to_level(0.5, base=math.inf)


def test_the_first_value_out_of_range_is_named():
    with pytest.raises(MensuraError, match="rate: got 7"):
        scale.rate_to_iq(np.array([0.5, 7.0, 8.0]))


@given(st.floats(0.1, 2.0), st.floats(-1.0, 1.0))
def test_a_line_starts_where_everybody_succeeds(slope, intercept):
    line = LevelLine("volume", slope, intercept)
    assert line.rate(line.lowest_level) == pytest.approx(1.0, abs=1e-12)
    assert line.rate(line.lowest_level - 1e-13) == pytest.approx(1.0, abs=1e-12)
    assert line.level(0.1) == pytest.approx((1.5 - intercept) / slope)  # −log10(0.1 / √10) = 1.5
    with pytest.raises(MensuraError, match="where everybody succeeds"):
        line.rate(line.lowest_level - 1e-6)


def test_a_line_reads_arrays_and_refuses_the_lowest_of_them():
    line = LevelLine("volume", 1.0, 0.5)
    np.testing.assert_allclose(line.rate(np.array([0.0, 1.0, 2.0])), [1.0, 0.1, 0.01])
    assert isinstance(line.rate(1.0), float)
    with pytest.raises(MensuraError, match="level: got -2"):
        line.rate(np.array([1.0, -1.0, -2.0]))
    for wrong in ((0.0, 1.0), (math.inf, 1.0), (1.0, math.nan)):
        with pytest.raises(MensuraError, match="expected a slope above 0 and a finite intercept"):
            LevelLine("volume", *wrong)


def test_codes_find_their_dimension_and_only_theirs():
    knowledge, volume = LevelLine("knowledge", 0.7, 0.8, "KN", "Knowledge"), LevelLine("volume", 1.5, -0.55, "VO")
    calibration = Calibration((knowledge, volume))
    assert calibration["kna"] is knowledge
    assert calibration["vo"] is volume
    assert list(calibration) == [knowledge, volume]
    for unknown in ("K", "KNaa", "KX", "VOLUM"):
        with pytest.raises(MensuraError, match="has no calibrated line; choose one of knowledge, volume"):
            calibration[unknown]
    with pytest.raises(MensuraError, match="calibration: no dimension given"):
        Calibration.from_rows([])
    [read] = Calibration.from_rows([{"dimension": "d", "slope": "0.9", "intercept": 1, "code": None}])
    assert (read.slope, read.intercept, read.code, read.name) == (0.9, 1.0, "", "")


def test_a_position_on_a_dimension_keeps_its_interval():
    line = LevelLine("volume", 1.0, 0.5)
    position = Position.from_dimension(line, 2.0, 1.0, 3.0)
    assert position.rate == pytest.approx((0.01, 0.001, 0.1))
    assert position.annotated_level(line) == pytest.approx((2.0, 1.0, 3.0))
    assert position.level(2.0, "calibrated").value == pytest.approx(math.log2(100))
    assert Position.from_level(3.0, base=2.0, convention="calibrated").p == pytest.approx(1 / 8)
    assert Position(0.2).iq.low is None
    assert Position(0.2, 0.2, 0.2).rate == (0.2, 0.2, 0.2)
    assert Position.from_iq(130, 130, 130).iq == pytest.approx((130, 130, 130))
    with pytest.raises(MensuraError, match=r"rate: got 1\.2"):
        Position(0.5, 0.1, 1.2)
    for one_end in (lambda: Position(0.5, None, 0.6), lambda: Position.from_iq(130, None, 140)):
        with pytest.raises(MensuraError, match="got one end only"):
            one_end()
