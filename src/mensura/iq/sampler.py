"""One model of all scores, from which every missing one is drawn: errors of one model's gaps agree with each other.

    η_mb = μ_b + λ_b · f_m + u_m,d(b) + e_mb,
    f_m = Γᵀ x_m + g_m,   g_m ~ N(0, 1), or N(ρ g_p, σ²) after a predecessor p,
    u_md ~ N(0, τ_d),   e_mb ~ N(0, ψ_b),   (μ_b, λ_b) ~ N(centre, spread)

η is the score on the logit scale (:mod:`mensura.iq.metric`), f_m a model's few factors, u_md what it is better or worse
at in dimension d than they say, x_m what is known of it besides its scores. A predecessor is a prior: ρ and σ, learned
from all lines of descent, say how much of its strength a successor keeps and how far it moves. All parameters are
drawn from their conditional distributions in turn (Gibbs sampling), so a draw of the missing scores carries the
uncertainty of the model's factors, of its dimensions and of every benchmark's line at once. Gaps that share a cause
move together; independent errors per gap would average out in the composite, and intervals would be too narrow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mensura.arrays import Floats, Ints, Mask

FACTORS = 2
"""Factors of a model besides its dimensions; a third one changed neither error nor coverage."""
BURN_IN = 100
"""Sweeps before the first draw is kept; the start is near the posterior, so few are needed."""
_WORTH = 4.0  # pseudo-observations behind every prior variance
_NOISE_WORTH = 6.0  # pseudo-observations that draw a benchmark's noise towards that of all benchmarks
_DIMENSION_VARIANCE = 0.1  # squared logits, prior guess of τ
_LINE_VARIANCES = (1.0, 0.2, 0.1)  # squared logits, prior guess of the spread of μ, first and further loadings
_START_NOISE = 0.3  # squared logits
_SMALLEST_NOISE = 0.003  # squared logits: no benchmark repeats itself exactly
_REGRESSOR_PRECISION = 0.1  # of Γ: scores of some dozens of models outweigh it
_KEPT, _KEPT_PRECISION = 0.5, 4.0  # prior of ρ: half of a predecessor's strength, give or take half
_MOVED = 0.5  # prior guess of σ²


@dataclass(frozen=True)
class _Descent:
    """Who follows whom, by row, and the models in two halves within which nobody follows another."""

    children: Ints
    parents: Ints
    follows: Mask
    halves: tuple[Mask, Mask]

    @classmethod
    def of(cls, parents: Ints) -> _Descent:
        """Read a row's predecessor (−1 = none); predecessors form no circle."""
        follows = parents >= 0
        generation = np.zeros(parents.size, dtype=np.int64)
        for _ in range(parents.size):
            later = np.where(follows, generation[parents] + 1, 0)
            if (later == generation).all():
                break
            generation = later
        even = generation % 2 == 0
        return cls(np.flatnonzero(follows), parents[follows], follows, (even, ~even))

    def before(self, values: Floats) -> Floats:
        """Return each row's predecessor's values, 0 where there is none."""
        found = np.zeros_like(values)
        found[self.children] = values[self.parents]
        return found

    def after(self, values: Floats) -> Floats:
        """Return the sums of each row's successors' values."""
        found = np.zeros_like(values)
        np.add.at(found, self.parents, values[self.children])
        return found


@dataclass(frozen=True)
class _Data:
    """Scores on the logit scale with 0 where missing, which are there, and what else is known of each model."""

    eta: Floats
    known: Mask
    regressors: Floats
    dimension_of: Ints
    members: Floats  # benchmarks × dimensions, 1 where the benchmark belongs to it
    descent: _Descent

    def residual(self, modelled: Floats) -> Floats:
        """Return what is left of the scores, 0 where there is none."""
        return np.where(self.known, self.eta - modelled, 0.0)


@dataclass(frozen=True)
class _State:
    """One draw of every parameter, named as in the head of this file."""

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

    def common(self) -> Floats:
        """Return what factors and lines expect, models × benchmarks."""
        return np.asarray(self.lines[:, 0] + self.factors @ self.lines[:, 1:].T)


def draw_missing(
    eta: Floats, regressors: Floats, dimension_of: Ints, parents: Ints, draws: int, rng: np.random.Generator
) -> Floats:
    """Return draws × models × benchmarks of η: the scores that are there as they are, NaN ones drawn.

    ``regressors`` (models × q) have mean 0, since the benchmarks' intercepts hold the level; ``parents`` holds the row
    of each model's predecessor, −1 where there is none.
    """
    known = ~np.isnan(eta)
    members = np.eye(int(dimension_of.max()) + 1)[dimension_of]
    data = _Data(np.where(known, eta, 0.0), known, regressors, dimension_of, members, _Descent.of(parents))
    state, kept = _start(data), []
    for sweep in range(BURN_IN + draws):
        state = _sweep(data, state, rng)
        if sweep >= BURN_IN:
            expected = state.common() + state.dimensions[:, dimension_of]
            drawn = expected + np.sqrt(state.noise) * rng.standard_normal(eta.shape)
            kept.append(np.where(known, eta, drawn))
    return np.array(kept)


def _start(data: _Data) -> _State:
    """Begin with benchmarks at their means and models at their mean residuals."""
    models, benchmarks = data.eta.shape
    count = data.known.sum(axis=0)
    level = data.eta.sum() / max(count.sum(), 1)
    means = (data.eta.sum(axis=0) + level) / (count + 1)
    factors = np.zeros((models, FACTORS))
    own = data.residual(means).sum(axis=1) / (data.known.sum(axis=1) + 1)
    factors[:, 0] = own / max(float(own.std()), 1e-6)
    lines = np.zeros((benchmarks, 1 + FACTORS))
    lines[:, 0], lines[:, 1] = means, 1.0
    dimensions = data.members.shape[1]
    return _State(
        factors=factors,
        lines=lines,
        dimensions=np.zeros((models, dimensions)),
        noise=np.full(benchmarks, _START_NOISE),
        dimension_variance=np.full(dimensions, _DIMENSION_VARIANCE),
        gamma=np.zeros((data.regressors.shape[1], FACTORS)),
        centre=np.array([means.mean(), 1.0, *[0.0] * (FACTORS - 1)]),
        spread=_line_variances(),
        kept=np.full(FACTORS, _KEPT),
        moved=np.full(FACTORS, _MOVED),
    )


def _sweep(data: _Data, state: _State, rng: np.random.Generator) -> _State:
    """Draw every parameter once, each given all others."""
    precision = data.known / state.noise
    state = replace(state, factors=_draw_factors(data, state, precision, rng))
    state = _draw_descent(data, state, rng)
    state = replace(state, gamma=_draw_gamma(data, state, rng))
    dimensions = _draw_dimensions(data, state, precision, rng)
    state = replace(state, dimensions=dimensions, dimension_variance=_variance(dimensions, _DIMENSION_VARIANCE, rng))
    lines = _draw_lines(data, state, precision, rng)
    centre = np.zeros_like(state.centre)
    centre[:2] = lines[:, :2].mean(axis=0) + np.sqrt(state.spread[:2] / len(lines)) * rng.standard_normal(2)
    state = replace(state, lines=lines, centre=centre, spread=_variance(lines - centre, _line_variances(), rng))
    return replace(state, noise=_draw_noise(data, state, rng))


def _draw_factors(data: _Data, state: _State, precision: Floats, rng: np.random.Generator) -> Floats:
    """Draw f one half after the other: given its predecessor and successors, a model is independent of the rest."""
    left = data.residual(state.lines[:, 0] + state.dimensions[:, data.dimension_of])
    descent, factors = data.descent, state.factors
    base = data.regressors @ state.gamma
    own = np.where(descent.follows[:, None], 1 / state.moved, 1.0)
    from_successors = descent.after(np.ones_like(base)) * state.kept**2 / state.moved
    for half in descent.halves:
        strength = factors - base
        vector = own * (base + state.kept * descent.before(strength))
        vector += descent.after(strength) * state.kept / state.moved + from_successors * base
        total = own + from_successors
        drawn = _draw_regressions(state.lines[:, 1:], precision, left, total, vector / total, rng)
        factors = np.where(half[:, None], drawn, factors)
    return factors


def _draw_descent(data: _Data, state: _State, rng: np.random.Generator) -> _State:
    """Draw what successors keep of a predecessor's strength and how far they move: ρ and σ²."""
    children, parents = data.descent.children, data.descent.parents
    strength = state.factors - data.regressors @ state.gamma
    earlier, later = strength[parents], strength[children]
    precision = (earlier**2).sum(axis=0) / state.moved + _KEPT_PRECISION
    mean = ((earlier * later).sum(axis=0) / state.moved + _KEPT_PRECISION * _KEPT) / precision
    kept = mean + rng.standard_normal(FACTORS) / np.sqrt(precision)
    return replace(state, kept=kept, moved=_variance(later - kept * earlier, _MOVED, rng))


def _draw_gamma(data: _Data, state: _State, rng: np.random.Generator) -> Floats:
    """Draw Γ by regression of what is new in each model's factors on what is new in its regressors."""
    gamma = np.empty_like(state.gamma)
    for k in range(FACTORS):
        x = data.regressors - state.kept[k] * data.descent.before(data.regressors)
        y = state.factors[:, k] - state.kept[k] * data.descent.before(state.factors)[:, k]
        weighted = x * np.where(data.descent.follows, 1 / state.moved[k], 1.0)[:, None]
        covariance = np.linalg.inv(weighted.T @ x + _REGRESSOR_PRECISION * np.eye(x.shape[1]))
        deviates = np.linalg.cholesky(covariance) @ rng.standard_normal(x.shape[1])
        gamma[:, k] = covariance @ weighted.T @ y + deviates
    return gamma


def _draw_dimensions(data: _Data, state: _State, precision: Floats, rng: np.random.Generator) -> Floats:
    left = data.residual(state.common())
    total = precision @ data.members + 1 / state.dimension_variance
    mean = (precision * left) @ data.members / total
    return np.asarray(mean + rng.standard_normal(mean.shape) / np.sqrt(total))


def _draw_lines(data: _Data, state: _State, precision: Floats, rng: np.random.Generator) -> Floats:
    left = data.residual(state.dimensions[:, data.dimension_of])
    design = np.column_stack([np.ones(len(left)), state.factors])
    return _draw_regressions(design, precision.T, left.T, 1 / state.spread, state.centre, rng)


def _draw_regressions(
    design: Floats,
    precision: Floats,
    left: Floats,
    prior_precision: Floats,
    prior_mean: Floats,
    rng: np.random.Generator,
) -> Floats:
    """Draw the coefficients of many regressions on one design: rows of ``left`` with precisions and priors each."""
    size = design.shape[1]
    products = (design[:, :, None] * design[:, None, :]).reshape(len(design), size * size)
    matrix = (precision @ products).reshape(-1, size, size)
    matrix[:, np.arange(size), np.arange(size)] += prior_precision
    vector = (precision * left) @ design + prior_precision * prior_mean
    covariance = np.linalg.inv(matrix)
    mean = (covariance @ vector[:, :, None])[:, :, 0]
    deviate = np.linalg.cholesky(covariance) @ rng.standard_normal((*vector.shape, 1))
    return np.asarray(mean + deviate[:, :, 0])


def _draw_noise(data: _Data, state: _State, rng: np.random.Generator) -> Floats:
    left = data.residual(state.common() + state.dimensions[:, data.dimension_of])
    typical = np.exp(np.log(state.noise).mean())
    freedom = data.known.sum(axis=0) + _NOISE_WORTH
    drawn = ((left**2).sum(axis=0) + _NOISE_WORTH * typical) / rng.chisquare(freedom)
    return np.asarray(np.maximum(drawn, _SMALLEST_NOISE))


def _variance(deviations: Floats, guess: Floats | float, rng: np.random.Generator) -> Floats:
    """Draw the variance of each column of deviations, the guess counting as a few of them."""
    total = (deviations**2).sum(axis=0) + _WORTH * guess
    return np.asarray(total / rng.chisquare(len(deviations) + _WORTH, deviations.shape[1]))


def _line_variances() -> Floats:
    intercept, first, further = _LINE_VARIANCES
    return np.array([intercept, first, *[further] * (FACTORS - 1)])
