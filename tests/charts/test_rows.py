"""Axes, numbers and lists as a chart writes them."""

from datetime import date

import pytest

from mensura.charts.rows import Span, counted, listed, milliseconds, say, say_alike, say_range
from mensura.core.errors import MensuraError


def test_a_span_adds_a_share_of_its_length_at_both_ends():
    span = Span.around([20.0, None, 10.0], pad=0.1)
    assert (span.low, span.high) == pytest.approx((9.0, 21.0))
    longer = Span.around([10.0, 20.0], pad=0.1, end=0.5)
    assert (longer.low, longer.high) == pytest.approx((9.0, 25.0))


def test_a_logarithmic_span_adds_it_in_decades():
    span = Span.around([0.1, 1000.0, -5.0, 0.0], log=True, pad=0.25)
    assert (span.low, span.high) == pytest.approx((0.01, 10_000.0))
    assert span.log


@pytest.mark.parametrize(
    ("value", "log", "ends"),
    [
        (40.0, False, (36.0, 44.0)),
        (-40.0, False, (-44.0, -36.0)),
        (0.0, False, (-0.1, 0.1)),
        (1.0, True, (0.79433, 1.25893)),
    ],
)
def test_one_value_still_has_room_around_it(value, log, ends):
    """A tenth of its own size, of 1 at zero, and of a decade on a logarithmic axis."""
    span = Span.around([value], log=log, pad=0.1)
    assert (span.low, span.high) == pytest.approx(ends, rel=1e-4)


@pytest.mark.parametrize("log", [True, False])
def test_no_value_is_refused(log):
    with pytest.raises(MensuraError, match="an axis needs at least one value"):
        Span.around([None, -1.0] if log else [None], log=log)


def test_share_runs_from_start_to_end():
    assert [Span(10.0, 30.0).share(value) for value in (10, 15, 30)] == [0.0, 0.25, 1.0]
    assert Span(1.0, 10_000.0, log=True).share(100.0) == pytest.approx(0.5)
    assert Span(10.0, 30.0, reverse=True).share(15.0) == 0.75


def test_ticks_thin_out_as_the_decades_grow():
    assert Span(1.0, 10.0).ticks() is None
    assert Span(0.9, 8.0, log=True).ticks() == [1, 1.5, 2, 3, 4, 5, 7]
    assert Span(1.0, 100.0, log=True).ticks() == [1, 2, 5, 10, 20, 50, 100]
    assert Span(0.5, 2000.0, log=True).ticks() == [1, 10, 100, 1000]
    assert Span(1.0, 12.0, log=True).ticks() == [1, 2, 5, 10]
    assert Span(1.0, 2000.0, log=True).ticks() == [1, 10, 100, 1000]


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


def test_days_are_counted_from_1970_in_utc():
    assert milliseconds("1970-01-02") == milliseconds(date(1970, 1, 2)) == 86_400_000
