"""Asymptotes: the score that guessing gives and the best score there is, estimated where nobody says them.

Left at 0, an unknown chance level makes weak subjects look able and stretches the top of the scale. Given s = σ(η), a
score's expectation is linear in its benchmark's floor g,

    f = g (1 − s) + ceiling · s,

so floor, intercept and slope of a benchmark follow together from weighted least squares (Gauss-Newton), which gives
the likelihood of g as a normal one, N(g; ĝ_b, v_b). The prior of g is a list of floors that tests have, from none
(free answers) to one in two, whose weights are learned over the benchmarks (EM): where no subject comes near a
benchmark's floor, it takes what the others have. Capability alone explains the scores here; the posterior means then
stand as given in the full fit.

An unstated ceiling c is estimated in the same way: f is linear in c too. Left at 1, a test that ends at 0.93, for wrong
answer keys or unclear questions, makes all the best subjects look alike.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mensura.core.arrays import Floats, Mask, expit
from mensura.stitching.layout import levels, unpack, variance_shape
from mensura.stitching.pooled import solve_pooled
from mensura.stitching.sweeps import CEILING_SPREAD, Cells, Expected, Pooled, expect, extended, score_variance

FLOORS = np.linspace(0.0, 0.5, 11)
"""Floors that are thought possible: free answers, mixtures, ten, four, three and two options."""
FIRST_WEIGHTS = np.where(FLOORS == 0, 0.5, 0.5 / (FLOORS.size - 1))
"""Half of all tests are taken to ask for free answers before any is seen."""
CEILINGS = np.linspace(1.0, 0.7, 16)
"""Ceilings that are thought possible: sound tests, and tests with up to three wrong keys in ten."""
FIRST_CEILING_WEIGHTS = np.where(CEILINGS == 1, 0.95, 0.05 / (CEILINGS.size - 1))
"""All but one of twenty tests are taken to be sound before any is seen."""
PRIOR_BENCHMARKS = 4.0
"""Pseudo-benchmarks that hold these weights where they began."""
FLOOR_ROUNDS, FIRST_SWEEPS, FLOOR_SWEEPS = 60, 40, 4
"""Rounds of floors after capability; sweeps of capability before the first round and in each later one."""
FLOOR_TOLERANCE = 1e-3
"""Change of any floor in a round below which they have settled."""
SOUND = 0.98
"""Ceilings above this leave floors as they are."""
BEST = 0.25
"""Share of a benchmark's scores, the best ones, whose mean starts its ceiling."""
FIRM = 1e9
"""Information about an asymptote that is given."""
LEAST_POOLING = 1e-6
"""A benchmark that few subjects took needs a little of the prior for its slope to have an error at all."""
SLIGHT_INFORMATION = 1e-6
"""Keeps the likelihood of a floor finite where no score is anywhere near it."""


class Asymptotes(NamedTuple):
    """Estimated floor and ceiling with their posterior standard deviations per benchmark (0 where they were given).

    ``explained`` is the evidence lower bound of the fit by capability alone.
    """

    chance: Floats
    error: Floats
    ceiling: Floats
    ceiling_error: Floats
    explained: float = 0.0


def estimate_asymptotes(
    cells: Cells, unknown: Mask, unknown_ceiling: Mask, pooling: float, shares: Floats, *, rounds: int = FLOOR_ROUNDS
) -> Asymptotes:
    """Estimate floors and ceilings of the ``unknown`` benchmarks; the others keep what ``cells`` gives them.

    Floors come first, every test taken to be sound; then ceilings, begun low; then floors again where a ceiling is low,
    for a ceiling that is missed bends the curve, and floors above the true ones bend it back. Estimated together by
    capability alone, the two would also explain what residual dimensions do. ``shares`` (benchmarks,), which the
    weights of ``cells`` hold, keep near-duplicates from counting twice in the prior; a benchmark's own scores count in
    full for its own.
    """
    chance, ceiling = np.where(unknown, 0.0, cells.chance), np.where(unknown_ceiling, 1.0, cells.ceiling)
    first = Asymptotes(chance, np.zeros(chance.size), ceiling, np.zeros(chance.size))
    none = np.zeros_like(unknown_ceiling)
    estimate = _alternated(cells, first, unknown, none, pooling, shares, rounds if unknown.any() else 1)
    if not unknown_ceiling.any():
        return estimate
    lower = estimate._replace(ceiling=np.where(unknown_ceiling, _first_ceilings(cells), ceiling))
    both = _alternated(cells, lower, none, unknown_ceiling, pooling, shares, rounds)
    if not unknown.any() or both.ceiling.min() > SOUND:
        return both._replace(error=estimate.error)
    again = both._replace(chance=np.where(unknown, 0.0, cells.chance))
    estimate = _alternated(cells, again, unknown, none, pooling, shares, rounds)
    return estimate._replace(ceiling_error=both.ceiling_error)


def _alternated(
    cells: Cells, at: Asymptotes, unknown: Mask, unknown_ceiling: Mask, pooling: float, shares: Floats, rounds: int
) -> Asymptotes:
    """Alternate between capability and the unknown asymptotes, begun ``at`` some, until they have settled."""
    chance, ceiling = at.chance, at.ceiling
    weights, ceiling_weights = FIRST_WEIGHTS, FIRST_CEILING_WEIGHTS
    now, error, ceiling_error = replace(cells, chance=chance, ceiling=ceiling), at.error, at.ceiling_error
    fit = solve_pooled(now, 1, surprise=False, pooling=pooling, max_iterations=FIRST_SWEEPS)
    for turn in range(rounds):
        if turn:
            now = replace(cells, chance=chance, ceiling=ceiling)
            fit = solve_pooled(now, 1, start=fit, surprise=False, pooling=pooling, max_iterations=FLOOR_SWEEPS)
        likely = replace(now, weights=now.weights / shares[now.layout.cols])
        lifts = asymptote_slopes(likely, expect(likely, fit))
        step, variance = likely_levels(likely, fit, pooling, lifts, (unknown, unknown_ceiling))
        before = chance, ceiling
        chance, error, weights = learned(chance, step[0], variance[0], FLOORS, weights, FIRST_WEIGHTS, unknown, shares)
        ceiling, ceiling_error, ceiling_weights = learned(
            ceiling, step[1], variance[1], CEILINGS, ceiling_weights, FIRST_CEILING_WEIGHTS, unknown_ceiling, shares
        )
        if max(float(np.abs(chance - before[0]).max()), float(np.abs(ceiling - before[1]).max())) < FLOOR_TOLERANCE:
            break
    return Asymptotes(chance, error, ceiling, ceiling_error, explained_by(now, fit))


def explained_by(cells: Cells, fit: Pooled) -> float:
    """Evidence lower bound of a fit, up to a constant: expected log-likelihood less divergence from the prior."""
    at = expect(cells, fit)
    variance = cells.sampling + fit.dispersion[cells.layout.cols] * variance_shape(at.f)
    squared = (cells.y - at.f) ** 2 + at.slope**2 * score_variance(cells.layout, fit)
    lost = float(cells.weights @ (np.log(variance) + squared / variance))
    off = fit.theta - cells.x @ fit.gamma
    lost += float((off**2).sum() + np.einsum("mii->", fit.theta_cov) - np.linalg.slogdet(fit.theta_cov)[1].sum())
    prior, off = np.linalg.inv(fit.phi_spread), fit.phi - fit.phi_mean
    lost += float(np.einsum("bi,ij,bj->", off, prior, off) + np.einsum("ij,bji->", prior, fit.phi_cov))
    lost += len(off) * float(np.linalg.slogdet(fit.phi_spread)[1]) - float(np.linalg.slogdet(fit.phi_cov)[1].sum())
    return -lost / 2


def _first_ceilings(cells: Cells) -> Floats:
    """Start each ceiling low, at the mean of its benchmark's best scores, or at 1 where even these are far from it.

    A ceiling that begins too low meets scores above it and rises. One that begins at 1 may stay: subjects draw together
    at the top instead.
    """
    layout = cells.layout
    first = np.ones(layout.n_benchmarks)
    for b, scores in enumerate(np.split(cells.y[layout.by_benchmark], layout.benchmark_starts[1:])):
        best = np.sort(scores)[-max(1, int(BEST * scores.size)) :].mean()
        first[b] = best if best > CEILINGS[-1] else 1.0
    return first


def learned(
    level: Floats,
    step: Floats,
    variance: Floats,
    possible: Floats,
    weights: Floats,
    first: Floats,
    unknown: Mask,
    shares: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Return posterior means and errors of one asymptote, and the weights of its ``possible`` values learned anew.

    ``step`` leads from its present ``level`` to the centre of its likelihood, which has this ``variance``.
    """
    level, error = level.copy(), np.zeros(level.size)
    if not unknown.any():
        return level, error, weights
    each = _posterior((level + step)[unknown], variance[unknown], possible, weights)
    own = shares[unknown]
    weights = (PRIOR_BENCHMARKS * first + own @ each) / (PRIOR_BENCHMARKS + own.sum())
    level[unknown] = each @ possible
    error[unknown] = np.sqrt(np.maximum(each @ possible**2 - level[unknown] ** 2, 0.0))
    return level, error, weights


def _posterior(centre: Floats, variance: Floats, possible: Floats, weights: Floats) -> Floats:
    """Probability of every possible value (benchmarks, values) under a normal likelihood and the learned weights."""
    log = np.log(weights) - (possible - centre[:, None]) ** 2 / (2 * variance[:, None])
    odds = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def likely_levels(
    cells: Cells, fit: Pooled, pooling: float, lifts: Sequence[Floats], free: Sequence[Mask]
) -> tuple[Floats, Floats]:
    """Steps to the centres, and variances (levels, benchmarks), of the likelihoods of levels such as floors.

    ``lifts`` are the derivatives of every expected score in each level of its benchmark. Intercept and slope follow
    within their prior, and so do the other levels where they are ``free``.
    """
    layout, cols = cells.layout, cells.layout.cols
    at = expect(cells, fit)
    w = cells.weights / (cells.sampling + fit.dispersion[cols] * variance_shape(at.f))
    first, second = extended(fit.theta, fit.theta_cov)
    prior = max(pooling, LEAST_POOLING) * np.linalg.inv(fit.phi_spread)
    n, k = fit.phi.shape
    matrix, right = np.empty((n, k + len(lifts), k + len(lifts))), np.empty((n, k + len(lifts)))
    matrix[:, :k, :k] = unpack(layout.matrix(w * at.slope**2).T @ second, k) + prior
    residual = w * (cells.y - at.f)
    right[:, :k] = layout.matrix(residual * at.slope).T @ first + (fit.phi_mean - fit.phi) @ prior
    for place, lift in enumerate(lifts, start=k):
        matrix[:, :k, place] = matrix[:, place, :k] = layout.matrix(w * at.slope * lift).T @ first
        for other, second_lift in enumerate(lifts, start=k):
            matrix[:, place, other] = np.bincount(cols, w * lift * second_lift, n)
        matrix[:, place, place] += np.where(free[place - k], SLIGHT_INFORMATION, FIRM)
        right[:, place] = np.bincount(cols, residual * lift, n)
    step = np.linalg.solve(matrix, right[:, :, None])[:, k:, 0].T
    return step, np.diagonal(np.linalg.inv(matrix), axis1=1, axis2=2)[:, k:].T.astype(float)


def asymptote_slopes(cells: Cells, at: Expected) -> tuple[Floats, Floats]:
    """Derivatives of every expected score in the floor and in the ceiling of its benchmark."""
    chance, ceiling = cells.bounds
    share = (at.f - chance) / (ceiling - chance)
    return 1 - share, share


# The shape of the curve: whether success on the benchmarks rises once, or in two steps with a plateau between them.
#
# A test of easy and hard questions with few between them is passed twice: half of it early, the other half late. Read
# with a curve that rises once, the scale bends: subjects on the plateau draw together. So the fit by capability alone
# is made with both curves. The one with two steps is taken only where it explains the scores far better.

STEPS = (2.5, 4.0)
"""Distances of the two steps from the middle of the curve, in logits, that are tried."""
LEAST_GAIN = 10.0
"""Gain in the evidence from which two steps are taken: odds of more than 20,000 to 1."""


def choose_curve(
    cells: Cells, unknown: Mask, unknown_ceiling: Mask, pooling: float, shares: Floats
) -> tuple[float, Asymptotes]:
    """Return the step of the curve that explains the scores best, with the floors and ceilings found for it.

    A curve of two steps that explains less at the start, floors and ceilings not yet settled, is not followed further.
    """
    best, floors = 0.0, estimate_asymptotes(cells, unknown, unknown_ceiling, pooling, shares)
    if cells.right_or_wrong:
        return best, floors
    first = estimate_asymptotes(cells, unknown, unknown_ceiling, pooling, shares, rounds=1)
    least = floors.explained + LEAST_GAIN
    for step in STEPS:
        other = replace(cells, step=step)
        begun = estimate_asymptotes(other, unknown, unknown_ceiling, pooling, shares, rounds=1)
        if begun.explained < first.explained:
            continue
        end = estimate_asymptotes(other, unknown, unknown_ceiling, pooling, shares)
        if end.explained > least:
            best, floors, least = step, end, end.explained
    low = floors.ceiling[unknown_ceiling].min(initial=1.0) <= SOUND
    if low and cells.layout.n_scores <= MOST_INTEGRATED:
        floors = _integrated(replace(cells, step=best), floors, unknown, unknown_ceiling, pooling, shares)
    return best, floors


# Low ceilings once more, with capability integrated out.
#
# Above, each ceiling follows from the subjects' most likely positions. Where most tests end below 1, these draw
# together and ceilings come out too high (by 0.04 for 70 subjects). So each subject is spread over a grid of
# positions, by its likelihood and the prior N(0, 1), and benchmarks are fitted to all of them (EM; Bock and Aitkin).

GRID = np.linspace(-4.5, 4.5, 37)
"""Positions on which a subject is spread, in standard deviations of the prior."""
MOST_INTEGRATED = 20_000
"""Scores up to which this is done; a round takes about 40 ms for so many."""
ROUNDS, SETTLED, LONGEST_STEP = 150, 2e-4, 0.5
"""Rounds at most, the change of any ceiling below which they end, and the largest step of a benchmark in one round."""

ERROR_WIDENING = 1.5
"""Factor on the errors of these ceilings. They come from the curvature at known positions; by Louis' identity, the true
variance is theirs over the share of information that unknown positions leave, here 1 / 1.5² = 44%. In 132 simulated
ceilings of 0.85 to 0.99 the error was 1.6 times as large as said. A test has a world that this was not found in:
heavy-tailed subjects and ceilings of 0.70 to 0.95, where 95% of 84 intervals held, and 81% without the factor."""


def _integrated(
    cells: Cells, at: Asymptotes, unknown: Mask, unknown_ceiling: Mask, pooling: float, shares: Floats
) -> Asymptotes:
    """Return the unknown ceilings with capability integrated out, begun low, and floors that follow them."""
    begun = np.where(unknown_ceiling, np.minimum(at.ceiling, _first_ceilings(cells)), at.ceiling)
    now = replace(cells, chance=at.chance, ceiling=begun)
    fit = solve_pooled(now, 1, surprise=False, pooling=pooling, max_iterations=FIRST_SWEEPS)
    prior = max(pooling, LEAST_POOLING) * np.linalg.inv(fit.phi_spread)
    sound, centre, spread = 0.5, float(begun[unknown_ceiling].mean()), CEILING_SPREAD**2
    for _ in range(ROUNDS):
        matrix, right = _integrated_equations(now, fit, shares)
        matrix[:, :2, :2] += prior
        right[:, :2] += (fit.phi_mean - fit.phi) @ prior
        matrix[:, 2, 2] += np.where(unknown_ceiling, SLIGHT_INFORMATION, FIRM)
        likely = now.ceiling + np.linalg.solve(matrix, right[:, :, None])[:, 2, 0]
        variance = np.linalg.inv(matrix)[:, 2, 2].astype(float)
        total = variance + spread
        log_odds = (
            np.log(sound / (1 - sound))
            + (np.log(total / variance) - (1 - likely) ** 2 / variance + (centre - likely) ** 2 / total) / 2
        )
        chance_sound = expit(log_odds)
        low = np.clip((likely * spread + centre * variance) / total, CEILINGS[-1], 1.0)
        ceiling = np.where(unknown_ceiling, chance_sound + (1 - chance_sound) * low, at.ceiling)
        change = np.clip(ceiling - now.ceiling, -LONGEST_STEP, LONGEST_STEP)
        step = np.linalg.solve(matrix[:, :2, :2], (right[:, :2] - matrix[:, :2, 2] * change[:, None])[:, :, None])
        fit = replace(fit, phi=fit.phi + np.clip(step[:, :, 0], -LONGEST_STEP, LONGEST_STEP))
        now = replace(now, ceiling=ceiling)
        own = np.where(unknown_ceiling, 1 - chance_sound, 0.0)
        sound = (PRIOR_BENCHMARKS / 2 + unknown_ceiling.sum() - own.sum()) / (PRIOR_BENCHMARKS + unknown_ceiling.sum())
        centre = float((own @ low + SLIGHT_INFORMATION * centre) / (own.sum() + SLIGHT_INFORMATION))
        squares = own @ ((low - centre) ** 2 + variance * spread / total)
        spread = float((PRIOR_BENCHMARKS * CEILING_SPREAD**2 + squares) / (PRIOR_BENCHMARKS + own.sum()))
        if np.abs(change).max() < SETTLED:
            break
    error = np.zeros(ceiling.size)
    own_error = own * variance * spread / total + own * (1 - own) * (1 - low) ** 2
    error[unknown_ceiling] = ERROR_WIDENING * np.sqrt(own_error)[unknown_ceiling]
    estimate = at._replace(ceiling=ceiling, ceiling_error=error)
    if unknown.any():
        again = estimate._replace(chance=np.where(unknown, 0.0, cells.chance))
        estimate = _alternated(cells, again, unknown, np.zeros_like(unknown), pooling, shares, FLOOR_ROUNDS)
    return estimate._replace(ceiling_error=error)


def _integrated_equations(cells: Cells, fit: Pooled, shares: Floats) -> tuple[Floats, Floats]:
    """Matrix (benchmarks, 3, 3) and right side of a step in intercept, slope and ceiling, over all positions."""
    layout, cols = cells.layout, cells.layout.cols
    chance, ceiling = cells.chance[:, None], cells.ceiling[:, None]
    f, slope = levels(chance, ceiling, fit.phi[:, :1] + fit.phi[:, 1:] * GRID, cells.step)
    at_scores = f[cols].T
    variance = cells.sampling + fit.dispersion[cols] * variance_shape(at_scores)
    off = cells.y - at_scores
    log = layout.over_subjects(-cells.weights * (np.log(variance) + off**2 / variance) / 2) - GRID[:, None] ** 2 / 2
    spread = np.exp(log - log.max(axis=0))
    weights = (spread / spread.sum(axis=0))[:, layout.rows] * cells.weights / shares[cols] / variance
    toward = np.stack((slope, slope * GRID, (f - chance) / (ceiling - chance)), axis=2)
    matrix = np.einsum("bq,bqi,bqj->bij", layout.over_benchmarks(weights).T, toward, toward)
    return matrix, np.einsum("bq,bqi->bi", layout.over_benchmarks(weights * off).T, toward)
