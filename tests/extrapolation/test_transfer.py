"""One transfer of item rates from a focal to a reference population, under any draws of the assumptions."""

import numpy as np
import pytest

from mensura.extrapolation.transfer import depart

pytestmark = pytest.mark.slow


def test_departures_stay_below_those_who_can_answer():
    moved = depart(np.array([[0.85]]), np.array([[8.0]]), np.array([0.9]))
    assert 0.85 < moved[0, 0] <= 0.9
