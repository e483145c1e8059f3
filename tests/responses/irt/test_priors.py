"""Priors: their densities by hand, and gradients that are the slopes of these densities."""

from dataclasses import replace

import numpy as np
import pytest

from mensura.responses.irt.model import Parameters
from mensura.responses.irt.priors import STEEPEST, GroupPrior, ItemPrior, Priors, group_prior_terms, prior_terms

ITEMS = Parameters(
    "3pl",
    slope=np.array([0.8, 1.2, 1.6]),
    intercept=np.array([0.5, -1.0, 0.2]),
    guess=np.array([-1.4, -1.0, -2.0]),
    mean=np.array([0.0, 0.7]),
    sd=np.array([1.0, 1.3]),
)


def numerical(density, p, size=1e-6):
    """Central differences of a density along every estimated parameter."""
    steps = np.eye(len(p.flat())) * size
    return np.array([(density(p.moved(step)) - density(p.moved(-step))) / (2 * size) for step in steps])


def test_densities_by_hand():
    one = replace(ITEMS, slope=np.array([1.0, 1.0]), intercept=np.array([1.0, -1.0]), guess=np.array([-1.4, -0.9]))
    slope, intercept, guessing = (
        prior_terms(one, Priors(*which))[0]
        for which in ((0.5, None, None), (None, 2.0, None), (None, None, ItemPrior(-1.4, 0.5)))
    )
    assert slope == 0.0  # both slopes are their mean
    assert intercept == pytest.approx(-0.5 * (0.25 + 0.25))  # ±1 in units of 2 about a common difficulty of 0
    assert guessing == pytest.approx(-0.5 * 1.0)  # 0.5 off, in units of 0.5
    unequal = replace(one, slope=np.array([0.5, 1.5]))
    assert prior_terms(unequal, Priors(0.5, None, None))[0] == pytest.approx(-0.5 * (1.0 + 1.0))


@pytest.mark.parametrize("model", ["rasch", "2pl", "3pl"])
@pytest.mark.parametrize("steep", [1.0, 5.0])
def test_gradients_are_the_slopes_of_the_densities(model, steep):
    slope = np.full(3, 1.2) if model == "rasch" else steep * ITEMS.slope
    p = replace(ITEMS, model=model, slope=slope, mean=ITEMS.mean[:1], sd=ITEMS.sd[:1])
    _, gradient, curvature = prior_terms(p, Priors())
    expected = numerical(lambda at: prior_terms(at, Priors())[0], p)[: gradient.size]
    assert gradient.ravel() == pytest.approx(expected, abs=1e-6)
    assert (curvature > 0).all()


def test_shifting_or_stretching_the_scale_changes_no_density():
    density = prior_terms(ITEMS, Priors())[0]
    moved = ITEMS.stretched(1.0, np.float64(2.0))
    assert prior_terms(moved, Priors())[0] == pytest.approx(density)
    stretched = replace(ITEMS, slope=2 * ITEMS.slope)
    assert prior_terms(stretched, Priors())[0] == pytest.approx(density)


def test_only_a_mean_discrimination_beyond_the_steepest_is_pulled_back():
    at, beyond = (replace(ITEMS, slope=np.full(3, factor * STEEPEST)) for factor in (1.0, np.e))
    assert prior_terms(at, Priors(0.5, None, None))[0] == 0.0
    assert prior_terms(beyond, Priors(0.5, None, None))[0] == pytest.approx(-0.5 * (1 / 0.5) ** 2)


def test_fixed_items_are_held_where_they_are():
    fixed = replace(ITEMS, fixed=np.array([True, False, False]))
    stiff = prior_terms(fixed, Priors())[2] - prior_terms(ITEMS, Priors())[2]
    assert stiff.tolist() == [[1e6] * 3, [0.0] * 3, [0.0] * 3]


@pytest.mark.parametrize(("model", "sd"), [("rasch", 1.3), ("rasch", 6.0), ("2pl", 1.0)])
def test_groups_beside_the_first_are_near_it_in_its_own_measure(model, sd):
    p = replace(ITEMS, model=model, sd=np.array([sd, 2.0]))
    prior = GroupPrior(5.0, 1.5)
    steep = -0.5 * (max(0.0, np.log(sd / STEEPEST)) / 0.5) ** 2 if model == "rasch" else 0.0
    by_hand = steep - 0.5 * (0.7 / (5.0 * sd)) ** 2 - 0.5 * (np.log(2.0 / sd) / 1.5) ** 2
    density, gradient, curvature = group_prior_terms(p, prior)
    assert density == pytest.approx(by_hand)
    expected = numerical(lambda at: group_prior_terms(at, prior)[0], p)[-len(p.free) :]
    assert gradient == pytest.approx(expected, abs=1e-6)
    assert (curvature > 0).all()
    assert group_prior_terms(p, None)[0] == 0.0
