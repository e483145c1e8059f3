"""Latent regression: abilities on what is known of subjects, with the items as they are.

θ = Bx + ε with ε normal (Mislevy 1984), for one ability or several. The answers of a subject enter with their whole
likelihood, so no error of single abilities biases the coefficients. Each round gives every subject the posterior under
its own prior; B is then the regression of the posterior means, and the covariance of ε that of the residuals and
posteriors together. Its Cholesky factor, with logarithms on the diagonal, is estimated: ln sd of one ability.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

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
_SMALL = 1e-3
"""Step of the differences that the information is taken from."""
_TINY = 1e-12
_ENDS = np.array([-6.0, 6.0])
"""How far means of subjects may be from 0, in standard deviations of the first group."""


class Likelihoods(Protocol):
    """What a regression knows of the answers: posteriors of abilities under any normal prior of each subject."""

    def posterior(self, space: Namespace, middle: Floats, root: Floats) -> tuple[Floats, Floats]:
        """Return means (subjects × abilities) and covariances; ``root``: Cholesky factor of the prior's covariance."""
        ...


@dataclass(frozen=True)
class LatentRegression:
    """``coefficients`` (columns of x × abilities), ``root``: Cholesky factor of the covariance of the rest.

    ``mean`` and ``variance``: of every subject's posterior. ``information``: of coefficients and logarithms of the
    root, observed. ``scores``: their gradients by subject, weighted.
    """

    coefficients: Floats
    root: Floats
    mean: Floats
    variance: Floats
    information: Floats
    scores: Floats
    rounds: int

    @property
    def values(self) -> Floats:
        """Coefficients, and the root with logarithms on its diagonal."""
        return _values(self.coefficients, self.root)

    @property
    def covariance(self) -> Floats:
        """The covariance of what the coefficients leave (abilities × abilities)."""
        return np.asarray(self.root @ self.root.T, dtype=np.float64)


def _values(coefficients: Floats, root: Floats) -> Floats:
    logs = root + np.diag(np.log(np.diag(root)) - np.diag(root))
    return np.append(coefficients.ravel(), logs[np.tril_indices(len(root))])


def _parts(values: Floats, columns: int, abilities: int) -> tuple[Floats, Floats]:
    """Return coefficients and root of values."""
    root = np.zeros((abilities, abilities))
    root[np.tril_indices(abilities)] = values[columns * abilities :]
    root += np.diag(np.exp(np.diag(root)) - np.diag(root))
    return values[: columns * abilities].reshape(columns, abilities), root


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

    def posterior(self, space: Namespace, middle: Floats, root: Floats) -> tuple[Floats, Floats]:
        """Return mean and variance of every subject's ability under its own normal prior."""
        off = (self.grid.nodes[None, :] - middle) / root[0, 0]
        found = posteriors(space, self.values - 0.5 * off**2, self.grid)
        return space.get(found.mean)[:, None], space.get(found.variance)[:, None, None]


def regress(
    space: Namespace,
    known: Likelihoods,
    x: Floats,
    weights: Floats,
    begin: Floats | None = None,
    abilities: int = 1,
) -> LatentRegression:
    """Fit coefficients and the spread of the rest; ``begin``: values of another fit to start from."""
    root = np.sqrt(weights)[:, None]
    inverse: Floats = np.asarray(np.linalg.pinv(root * x) * root[:, 0], dtype=np.float64)
    values = _values(np.zeros((x.shape[1], abilities)), np.eye(abilities)) if begin is None else begin
    rounds, change = 0, np.inf
    previous: list[tuple[Floats, Floats]] = []
    while rounds < _ROUNDS and change > _SAME:
        rounds += 1
        new = _round(space, known, x, weights, inverse, _parts(values, x.shape[1], abilities))
        step = new - values
        change = float(np.max(np.abs(step)))
        previous = [*previous[-1:], (values, step)]
        values = _extrapolated(previous)
    coefficients, spread = _parts(values, x.shape[1], abilities)
    mean, variance = known.posterior(space, x @ coefficients, spread)
    information = np.empty((len(values), len(values)))
    for place, small in enumerate(_SMALL * np.eye(len(values))):
        ends = [
            _scores(space, known, x, weights, _parts(values + sign * small, x.shape[1], abilities)).sum(axis=0)
            for sign in (-1.0, 1.0)
        ]
        information[place] = (ends[0] - ends[1]) / (2.0 * _SMALL)
    scores = _scores(space, known, x, weights, (coefficients, spread))
    return LatentRegression(coefficients, spread, mean, variance, (information + information.T) / 2.0, scores, rounds)


def _round(
    space: Namespace,
    known: Likelihoods,
    x: Floats,
    weights: Floats,
    inverse: Floats,
    parts: tuple[Floats, Floats],
) -> Floats:
    """Return the values after one round of the EM algorithm."""
    mean, variance = known.posterior(space, x @ parts[0], parts[1])
    coefficients = np.asarray(inverse @ mean, dtype=np.float64)
    off = mean - x @ coefficients
    spread = np.tensordot(weights, variance + off[:, :, None] * off[:, None, :], axes=1) / weights.sum()
    size, axes = np.linalg.eigh(spread)
    kept = (axes * np.maximum(size, _LEAST_SD**2)) @ axes.T
    return _values(coefficients, np.asarray(np.linalg.cholesky(kept), dtype=np.float64))


def _extrapolated(steps: list[tuple[Floats, Floats]]) -> Floats:
    """Return where the last two steps lead: the EM algorithm's errors shrink by the same share every round."""
    (values, step) = steps[-1]
    if len(steps) < 2:
        return values + step
    turn = step - steps[0][1]
    share = float(step @ turn) / max(float(turn @ turn), 1e-300)
    further: Floats = values + step - share * (values + step - steps[0][0] - steps[0][1])
    return further if -20.0 < share < 0.5 else values + step


def _scores(space: Namespace, known: Likelihoods, x: Floats, weights: Floats, parts: tuple[Floats, Floats]) -> Floats:
    """Return the gradient of every subject's log likelihood by the values (Fisher's identity), weighted."""
    coefficients, root = parts
    mean, variance = known.posterior(space, x @ coefficients, root)
    off = mean - x @ coefficients
    return value_scores(x, off, variance + off[:, :, None] * off[:, None, :], root) * weights[:, None]


def value_scores(x: Floats, off: Floats, moments: Floats, root: Floats) -> Floats:
    """Return the scores of coefficients and root (rows × values) of abilities off the line, with second moments."""
    inverse = np.linalg.inv(root)
    along = (off @ inverse.T @ inverse)[:, None, :] * x[:, :, None]
    second = inverse.T @ inverse @ moments @ inverse.T - np.diag(1.0 / np.diag(root))
    second[:, np.arange(len(root)), np.arange(len(root))] *= np.diag(root)
    rows, columns = np.tril_indices(len(root))
    return np.asarray(np.column_stack([along.reshape(len(x), -1), second[:, rows, columns]]), dtype=np.float64)


def draw_values(
    space: Namespace,
    known: Likelihoods,
    x: Floats,
    fitted: LatentRegression,
    covariance: Floats,
    *,
    draws: int,
    rng: np.random.Generator,
) -> Floats:
    """Draw plausible values (subjects × abilities × ``draws``); each draw has coefficients and a spread of its own."""
    chosen = rng.multivariate_normal(fitted.values, covariance, draws, method="eigh")
    drawn = np.empty((*fitted.mean.shape, draws))
    for place, values in enumerate(chosen):
        coefficients, root = _parts(values, *fitted.coefficients.shape)
        mean, variance = known.posterior(space, x @ coefficients, root)
        own = np.linalg.cholesky(variance + _TINY * np.eye(len(root)))
        drawn[:, :, place] = mean + np.einsum("cde,ce->cd", own, rng.normal(size=mean.shape))
    return drawn
