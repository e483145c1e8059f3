"""From draws of a fit to horizons and curves: lengths at which success is half or four fifths; people's own rates."""

import numpy as np
import pytest

from mensura.horizon.horizons import lengths_at, logit_of_mean


def test_the_mean_logit_of_a_level():
    assert logit_of_mean(0.5, 1.7) == pytest.approx(0, abs=1e-6)
    assert logit_of_mean(0.8, 0.0) == pytest.approx(np.log(4), abs=1e-6)
    assert logit_of_mean(0.8, 2.0) > np.log(4)


def test_a_flat_draw_has_an_infinite_length():
    ends = lengths_at(np.array([1.0, -1.0]), np.array([0.0, 0.0]), 0.5, 1.0, 0.0)
    assert ends.tolist() == [np.inf, -np.inf]
