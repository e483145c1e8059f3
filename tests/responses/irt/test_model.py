"""Priors: their gradient is that of their density, and they do not know where the scale of ordinary tests lies."""

import numpy as np
import pytest

from mensura.responses.irt.model import Parameters
from mensura.responses.irt.priors import STEEPEST, Priors, group_prior_terms, prior_terms


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
            up, down = (prior_terms(items.moved(sign * step.ravel()), Priors())[0] for sign in (1, -1))
            assert gradient[item, place] == pytest.approx((up - down) / 2e-5, abs=1e-6)


def test_shifting_and_stretching_the_scale_changes_nothing(items):
    """θ → (θ − m)/s is a → as, d → d + am."""
    density = prior_terms(items, Priors())[0]
    moved = Parameters("3pl", items.slope * 1.7, items.intercept + items.slope * 0.9, items.guess, items.mean, items.sd)
    assert prior_terms(moved, Priors())[0] == pytest.approx(density)


def test_gradient_of_groups_is_the_slope_of_their_density():
    """The first group's spread is the unit of the others, so it has a part of their gradient."""
    groups = Parameters(
        "rasch", np.ones(2), np.zeros(2), np.zeros(2), np.array([0.0, 3.0, -1.0]), np.array([7.0, 2, 9])
    )
    _, gradient, _ = group_prior_terms(groups, Priors().groups)
    for place, step in enumerate(1e-5 * np.eye(7)[2:]):
        ends = (group_prior_terms(groups.moved(sign * step), Priors().groups)[0] for sign in (1, -1))
        up, down = ends
        assert gradient[place] == pytest.approx((up - down) / 2e-5, abs=1e-6)


def test_only_a_steep_mean_discrimination_is_pulled_back(items):
    for factor, pulled in ((0.5, False), (3.0, True)):
        slope = items.slope / items.slope.mean() * STEEPEST * factor
        steep = Parameters("2pl", slope, items.intercept, items.guess, items.mean, items.sd)
        _, gradient, _ = prior_terms(steep, Priors(intercept=None))
        assert (float(gradient[:, 0] @ slope) < -1e-6) == pulled
