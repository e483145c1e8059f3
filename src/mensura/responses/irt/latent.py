"""Latent regression: abilities on what is known of subjects, with the items as they are.

θ = xᵀγ + ε with ε normal (Mislevy 1984). The answers of a subject enter with their whole likelihood, so no error of
single abilities biases the coefficients. Each round gives every subject the posterior under its own prior; γ is then
the regression of the posterior means, and the variance of ε that of the residuals and posteriors together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mensura.core.arrays import Floats
from mensura.responses.irt.category_items import CategoryItems, log_chances
from mensura.responses.irt.model import Parameters
from mensura.responses.irt.namespace import Namespace
from mensura.responses.irt.passes import NodeTables, shard_likelihoods
from mensura.responses.irt.quadrature import Grid, posteriors
from mensura.responses.irt.shards import Shard, chunks

_ROUNDS, _SAME = 500, 1e-6
_LEAST_SD = 0.05
_ENDS = np.array([-6.0, 6.0])
"""How far means of subjects may be from 0, in standard deviations of the first group."""


@dataclass(frozen=True)
class LatentRegression:
    """``coefficients`` of the columns of x, ``sd`` of the rest; ``mean`` and ``variance`` of every subject's posterior.

    ``information``: of coefficients and ln sd, observed. ``scores``: their gradients by subject, weighted.
    """

    coefficients: Floats
    sd: float
    mean: Floats
    variance: Floats
    information: Floats
    scores: Floats
    rounds: int

    @property
    def values(self) -> Floats:
        """Coefficients and ln sd."""
        return np.append(self.coefficients, np.log(self.sd))


@dataclass(frozen=True)
class AbilityLikelihoods:
    """The log likelihoods of subjects (subjects × nodes) at nodes that cover every prior a regression may come to."""

    values: Floats
    grid: Grid

    @classmethod
    def of_answers(cls, space: Namespace, shard: Shard, items: Parameters) -> AbilityLikelihoods:
        """Return those of right and wrong answers."""
        grid = Grid.over(_ENDS, np.ones(2))
        tables = NodeTables(space, items, grid)
        parts = []
        for chunk in chunks(space, shard):
            joint, table, _ = shard_likelihoods(space, chunk, tables)
            parts.append(space.get(joint) + (0.0 if isinstance(table, float) else space.get(table)[None, :]))
        return cls(np.concatenate(parts), grid)

    @classmethod
    def of_categories(cls, space: Namespace, counts: Any, items: CategoryItems) -> AbilityLikelihoods:  # noqa: ANN401
        """Return those of answers in categories; ``counts``: subjects × items and categories."""
        grid = Grid.over(_ENDS, np.ones(2))
        table = log_chances(items, grid.nodes).reshape(-1, len(grid.nodes))
        return cls(space.get(space.score(space.put(counts), space.real(table))), grid)

    def posterior(self, space: Namespace, middle: Floats, sd: float) -> tuple[Floats, Floats]:
        """Return mean and variance of every subject's ability under its own normal prior."""
        off = (self.grid.nodes[None, :] - middle[:, None]) / sd
        found = posteriors(space, self.values - 0.5 * off**2, self.grid)
        return space.get(found.mean), space.get(found.variance)


def regress(
    space: Namespace, known: AbilityLikelihoods, x: Floats, weights: Floats, begin: Floats | None = None
) -> LatentRegression:
    """Fit coefficients and the spread of the rest; ``begin``: values of another fit to start from."""
    root = np.sqrt(weights)[:, None]
    inverse: Floats = np.asarray(np.linalg.pinv(root * x) * root[:, 0], dtype=np.float64)
    values = np.append(np.zeros(x.shape[1]), 0.0) if begin is None else begin
    rounds, change = 0, np.inf
    previous: list[tuple[Floats, Floats]] = []
    while rounds < _ROUNDS and change > _SAME:
        rounds += 1
        new = _round(space, known, x, weights, inverse, values)
        step = new - values
        change = float(np.max(np.abs(step)))
        previous = [*previous[-1:], (values, step)]
        values = _extrapolated(previous)
    middle, sd = x @ values[:-1], float(np.exp(values[-1]))
    mean, variance = known.posterior(space, middle, sd)
    information, scores = _curvature(x, weights, mean - middle, variance, sd)
    return LatentRegression(values[:-1], sd, mean, variance, information, scores, rounds)


def _round(
    space: Namespace, known: AbilityLikelihoods, x: Floats, weights: Floats, inverse: Floats, values: Floats
) -> Floats:
    """Return the values after one round of the EM algorithm."""
    mean, variance = known.posterior(space, x @ values[:-1], float(np.exp(values[-1])))
    coefficients = inverse @ mean
    spread = weights @ (variance + (mean - x @ coefficients) ** 2) / weights.sum()
    return np.append(coefficients, np.log(max(np.sqrt(spread), _LEAST_SD)))


def _extrapolated(steps: list[tuple[Floats, Floats]]) -> Floats:
    """Return where the last two steps lead: the EM algorithm's errors shrink by the same share every round."""
    (values, step) = steps[-1]
    if len(steps) < 2:
        return values + step
    turn = step - steps[0][1]
    share = float(step @ turn) / max(float(turn @ turn), 1e-300)
    further: Floats = values + step - share * (values + step - steps[0][0] - steps[0][1])
    return further if -20.0 < share < 0.5 else values + step


def _curvature(x: Floats, weights: Floats, off: Floats, variance: Floats, sd: float) -> tuple[Floats, Floats]:
    """Return the observed information of coefficients and ln sd (Louis), and the scores of subjects.

    Posteriors count as normal: their third moment is 0 and the fourth 3 variance².
    """
    own = 1.0 / sd**2 - variance / sd**4
    cross = 2.0 * off * own
    spread = 2.0 * (variance + off**2) / sd**2 - (4.0 * off**2 * variance + 2.0 * variance**2) / sd**4
    count = x.shape[1]
    information = np.empty((count + 1, count + 1))
    information[:count, :count] = (x * (weights * own)[:, None]).T @ x
    information[:count, count] = information[count, :count] = (weights * cross) @ x
    information[count, count] = weights @ spread
    scores = np.column_stack([x * (off / sd**2)[:, None], (variance + off**2) / sd**2 - 1.0]) * weights[:, None]
    return information, scores


def draw_values(
    space: Namespace,
    known: AbilityLikelihoods,
    x: Floats,
    fitted: LatentRegression,
    covariance: Floats,
    *,
    draws: int,
    rng: np.random.Generator,
) -> Floats:
    """Draw plausible values (subjects × ``draws``); each draw has coefficients and a spread of its own."""
    chosen = rng.multivariate_normal(fitted.values, covariance, draws, method="eigh")
    drawn = np.empty((len(x), draws))
    for place, values in enumerate(chosen):
        mean, variance = known.posterior(space, x @ values[:-1], float(np.exp(values[-1])))
        drawn[:, place] = mean + np.sqrt(variance) * rng.normal(size=len(mean))
    return drawn
