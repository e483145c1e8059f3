"""Several abilities at once: the gradient of the likelihood, and fits that cannot be."""

import numpy as np
import pytest

from mensura.core.errors import MensuraError
from mensura.responses.irt.dimension_items import DimensionItems, prior_gradient
from mensura.responses.irt.dimension_nodes import StepAnswers, pass_over
from mensura.responses.irt.dimensions import covariance_of, fit_dimensions_held, observed_information
from tests.responses.test_dimensions import drawn_in, evidence_at


def test_the_gradient_is_that_of_the_likelihood():
    wide, _, slopes, intercept, _ = drawn_in(2, subjects=150, items=6)
    right = wide.drop("subject").to_numpy()
    begin = DimensionItems(slopes, intercept, np.array([[1.0, 0.3], [0.3, 1.0]]), slopes != 0, True)
    fitted = fit_dimensions_held(StepAnswers(right), begin)
    best = evidence_at(right, fitted.items) - 0.5 * (
        np.sum(fitted.items.slopes**2) / 4 + np.sum(fitted.items.intercepts**2) / 9
    )
    for place in range(3):
        step = np.zeros((6, 3))
        step[place, place % 2 if slopes[place, place % 2] else 2] = 0.3
        moved = fitted.items.moved(step * fitted.items.estimated)
        there = evidence_at(right, moved)
        assert there - 0.5 * (np.sum(moved.slopes**2) / 4 + np.sum(moved.intercepts**2) / 9) < best


def small(slopes, correlated=False):
    slopes = np.asarray(slopes, dtype=float)
    return DimensionItems(slopes, np.zeros(len(slopes)), np.eye(slopes.shape[1]), slopes != 0.0, correlated)


ANSWERS = StepAnswers(
    np.array([[int(sign) for sign in f"{pattern:04b}"] for pattern in range(16)]).repeat(3, axis=0) * 1.0
)
"""All patterns of four items, three times each: nothing tells one item from another."""


def test_more_abilities_than_can_be_integrated_together_are_refused():
    with pytest.raises(MensuraError, match=r"dimensions: got 5; expected at most 4\. Merge some, or use --bifactor"):
        fit_dimensions_held(ANSWERS, small(np.ones((4, 5))))


def test_estimates_that_any_turn_of_the_abilities_fits_have_no_covariance():
    explored = small(np.ones((4, 2)))
    assert covariance_of(ANSWERS, explored, fit_dimensions_held(ANSWERS, explored, most=0).places) is None


def test_answers_without_a_pattern_have_a_fit_without_slopes():
    """Every pattern is as frequent as every other, so the likelihood is that of coins: 48 × 4 ln ½."""
    fitted = fit_dimensions_held(ANSWERS, small(np.full((4, 1), 0.5)))
    assert fitted.converged
    assert np.abs(fitted.items.slopes).max() < 0.05 and np.abs(fitted.items.intercepts).max() < 1e-3
    assert fitted.evidence == pytest.approx(48 * 4 * np.log(0.5), abs=0.01)


def test_the_information_is_the_curvature_of_the_log_posterior():
    """Differences of the gradient that a pass gives, at nodes that lie under the posteriors."""
    p = small([[1.0], [0.7], [1.4]])
    answers = StepAnswers(np.random.default_rng(0).integers(0, 2, (40, 3)).astype(float))
    places = fit_dimensions_held(answers, p, most=0).places
    for _ in range(3):
        places = pass_over(answers, p, places)[1]

    def slope(step):
        moved = p.moved(step.reshape(3, 2))
        return (pass_over(answers, moved, places)[0].gradient + prior_gradient(moved)).ravel()

    width = 1e-2
    curvature = np.array([(slope(-width * axis) - slope(width * axis)) / (2 * width) for axis in np.eye(6)])
    np.testing.assert_allclose(observed_information(answers, p, places)[0], curvature, atol=0.02)
