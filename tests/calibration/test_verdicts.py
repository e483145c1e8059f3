"""What is said of a base: every reason to doubt it comes before its class."""

import pytest

from mensura.calibration.skill import judge, judge_means


@pytest.mark.parametrize(
    ("base", "low", "high", "levels", "varied", "said"),
    [
        (5.0, 4.0, 6.0, 1, 50, "not identified: 1 level with 3 items or more"),
        (5.0, 4.0, 6.0, 2, 50, "not identified: 2 levels with 3 items or more"),
        (5.0, 4.0, 6.0, 3, 19, "not identified: 19 items apart from the commonest level"),
        (0.5, 0.3, 0.99, 3, 20, "negative slope"),
        (1.2, 1.0, 1.5, 3, 20, "not identified: interval spans 1"),
        (5.0, 1.1, 11.1, 3, 20, "not identified: interval wider than a factor of ten"),
        (5.0, 1.2, 11.9, 3, 20, "Standard"),
        (12.0, 8.0, 15.0, 5, 90, "High"),
        (1.5, 1.2, 1.8, 5, 90, "Slow"),
    ],
)
def test_a_base_with_its_interval(base, low, high, levels, varied, said):
    assert judge(base, low, high, levels, varied) == said


@pytest.mark.parametrize(
    ("slope", "levels", "said"),
    [
        (float("nan"), 0, "not identified: no items"),
        (0.7, 1, "not identified: one level only"),
        (-0.1, 2, "negative slope"),
        (1.24, 2, "High"),
        (0.48, 5, "Standard"),
        (0.1, 5, "Slow"),
        (-1.4e-17, 5, "Slow"),  # equal means
    ],
)
def test_a_line_of_the_published_procedure(slope, levels, said):
    assert judge_means(slope, levels) == said
