"""Two-sided linear systems, solved by eliminating subjects: against dense algebra and differences of the cost."""

from dataclasses import replace

import numpy as np
import pytest

from mensura.stitching import elimination
from mensura.stitching.elimination import Point, System, expected_at, linearise_point, solve_system, split_unknowns
from mensura.stitching.layout import ScoreLayout

ROWS = np.array([0, 0, 0, 1, 1, 2, 2, 3, 3, 3])
COLS = np.array([0, 1, 2, 0, 2, 1, 2, 0, 1, 2])
LAYOUT = ScoreLayout(ROWS, COLS, 4, 3)


@pytest.fixture
def system():
    """Two replicates of a definite system: its diagonal outweighs the couplings."""
    rng = np.random.default_rng(0)
    n = len(ROWS)
    return System(
        rng.normal(size=(2, 10)),
        rng.uniform(5, 9, (2, 10)),
        rng.normal(size=(2, 3)),
        rng.normal(size=(2, n)),
        rng.normal(size=(2, n)),
    )


def dense_of(system, replicate):
    matrix = np.diag(system.diagonal[replicate])
    for b in range(3):
        matrix[4 + b, 7 + b] = matrix[7 + b, 4 + b] = system.mixed[replicate, b]
    for place, (row, col) in enumerate(zip(ROWS, COLS, strict=True)):
        matrix[row, 4 + col] = matrix[4 + col, row] = system.cross_first[replicate, place]
        matrix[row, 7 + col] = matrix[7 + col, row] = system.cross_second[replicate, place]
    return matrix


@pytest.mark.parametrize("direct", [200, 0])
def test_a_step_solves_the_whole_system_directly_and_by_conjugate_gradients(system, direct, monkeypatch):
    monkeypatch.setattr(elimination, "DIRECT_BENCHMARKS", direct)
    monkeypatch.setattr(elimination, "LOOSEST", 1e-12)
    step, descends = solve_system(LAYOUT, system)
    expected = [-np.linalg.solve(dense_of(system, one), system.gradient[one]) for one in range(2)]
    np.testing.assert_allclose(step, expected, rtol=1e-7, atol=1e-9)
    assert descends.tolist() == [True, True]


@pytest.mark.parametrize("curvature", [-1.0, 0.0])
def test_a_replicate_without_curvature_does_not_descend_and_leaves_the_other_alone(system, curvature):
    flat = replace(system, diagonal=system.diagonal.copy())
    flat.diagonal[0, 1] = curvature
    with np.errstate(all="raise"):
        step, descends = solve_system(LAYOUT, flat)
    assert descends.tolist() == [False, True]
    np.testing.assert_allclose(step[1], solve_system(LAYOUT, system)[0][1])


def test_unknowns_that_are_held_do_not_move_and_pull_nothing(system):
    fixed = np.zeros((2, 10), dtype=bool)
    fixed[:, [1, 5, 8]] = True
    step, _ = solve_system(LAYOUT, system.holding(LAYOUT, fixed))
    assert (step[fixed] == 0).all()
    for one in range(2):
        free = np.flatnonzero(~fixed[one])
        part = dense_of(system, one)[np.ix_(free, free)]
        np.testing.assert_allclose(step[one, free], -np.linalg.solve(part, system.gradient[one, free]))


def point_at(x, y, weights, penalty):
    return Point(x, expected_at(LAYOUT, x), y, weights, penalty)


def test_an_expected_score_is_the_logistic_curve_of_its_pair():
    x = np.random.default_rng(1).normal(size=(2, 10))
    C, D, slope = split_unknowns(LAYOUT, x)
    expected = 1 / (1 + np.exp(-slope[:, COLS] * (C[:, ROWS] - D[:, COLS])))
    np.testing.assert_allclose(expected_at(LAYOUT, x), expected)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_system_at_a_point_is_that_of_the_cost(share):
    """The gradient by differences of the cost, and with second derivatives the matrix by differences of gradients."""
    rng = np.random.default_rng(2)
    x, y, weights = rng.normal(size=(1, 10)), rng.random((1, 10)), rng.uniform(0.5, 2, (1, 10))
    penalty = np.full((1, 10), 0.3)
    shares, small = np.full(1, share), 1e-5

    def at(moved):
        return point_at(moved, y, weights, penalty)

    found = linearise_point(LAYOUT, at(x), np.zeros(1), shares)
    axes = small * np.eye(10)
    gradient = [(at(x + axis).cost - at(x - axis).cost)[0] / (2 * small) for axis in axes]
    np.testing.assert_allclose(found.gradient[0], gradient, atol=1e-7)
    if share:
        ends = [
            [linearise_point(LAYOUT, at(x + sign * axis), np.zeros(1), shares).gradient[0] for sign in (1, -1)]
            for axis in axes
        ]
        matrix = [(up - down) / (2 * small) for up, down in ends]
        np.testing.assert_allclose(dense_of(found, 0), matrix, atol=1e-6)


def test_damping_grows_the_diagonal_alone():
    x = np.random.default_rng(3).normal(size=(1, 10))
    point = point_at(x, np.full((1, 10), 0.5), np.ones((1, 10)), np.ones((1, 10)))
    plain, damped = (linearise_point(LAYOUT, point, np.full(1, more), np.zeros(1)) for more in (0.0, 0.5))
    np.testing.assert_allclose(damped.diagonal, 1.5 * plain.diagonal)
    np.testing.assert_array_equal(damped.gradient, plain.gradient)
    np.testing.assert_array_equal(damped.cross_first, plain.cross_first)
