"""Axes: the span of their values, round ticks, and days as months and years.

Numbers, months and lists as a chart writes them.
"""

from datetime import date

import pytest

from mensura.charts.values import Axis, counted, listed, month, round_ticks, say, say_alike, say_range
from mensura.core.errors import MensuraError


def test_an_axis_adds_a_share_of_its_length_at_both_ends():
    axis = Axis.around("IQ", [20.0, None, 10.0, float("inf")], pad=0.1)
    assert (axis.low, axis.high) == pytest.approx((9.0, 21.0))
    assert Axis.around("IQ", [10.0, 20.0], pad=0.1, least=9.5).low == 9.5


def test_a_logarithmic_axis_leaves_out_what_it_cannot_show_and_adds_room_by_a_factor():
    axis = Axis.around("$", [0.1, 1000.0, -5.0, 0.0], log=True, pad=0.25)
    assert (axis.low, axis.high) == pytest.approx((0.01, 10_000.0))


@pytest.mark.parametrize(("value", "ends"), [(40.0, (36.0, 44.0)), (-40.0, (-44.0, -36.0)), (0.0, (-0.1, 0.1))])
def test_one_value_still_has_room_around_it(value, ends):
    axis = Axis.around("IQ", [value], pad=0.1)
    assert (axis.low, axis.high) == pytest.approx(ends)


@pytest.mark.parametrize("log", [True, False])
def test_no_value_is_refused(log):
    with pytest.raises(MensuraError, match="IQ: an axis needs a value"):
        Axis.around("IQ", [None, -1.0] if log else [None], log=log)


def test_values_become_pixels_and_what_lies_outside_stands_at_the_edge():
    at = Axis("IQ", 10.0, 30.0).scale(100, 300)
    assert [at(value) for value in (5, 10, 15, 30, 99)] == [100, 100, 150, 300, 300]
    assert Axis("$", 1.0, 10_000.0, log=True).scale(0, 100)(100.0) == pytest.approx(50)
    assert Axis("s", 10.0, 30.0, reverse=True).scale(0, 100)(15.0) == 75


def test_ticks_have_as_many_decimals_each():
    assert [text for _, text in Axis("r", 0.87, 0.98).ticks(6)] == ["0.88", "0.90", "0.92", "0.94", "0.96", "0.98"]
    assert [text for _, text in Axis("r", -1.0, 1.0).ticks(4)] == ["−1.0", "−0.5", "0.0", "0.5", "1.0"]


def test_levels_have_whole_ticks():
    assert [value for value, _ in Axis("level", 0.7, 5.3, whole=True).ticks(3)] == [2, 4]
    assert [value for value, _ in Axis("level", 0.7, 2.3, whole=True).ticks(9)] == [1, 2]


@pytest.mark.parametrize(
    ("low", "high", "most", "ticks"),
    [
        (0, 10, 6, [0, 2, 4, 6, 8, 10]),
        (0, 1, 4, [0, 0.25, 0.5, 0.75, 1]),
        (95, 135, 7, [100, 110, 120, 130]),
        (0.3, 4.9, 5, [1, 2, 3, 4]),
        (3, 3, 6, [3]),
    ],
)
def test_ticks_are_round_and_inside_the_span(low, high, most, ticks):
    assert round_ticks(low, high, most) == pytest.approx(ticks)


def test_logarithmic_ticks_thin_out_as_the_decades_grow():
    assert round_ticks(1.0, 100.0, 7, log=True) == [1, 2, 5, 10, 20, 50, 100]
    assert round_ticks(1.0, 100.0, 5, log=True) == [1, 3, 10, 30, 100]
    assert round_ticks(0.5, 2000.0, 4, log=True) == [1, 10, 100, 1000]


def test_time_is_written_as_years_and_names_of_months():
    def days(start, end, most):
        axis = Axis("", start.toordinal(), end.toordinal(), days=True)
        return [text for _, text in axis.ticks(most)]

    assert days(date(2022, 11, 1), date(2026, 2, 1), 5) == ["2023", "2024", "2025", "2026"]
    assert days(date(2025, 10, 15), date(2026, 5, 1), 4) == ["2026", "Apr"]
    assert days(date(2026, 2, 15), date(2026, 6, 1), 4) == ["Mar 2026", "Apr 2026", "May 2026", "Jun 2026"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "unknown"),
        (0, "0"),
        (0.012345, "0.0123"),
        (-2.5, "−2.5"),
        (120.0, "120"),
        (1234567.0, "1,234,567"),
        (9.999, "10"),
    ],
)
def test_numbers_keep_three_significant_digits(value, text):
    assert say(value) == text


def test_numbers_of_one_kind_have_as_many_decimals_each():
    assert say_alike([1.0, -20.0, 300.0]) == ["1", "−20", "300"]
    assert say_alike([1.25, -2.0]) == ["1.25", "−2.00"]
    assert say_alike([12.25, 2.0]) == ["12.2", "2.0"]
    assert say_alike([1234.5, 2.0]) == ["1,234", "2"]
    assert say_alike([0.5, 0.25]) == ["0.50", "0.25"]
    assert say_alike([0.0, 0.0]) == ["0", "0"]
    assert say_alike([0.0125, 0.0375]) == ["0.0125", "0.0375"]


def test_intervals_and_lists_read_like_sentences():
    assert say_range(120.0, 131.2) == ", 120 to 131"
    assert say_range(None, 131.2) == say_range(120.0, None) == ""
    assert [listed(names) for names in ("", "a", "ab", "abc", "abcd")] == [
        "",
        "a",
        "a and b",
        "a, b and c",
        "a, b and c",
    ]
    assert listed("abc", 2) == "a and b"
    assert (counted(1, "model"), counted(0, "model"), counted(12, "model")) == ("1 model", "0 models", "12 models")


def test_days_are_said_as_months():
    assert month("2026-05-28") == "May 2026"
