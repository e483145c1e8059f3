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
from numpy.typing import NDArray

from mensura.core.arrays import Floats
from mensura.responses.irt import dimension_nodes as at_nodes
from mensura.responses.irt.category_curves import CategoryItems, log_chances
from mensura.responses.irt.dimension_items import DimensionItems
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


Entries = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Rows and columns of a root that are estimated: all of the lower triangle, or the diagonal."""


@dataclass(frozen=True)
class LatentRegression:
    """``coefficients`` (columns of x × abilities), ``root``: Cholesky factor of the covariance of the rest.

    ``values``: both in one row, with logarithms on the diagonal of the root.
    ``mean`` and ``variance``: of every subject's posterior. ``information``: of coefficients and logarithms of the
    root, observed. ``scores``: their gradients by subject, weighted.
    """

    likelihoods: Likelihoods
    values: Floats
    coefficients: Floats
    root: Floats
    mean: Floats
    variance: Floats
    information: Floats
    scores: Floats

    @property
    def covariance(self) -> Floats:
        """The covariance of what the coefficients leave (abilities × abilities)."""
        return np.asarray(self.root @ self.root.T, dtype=np.float64)


def _values(coefficients: Floats, root: Floats, entries: Entries) -> Floats:
    logs = root + np.diag(np.log(np.diag(root)) - np.diag(root))
    return np.append(coefficients.ravel(), logs[entries])


def _parts(values: Floats, entries: Entries) -> tuple[Floats, Floats]:
    """Return coefficients and root of values."""
    abilities, cut = int(entries[0][-1]) + 1, len(values) - len(entries[0])
    root = np.zeros((abilities, abilities))
    root[entries] = values[cut:]
    root += np.diag(np.exp(np.diag(root)) - np.diag(root))
    return values[:cut].reshape(-1, abilities), root


@dataclass(frozen=True)
class AbilityLikelihoods:
    """The log likelihoods of subjects (subjects × nodes) at nodes that cover every prior a regression may come to."""

    values: Floats
    grid: Grid
    entries = np.tril_indices(1)

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
    """Answers, items, and log likelihoods of the parts of a test (subjects × shared × own nodes) under ``places``."""

    answers: at_nodes.StepAnswers
    items: DimensionItems
    places: at_nodes.Places
    values: list[Floats]

    @classmethod
    def of(cls, answers: at_nodes.StepAnswers, items: DimensionItems, places: at_nodes.Places) -> PlacedLikelihoods:
        """Return those of answers with nodes under the abilities ``places``."""
        likes = [[block.curves.like for block in chunk.blocks] for chunk in at_nodes.chunks(answers, items, places)]
        return cls(answers, items, places, [np.concatenate(one) for one in zip(*likes, strict=True)])

    @property
    def entries(self) -> Entries:
        """What is estimated of the root: own abilities of a bifactor model stay independent."""
        abilities = len(self.items.correlation)
        own = len(self.items.structure.shared) < abilities
        rows, columns = np.nonzero(np.eye(abilities)) if own else np.tril_indices(abilities)
        return rows, columns

    def around(self, mean: Floats, covariance: Floats) -> PlacedLikelihoods:
        """Return the same with nodes under other posteriors."""
        return PlacedLikelihoods.of(self.answers, self.items, at_nodes.Places(mean, covariance))

    def posterior(self, middle: Floats, root: Floats) -> tuple[Floats, Floats]:
        """Return mean and covariance of every subject's abilities under its own normal prior."""
        mean, covariance = np.empty_like(self.places.mean), np.empty_like(self.places.covariance)
        size = max(1, _CHUNK_VALUES // sum(values[0].size for values in self.values))
        for start in range(0, len(mean), size):
            rows = slice(start, start + size)
            layout = at_nodes.lay_out(self.items, at_nodes.Places(self.places.mean[rows], self.places.covariance[rows]))
            likes = [values[rows] for values in self.values]
            weighed = at_nodes.weigh(self.items, layout, likes, middle[rows], root @ root.T)
            mean[rows], second = at_nodes.node_moments(*weighed[:3])
            covariance[rows] = second - mean[rows, :, None] * mean[rows, None, :]
        return mean, covariance

    def item_changes(self, x: Floats, weights: Floats, line: LatentRegression) -> Floats:
        """Return how the gradient of a regression changes with slopes and intercepts (values × estimates)."""
        changes = np.zeros((len(line.values), int(self.items.estimated.sum())))
        middle, variances = x @ line.coefficients, np.diag(line.covariance)
        ones, abilities = np.ones((len(x), 1)), len(variances)
        for chunk in at_nodes.chunks(self.answers, self.items, self.places, middle, line.covariance):
            own, posterior = x[chunk.rows], chunk.weights * weights[chunk.rows, None]
            off = (chunk.means - middle[chunk.rows, None]).reshape(-1, abilities)
            moments = off[:, :, None] * off[:, None, :]
            moments[:, range(abilities), range(abilities)] += chunk.spreads.reshape(-1, abilities)
            wide = np.repeat(own, posterior.shape[1], axis=0)
            of_values = value_scores(wide, off, moments, line.root, self.entries).reshape(*posterior.shape, -1)
            of_values -= chunk.weights[:, None, :] @ of_values
            of_values *= posterior[:, :, None]
            given = node_scores(self.items, chunk, ones[chunk.rows])
            changes += np.tensordot(of_values, given, axes=([0, 1], [0, 1]))
            for block in chunk.blocks:
                if (ability := int(block.columns[-2])) in self.items.structure.shared:
                    continue
                off_own = block.nodes[..., -2].astype(np.float64) - middle[chunk.rows, ability, None, None]
                of_sd, terms = len(changes) - abilities + ability, slice(ability, x.shape[1] * abilities, abilities)
                for power, at, columns in ((1, terms, own), (2, slice(of_sd, of_sd + 1), ones[chunk.rows])):
                    values = off_own**power / variances[ability]
                    values -= np.sum(block.given * values, axis=2)[:, :, None]
                    turned = chunk._replace(blocks=[block._replace(given=block.given * values)])
                    given = node_scores(self.items, turned, ones[chunk.rows])
                    changes[at] += columns.T @ np.sum(posterior[:, :, None] * given, axis=1)
        return changes


Likelihoods = AbilityLikelihoods | PlacedLikelihoods
"""What a regression knows of the answers: posteriors of abilities under any normal prior of each subject."""


def climb(likelihoods: Likelihoods, x: Floats, weights: Floats, values: Floats) -> Floats:
    """Return the values of a regression with the highest likelihood, by rounds from ``values`` on."""
    root = np.sqrt(weights)[:, None]
    inverse: Floats = np.asarray(np.linalg.pinv(root * x) * root[:, 0], dtype=np.float64)
    change, memory, units = np.inf, Anderson(), np.ones(len(values))
    for _ in range(_ROUNDS):
        step = _round(likelihoods, x, weights, inverse, values) - values
        if float(np.max(np.abs(step))) > change:
            memory.forget()
        change = float(np.max(np.abs(step)))
        values = values + memory.improved(values, step, units)
        if change <= _SAME:
            break
    return values


def regress(likelihoods: Likelihoods, x: Floats, weights: Floats) -> LatentRegression:
    """Fit coefficients and the spread of the rest; nodes go under the posteriors that the covariates give."""
    entries = likelihoods.entries
    abilities = int(entries[0][-1]) + 1
    begin = _values(np.zeros((x.shape[1], abilities)), np.eye(abilities), entries)
    values = climb(likelihoods, x, weights, begin)
    if isinstance(likelihoods, PlacedLikelihoods):
        coefficients, root = _parts(values, entries)
        likelihoods = likelihoods.around(*likelihoods.posterior(x @ coefficients, root))
        values = climb(likelihoods, x, weights, values)

    def scores_at(values: Floats) -> Floats:
        """Return the gradient of every subject's log likelihood by the values (Fisher's identity), weighted."""
        coefficients, root = _parts(values, entries)
        mean, variance = likelihoods.posterior(x @ coefficients, root)
        off = mean - x @ coefficients
        return value_scores(x, off, variance + off[:, :, None] * off[:, None, :], root, entries) * weights[:, None]

    information = np.empty((len(values), len(values)))
    for place, small in enumerate(_SMALL * np.eye(len(values))):
        below, above = (scores_at(values + sign * small).sum(axis=0) for sign in (-1.0, 1.0))
        information[place] = (below - above) / (2.0 * _SMALL)
    coefficients, root = _parts(values, entries)
    places = likelihoods.posterior(x @ coefficients, root)
    information = (information + information.T) / 2.0
    return LatentRegression(likelihoods, values, coefficients, root, *places, information, scores_at(values))


def _round(likelihoods: Likelihoods, x: Floats, weights: Floats, inverse: Floats, values: Floats) -> Floats:
    """Return the values after one round of the EM algorithm."""
    coefficients, root = _parts(values, likelihoods.entries)
    mean, variance = likelihoods.posterior(x @ coefficients, root)
    coefficients = np.asarray(inverse @ mean, dtype=np.float64)
    off = mean - x @ coefficients
    spread = np.tensordot(weights, variance + off[:, :, None] * off[:, None, :], axes=1) / weights.sum()
    if len(likelihoods.entries[0]) == len(spread):
        spread = spread * np.eye(len(spread))
    size, axes = np.linalg.eigh(spread)
    kept = (axes * np.maximum(size, _LEAST_SD**2)) @ axes.T
    root = np.asarray(np.linalg.cholesky(kept), dtype=np.float64)
    return _values(coefficients, root, likelihoods.entries)


def value_scores(x: Floats, off: Floats, moments: Floats, root: Floats, entries: Entries) -> Floats:
    """Return the scores of coefficients and root (rows × values) of abilities off the line, with second moments."""
    inverse = np.linalg.inv(root)
    along = (off @ inverse.T @ inverse)[:, None, :] * x[:, :, None]
    second = inverse.T @ inverse @ moments @ inverse.T - np.diag(1.0 / np.diag(root))
    second[:, np.arange(len(root)), np.arange(len(root))] *= np.diag(root)
    return np.asarray(np.column_stack([along.reshape(len(x), -1), second[:, *entries]]), dtype=np.float64)


def draw_values(
    x: Floats, fitted: LatentRegression, covariance: Floats, draws: int, rng: np.random.Generator
) -> Floats:
    """Draw plausible values (subjects × abilities × ``draws``); each draw has coefficients and a spread of its own."""
    chosen = rng.multivariate_normal(fitted.values, covariance, draws, method="eigh")
    drawn = np.empty((*fitted.mean.shape, draws))
    for place, values in enumerate(chosen):
        coefficients, root = _parts(values, fitted.likelihoods.entries)
        np.fill_diagonal(root, np.clip(np.diag(root), _LEAST_SD, _ENDS[1]))  # one that the answers leave open
        mean, variance = fitted.likelihoods.posterior(x @ coefficients, root)
        own = np.linalg.cholesky(variance + _TINY * np.eye(len(root)))
        drawn[:, :, place] = mean + np.einsum("cde,ce->cd", own, rng.normal(size=mean.shape))
    return drawn
