"""Abilities from a likelihood on a grid: closed forms of one item, a normal posterior, and both ends."""

import numpy as np
import pytest

from mensura.responses import fit_responses
from mensura.responses.irt.abilities import FARTHEST, FINE, estimate, normal_prior
from mensura.responses.irt.passes import Grid

NODES = FINE.nodes
NO_PRIOR = np.zeros(len(NODES) + 1)


def rasch(right, difficulties):
    """The log likelihood of so many right answers to Rasch items, and their information."""
    chance = 1 / (1 + np.exp(-(NODES - np.array(difficulties)[:, None])))
    values = right * NODES - np.log1p(np.exp(NODES - np.array(difficulties)[:, None])).sum(axis=0)
    return values[None], (chance * (1 - chance)).sum(axis=0)[None]


def test_half_right_of_equal_items_is_their_difficulty():
    values, information = rasch(2, [0.5] * 4)
    for method in ("ml", "wle"):
        ability, variance = estimate(method, values, information, FINE, NO_PRIOR)
        assert ability == pytest.approx([0.5], abs=1e-3)
        assert variance == pytest.approx([1 / (4 * 0.25)], rel=1e-3)


def test_three_of_four_right_is_the_logit_and_the_weighted_likelihood_that_of_half_an_answer_added():
    """Of n equal items Warm's estimate with k right is logit((k + ½)/(n + 1)): the root of the information adds ½."""
    values, information = rasch(3, [0.0] * 4)
    assert estimate("ml", values, information, FINE, NO_PRIOR)[0] == pytest.approx([np.log(3)], abs=1e-3)
    assert estimate("wle", values, information, FINE, NO_PRIOR)[0] == pytest.approx([np.log(3.5 / 1.5)], abs=1e-3)


def test_all_right_ends_at_the_farthest_by_likelihood_and_before_it_by_the_weighted_one():
    values, information = rasch(4, [0.0] * 4)
    ability, variance = estimate("ml", values, information, FINE, NO_PRIOR)
    assert ability == pytest.approx([FARTHEST], abs=0.06)
    assert variance[0] <= FARTHEST**2
    assert estimate("wle", values, information, FINE, NO_PRIOR)[0] == pytest.approx([np.log(4.5 / 0.5)], abs=1e-2)


def test_the_mode_of_a_normal_likelihood_and_a_normal_prior_is_their_weighted_mean():
    values = -0.5 * ((NODES - 2.0) / 0.5)[None] ** 2
    information = np.full_like(values, 4.0)
    ability, variance = estimate("map", values, information, FINE, normal_prior(FINE, -1.0, 1.0))
    assert ability == pytest.approx([(4 * 2.0 - 1.0) / 5], abs=1e-9)
    assert variance == pytest.approx([1 / 5])


def test_the_table_of_a_fit_has_the_weighted_estimate_and_its_error(drawn):
    """Nine in ten true abilities lie within 1.645 errors of it, high ones too; the error is that of the information."""
    fit = fit_responses(drawn.wide)
    wle, error = fit.subjects["wle"].to_numpy(), fit.subjects["se_wle"].to_numpy()
    inside = np.abs(wle - drawn.ability) < 1.645 * error
    assert 0.87 < inside.mean() < 0.93
    assert inside[drawn.ability > 1.5].mean() > 0.82
    slope, difficulty = (fit.items[name].to_numpy() for name in ("discrimination", "difficulty"))
    chance = 1 / (1 + np.exp(-slope * (wle[:, None] - difficulty)))
    middle = np.abs(wle) < 2
    alone = (slope**2 * chance * (1 - chance)).sum(axis=1) ** -0.5
    assert error[middle] == pytest.approx(alone[middle], rel=0.03)
    assert (error >= alone * 0.999).all(), "what is unknown of the items adds to it"


def test_information_is_read_between_the_nodes():
    grid = Grid(np.linspace(-1, 1, 5))
    values = -((grid.nodes - 0.25) ** 2)[None]
    _, variance = estimate("ml", values, (2.0 + grid.nodes)[None], grid, np.zeros(6))
    assert variance == pytest.approx([1 / 2.25])
