"""Steps of the estimate of floors and ceilings, each on a case small enough to compute by hand or by brute force."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from mensura.stitching import floors
from mensura.stitching.floors import CEILINGS, FIRST_CEILING_WEIGHTS, FIRST_WEIGHTS, FLOORS, GRID
from mensura.stitching.layout import ScoreLayout, levels
from mensura.stitching.pooled import solve_pooled
from mensura.stitching.sweeps import Cells, Pooled, expect

SUBJECTS, BENCHMARKS = 60, 8


def simulated(floor=0.0, ceiling=1.0, noise=0.02, seed=0):
    """Scores of every subject on every benchmark, in cells that state no floor and no ceiling."""
    rng = np.random.default_rng(seed)
    capability, difficulty = rng.normal(0, 1, SUBJECTS), np.linspace(-1.2, 1.2, BENCHMARKS)
    layout = ScoreLayout.of(np.repeat(np.arange(SUBJECTS), BENCHMARKS), np.tile(np.arange(BENCHMARKS), SUBJECTS))
    low, high = np.full(BENCHMARKS, floor), np.full(BENCHMARKS, ceiling)
    f = levels(low[layout.cols], high[layout.cols], 3 * (capability[layout.rows] - difficulty[layout.cols]))[0]
    y = np.clip(f + rng.normal(0, noise, f.size), 0, 1)
    none, ones = np.zeros(y.size), np.ones(y.size)
    return Cells(layout, y, np.zeros(BENCHMARKS), np.ones(BENCHMARKS), none, ones, np.ones((SUBJECTS, 1)))


MIXED = np.tile([0.25, 0.0], BENCHMARKS // 2)
ALL, NONE, SHARES = np.ones(BENCHMARKS, bool), np.zeros(BENCHMARKS, bool), np.ones(BENCHMARKS)


@pytest.fixture(scope="module")
def fitted():
    """Cells, and a fit by capability alone that has not yet settled, with every part of it in motion."""
    cells = simulated(floor=MIXED, ceiling=0.9)
    cells = replace(cells, chance=np.full(BENCHMARKS, 0.1), ceiling=np.full(BENCHMARKS, 0.95))
    return cells, solve_pooled(cells, 1, surprise=False, max_iterations=3)


def test_half_of_all_tests_are_free_and_nineteen_of_twenty_sound_before_any_is_seen():
    assert (FLOORS[0], FLOORS[-1], CEILINGS[0], CEILINGS[-1]) == pytest.approx((0, 0.5, 1, 0.7))
    assert (FIRST_WEIGHTS[0], FIRST_CEILING_WEIGHTS[0]) == (0.5, 0.95)
    assert FIRST_WEIGHTS[1:] == pytest.approx(np.full(10, 0.05))
    assert FIRST_CEILING_WEIGHTS[1:] == pytest.approx(np.full(15, 0.05 / 15))


def test_a_floor_that_scores_show_is_learned_and_counts_in_the_weights_by_its_share():
    """The first benchmark shows a floor of 0.15, the second nothing; the third states 0.4."""
    level, step = np.array([0.1, 0.3, 0.4]), np.array([0.05, 0.0, 0.1])
    unknown, shares = np.array([True, True, False]), np.array([0.5, 1.0, 1.0])
    variance = np.array([1e-8, 1e8, 1e-8])
    found, error, weights = floors.learned(level, step, variance, FLOORS, FIRST_WEIGHTS, FIRST_WEIGHTS, unknown, shares)
    mean = FIRST_WEIGHTS @ FLOORS
    assert found == pytest.approx([0.15, mean, 0.4])
    assert error == pytest.approx([0, np.sqrt(FIRST_WEIGHTS @ (FLOORS - mean) ** 2), 0], abs=1e-6)
    sure = np.isclose(FLOORS, 0.15).astype(float)
    assert weights == pytest.approx((4 * FIRST_WEIGHTS + 0.5 * sure + 1.0 * FIRST_WEIGHTS) / 5.5)
    assert level.tolist() == [0.1, 0.3, 0.4], "what was given is not changed"


def test_where_every_floor_is_stated_nothing_is_learned():
    level = np.array([0.2, 0.3])
    found, error, weights = floors.learned(
        level, level, level, FLOORS, FIRST_WEIGHTS, FIRST_WEIGHTS, np.zeros(2, bool), np.ones(2)
    )
    assert (found.tolist(), error.tolist()) == ([0.2, 0.3], [0, 0])
    assert weights is FIRST_WEIGHTS


def test_odds_of_floors_are_those_of_a_normal_likelihood():
    own = floors._posterior(np.array([0.12]), np.array([0.04**2]), FLOORS, FIRST_WEIGHTS)[0]
    expected = FIRST_WEIGHTS * norm.pdf(FLOORS, 0.12, 0.04)
    assert own == pytest.approx(expected / expected.sum())


def test_the_best_quarter_of_scores_starts_a_ceiling_unless_it_is_far_from_it():
    layout = ScoreLayout.of(np.repeat(np.arange(8), 3), np.tile(np.arange(3), 8))
    scores = np.zeros((8, 3))
    scores[:, 0] = np.linspace(0.2, 0.9, 8)
    scores[:, 1] = np.linspace(0.0, 0.7, 8)
    scores[:, 2] = np.r_[0.1, 0.1, 0.1, 0.75, 0.71, 0.1, 0.1, 0.1]
    ones = np.ones(24)
    cells = Cells(layout, scores.ravel(), np.zeros(3), np.ones(3), ones, ones, np.ones((8, 1)))
    assert floors._first_ceilings(cells) == pytest.approx([0.85, 1.0, 0.73])


def test_slopes_of_asymptotes_are_those_of_the_curve(fitted):
    cells, fit = fitted
    at, (chance, ceiling) = expect(cells, fit), cells.bounds
    moved = levels(chance + 1e-6, ceiling, at.eta)[0], levels(chance, ceiling + 1e-6, at.eta)[0]
    for own, other in zip(floors.asymptote_slopes(cells, at), moved, strict=True):
        assert own == pytest.approx((other - at.f) / 1e-6, abs=1e-6)


def test_steps_of_asymptotes_are_those_of_weighted_least_squares(fitted):
    """Beside intercept and slope, which a prior draws to its mean; what is not free stays where it is."""
    cells, fit = fitted
    at = expect(cells, fit)
    lifts = floors.asymptote_slopes(cells, at)
    free = (ALL, np.arange(BENCHMARKS) < 4)
    step, variance = floors.likely_levels(cells, fit, 0.5, lifts, free)
    shape = at.f * (1 - at.f) + 0.01
    weight = cells.weights / (cells.sampling + fit.dispersion[cells.layout.cols] * shape)
    prior = 0.5 * np.linalg.inv(fit.phi_spread)
    for b in (1, 6):
        own = cells.layout.cols == b
        theta, spread = fit.theta[:, 0], fit.theta_cov[:, 0, 0]
        slope, w = at.slope[own], weight[own]
        columns = np.stack([slope, slope * theta, lifts[0][own], lifts[1][own]], axis=1)
        matrix = columns.T @ (w[:, None] * columns)
        matrix[1, 1] += (w * slope**2) @ spread
        matrix[:2, :2] += prior
        matrix[2:, 2:] += np.diag([1e-6, 1e-6 if b < 4 else 1e9])
        right = columns.T @ (w * (cells.y - at.f)[own])
        right[:2] += prior @ (fit.phi_mean - fit.phi[b])
        assert step[:, b] == pytest.approx(np.linalg.solve(matrix, right)[2:], rel=1e-6)
        assert variance[:, b] == pytest.approx(np.diag(np.linalg.inv(matrix))[2:], rel=1e-6)
    assert np.abs(step[1, 4:]).max() < 1e-5 and step[1, :4].min() < -0.001


def bound_by_definition(cells: Cells, fit: Pooled) -> float:
    """Expected log-likelihood less the divergence of the posterior from the prior."""
    at, cols = expect(cells, fit), cells.layout.cols
    theta, phi = fit.theta[cells.layout.rows], fit.phi[cols]
    theta_cov, phi_cov = fit.theta_cov[cells.layout.rows, 0, 0], fit.phi_cov[cols]
    spread = phi[:, 1] ** 2 * theta_cov + phi_cov[:, 0, 0] + 2 * phi_cov[:, 0, 1] * theta[:, 0]
    spread += phi_cov[:, 1, 1] * (theta[:, 0] ** 2 + theta_cov)
    variance = cells.sampling + fit.dispersion[cols] * (at.f * (1 - at.f) + 0.01)
    likely = norm.logpdf(cells.y, at.f, np.sqrt(variance)) - at.slope**2 * spread / variance / 2

    def divergence(mean, cov, prior_mean, prior):
        inverse, gap = np.linalg.inv(prior), mean - prior_mean
        logs = np.linalg.slogdet(prior)[1] - np.linalg.slogdet(cov)[1]
        return (np.trace(inverse @ cov) + gap @ inverse @ gap + logs) / 2

    prior_means = cells.x @ fit.gamma
    apart = sum(divergence(*one, np.eye(1)) for one in zip(fit.theta, fit.theta_cov, prior_means, strict=True))
    apart += sum(divergence(*one, fit.phi_mean, fit.phi_spread) for one in zip(fit.phi, fit.phi_cov, strict=True))
    return float(cells.weights @ likely - apart)


def test_what_a_fit_explains_is_the_evidence_lower_bound(fitted):
    cells, fit = fitted
    cells = replace(cells, weights=np.linspace(0.5, 1.5, cells.y.size))
    date = np.linspace(-1, 1, SUBJECTS)
    cells = replace(cells, x=np.stack([np.ones(SUBJECTS), date], axis=1))
    first = replace(fit, gamma=np.array([[0.1], [0.3]]), phi_mean=np.array([0.2, 1.0]))
    second = solve_pooled(simulated(seed=1), 1, surprise=False, max_iterations=5)
    second = replace(second, gamma=np.array([[0.0], [-0.2]]))
    gain = floors.explained_by(cells, first) - floors.explained_by(cells, second)
    assert gain == pytest.approx(bound_by_definition(cells, first) - bound_by_definition(cells, second))


def test_equations_of_ceilings_sum_over_all_positions_of_a_subject(fitted):
    cells, fit = fitted
    cells = replace(cells, weights=np.linspace(0.5, 1.5, cells.y.size))
    shares = np.linspace(0.5, 1, BENCHMARKS)
    matrix, right = floors._integrated_equations(cells, fit, shares)
    wanted, vector = np.zeros((3, 3)), np.zeros(3)
    b = 2
    for m in range(SUBJECTS):
        own = cells.layout.rows == m
        logs = []
        for position in GRID:
            f = levels(cells.chance, cells.ceiling, fit.phi[:, 0] + fit.phi[:, 1] * position)[0]
            variance = cells.sampling[own] + fit.dispersion * (f * (1 - f) + 0.01)
            logs.append(cells.weights[own] @ norm.logpdf(cells.y[own], f, np.sqrt(variance)) - position**2 / 2)
        # the likelihood's constant depends on weights alone, which are the same at every position
        odds = np.exp(np.array(logs) - max(logs))
        score = np.flatnonzero(own)[b]
        for chance, position in zip(odds / odds.sum(), GRID, strict=True):
            low, high = cells.chance[b], cells.ceiling[b]
            f, slope = levels(low, high, fit.phi[b, 0] + fit.phi[b, 1] * position)
            toward = np.array([slope, slope * position, (f - low) / (high - low)])
            variance = cells.sampling[score] + fit.dispersion[b] * (f * (1 - f) + 0.01)
            weight = chance * cells.weights[score] / shares[b] / variance
            wanted += weight * np.outer(toward, toward)
            vector += weight * (cells.y[score] - f) * toward
    assert matrix[b] == pytest.approx(wanted)
    assert right[b] == pytest.approx(vector)


def test_stated_asymptotes_stay_and_have_no_error():
    cells = replace(simulated(), chance=np.full(BENCHMARKS, 0.05), ceiling=np.full(BENCHMARKS, 0.97))
    own = floors.estimate_asymptotes(cells, NONE, NONE, 1.0, SHARES)
    assert own.chance.tolist() == [0.05] * BENCHMARKS and own.ceiling.tolist() == [0.97] * BENCHMARKS
    assert not own.error.any() and not own.ceiling_error.any()


def test_floors_are_estimated_with_an_error_where_subjects_come_near_them():
    own = floors.estimate_asymptotes(simulated(floor=MIXED), ALL, NONE, 1.0, SHARES)
    assert own.chance == pytest.approx(MIXED, abs=0.005)
    assert own.error[0] > 0.01 > 0.005 > own.error[2], "few subjects come near the floor of the easiest test"
    assert not own.ceiling_error.any() and own.ceiling.tolist() == [1] * BENCHMARKS


def test_a_floor_that_one_benchmark_states_is_kept_while_others_are_estimated():
    unknown = np.arange(BENCHMARKS) != 1
    cells = replace(simulated(floor=MIXED), chance=np.where(unknown, 0.4, 0.01))
    own = floors.estimate_asymptotes(cells, unknown, NONE, 1.0, SHARES)
    assert (own.chance[1], own.error[1]) == (0.01, 0.0)
    assert own.chance[unknown] == pytest.approx(MIXED[unknown], abs=0.01)


def test_ceilings_are_estimated_beside_floors():
    top = np.tile([1.0, 1.0, 0.85, 0.85], 2)
    own = floors.estimate_asymptotes(simulated(floor=MIXED, ceiling=top), ALL, ALL, 1.0, SHARES)
    assert own.ceiling == pytest.approx(top, abs=0.015)
    assert own.chance == pytest.approx(MIXED, abs=0.005)
    assert own.error[0] > 0.01 and own.ceiling_error[-1] > 0.01 > own.ceiling_error[2]


def test_sound_tests_keep_the_floors_that_were_found_first():
    """No ceiling is low, so floors are not estimated again, with another error."""
    cells = simulated(floor=MIXED)
    alone = floors.estimate_asymptotes(cells, ALL, NONE, 1.0, SHARES)
    beside = floors.estimate_asymptotes(cells, ALL, ALL, 1.0, SHARES)
    assert beside.ceiling.min() > 0.98
    assert beside.chance.tolist() == alone.chance.tolist() and beside.error.tolist() == alone.error.tolist()


def test_low_ceilings_are_taken_with_capability_integrated_out_and_wider_errors():
    top = np.tile([0.85, 1.0, 0.9, 0.8], 2)
    cells = simulated(ceiling=top)
    step, own = floors.choose_curve(cells, NONE, ALL, 1.0, SHARES)
    assert step == 0.0
    assert own.ceiling == pytest.approx(top, abs=0.02)
    assert 0.003 < own.ceiling_error[0] < 0.02 < own.ceiling_error[-1], "few come near the ceiling of a hard test"
    assert own.ceiling_error[1] < 0.002, "a sound test is surely sound"
    assert not own.chance.any() and not own.error.any()


def test_single_answers_right_or_wrong_have_one_step_and_no_integration(monkeypatch):
    cells = replace(simulated(ceiling=0.85), right_or_wrong=True)
    monkeypatch.setattr(floors, "_integrated", lambda *_: pytest.fail("single answers have no such ceilings"))
    assert floors.choose_curve(cells, NONE, ALL, 1.0, SHARES)[0] == 0.0
