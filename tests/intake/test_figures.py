"""Figures as people write them: percent signs, decimal commas, errors behind them."""

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.intake.figures import (
    ReadScore,
    convert,
    convertible,
    read_figure,
    settle_units,
    unit_word,
    uses_decimal_commas,
)


@pytest.mark.parametrize(
    ("written", "value", "percent"),
    [
        ("70.4", 70.4, False),
        ("70.4%", 70.4, True),
        ("−3.5", -3.5, False),
        (".5", 0.5, False),
        ("1e-3", 0.001, False),
        ("1,234.5", 1234.5, False),
        ("1.234,5", 1234.5, False),
        ("1 510", 1510, False),
        ("0,704", 0.704, False),
        ("12,34", 12.34, False),
        ("70.4 ± 1.2%", 70.4, False),
    ],
)
def test_figures(written, value, percent):
    assert read_figure(written)[:2] == (pytest.approx(value), percent)


@pytest.mark.parametrize(
    ("written", "error"), [("70.4 ± 1.2%", 1.2), ("70,4 +/- 1,2", 1.2), ("0.7 (0.02)", 0.02), ("7", None)]
)
def test_the_error_behind_a_figure_is_read(written, error):
    assert read_figure(written).error == error


@pytest.mark.parametrize("written", ["", "good", "1.2.3", "12–15", "70.4 71.2 x", "1,2,3", "0x10", "nan", "inf"])
def test_what_is_no_figure(written):
    assert read_figure(written) is None


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("+3", 3),
        ("-3", -3),
        ("5.", 5),
        ("1,234", 1234),
        ("1,234,567", 1234567),
        ("1'510.5", 1510.5),
        ("1 510 000", 1510000),
        ("0,704", 0.704),  # no number of thousands begins with 0
        ("1,23", 1.23),
        ("1.5E2", 150),
        ("12 %", 12),
        ("1.234.567,5", 1234567.5),
        ("1,234,567.5", 1234567.5),
        ("70 4", None),
        ("1.2,3.4", None),
        ("1,2345,6", None),
        ("15 1000", None),
    ],
)
def test_points_commas_and_blanks(written, value):
    figure = read_figure(written)
    assert (figure and figure.value) == value


def test_a_comma_may_part_thousands_or_decimals_as_the_column_says():
    assert read_figure("1,510").value == 1510
    assert read_figure("1,510", decimal_comma=True).value == 1.51
    assert read_figure("1,5 ± 0,25", decimal_comma=True).error == 0.25
    assert read_figure("70.4 (1.2%)") == (70.4, False, 1.2)
    assert uses_decimal_commas(["70,4", None, ""])
    assert uses_decimal_commas(["1,2345%"])
    assert not uses_decimal_commas(["1,510", "2,000"])
    assert not uses_decimal_commas(["70,4", "1.5"])
    assert not uses_decimal_commas([])


def test_percents_and_fractions_are_converted_into_each_other_alone():
    frame = pl.DataFrame({"score": [70.4, 0.704, 1510.0], "unit": ["percent", "fraction", "elo"]})
    for to, scores in {"fraction": [0.704, 0.704, 1510], "percent": [70.4, 70.4, 1510]}.items():
        assert frame.select(convert(pl.col("score"), pl.col("unit"), pl.lit(to)))["score"].to_list() == scores
    assert convertible("percent", "fraction")
    assert convertible("elo", "elo")
    assert not convertible("percent", "elo")


def settled(*values, own=None, unit=None, stated=None):
    """The units and notes of one benchmark's figures."""
    scores = [ReadScore(row, "m", "b", value, stated, {}) for row, value in enumerate(values, start=1)]
    scores, notes = settle_units(scores, {} if own is None else {"b": own}, unit, "t.csv")
    return {score.unit for score in scores}, notes


@pytest.mark.parametrize(
    ("case", "unit", "note"),
    [
        ({"own": "elo", "unit": "percent"}, "elo", "b: elo (its own unit)"),
        ({"unit": "fraction"}, "fraction", "b: fraction (as said)"),
        ({"own": "percent", "unit": "fraction"}, "fraction", "b: fraction (as said)"),
        ({"own": "fraction"}, "fraction", "b: fraction (its own unit)"),
    ],
)
def test_the_unit_of_figures_is_said_or_the_benchmarks_own(case, unit, note):
    assert settled(0.5, 1.0, **case) == ({unit}, [note])


def test_a_unit_is_never_guessed():
    assert settled(0.5, 1.01, own="fraction") == ({"percent"}, ["b: percent (0–100: a fraction is at most 1)"])
    assert settled(0, 0, own="percent") == ({"percent"}, ["b: percent (its own unit)"])
    assert settled(0.5, stated="percent") == ({"percent"}, [])
    with pytest.raises(MensuraError, match=r"b: all values lie within 0 to 1 \(the largest is 0\.75\)\. Give a column"):
        settled(0.5, 0.75, own="percent")
    with pytest.raises(MensuraError, match=r"t\.csv: 'b' is new; say the unit of its scores"):
        settled(0.5)
    with pytest.raises(MensuraError, match=r"t\.csv, row 1: the table says percent, but --unit says fraction"):
        settled(0.5, own="percent", unit="fraction", stated="percent")
    assert settled(3, own="elo", unit="fraction", stated="elo") == ({"elo"}, [])


def test_units_have_several_names():
    words = ("%", "Percentage", "PCT", "share", "proportion", "Elo", None)
    assert [unit_word(word) for word in words] == [*["percent"] * 3, "fraction", "fraction", "elo", None]
