"""Learn how language models misjudge people, from recorded estimates with known rates.

One regression on the logit scale. All its coefficients come from normal distributions whose spreads are learned by
marginal likelihood: kinds of people, time pressure, self-report, domain, format; a shift and a slope per pool; a
shift per group of people within a pool, and one per far people. The variance of an item's own error grows with the
square of the spread that the model stated. In some pools all errors are larger or smaller than that: ``scale``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from mensura.baseline.recordings import GROUPS, Learned
from mensura.core.arrays import Floats, Mask

CENTRE = 0.5
"""Logit around which the slope turns, near the mean of the recordings."""
_FIXED = {"one": 25.0, "slope": 25.0}
USUAL = {
    "item": (0.2, 1.5),
    "stated": (0.7, 1.0),
    "pool": (0.4, 1.0),
    "pool_slope": (0.15, 1.0),
    "group": (0.25, 1.0),
    "far": (0.5, 0.3),
    "people": (0.35, 1.0),
    "time": (0.35, 1.0),
    "report": (0.35, 1.0),
    "domain": (0.1, 1.0),
    "format": (0.1, 1.0),
}
"""Usual spread in logits of each kind of effect, and how freely the data may move its logarithm of the variance.

``far`` may move little: the recorded far people are among the best described ones, and elsewhere models err more."""
Usual = dict[str, tuple[float, float]]
_STEPS = 15
_SIZES = np.exp(np.linspace(-2.5, 1.5, 41))  # of a pool's errors, as a share of the usual ones
_SEVERAL = 3  # cells of one group of people within a pool, from which the group has a shift of its own


@dataclass(frozen=True, eq=False)
class Recorded:
    """Cells of recordings, one entry per item and people.

    ``at``, ``spread``, ``share``: pooled logit, stated spread, share of one run's error (see ``PooledEstimates``).
    ``truth``, ``noise``: logit of the true rate and its sampling variance. ``levels``: by group of effects, the kind of
    each cell. ``distance``: of its people. ``pool``, ``people``: names.
    """

    at: Floats
    spread: Floats
    share: Floats
    truth: Floats
    noise: Floats
    levels: dict[str, np.ndarray]
    distance: Floats
    pool: np.ndarray
    people: np.ndarray

    def of(self, keep: Mask) -> Recorded:
        """Return some of the cells."""
        parts = {name: getattr(self, name)[keep] for name in self.__dataclass_fields__ if name != "levels"}
        return Recorded(**parts, levels={name: level[keep] for name, level in self.levels.items()})


def learn(cells: Recorded, *, runs: float, models: float, usual_spread: float, usual: Usual = USUAL) -> Learned:
    """Return the learned effects with their joint uncertainty, and the spreads of what is new in a new pool.

    ``runs``, ``models``: correlations of errors between runs and between models, as in ``PooledEstimates``.
    ``usual``: the spreads that are expected before anything is seen.
    """
    names, columns, owners = _columns(cells)
    alone = np.where(_group_sizes(cells) == 1, cells.distance, 0.0)
    free = list(usual)
    expected = np.array([2 * np.log(usual[name][0]) for name in free])
    freedom = np.array([usual[name][1] for name in free])

    def parts(point: Floats, scale: Floats | float = 1.0) -> tuple[float, Floats, Floats]:
        variance = {**_FIXED, **dict(zip(free, np.exp(point), strict=True))}
        own = (variance["item"] + variance["stated"] * cells.spread**2) * scale
        error = own * cells.share + cells.noise
        error = error + variance["far"] * alone**2
        return _solve(columns, cells.truth, error, np.array([variance[name] for name in owners]))

    def loss(point: Floats) -> float:
        return -parts(point)[0] + 0.5 * float((((point - expected) / freedom) ** 2).sum())

    settled = minimize(loss, expected, method="L-BFGS-B", options={"maxiter": _STEPS, "ftol": 1e-5})
    _, mean, precision = parts(settled.x)
    kept = [place for place, owner in enumerate(owners) if owner in _FIXED or owner in GROUPS]
    covariance: Floats = np.linalg.inv(precision)[np.ix_(kept, kept)].astype(np.float64)
    spreads = dict(zip(free, np.exp(settled.x / 2).tolist(), strict=True))
    pools = [np.where(cells.pool == pool, 1.0, 0.0) for pool in np.unique(cells.pool)]
    fits = [[parts(settled.x, size ** (2 * pool))[0] for size in _SIZES.tolist()] for pool in pools]
    spreads["scale"] = _spread_of_scales(np.array(fits))
    kinds = tuple(names[place] for place in kept)
    return Learned(
        kinds, mean[kept], covariance, spreads, runs, models, usual_spread, CENTRE, log_posterior=-float(settled.fun)
    )


def _spread_of_scales(fits: Floats) -> float:
    """Return the SD between pools of the logarithm of the size of errors, the likeliest one.

    ``fits``: pools × :data:`_SIZES` of log likelihoods. The sizes are centred so that the mean variance stays.
    """
    sizes, tried = np.log(_SIZES), np.linspace(0.02, 1.0, 50)
    likelihood = np.exp(fits - fits.max(axis=1, keepdims=True))

    def total(sd: float) -> float:
        chance = np.exp(-0.5 * ((sizes + sd**2) / sd) ** 2)
        return float(np.log(likelihood @ (chance / chance.sum())).sum())

    return float(max(tried, key=total))


def _columns(cells: Recorded) -> tuple[list[str], Floats, list[str]]:
    """Return the names of the columns, the columns, and which spread each belongs to."""
    slope = cells.at - CENTRE
    names, columns, owners = ["one", "slope"], [np.ones_like(slope), slope], ["one", "slope"]
    for group, level in cells.levels.items():
        for kind in sorted(set(level) - {""}):
            names.append(f"{group}:{kind}")
            columns.append((level == kind).astype(float))
            owners.append(group)
    for pool in np.unique(cells.pool):
        inside = (cells.pool == pool).astype(float)
        names += [f"pool:{pool}", f"pool_slope:{pool}"]
        columns += [inside, inside * slope]
        owners += ["pool", "pool_slope"]
        groups, sizes = np.unique(cells.people[cells.pool == pool], return_counts=True)
        for people in groups[sizes >= _SEVERAL] if groups.size > 1 else []:
            names.append(f"group:{pool}:{people}")
            columns.append(inside * (cells.people == people))
            owners.append("group")
    far = (cells.distance > 0) & (_group_sizes(cells) > 1)
    for people in np.unique(cells.people[far]):
        names.append(f"far:{people}")
        columns.append((cells.people == people) * cells.distance)
        owners.append("far")
    return names, np.stack(columns, axis=1), owners


def _group_sizes(cells: Recorded) -> Floats:
    """Return of each cell how many cells its people have; one cell alone needs no column of its own."""
    _, place, sizes = np.unique(cells.people, return_inverse=True, return_counts=True)
    return sizes[place].astype(np.float64)


def _solve(columns: Floats, truth: Floats, error: Floats, prior: Floats) -> tuple[float, Floats, Floats]:
    """Return the log marginal likelihood, and mean and precision of the coefficients, with zero-mean normal priors."""
    weighted = columns / error[:, None]
    precision = columns.T @ weighted
    precision[np.diag_indices_from(precision)] += 1 / prior
    pull = weighted.T @ truth
    root = np.linalg.cholesky(precision)
    mean: Floats = np.linalg.solve(precision, pull).astype(np.float64)
    fit = float((truth**2 / error).sum() - pull @ mean)
    logs = float(np.log(error).sum() + 2 * np.log(np.diag(root)).sum() + np.log(prior).sum())
    return -0.5 * (fit + logs), mean, precision
