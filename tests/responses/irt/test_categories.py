"""Items with several categories: the gradient of a pass, priors, and fits whose answer is known."""

import numpy as np
import pytest
import scipy

from mensura.responses.irt.categories import (
    CategoryCounts,
    CategoryFitted,
    CategoryPrior,
    fit_categories_held,
    height_and_gradient,
    subject_scores,
)
from mensura.responses.irt.category_curves import MODELS, begin
from mensura.responses.irt.namespace import NumpyArrays
from mensura.responses.irt.passes import Grid

SPACE = NumpyArrays(np.float64)
SHARES = [np.array([0.2, 0.5, 0.3]), np.array([0.4, 0.6]), np.array([0.3, 0.3, 0.4])]


def counts_of(answers):
    """Counts of categories from the category that each subject chose of each item, −1 where it is blank."""
    answers = np.asarray(answers)
    held = np.zeros((len(answers), answers.shape[1] * 3), dtype=np.float64)
    rows, items = np.nonzero(answers >= 0)
    held[rows, 3 * items + answers[rows, items]] = 1.0
    return scipy.sparse.csr_array(held)


@pytest.fixture
def shards():
    """Two groups of some subjects who answered three items, of three, two and three categories."""
    rng = np.random.default_rng(0)
    answers = np.column_stack([rng.integers(0, size, 24) for size in (3, 2, 3)])
    answers[::5, 2] = -1
    weights = rng.uniform(0.5, 2.0, 14)
    return [CategoryCounts(counts_of(answers[:10]), 0), CategoryCounts(counts_of(answers[10:]), 1, weights)]


@pytest.mark.parametrize("prior", [None, CategoryPrior()])
@pytest.mark.parametrize("model", MODELS)
def test_the_gradient_is_that_of_the_log_posterior(model, prior, shards):
    p = begin(model, SHARES, 2)
    p = p.moved(np.random.default_rng(1).normal(0.0, 0.1, len(p.flat())))
    _, slope = height_and_gradient(SPACE, shards, p, prior)
    used, small = np.append(p.used.ravel(), [True, True]), 1e-4
    for place in np.flatnonzero(used):
        step = small * (np.arange(len(used)) == place)
        up, down = (height_and_gradient(SPACE, shards, p.moved(sign * step), prior)[0] for sign in (1, -1))
        assert slope[place] == pytest.approx((up - down) / (2 * small), abs=2e-3)


def test_scores_of_subjects_sum_to_the_gradient_of_the_likelihood(shards):
    p = begin("graded", SHARES, 2)
    grid = Grid.over(p.mean, p.sd)
    fitted = CategoryFitted(p, grid, None, 0.0, 0, True, 0.0, None)
    scores = subject_scores(SPACE, shards, fitted)
    assert scores.shape == (24, p.values.size + 2)
    used = np.append(p.used.ravel(), [True, True])
    total = height_and_gradient(SPACE, shards, p, None)[1]
    np.testing.assert_allclose(scores.sum(axis=0)[used], total[used], atol=1e-3)


def test_a_subject_of_weight_two_counts_as_two():
    counts = counts_of([[0, 1, 2], [2, 0, 1], [1, 1, 0]])
    twice = scipy.sparse.vstack([counts, counts[[1]]], format="csr")
    p = begin("partial-credit", SHARES, 1)
    one = height_and_gradient(SPACE, [CategoryCounts(counts, 0, np.array([1.0, 2.0, 1.0]))], p, None)
    other = height_and_gradient(SPACE, [CategoryCounts(twice, 0)], p, None)
    assert one[0] == pytest.approx(other[0])
    np.testing.assert_allclose(one[1], other[1], atol=1e-9)


def test_answers_without_a_pattern_have_a_fit_of_their_shares():
    """All pairs of two items of three categories: nobody is more able, so chances at the mean are a third each."""
    answers = [(one, other, -1) for one in range(3) for other in range(3)] * 4
    held = counts_of(answers).tocsc()[:, :6].tocsr()
    start = begin("graded", [np.full(3, 1 / 3)] * 2, 1)
    fitted = fit_categories_held(SPACE, [CategoryCounts(held, 0)], start, CategoryPrior(slope=0.0, slope_sd=0.5))
    assert fitted.converged
    assert np.abs(fitted.parameters.slope).max() < 0.02
    np.testing.assert_allclose(fitted.parameters.chances(np.zeros(1))[:, :, 0], 1 / 3, atol=0.01)
    np.testing.assert_allclose(fitted.counts.sum(axis=2), 12, atol=1e-4)


@pytest.mark.parametrize(("model", "middle", "width"), [("graded", 1.0, 1.0), ("nominal", 0.0, 3.0)])
def test_slopes_have_a_weak_normal_prior_and_those_of_nominal_one_about_zero(model, middle, width):
    p = begin(model, SHARES, 1)
    held = [CategoryCounts(counts_of([[0, 1, 2], [2, 0, 1]]), 0)]
    prior = CategoryPrior(slope=1.0, slope_sd=1.0, step_sd=1e9, groups=None)
    slopes = p.values[:, : p.most - 1 if model == "nominal" else 1][
        p.used[:, : p.most - 1 if model == "nominal" else 1]
    ]
    density = height_and_gradient(SPACE, held, p, prior)[0] - height_and_gradient(SPACE, held, p, None)[0]
    assert density == pytest.approx(-0.5 * np.sum(((slopes - middle) / width) ** 2), abs=1e-6)
