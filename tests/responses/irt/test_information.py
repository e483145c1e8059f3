"""The inverse information of all parameters: against exact errors, differences of gradients, and dense algebra."""

import numpy as np
import pytest
from scipy.linalg import block_diag

from mensura.responses.irt.fitting import Effort, climb, fit_held, over, start
from mensura.responses.irt.information import (
    Information,
    exact_information,
    fewer_columns,
    gradient,
    group_scores,
    group_slopes,
    information_of_columns,
    root_of_inverse,
    score_moments,
)
from mensura.responses.irt.model import Parameters
from mensura.responses.irt.namespace import namespace
from mensura.responses.irt.passes import Grid
from mensura.responses.irt.priors import Priors, group_prior_terms, prior_terms
from mensura.responses.irt.shards import of_matrix
from tests.responses.conftest import draw

FREE = Priors(None, None, None)


def test_errors_of_the_closed_form_agree_with_the_exact_ones():
    """Long tests take the closed form; on 45 items Louis' identity subject by subject is its yardstick."""
    right = draw(800, 45, seed=4).wide.drop("subject").to_numpy().astype(np.uint8)
    held = of_matrix(right, None, np.zeros(800, dtype=int))
    space = namespace(double=True)
    fitted = climb(over(space, held), start("2pl", right.mean(axis=0), 1), FREE, Effort())
    exact = exact_information(held, fitted.parameters, fitted.grid, FREE)
    ratio = fitted.information.errors() / exact.errors()
    assert np.mean(ratio) == pytest.approx(1.0, abs=0.02)
    assert np.all(np.abs(ratio - 1.0) < 0.1)


@pytest.mark.parametrize("model", ["rasch", "3pl"])
def test_exact_errors_are_those_of_differences_of_gradients(model):
    """Two groups, some answers missing: the curvature by differences of the whole gradient is the same."""
    rng = np.random.default_rng(5)
    right = draw(240, 6, seed=8, guessing=0.15).wide.drop("subject").to_numpy().astype(np.uint8)
    trials = (rng.random(right.shape) < 0.8).astype(np.uint8)
    held = of_matrix(right * trials, trials, np.arange(240) % 2)
    fitted = fit_held(namespace(double=True), held, start(model, right.mean(axis=0), 2))
    p, grid, run = fitted.parameters, fitted.grid, over(namespace(double=True), held)
    cut, small = 6 * p.of_item, 1e-3

    def slope(step):
        moved = p.moved(step)
        return gradient(moved, grid, run(moved, grid, False), Priors(None, None, None, None))

    axes = small * np.eye(cut + len(p.free))
    curvature = np.array([(slope(-axis) - slope(axis)) / (2 * small) for axis in axes])
    stiffness = np.concatenate([prior_terms(p, Priors())[2].ravel(), group_prior_terms(p, Priors().groups)[2]])
    curvature[np.diag_indices_from(curvature)] += stiffness
    expected = np.sqrt(np.diag(np.linalg.inv((curvature + curvature.T) / 2)))
    assert np.allclose(fitted.information.errors(), expected, rtol=1e-3)


def test_few_subjects_need_few_columns_of_missing_information():
    """Twelve subjects on 3,000 items: the coupled part of the errors has the rank of the subjects, not of the nodes."""
    right = draw(12, 3_000, seed=1).wide.drop("subject").to_numpy().astype(np.uint8)
    held = of_matrix(right, None, np.zeros(12, dtype=int))
    fitted = fit_held(namespace(), held, start("2pl", right.mean(axis=0), 1))
    assert fitted.information.item_columns.shape[2] <= 25 < len(fitted.grid.nodes)


def test_information_of_which_nothing_is_missing_has_a_step():
    """One right answer in all: posteriors leave no direction open, so there are no columns."""
    whole = Information(np.full((2, 1, 1), 0.5), np.full(1, 0.25), np.zeros((2, 1, 0)), np.zeros((1, 0)))
    assert whole.step(np.array([2.0, 4.0, 8.0])).tolist() == [1.0, 2.0, 2.0]


def test_covariances_of_scores_are_those_of_a_sum_over_all_nodes():
    rng, nodes = np.random.default_rng(3), np.linspace(-5.0, 5.0, 51)
    peak, sd = rng.normal(size=(2, 700, 1)) * [[[1.0]], [[0.1]]] + [[[0.0]], [[0.6]]]
    weights = np.exp(-0.5 * ((nodes - peak) / sd) ** 2)
    weights /= weights.sum(axis=1, keepdims=True)
    curves = 1.0 / (1.0 + np.exp(-np.array([0.5, 1.5, 2.5]) * (nodes[:, None] - [-1.0, 0.0, 2.0])))
    given = rng.uniform(0.2, 3.0, (700, 1))

    def scores_of(rows, live):
        return lambda table: table @ curves[live]

    square = score_moments(weights, nodes, given, scores_of)
    off = curves - (weights @ curves)[:, None, :]
    expected = np.einsum("i,iq,iqa,iqb->ab", given[:, 0], weights, off, off)
    np.testing.assert_allclose(square, expected, rtol=1e-5)


def test_a_subject_whose_ability_is_certain_leaves_no_covariance():
    nodes, weights = np.linspace(-5.0, 5.0, 51), np.eye(51)[[20, 30]]

    def scores_of(rows, live):
        return lambda table: table @ nodes[live, None]

    square = score_moments(weights, nodes, np.ones((2, 1)), scores_of)
    assert square == pytest.approx(0.0, abs=1e-9)


def dense_of(whole):
    """The inverse information as one matrix: items × 2 parameters, then those of groups."""
    inverse = block_diag(*whole.item_inverse, np.diag(whole.group_inverse))
    columns = np.concatenate([whole.item_columns.reshape(-1, whole.item_columns.shape[2]), whole.group_columns])
    return inverse + columns @ columns.T


@pytest.fixture
def factors():
    rng = np.random.default_rng(1)
    roots = rng.normal(size=(3, 2, 2))
    return Information(
        roots @ roots.transpose(0, 2, 1) + np.eye(2),
        np.array([0.5, 2.0]),
        rng.normal(size=(3, 2, 4)),
        rng.normal(size=(2, 4)),
    )


def test_steps_and_errors_are_those_of_the_whole_matrix(factors):
    slope, dense = np.arange(8.0), dense_of(factors)
    np.testing.assert_allclose(factors.step(slope), dense @ slope)
    np.testing.assert_allclose(factors.errors(), np.sqrt(np.diag(dense)))
    np.testing.assert_allclose(factors.item_covariance()[1], dense[2:4, 2:4])
    np.testing.assert_allclose(factors.item_group_covariance(1), dense[:6, 7].reshape(3, 2))
    known = block_diag(*factors.item_inverse, np.diag(factors.group_inverse))
    np.testing.assert_allclose(factors.plain_step(slope), known @ slope)


def test_fewer_columns_have_the_same_products():
    rng = np.random.default_rng(2)
    items, groups = rng.normal(size=(3, 2, 40)), rng.normal(size=(1, 40))
    few, few_groups = fewer_columns(items, groups)
    assert few.shape == (3, 2, 7) and few_groups.shape == (1, 7)
    before, after = (np.concatenate([a.reshape(6, -1), b]) for a, b in ((items, groups), (few, few_groups)))
    np.testing.assert_allclose(after @ after.T, before @ before.T)
    assert fewer_columns(items[..., :5], groups[..., :5])[0].shape == (3, 2, 5), "there are few already"


def test_the_root_of_an_inverse_makes_an_information():
    root = np.random.default_rng(3).normal(size=(5, 5))
    curvature = root @ root.T + np.eye(5)
    columns = root_of_inverse(curvature)
    np.testing.assert_allclose(columns @ columns.T, np.linalg.inv(curvature))
    np.testing.assert_allclose(dense_of(information_of_columns(columns, 2, 1)), np.linalg.inv(curvature))


def test_slopes_of_groups_are_those_of_the_log_density():
    p = Parameters("2pl", np.ones(1), np.zeros(1), np.zeros(1), np.array([0.0, 0.7]), np.array([1.0, 1.4]))
    grid = Grid.over(p.mean, p.sd)
    scores, small = group_scores(p, grid, 1), 1e-6

    def log_density(mean, log_sd):
        return -log_sd - 0.5 * ((grid.nodes - mean) / np.exp(log_sd)) ** 2

    by_mean = (log_density(0.7 + small, np.log(1.4)) - log_density(0.7 - small, np.log(1.4))) / (2 * small)
    by_sd = (log_density(0.7, np.log(1.4) + small) - log_density(0.7, np.log(1.4) - small)) / (2 * small)
    np.testing.assert_allclose(scores, [by_mean, by_sd], atol=1e-6)
    assert not group_scores(p, grid, 0).any(), "the first group sets the measure"
    np.testing.assert_allclose(
        group_slopes(p, grid)[:, 1], np.gradient(scores, grid.nodes, axis=1, edge_order=2), atol=1e-8
    )
