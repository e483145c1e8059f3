"""Items with several categories: the chance of each category at an ability."""

import numpy as np
import pytest

from mensura.responses.irt.category_curves import MODELS, CategoryItems, begin, log_chances


@pytest.mark.parametrize("model", MODELS)
def test_slopes_are_those_of_small_differences(model):
    """The derivatives by parameters and by ability, of items with two, three and four categories."""
    from mensura.responses.irt.category_curves import category_curves

    p = begin(model, [np.array([0.2, 0.3, 0.5]), np.array([0.4, 0.6]), np.array([0.1, 0.2, 0.3, 0.4])], 1)
    p = p.moved(np.random.default_rng(0).normal(0.0, 0.1, p.values.size))
    nodes, small = np.linspace(-2.0, 2.0, 5), 1e-6
    _, by, along = category_curves(p, nodes)
    for place in range(p.values.shape[1]):
        step = np.zeros_like(p.values)
        step[:, place] = small
        ends = [log_chances(p.moved(sign * step.ravel()), nodes) for sign in (1.0, -1.0)]
        used = p.used[:, place][:, None, None]
        assert np.allclose((ends[0] - ends[1]) / (2 * small), by[:, :, place] * used, atol=1e-7)
    apart = log_chances(p, nodes + small) - log_chances(p, nodes - small)
    assert np.allclose(apart / (2 * small), along, atol=1e-7)


def test_information_is_the_square_of_the_slope_of_the_log_likelihood():
    items = CategoryItems("graded", np.array([4]), np.array([[1.5, 1.0, 0.0, -1.0]]), np.zeros(1), np.ones(1))
    nodes, small = np.array([-1.0, 0.3]), 1e-4
    up, down = items.chances(nodes + small), items.chances(nodes - small)
    expected = np.sum(((up - down) / (2 * small)) ** 2 / items.chances(nodes), axis=1)
    np.testing.assert_allclose(items.information(nodes), expected, rtol=1e-5)
    rise = (items.expected_scores(nodes + small) - items.expected_scores(nodes - small)) / (2 * small)
    np.testing.assert_allclose(items.score_slopes(nodes), rise, rtol=1e-5)


def test_stretched_items_are_those_of_another_scale():
    p = CategoryItems("nominal", np.array([3]), np.array([[0.5, 1.4, 0.2, -0.3]]), np.zeros(1), np.ones(1))
    moved = p.stretched(np.array([2.0]), np.array([0.7]))
    nodes = np.linspace(-1, 1, 3)
    odds, before = (np.log(one[0, 1:] / one[0, 0]) for one in (moved.chances(nodes), p.chances(nodes - 0.7)))
    np.testing.assert_allclose(odds, 2.0 * before, rtol=1e-9)
    assert moved.difficulty == pytest.approx(p.difficulty + 0.7)


def test_each_group_moves_by_its_own_mean_and_log_sd():
    """The first group sets the scale; a step has mean and log sd of every other group, one after the other."""
    items = CategoryItems("graded", np.array([2]), np.array([[1.0, 0.0]]), np.zeros(3), np.array([1.0, 2.0, 0.5]))
    moved = items.moved(np.array([0.0, 0.0, 0.3, np.log(2.0), -0.4, np.log(4.0)]))
    np.testing.assert_allclose(moved.mean, [0.0, 0.3, -0.4])
    np.testing.assert_allclose(moved.sd, [1.0, 4.0, 2.0])
