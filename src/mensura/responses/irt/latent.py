"""Latent regression: abilities on what is known of subjects, with the items as they are.

θ = Bx + ε with ε normal (Mislevy 1984), for one ability or several. The answers of a subject enter with their whole
likelihood, so no error of single abilities biases the coefficients. Each round gives every subject the posterior under
its own prior; B is then the regression of the posterior means, and the covariance of ε that of the residuals and
posteriors together. Its Cholesky factor, with logarithms on the diagonal, is estimated: ln sd of one ability.

The items have errors, and so has the unit of the abilities that they fix. The scores of a regression on several
abilities therefore get the part C A⁻¹ s added (Murphy and Topel 1985): s are the scores of the items, A their
information, and C the change of the regression's gradient with the items, a covariance over posteriors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mensura.core.arrays import Floats
from mensura.responses.irt.category_curves import CategoryItems, log_chances
from mensura.responses.irt.dimension_items import DimensionItems
from mensura.responses.irt.dimension_nodes import Places, chunks as node_chunks, log_density, normalised, product_rule
from mensura.responses.irt.dimensions import node_scores
from mensura.responses.irt.fitting import Anderson
from mensura.responses.irt.model import Parameters
from mensura.responses.irt.namespace import Array, namespace
from mensura.responses.irt.passes import Grid, NodeTables, posteriors, shard_likelihoods
from mensura.responses.irt.shards import Shard, chunks

_ROUNDS, _SAME = 500, 1e-6
_LEAST_SD = 0.05
_SMALL = 1e-3
"""Step of the differences that the information is taken from."""
_TINY = 1e-12
_CHUNK_VALUES = 1_000_000
_SPACE = namespace(double=True)
_ENDS = np.array([-6.0, 6.0])
"""How far means of subjects may be from 0, in standard deviations of the first group."""


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


def parts_of(values: Floats, columns: int, abilities: int) -> tuple[Floats, Floats]:
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
    def of_answers(cls, shard: Shard, items: Parameters) -> AbilityLikelihoods:
        """Return those of right and wrong answers."""
        grid = Grid.over(_ENDS, np.ones(2))
        tables = NodeTables(_SPACE, items, grid)
        parts = []
        for chunk in chunks(_SPACE, shard):
            joint, table, _ = shard_likelihoods(_SPACE, chunk, tables)
            parts.append(_SPACE.get(joint) + (0.0 if isinstance(table, float) else _SPACE.get(table)[None, :]))
        return cls(np.concatenate(parts), grid)

    @classmethod
    def of_categories(cls, counts: Array, items: CategoryItems) -> AbilityLikelihoods:
        """Return those of answers in categories; ``counts``: subjects × items and categories."""
        grid = Grid.over(_ENDS, np.ones(2))
        table = log_chances(items, grid.nodes).reshape(-1, len(grid.nodes))
        return cls(_SPACE.get(_SPACE.score(_SPACE.put(counts), _SPACE.real(table))), grid)

    def posterior(self, middle: Floats, root: Floats) -> tuple[Floats, Floats]:
        """Return mean and variance of every subject's ability under its own normal prior."""
        off = (self.grid.nodes[None, :] - middle) / root[0, 0]
        places = posteriors(_SPACE, self.values - 0.5 * off**2, self.grid)
        return _SPACE.get(places.mean)[:, None], _SPACE.get(places.variance)[:, None, None]


@dataclass(frozen=True)
class PlacedLikelihoods:
    """Answers, items, and log likelihoods with the weights of nodes (subjects × nodes) under ``places``.

    No item may have an own ability (bifactor): nodes are those of all abilities together.
    """

    right: Array
    trials: Array
    items: DimensionItems
    places: Places
    values: Floats

    @classmethod
    def of(cls, right: Array, trials: Array, items: DimensionItems, places: Places) -> PlacedLikelihoods:
        """Return those of answers (subjects × steps of items) with nodes under the abilities ``places``."""
        nodes = node_chunks(right, trials, items, places)
        values = np.concatenate([chunk.joint - log_density(chunk.means, items.correlation) for chunk in nodes])
        return cls(right, trials, items, places, values)

    def around(self, mean: Floats, covariance: Floats) -> PlacedLikelihoods:
        """Return the same with nodes under other posteriors."""
        return PlacedLikelihoods.of(self.right, self.trials, self.items, Places(mean, covariance))

    def posterior(self, middle: Floats, root: Floats) -> tuple[Floats, Floats]:
        """Return mean and covariance of every subject's abilities under its own normal prior."""
        standard, spread = product_rule(self.items)[0], root @ root.T
        mean, covariance = np.empty_like(self.places.mean), np.empty_like(self.places.covariance)
        size = max(1, _CHUNK_VALUES // standard.size)
        for start in range(0, len(mean), size):
            rows = slice(start, start + size)
            own = np.linalg.cholesky(self.places.covariance[rows])
            theta = self.places.mean[rows, None] + standard @ np.swapaxes(own, 1, 2)
            prior = log_density(theta - middle[rows, None], spread)
            weights = normalised(self.values[rows] + prior)[0]
            mean[rows] = (weights[:, None] @ theta)[:, 0]
            theta -= mean[rows, None]
            covariance[rows] = np.swapaxes(theta * weights[:, :, None], 1, 2) @ theta
        return mean, covariance

    def item_changes(self, x: Floats, weights: Floats, line: LatentRegression) -> Floats:
        """Return how the gradient of a regression changes with slopes and intercepts (values × estimates)."""
        changes = np.zeros((len(line.values), int(self.items.estimated.sum())))
        for chunk in node_chunks(self.right, self.trials, self.items, self.places):
            off = chunk.means - (x[chunk.rows] @ line.coefficients)[:, None]
            posterior = normalised(self.values[chunk.rows] + log_density(off, line.covariance))[0]
            flat = off.reshape(-1, off.shape[2])
            wide = np.repeat(x[chunk.rows], off.shape[1], axis=0)
            of_values = value_scores(wide, flat, flat[:, :, None] * flat[:, None, :], line.root)
            of_values = of_values.reshape(*off.shape[:2], -1)
            of_values -= np.einsum("cq,cqv->cv", posterior, of_values)[:, None]
            of_values *= (posterior * weights[chunk.rows, None])[:, :, None]
            changes += np.tensordot(of_values, node_scores(self.items, chunk), axes=([0, 1], [0, 1]))
        return changes


Likelihoods = AbilityLikelihoods | PlacedLikelihoods
"""What a regression knows of the answers: posteriors of abilities under any normal prior of each subject."""


def find_values(
    likelihoods: Likelihoods, x: Floats, weights: Floats, begin: Floats | None = None, abilities: int = 1
) -> tuple[Floats, int]:
    """Return coefficients and logarithms of the root, and the rounds; ``begin``: values to start from."""
    root = np.sqrt(weights)[:, None]
    inverse: Floats = np.asarray(np.linalg.pinv(root * x) * root[:, 0], dtype=np.float64)
    values = _values(np.zeros((x.shape[1], abilities)), np.eye(abilities)) if begin is None else begin
    rounds, change, memory, units = 0, np.inf, Anderson(), np.ones(len(values))
    while rounds < _ROUNDS and change > _SAME:
        rounds += 1
        step = _round(likelihoods, x, weights, inverse, parts_of(values, x.shape[1], abilities)) - values
        if float(np.max(np.abs(step))) > change:
            memory.forget()
        change = float(np.max(np.abs(step)))
        values = values + memory.improved(values, step, units)
    return values, rounds


def regress(
    likelihoods: Likelihoods, x: Floats, weights: Floats, begin: Floats | None = None, abilities: int = 1
) -> LatentRegression:
    """Fit coefficients and the spread of the rest as :func:`find_values` does, with their errors."""
    values, rounds = find_values(likelihoods, x, weights, begin, abilities)

    def scores_at(values: Floats) -> Floats:
        """Return the gradient of every subject's log likelihood by the values (Fisher's identity), weighted."""
        coefficients, root = parts_of(values, x.shape[1], abilities)
        mean, variance = likelihoods.posterior(x @ coefficients, root)
        off = mean - x @ coefficients
        return value_scores(x, off, variance + off[:, :, None] * off[:, None, :], root) * weights[:, None]

    information = np.empty((len(values), len(values)))
    for place, small in enumerate(_SMALL * np.eye(len(values))):
        below, above = (scores_at(values + sign * small).sum(axis=0) for sign in (-1.0, 1.0))
        information[place] = (below - above) / (2.0 * _SMALL)
    coefficients, spread = parts_of(values, x.shape[1], abilities)
    places = likelihoods.posterior(x @ coefficients, spread)
    information = (information + information.T) / 2.0
    return LatentRegression(coefficients, spread, *places, information, scores_at(values), rounds)


def _round(
    likelihoods: Likelihoods, x: Floats, weights: Floats, inverse: Floats, parts: tuple[Floats, Floats]
) -> Floats:
    """Return the values after one round of the EM algorithm."""
    mean, variance = likelihoods.posterior(x @ parts[0], parts[1])
    coefficients = np.asarray(inverse @ mean, dtype=np.float64)
    off = mean - x @ coefficients
    spread = np.tensordot(weights, variance + off[:, :, None] * off[:, None, :], axes=1) / weights.sum()
    size, axes = np.linalg.eigh(spread)
    kept = (axes * np.maximum(size, _LEAST_SD**2)) @ axes.T
    return _values(coefficients, np.asarray(np.linalg.cholesky(kept), dtype=np.float64))


def value_scores(x: Floats, off: Floats, moments: Floats, root: Floats) -> Floats:
    """Return the scores of coefficients and root (rows × values) of abilities off the line, with second moments."""
    inverse = np.linalg.inv(root)
    along = (off @ inverse.T @ inverse)[:, None, :] * x[:, :, None]
    second = inverse.T @ inverse @ moments @ inverse.T - np.diag(1.0 / np.diag(root))
    second[:, np.arange(len(root)), np.arange(len(root))] *= np.diag(root)
    rows, columns = np.tril_indices(len(root))
    return np.asarray(np.column_stack([along.reshape(len(x), -1), second[:, rows, columns]]), dtype=np.float64)


def draw_values(
    likelihoods: Likelihoods,
    x: Floats,
    fitted: LatentRegression,
    covariance: Floats,
    draws: int,
    rng: np.random.Generator,
) -> Floats:
    """Draw plausible values (subjects × abilities × ``draws``); each draw has coefficients and a spread of its own."""
    chosen = rng.multivariate_normal(fitted.values, covariance, draws, method="eigh")
    drawn = np.empty((*fitted.mean.shape, draws))
    for place, values in enumerate(chosen):
        coefficients, root = parts_of(values, *fitted.coefficients.shape)
        mean, variance = likelihoods.posterior(x @ coefficients, root)
        own = np.linalg.cholesky(variance + _TINY * np.eye(len(root)))
        drawn[:, :, place] = mean + np.einsum("cde,ce->cd", own, rng.normal(size=mean.shape))
    return drawn
