"""Priors: their gradient is that of their density, and they do not know where the scale lies."""

import numpy as np
import pytest

from mensura.responses.irt.model import Parameters, Priors, prior_terms


@pytest.fixture
def items():
    rng = np.random.default_rng(0)
    return Parameters(
        "3pl", np.exp(rng.normal(0, 0.4, 6)), rng.normal(0.5, 1, 6), rng.normal(-1, 0.5, 6), np.zeros(1), np.ones(1)
    )


def test_gradient_is_the_slope_of_the_density(items):
    _, gradient, _ = prior_terms(items, Priors())
    for item in range(6):
        for place in range(3):
            step = np.zeros((6, 3))
            step[item, place] = 1e-5
            up, down = (prior_terms(items.moved(sign * step, np.zeros(0)), Priors())[0] for sign in (1, -1))
            assert gradient[item, place] == pytest.approx((up - down) / 2e-5, abs=1e-6)


def test_shifting_and_stretching_the_scale_changes_nothing(items):
    """θ → (θ − m)/s is a → as, d → d + am."""
    density = prior_terms(items, Priors())[0]
    moved = Parameters("3pl", items.slope * 1.7, items.intercept + items.slope * 0.9, items.guess, items.mean, items.sd)
    assert prior_terms(moved, Priors())[0] == pytest.approx(density)
