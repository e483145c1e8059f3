"""Numbers, months and lists as a chart writes them."""

import pytest

from mensura.charts.values import counted, listed, month, say, say_alike, say_range


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
