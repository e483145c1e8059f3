"""Posteriors of several abilities at nodes: published likelihoods, moments of the nodes, and answers as steps."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from mensura.responses.irt.dimension_items import DimensionItems
from mensura.responses.irt.dimension_nodes import (
    StepAnswers,
    log_density,
    node_count,
    normalised,
    pass_over,
    product_rule,
    step_answers,
)
from mensura.responses.irt.dimensions import fit_dimensions_held

SECTION_7 = (12, 19, 1, 7, 3, 19, 3, 17, 10, 5, 3, 7, 7, 23, 8, 28, 7, 39, 11, 34, 14, 51, 15, 90)
SECTION_7 += (6, 25, 7, 35, 18, 136, 32, 308)
"""The same for section 7 (Bock and Lieberman 1970); estimates of two abilities: mirt 1.45.6, example of ``mirt()``."""


TWO_FACTORS = [[-2.007, 0.87], [-0.849, -0.522], [-2.153, -1.836], [-0.756, -0.028], [-0.757, 0.0]]


TWO_PARTS = [[1.792, 0.0], [0.0, 1.427], [0.0, 1.559], [0.743, 0.0], [0.763, 0.0]]


@pytest.mark.parametrize(
    ("slopes", "intercepts", "published", "within"),
    [
        (TWO_FACTORS, [2.648, 0.788, 2.483, 0.485, 1.864], -2653.520, 0.08),
        (TWO_PARTS, [2.358, 0.9, 1.725, 0.483, 1.867], -2686.298, 0.002),
    ],
)
def test_two_abilities_have_the_likelihood_that_mirt_prints(slopes, intercepts, published, within):
    """Two factors of all items are integrated together, on fewer nodes than two separate ones."""
    answers = np.array([[int(sign) for sign in f"{pattern:05b}"] for pattern in range(32)]).repeat(SECTION_7, axis=0)
    answers = StepAnswers(answers.astype(float))
    values = np.array(slopes)
    free = np.ones_like(values, dtype=bool) if slopes is TWO_FACTORS else values != 0.0
    items = DimensionItems(values, np.array(intercepts), np.eye(2), free, correlated=False)
    places = fit_dimensions_held(answers, items, most=0).places
    for _ in range(3):
        sums, places = pass_over(answers, items, places)
    assert sums.evidence == pytest.approx(published, abs=within)


TWO_PARTS_OF_FOUR = np.array([[1.0, 0.5, 0.0], [1.0, 0.5, 0.0], [1.0, 0.0, 0.7], [1.0, 0.0, 0.7]])
"""Four items that share an ability; two pairs have one of their own besides."""


def items_of(slopes, **more):
    slopes = np.asarray(slopes)
    return DimensionItems(slopes, np.zeros(len(slopes)), np.eye(slopes.shape[1]), slopes != 0.0, False, **more)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_nodes_have_the_moments_of_normal_abilities(dimensions):
    """Up to the fourth: 3 for one ability, 1 for the squares of two that are independent."""
    p = items_of(np.ones((4, dimensions)))
    at, log_weights = product_rule(p)
    density = np.exp(log_weights - 0.5 * np.sum(at**2, axis=1))
    assert density.sum() == pytest.approx(1)
    np.testing.assert_allclose((at.T * density) @ at, np.eye(dimensions), atol=1e-12)
    assert density @ at[:, 0] ** 4 == pytest.approx(3)
    if dimensions > 1:
        assert density @ (at[:, 0] * at[:, 1]) ** 2 == pytest.approx(1)
    assert node_count(p) == (len(at), 1)


def test_abilities_of_parts_have_nodes_of_their_own_at_each_shared_one():
    """Eleven by eleven serve any number of parts."""
    assert node_count(items_of(TWO_PARTS_OF_FOUR)) == (11, 11)
    many = np.column_stack([np.ones(6), np.kron(np.eye(3), np.ones((2, 1)))])
    assert node_count(items_of(many)) == (11, 11)


def test_weights_sum_to_one_and_keep_the_logarithm_of_their_sum():
    joint = np.log([[1.0, 3.0], [2.0, 2.0]]) - 1000.0
    weights, total = normalised(joint)
    np.testing.assert_allclose(weights, [[0.25, 0.75], [0.5, 0.5]])
    np.testing.assert_allclose(total, np.log(4.0) - 1000.0)


def test_the_density_of_correlated_abilities_is_normal():
    covariance = np.array([[1.0, 0.6], [0.6, 2.0]])
    theta = np.array([[[0.3, -0.4], [1.0, 2.0]]])
    expected = multivariate_normal(np.zeros(2), covariance).logpdf(theta[0]) + np.log(2 * np.pi)
    np.testing.assert_allclose(log_density(theta, covariance)[0], expected)


@pytest.mark.parametrize(
    ("model", "right", "trials"),
    [
        ("graded", [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]]),
        ("partial-credit", [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]], [[1, 1, 1]] * 4),
    ],
)
def test_an_answer_in_a_category_is_right_and_wrong_at_steps(model, right, trials):
    """Category 2 of four is, graded, right at the second step and wrong at the third; partial credit took them all."""
    sizes = np.array([4, 4])
    p = DimensionItems(
        np.ones((2, 1)), np.tile([1.0, 0.0, -1.0], (2, 1)), np.eye(1), np.ones((2, 1), bool), False, model, sizes
    )
    counts = np.zeros((4, 2, 4))
    counts[np.arange(4), 0, np.arange(4)] = 1.0
    found = step_answers(model, counts, p)
    assert found[0][:, :3].tolist() == right and found[1][:, :3].tolist() == trials
    assert not found[0][:, 3:].any() and not found[1][:, 3:].any(), "nobody took the second item"


def test_the_posterior_of_one_ability_is_that_of_a_fine_sum():
    """Three right of four items of slope 1, and a standard normal ability."""
    p, answers = items_of(np.ones((4, 1))), StepAnswers(np.array([[1.0, 1.0, 1.0, 0.0]]))
    places = fit_dimensions_held(answers, p, most=0).places
    for _ in range(3):
        sums, places = pass_over(answers, p, places)
    theta = np.linspace(-8, 8, 4001)
    density = np.exp(3 * theta - 4 * np.log1p(np.exp(theta)) - theta**2 / 2) / np.sqrt(2 * np.pi)
    total = density.sum() * (theta[1] - theta[0])
    mean = (density @ theta) / density.sum()
    assert sums.evidence == pytest.approx(np.log(total), abs=1e-5)
    assert places.mean[0, 0] == pytest.approx(mean, abs=1e-4)
    assert places.covariance[0, 0, 0] == pytest.approx((density @ theta**2) / density.sum() - mean**2, abs=1e-4)
