"""A score on a benchmark's curve, and back."""

import numpy as np
import pytest

from mensura.scale import score_to_capability, share_above_chance


@pytest.mark.parametrize(("chance", "ceiling"), [(0.0, 1.0), (0.25, 1.0), (0.1, 0.9)])
def test_the_curve_gives_the_score_back(chance, ceiling):
    C, D, slope = np.array([-1.0, 0.2, 1.5]), 0.4, 1.7
    score = chance + (ceiling - chance) / (1 + np.exp(-slope * (C - D)))
    np.testing.assert_allclose(score_to_capability(score, D, slope, chance, ceiling), C)


def test_halfway_up_the_range_is_the_difficulty():
    assert score_to_capability(0.625, 0.3, 2.0, 0.25) == pytest.approx(0.3)


def test_at_chance_or_below_and_at_the_ceiling_the_edge_is_read():
    low = score_to_capability([0.25, 0.219, 0.0], 0.0, 1.0, 0.25)
    np.testing.assert_allclose(low, np.log(0.01 / 0.99))
    assert score_to_capability(1.0, 0.0, 1.0) == pytest.approx(np.log(99))
    assert share_above_chance(0.219, 0.25) < 0
