"""Gibbs sampling of the joint model of all scores (:mod:`mensura.iq.sampler`): each parameter drawn given all others.

Several chains run side by side as the first axis of every array: the same work in fewer, larger steps. Of the scores
each step reads a few sums (:mod:`mensura.iq.score_sums`): with thousands of models memory is what a sweep waits for.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy

from mensura.core.arrays import Floats
from mensura.iq.score_sums import BenchmarkSums, Descent, KnownScores, ModelSums

FACTORS = 2
"""Factors of a model besides its dimensions; a third one changed neither error nor coverage."""
_WORTH = 4.0  # pseudo-observations behind every prior variance
_NOISE_WORTH = 6.0  # pseudo-observations that draw a benchmark's noise towards that of all benchmarks
_DIMENSION_VARIANCE = 0.1  # squared logits, prior guess of τ
_FURTHER_VARIANCE = 0.1  # squared logits, prior guess of the spread of further loadings
_LINE_VARIANCES = np.array([1.0, 0.2, *[_FURTHER_VARIANCE] * (FACTORS - 1)])  # the same of μ, first and further ones
START_NOISE = 0.3
"""Squared logits: the scatter of a usual test, from which the chains start."""
_SMALLEST_NOISE = 0.003  # squared logits: no benchmark repeats itself exactly
_REGRESSOR_PRECISION = 0.1  # of Γ: scores of some dozens of models outweigh it
_KEPT, _KEPT_PRECISION = 0.5, 4.0  # prior of ρ: half of a predecessor's strength, give or take half
_MOVED = 0.5  # prior guess of σ²
_SMALLEST_SHARE = 1e-12  # keeps a truncated normal away from infinity


@dataclass(frozen=True)
class GibbsData(KnownScores):
    """The scores, and what else is known of each model."""

    regressors: Floats
    descent: Descent


@dataclass(frozen=True)
class GibbsState:
    """One draw of every parameter in each chain (first axis), named as in :mod:`mensura.iq.sampler`."""

    factors: Floats  # f, models × K
    lines: Floats  # (μ, λ), benchmarks × (1 + K)
    dimensions: Floats  # u, models × dimensions
    noise: Floats  # ψ, per benchmark
    dimension_variance: Floats  # τ, per dimension
    gamma: Floats  # Γ, regressors × K
    centre: Floats  # of the lines, 1 + K
    spread: Floats  # variances of the lines, 1 + K
    kept: Floats  # ρ, per factor
    moved: Floats  # σ², per factor
    root: Floats  # ω, per factor


def draw_scores(data: GibbsData, state: GibbsState, rng: np.random.Generator) -> Floats:
    """Draw every score, those that are there too, given all parameters."""
    chains, models, _ = state.factors.shape
    own = np.concatenate([np.ones((chains, models, 1)), state.factors, state.dimensions], axis=2)
    read = np.concatenate([state.lines, np.repeat(data.members[None], chains, axis=0)], axis=2)
    drawn = rng.standard_normal((chains, models, len(data.members)))
    drawn *= np.sqrt(state.noise)[:, None]
    drawn += own @ read.swapaxes(1, 2)
    return drawn


def start_chains(data: GibbsData, chains: int) -> GibbsState:
    """Begin with benchmarks at their means and models at their mean residuals."""
    models, benchmarks = data.eta.shape
    count = data.weights.sum(axis=0)
    level = data.weighed.sum() / max(count.sum(), 1)
    means = (data.weighed.sum(axis=0) + level) / (count + 1)
    factors = np.zeros((models, FACTORS))
    own = (data.weighed - data.weights * means).sum(axis=1) / (data.weights.sum(axis=1) + 1)
    factors[:, 0] = own / max(float(own.std()), 1e-6)
    lines = np.zeros((benchmarks, 1 + FACTORS))
    lines[:, 0], lines[:, 1] = means, 1.0
    dimensions = data.members.shape[1]

    def in_each(values: Floats) -> Floats:
        return np.repeat(values[None], chains, axis=0)

    return GibbsState(
        factors=in_each(factors),
        lines=in_each(lines),
        dimensions=np.zeros((chains, models, dimensions)),
        noise=np.full((chains, benchmarks), START_NOISE),
        dimension_variance=np.full((chains, dimensions), _DIMENSION_VARIANCE),
        gamma=np.zeros((chains, data.regressors.shape[1], FACTORS)),
        centre=in_each(np.array([means.mean(), 1.0, *[0.0] * (FACTORS - 1)])),
        spread=in_each(_LINE_VARIANCES),
        kept=np.full((chains, FACTORS), _KEPT),
        moved=np.full((chains, FACTORS), _MOVED),
        root=np.ones((chains, FACTORS)),
    )


def sweep(data: GibbsData, state: GibbsState, rng: np.random.Generator) -> GibbsState:
    """Draw every parameter once, each given all others; a model's factors and dimensions together."""
    state = draw_models(data, state, rng)
    state = replace(state, dimension_variance=_variance(state.dimensions, _DIMENSION_VARIANCE, rng))
    state = _trade(data, draw_descent(data, state, rng), rng)
    state = replace(state, gamma=_draw_gamma(data, state, rng))
    sums = BenchmarkSums.of(data, state.factors, state.dimensions)
    lines = _draw_lines(sums, state, rng)
    centre = np.zeros_like(state.centre)
    error = np.sqrt(state.spread[:, 0] / lines.shape[1])
    centre[:, 0], centre[:, 1] = lines[:, :, 0].mean(axis=1) + error * rng.standard_normal(error.shape), 1.0
    spread = _variance(lines - centre[:, None], _LINE_VARIANCES, rng)
    state = replace(state, lines=lines, centre=centre, spread=spread)
    return _rescale(replace(state, noise=_draw_noise(data, sums, state, rng)))


def _rescale(state: GibbsState) -> GibbsState:
    """Give every factor its unit: loadings of the first have mean 1, of the further ones the prior's size.

    Expected scores stay as they are (f c with λ / c), and the variances of f and λ go along, so nothing but the unit
    changes. Left to itself it drifts for hundreds of sweeps, since scores do not speak of it.
    """
    slopes = state.lines[:, :, 1:]
    unit = np.sqrt((slopes**2).mean(axis=1) / _FURTHER_VARIANCE)
    unit[:, 0] = slopes[:, :, 0].mean(axis=1)
    lines, spread = state.lines.copy(), state.spread.copy()
    lines[:, :, 1:] /= unit[:, None]
    spread[:, 1:] /= unit**2
    return replace(
        state,
        factors=state.factors * unit[:, None],
        gamma=state.gamma * unit[:, None],
        moved=state.moved * unit**2,
        root=state.root * unit**2,
        lines=lines,
        spread=spread,
    )


def draw_models(data: GibbsData, state: GibbsState, rng: np.random.Generator) -> GibbsState:
    """Draw factors and dimensions of every model, given all lines."""
    sums = ModelSums.of(data, state.lines, state.noise)
    state = replace(state, factors=_draw_factors(data, sums, state, rng))
    return replace(state, dimensions=_draw_dimensions(sums, state, rng))


def _draw_factors(data: GibbsData, sums: ModelSums, state: GibbsState, rng: np.random.Generator) -> Floats:
    """Draw f one half after the other: given its predecessor and successors, a model is independent of the rest.

    The model's dimensions u are integrated out, since f and u given each other would hardly move: with T the sum of
    precision × loadings in a dimension and w = 1 / (1/τ + sum of precisions), each dimension takes w T Tᵀ off the
    precision of f and w T × (sum of precision × residual) off its vector.
    """
    weighed = sums.loadings / (1 / state.dimension_variance[:, None] + sums.precision)
    matrix = sums.matrix - np.einsum("kcmd,lcmd->cmkl", weighed, sums.loadings)
    vector = sums.vector - np.einsum("kcmd,cmd->cmk", weighed, sums.residual)
    size = len(weighed)

    descent, factors = data.descent, state.factors
    kept, moved = state.kept[:, None], state.moved[:, None]
    base = data.regressors @ state.gamma
    own = 1 / np.where(descent.follows[:, None], moved, state.root[:, None])
    from_successors = descent.after(np.ones_like(base)) * kept**2 / moved
    matrix[..., np.arange(size), np.arange(size)] += own + from_successors
    for half in descent.halves:
        strength = factors - base
        prior = own * (base + kept * descent.before(strength))
        prior += descent.after(strength) * kept / moved + from_successors * base
        rows = np.flatnonzero(half)
        factors = factors.copy()
        factors[:, rows] = draw_normals(matrix[:, rows], (vector + prior)[:, rows], rng)
    return factors


def _trade(data: GibbsData, state: GibbsState, rng: np.random.Generator) -> GibbsState:
    """Draw the level of each factor and its share in the others, of which scores do not speak.

    f_k + a h with (μ or λ_j) − a λ_k expects the same scores, where h is 1 for the level μ and f_j for another factor's
    loadings; only the priors say what a is, and they do so by a normal distribution. Drawn apart it moves at once where
    f and the lines, each given the other, would take hundreds of sweeps.
    """
    factors, lines, gamma = state.factors.copy(), state.lines.copy(), state.gamma.copy()
    follows = data.descent.follows
    for k, j in ((k, j) for k in range(FACTORS) for j in range(1 + FACTORS) if j != k + 1):
        strength = factors - data.regressors @ gamma
        added = strength[:, :, j - 1] if j else np.ones(strength.shape[:2])
        pair = np.stack([strength[:, :, k], added], axis=2)
        new, step = np.moveaxis(pair - state.kept[:, None, k, None] * data.descent.before(pair), 2, 0)
        variance = np.where(follows, state.moved[:, k, None], state.root[:, k, None])
        slope, spread = lines[:, :, 1 + k], state.spread[:, j]
        precision = (step**2 / variance).sum(axis=1) + (slope**2).sum(axis=1) / spread
        pull = (slope * (lines[:, :, j] - state.centre[:, j, None])).sum(axis=1) / spread
        mean = (pull - (step * new / variance).sum(axis=1)) / precision
        amount = (mean + rng.standard_normal(mean.shape) / np.sqrt(precision))[:, None]
        factors[:, :, k] += amount * (factors[:, :, j - 1] if j else 1.0)
        if j:
            gamma[:, :, k] += amount * gamma[:, :, j - 1]
        lines[:, :, j] -= amount * slope
    return replace(state, factors=factors, lines=lines, gamma=gamma)


def draw_descent(data: GibbsData, state: GibbsState, rng: np.random.Generator) -> GibbsState:
    """Draw what successors keep of a predecessor's strength (at most all of it) and how far they move: ρ, σ² and ω."""
    children, parents = data.descent.children, data.descent.parents
    strength = state.factors - data.regressors @ state.gamma
    earlier, later = strength[:, parents], strength[:, children]
    precision = (earlier**2).sum(axis=1) / state.moved + _KEPT_PRECISION
    mean = ((earlier * later).sum(axis=1) / state.moved + _KEPT_PRECISION * _KEPT) / precision
    low, high = (scipy.special.ndtr((end - mean) * np.sqrt(precision)) for end in (0.0, 1.0))
    share = np.clip(low + (high - low) * rng.random(mean.shape), _SMALLEST_SHARE, 1 - _SMALLEST_SHARE)
    kept = np.clip(mean + scipy.special.ndtri(share) / np.sqrt(precision), 0.0, 1.0)
    root = _variance(strength[:, ~data.descent.follows], 1.0, rng)
    return replace(state, kept=kept, moved=_variance(later - kept[:, None] * earlier, _MOVED, rng), root=root)


def _draw_gamma(data: GibbsData, state: GibbsState, rng: np.random.Generator) -> Floats:
    """Draw Γ by regression of what is new in each model's factors on what is new in its regressors."""
    kept, moved = state.kept[:, None], state.moved[:, :, None]
    earlier = data.descent.before(data.regressors)
    x = data.regressors - state.kept[:, :, None, None] * earlier  # chains × factors × models × regressors
    y = (state.factors - kept * data.descent.before(state.factors)).swapaxes(1, 2)[..., None]
    weighted = x / np.where(data.descent.follows, moved, state.root[:, :, None])[..., None]
    turned = weighted.swapaxes(2, 3)
    covariance = np.linalg.inv(turned @ x + _REGRESSOR_PRECISION * np.eye(x.shape[3]))
    mean = covariance @ (turned @ y)
    deviate = np.linalg.cholesky(covariance) @ rng.standard_normal(mean.shape)
    return np.asarray((mean + deviate)[..., 0].swapaxes(1, 2))


def _draw_dimensions(sums: ModelSums, state: GibbsState, rng: np.random.Generator) -> Floats:
    """Draw u: what is left of a model's scores in each dimension, drawn towards 0 by τ."""
    total = sums.precision + 1 / state.dimension_variance[:, None]
    mean = (sums.residual - np.einsum("cmk,kcmd->cmd", state.factors, sums.loadings)) / total
    return np.asarray(mean + rng.standard_normal(mean.shape) / np.sqrt(total))


def _draw_lines(sums: BenchmarkSums, state: GibbsState, rng: np.random.Generator) -> Floats:
    """Draw (μ, λ) of every benchmark: its regression on the factors of the models that have a score."""
    size = state.lines.shape[2]
    matrix = sums.matrix / state.noise[..., None, None]
    matrix[..., np.arange(size), np.arange(size)] += 1 / state.spread[:, None]
    return draw_normals(matrix, sums.vector / state.noise[..., None] + (state.centre / state.spread)[:, None], rng)


def draw_normals(precision: Floats, vector: Floats, rng: np.random.Generator) -> Floats:
    """Draw from N(P⁻¹ v, P⁻¹) for stacks of precision matrices P and vectors v.

    With P = R Rᵀ, R upper triangular, and z standard normal a draw is R⁻ᵀ (R⁻¹ v + z). The matrices have two or three
    rows: each step of factoring and solving is taken for the whole stack at once.
    """
    root = np.moveaxis(precision, (-2, -1), (0, 1)).copy(order="C")
    drawn = np.moveaxis(vector, -1, 0).copy(order="C")
    for j in reversed(range(len(drawn))):
        root[: j + 1, j] /= np.sqrt(root[j, j])
        root[:j, :j] -= root[:j, None, j] * root[None, :j, j]
        drawn[j] /= root[j, j]
        drawn[:j] -= root[:j, j] * drawn[j]
    drawn += np.moveaxis(rng.standard_normal(vector.shape), -1, 0)
    for j in range(len(drawn)):
        drawn[j] -= (root[:j, j] * drawn[:j]).sum(axis=0)
        drawn[j] /= root[j, j]
    return np.moveaxis(drawn, 0, -1)


def _draw_noise(data: GibbsData, sums: BenchmarkSums, state: GibbsState, rng: np.random.Generator) -> Floats:
    typical = np.exp(np.log(state.noise).mean(axis=1, keepdims=True))
    freedom = data.weights.sum(axis=0) + _NOISE_WORTH
    drawn = (sums.left(state.lines) + _NOISE_WORTH * typical) / rng.chisquare(freedom, state.noise.shape)
    return np.asarray(np.maximum(drawn, _SMALLEST_NOISE))


def _variance(deviations: Floats, guess: Floats | float, rng: np.random.Generator) -> Floats:
    """Draw the variance of each column of deviations (chains × rows × columns), the guess counting as a few rows."""
    total = (deviations**2).sum(axis=1) + _WORTH * guess
    return np.asarray(total / rng.chisquare(deviations.shape[1] + _WORTH, total.shape))
