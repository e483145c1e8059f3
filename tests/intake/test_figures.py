"""Figures as people write them: percent signs, decimal commas, errors behind them."""

import pytest

from mensura.intake.figures import read_figure


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
