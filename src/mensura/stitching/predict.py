"""Expected scores and the intervals of new ones."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats, Ints, Mask
from mensura.core.processes import MOST_DEATHS, collect, join_ray
from mensura.stitching.fitted import Model, PooledModel
from mensura.stitching.layout import ScoreLayout, levels, pack_twice, variance_shape
from mensura.stitching.positions import Positions, joined
from mensura.stitching.sweeps import eta_variance, extended

RESOLUTION = 0.005
"""Limits nearer than this to 0 or 1 are 0 or 1: scores are counts, and exact zeros and ones occur."""
NODES = np.linspace(-2.5, 2.5, 11)
NODE_WEIGHTS = np.exp(-(NODES**2) / 2)
"""Standard normal nodes over which an expected score is averaged where η is wide."""
SMALLEST_MEAN, SMALLEST_SIZE = 1e-4, 0.05
"""Least mean (and distance from 1) and least size a + b of a predictive beta distribution."""


def expected_scores(model: Model, positions: Positions, rows: Ints, cols: Ints) -> Floats:
    """Return f = chance + (ceiling − chance) σ(η) of every pair in every draw, slow leaks included: (draws, pairs)."""
    data, eta = model.data, positions.eta(rows, cols) + model.data.gain(rows, cols)
    return levels(data.chance[cols], data.ceiling[cols], eta, data.step)[0]


def predictive(model: Model, draws: Positions, rows: Ints, cols: Ints, level: float) -> tuple[Floats, Floats, Floats]:
    """Mean of a new score of every pair and its interval; −1 stands for a subject or benchmark without scores.

    The interval is that of the beta distribution with the predictive mean and variance: uncertainty of the expected
    score (from the draws, made on the model's own scale) plus noise. It never leaves [0, 1].
    """
    mean, variance = np.full((2, rows.size), np.nan)
    placed = (rows >= 0) & (cols >= 0)
    r, c = rows[placed], cols[placed]
    if r.size:
        mean[placed] = point_scores(model, r, c)
        variance[placed] = expected_scores(model, draws, r, c).var(axis=0) + model.noise(mean[placed], c)
        if isinstance(model, PooledModel):
            variance[placed] = model.wide_variance(mean[placed], c, variance[placed])
    if isinstance(model, PooledModel) and not placed.all():
        mean[~placed], variance[~placed] = _from_prior(model, rows[~placed], cols[~placed])
    return mean, *_beta_interval(mean, variance, level)


def point_scores(model: Model, rows: Ints, cols: Ints) -> Floats:
    """Return the predictive mean of pairs with scores: E σ(η) under the posterior of η, not σ of its mean.

    For normal η, E σ(η) ≈ σ(mean / √(1 + π·variance/8)).
    """
    data = model.data
    eta = model.positions.eta(rows, cols)[0] + data.gain(rows, cols)
    if isinstance(model, PooledModel):
        eta = eta / np.sqrt(1 + np.pi * eta_variance(model.fitted, rows, cols) / 8)
    return levels(data.chance[cols], data.ceiling[cols], eta, data.step)[0]


def _from_prior(model: PooledModel, rows: Ints, cols: Ints) -> tuple[Floats, Floats]:
    """Mean and variance where the subject, the benchmark or both have no scores: the prior stands in."""
    fit, data = model.fitted, model.data
    spread = fit.theta.T @ fit.theta / len(fit.theta) + fit.theta_cov.mean(axis=0)
    new_subject, new_benchmark = rows < 0, cols < 0
    theta = np.where(new_subject[:, None], 0.0, fit.theta[rows])
    theta_cov = np.where(new_subject[:, None, None], spread, fit.theta_cov[rows])
    phi = np.where(new_benchmark[:, None], fit.phi_mean, fit.phi[cols])
    phi_cov = np.where(new_benchmark[:, None, None], fit.phi_spread, fit.phi_cov[cols])
    _, second = extended(theta, theta_cov)
    variance = np.einsum("ij,ijk,ik->i", phi[:, 1:], theta_cov, phi[:, 1:])
    variance += np.einsum("ij,ij->i", pack_twice(phi_cov), second)
    eta = phi[:, 0] + np.einsum("ij,ij->i", phi[:, 1:], theta)
    chance = np.where(new_benchmark, 0.0, data.chance[cols])
    ceiling = np.where(new_benchmark, 1.0, data.ceiling[cols])
    mean, _ = levels(chance, ceiling, eta / np.sqrt(1 + np.pi * variance / 8), data.step)
    grid, _ = levels(chance[:, None], ceiling[:, None], eta[:, None] + np.sqrt(variance)[:, None] * NODES, data.step)
    about = (grid - mean[:, None]) ** 2 @ NODE_WEIGHTS / NODE_WEIGHTS.sum()
    dispersion = np.where(new_benchmark, np.median(fit.dispersion), fit.dispersion[cols])
    return mean, about + dispersion * variance_shape(mean)


def _beta_interval(mean: Floats, variance: Floats, level: float) -> tuple[Floats, Floats]:
    """Quantiles of the beta distribution with this mean and variance (capped where no beta is so wide), mean inside."""
    m = np.clip(mean, SMALLEST_MEAN, 1 - SMALLEST_MEAN)
    size = np.maximum(m * (1 - m) / np.maximum(variance, 1e-12) - 1, SMALLEST_SIZE)
    tail = (1 - level) / 2
    low, high = (
        np.asarray(scipy.special.betaincinv(m * size, (1 - m) * size, q), dtype=float) for q in (tail, 1 - tail)
    )
    low, high = np.where(low < RESOLUTION, 0.0, low), np.where(high > 1 - RESOLUTION, 1.0, high)
    return np.minimum(low, mean), np.maximum(high, mean)


# Residuals: what was measured less what the fit, and capability alone, predict; cell by cell and in groups.


def cell_residuals(model: Model, at: Positions) -> pl.DataFrame:
    """One row per measured score: subject, benchmark, score, fitted, general, residual, above.

    Subjects and benchmarks stand at ``at``. ``fitted`` is what the whole fit expects, ``general`` what capability alone
    does; ``residual`` is measured minus fitted, ``above`` measured minus general.
    """
    data = model.data
    rows, cols = data.layout.rows, data.layout.cols
    capability_only = Positions(at.theta[:, :, :1], at.phi[:, :, :2])
    fitted, general = (expected_scores(model, where, rows, cols)[0] for where in (at, capability_only))
    return data.table.with_columns(
        fitted=pl.Series(fitted),
        general=pl.Series(general),
        residual=pl.Series(data.y - fitted),
        above=pl.Series(data.y - general),
    )


def residual_tables(
    residuals: pl.DataFrame, *, families: Mapping[str, str] | None = None, domains: Mapping[str, str] | None = None
) -> dict[str, pl.DataFrame]:
    """Summarise residuals of a fit by benchmark, family and domain.

    Parameters
    ----------
    residuals : table
        ``fit.residuals``.
    families : mapping, optional
        Subjects and their families.
    domains : mapping, optional
        Benchmarks and their domains.

    Returns
    -------
    dict of tables
        Each has the label, scores, mean residual, spread (root mean square), above (mean of measured minus what
        capability alone predicts), error (standard error of above), largest deviations first.

    Examples
    --------
    >>> import mensura
    >>> rows = [(f"m{i}", f"b{j}", 0.2 + 0.1 * i + 0.01 * j**2) for i in range(6) for j in range(4)]
    >>> scores = {"subject": [r[0] for r in rows], "benchmark": [r[1] for r in rows], "score": [r[2] for r in rows]}
    >>> from mensura.stitching import residual_tables
    >>> list(residual_tables(mensura.stitch(scores).residuals))
    ['residuals_by_benchmark']

    """
    tables = {"residuals_by_benchmark": _grouped(residuals, "benchmark")}
    for name, column, labels in (("family", "subject", families), ("domain", "benchmark", domains)):
        if labels:
            named = residuals.with_columns(pl.col(column).replace_strict(dict(labels), default=None).alias(name))
            tables[f"residuals_by_{name}"] = _grouped(named.drop_nulls(name), name)
    return tables


def _grouped(cells: pl.DataFrame, by: str) -> pl.DataFrame:
    above = pl.col("above")
    table = cells.group_by(by).agg(
        pl.len().alias("scores"),
        pl.col("residual").mean(),
        (pl.col("residual") ** 2).mean().sqrt().alias("spread"),
        above.mean(),
        (above.std(ddof=1) / pl.len().sqrt()).alias("error"),
    )
    return table.sort(pl.col("above").abs(), by, descending=[True, False])


# Resampling: which scores count how often in each replicate, and what a replicate says nothing about.


class Resampled(NamedTuple):
    """Refits of all replicates: positions, which benchmarks (replicates, benchmarks) are known, which arrived."""

    positions: Positions
    known: Mask
    converged: Mask


def bootstrap_weights(layout: ScoreLayout, n: int, rng: np.random.Generator) -> Floats:
    """Return (n, scores): how often each score counts in each replicate.

    Every subject's scores are resampled with replacement; subjects with equally many scores are drawn together.
    """
    weights = np.empty((n, layout.n_scores))
    sizes = np.bincount(layout.rows, minlength=layout.n_subjects)
    for size in np.unique(sizes):
        who = layout.subject_starts[sizes == size]
        drawn = rng.multinomial(size, np.full(size, 1 / size), size=(n, who.size))
        weights[:, who[:, None] + np.arange(size)] = drawn
    return weights


def on_ray(model: Model, weights: Floats, address: str) -> Resampled:
    """Refit every replicate on a Ray cluster, in two parts per processor."""
    ray = join_ray(address)
    workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
    task = ray.remote(max_retries=MOST_DEATHS)(resampled)
    parts = np.array_split(weights, min(len(weights), 2 * workers))
    pieces = collect(ray, [task.remote(model, part) for part in parts])
    known, converged = (np.concatenate([getattr(one, name) for one in pieces]) for name in ("known", "converged"))
    return Resampled(joined([one.positions for one in pieces]), known, converged)


def resampled(model: Model, weights: Floats, advance: Callable[[], object] | None = None) -> Resampled:
    """Refit every replicate."""
    positions, converged = model.refit(weights, advance)
    return Resampled(positions, model.data.layout.over_benchmarks(weights) > 0, converged)
