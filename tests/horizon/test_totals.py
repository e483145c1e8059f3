"""Benchmarks without item results: lengths of their tasks and one total score give a horizon with a wide interval."""

import pytest

from mensura.horizon import fit_totals


def test_total_scores_give_wide_horizons():
    lengths = {"benchmark": ["b"] * 40, "minutes": [2 ** (i / 4) for i in range(40)], "how": ["baseline"] * 40}
    table = fit_totals({"subject": ["low", "high"], "benchmark": ["b", "b"], "percent": [25.0, 75.0]}, lengths)
    low, high = table["p50"].to_list()
    assert low == pytest.approx(2**2.5, rel=0.4)
    assert high == pytest.approx(2**7.5, rel=0.4)
