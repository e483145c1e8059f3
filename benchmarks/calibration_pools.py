"""Pools with known bases, to see whether a calibration finds them: guessing, annotation errors, pools that differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import ndtr, ndtri

from mensura.core.arrays import Floats
from mensura.demands.rubrics import HIGHEST


@dataclass(frozen=True)
class SimulatedPools:
    """Tables as ``calibrate`` takes them, and the truth: ``slopes``, log10 of each base."""

    rates: pl.DataFrame
    demands: pl.DataFrame
    slopes: Floats


def simulate_pools(
    rng: np.random.Generator,
    *,
    pools: int,
    items: int,
    dimensions: tuple[str, ...],
    options: int | None = 4,
    reading_error: float = 0.35,
    pool_shift: float = 0.2,
    pool_slope: float = 0.05,
    residual: float = 0.25,
    people: int = 300,
    highest_slope: float = 0.6,
    shared_error: float = 0.0,
    correlation: float = 0.0,
) -> SimulatedPools:
    """Draw pools of items: levels, the share that can solve each, guessing, people asked, and one or two annotators.

    Slopes are uniform from 0 to ``highest_slope`` (not normal, as the model has it). Pools differ in which demands
    they make, in ease and in their slopes; every second one has ``options`` to guess from. Half of the items are read
    twice; ``shared_error`` is the part of the error, in levels, that both readings have in common. ``correlation`` is
    that of people's abilities in any two dimensions; with 0 they are independent and depths add up.
    """
    count = len(dimensions)
    slopes = rng.uniform(0.0, highest_slope, count)
    profile = rng.uniform(-2.5, 2.0, (pools, 1, count))
    common = rng.normal(0.0, 1.1, (pools, items, 1)) * rng.uniform(0.0, 1.0, (pools, 1, count))
    raw = (profile + common + rng.normal(0.0, 0.9, (pools, items, count))).reshape(-1, count)
    true = np.clip(np.round(raw), 0, HIGHEST)
    pool = np.repeat(np.arange(pools), items)
    own = slopes + pool_slope * rng.standard_normal((pools, count))
    shift = pool_shift * rng.standard_normal(pools)
    depth = 0.4 + _joint_depth(true * own[pool], correlation) + shift[pool] + residual * rng.standard_normal(pool.size)
    floor = np.where(pool % 2 == 0, 0.0 if options is None else 1.0 / options, 0.0)
    solved = floor + (1 - floor) * 10.0 ** -np.maximum(depth, 0.0)
    names = np.array([f"p{p}:{k}" for k, p in enumerate(pool)])
    rates = pl.DataFrame(
        {
            "item": names,
            "rate": rng.binomial(people, solved) / people,
            "n": np.full(pool.size, people),
            "options": np.where(floor > 0, float(options or 0), np.nan),
        }
    ).with_columns(pl.col("options").fill_nan(None))
    seen = true + shared_error * rng.standard_normal(true.shape)
    told = [_read(seen, reading_error, rng) for _ in range(2)]
    twice = rng.random(pool.size) < 0.5
    tables = []
    for name, levels, rows in (("one", told[0], np.ones_like(twice)), ("two", told[1], twice)):
        wide = pl.DataFrame(dict(zip(dimensions, levels[rows].T, strict=True)))
        tables.append(wide.with_columns(item=pl.Series(names[rows]), annotator=pl.lit(name)))
    return SimulatedPools(rates, pl.concat(tables), slopes)


def _joint_depth(depths: Floats, correlation: float) -> Floats:
    """Return −log10 of the share of people who meet all demands, each met by 10^−depth of them."""
    if not correlation:
        return np.asarray(depths.sum(axis=1))
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    threshold = ndtri(np.clip(10.0**-depths, 1e-12, 1.0 - 1e-12))[:, :, None]
    met = ndtr((threshold + np.sqrt(correlation) * nodes) / np.sqrt(1.0 - correlation))
    return np.asarray(-np.log10(met.prod(axis=1) @ (weights / weights.sum())))


def _read(true: Floats, error: float, rng: np.random.Generator) -> Floats:
    return np.clip(np.round(true + error * rng.standard_normal(true.shape)), 0, HIGHEST)
