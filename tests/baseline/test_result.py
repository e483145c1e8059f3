"""The result of an estimated baseline, and its card for a README or a paper: Markdown, SVG and JSON."""

from types import SimpleNamespace

import pytest

from mensura.baseline import result
from mensura.baseline.recordings import SIMULATED


@pytest.mark.parametrize(("one_in", "written"), [(1.14, "1.1"), (9.54, "9.5"), (10.4, "10"), (12345.0, "12,345")])
def test_a_rarity_below_ten_is_written_with_one_decimal(one_in, written):
    assert result._short(one_in) == written


def test_one_simulated_estimator_among_others_is_said_to_be_unchecked():
    part = SimpleNamespace(models=("my model", f"my model{SIMULATED}"), kind=SimpleNamespace(traits=()))
    assert result.validated_on(part).endswith("Nobody has measured the errors of simulated persons yet")
    asked = SimpleNamespace(models=("my model",), kind=part.kind)
    assert result.validated_on(asked).endswith(", not of my model")
