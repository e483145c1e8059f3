"""Do the demands mean anything? Levels against human success rates, within pools and on pools left out.

Rates are compared on the logit scale. With n answers a rate is read as (n·rate + ½)/(n + 1), so that 0 and 1 stay
finite; where n is unknown it is kept between 0.005 and 0.995.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, logit
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.demands.intervals import DRAWS, INTERVAL, resample_counts, value_and_interval
from mensura.demands.prediction import FEWEST_POOLS, PREDICTION, VERDICTS, judge, predict_left_out
from mensura.demands.readings import read_demands
from mensura.intake.rates import read_rates
from mensura.people import ItemPool

FEWEST_ITEMS = 5
SUM = "sum"
_NEAREST = 0.005


@dataclass(frozen=True, eq=False, repr=False)
class DemandsCheck(Result):
    """What demands say about human success.

    ``correlations``: pool, dimension, r, low, high, n, note; the Pearson correlation of levels with logit rates among
    the items of a pool (negative: more demand, fewer succeed), dimension ``sum`` for the sum of all. ``overall``:
    dimension, r, low, high, pools, n; levels and logits less their pool's mean, all pools together, resampling pools
    and the items within them. ``prediction``: one row per pool that was left out and question, with errors of the
    prediction from demands and of the baseline; ``verdicts``: the mean over pools.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("overall", "correlations", "prediction", "verdicts")

    overall: pl.DataFrame
    correlations: pl.DataFrame
    prediction: pl.DataFrame
    verdicts: pl.DataFrame
    pools: int
    items: int
    warnings: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        return f"Levels against human logit rates: {self.items} items, {self.pools} pools ({INTERVAL:.0%} intervals)"


@dataclass(frozen=True, eq=False)
class _Sample:
    """The items that have a rate and levels: pool index, logit, level matrix (a last column holds the sum)."""

    pools: tuple[str, ...]
    dimensions: tuple[str, ...]
    pool: np.ndarray
    logits: Floats
    levels: Floats


def pool_rates(pools: Sequence[ItemPool], group: str = "all") -> pl.DataFrame:
    """Return pool, item, rate, n of one group of every pool."""
    names = [pool.name for pool in pools]
    if len(set(names)) < len(names):
        raise MensuraError(f"pools: names must differ, got {', '.join(names)}")
    tables = [pool.rates_of(group).select(pl.lit(pool.name).alias("pool"), "item", "rate", "n") for pool in pools]
    return pl.concat(tables)


def check_demands(rates: Any, demands: Any, *, draws: int = DRAWS, seed: int = 0) -> DemandsCheck:  # noqa: ANN401
    """Compare ``demands`` (as :func:`mensura.demands.read_demands` takes them) with ``rates``: pool, item, rate, n.

    Several readings of a cell are averaged. ``n`` may be missing or null.
    """
    table = read_rates(rates, needed=("pool", "item", "rate"), figures=("rate", "n"), one_pool=False)
    sample, warnings = _sample(table.with_columns(pl.col("n").fill_null(np.nan)), read_demands(demands))
    rng = np.random.default_rng(seed)
    correlations = _correlations(sample, draws, rng)
    prediction, verdicts = pl.DataFrame(schema=PREDICTION), pl.DataFrame(schema=VERDICTS)
    if len(sample.pools) >= FEWEST_POOLS:
        prediction = predict_left_out(sample.pools, sample.pool, sample.levels[:, :-1], sample.logits)
        verdicts = judge(prediction, draws, rng)
    else:
        warnings.append(f"{len(sample.pools)} pools: prediction on pools left out needs {FEWEST_POOLS} or more")
    return DemandsCheck(
        _overall(sample, draws, rng),
        correlations,
        prediction,
        verdicts,
        len(sample.pools),
        sample.logits.size,
        tuple(warnings),
    )


def _sample(rates: pl.DataFrame, readings: pl.DataFrame) -> tuple[_Sample, list[str]]:
    """Join rates and levels; items that lack either, and pools too small to say anything, go, with a warning."""
    wide = _wide_levels(readings)
    whole = wide.drop_nulls()
    warnings = []
    if whole.height < wide.height:
        warnings.append(f"{wide.height - whole.height} items lack a level in some dimension and are left out")
    joined = rates.join(whole, on="item", how="inner", maintain_order="left")
    if joined.is_empty():
        raise MensuraError(
            "demands: no item of the pools has levels; ids must agree "
            f"(pools: {rates['item'][0]!r} …, demands: {wide['item'][0]!r} …)"
        )
    _refuse_shared_ids(joined)
    if joined.height < rates.height:
        warnings.append(f"{rates.height - joined.height} of {rates.height} items of the pools have no levels")
    large = pl.len().over("pool") >= FEWEST_ITEMS
    small = joined.filter(~large)["pool"].unique(maintain_order=True).to_list()
    if small:
        warnings.append(f"fewer than {FEWEST_ITEMS} items with levels, left out: {', '.join(small)}")
    joined = joined.filter(large)
    if joined.is_empty():
        raise MensuraError(f"demands: no pool has {FEWEST_ITEMS} items with levels; correlations need that many")
    dimensions = tuple(name for name in wide.columns if name != "item")
    pools = tuple(joined["pool"].unique(maintain_order=True))
    index = joined["pool"].replace_strict({name: at for at, name in enumerate(pools)}).to_numpy()
    levels = joined.select(dimensions).to_numpy().astype(float)
    levels = np.column_stack([levels, levels.sum(axis=1)])
    return _Sample(pools, (*dimensions, SUM), index, _logits(joined), levels), warnings


def _wide_levels(readings: pl.DataFrame) -> pl.DataFrame:
    """Return item and a column per dimension; several readings of a cell are averaged."""
    means = readings.group_by("item", "dimension", maintain_order=True).agg(pl.col("level").mean())
    return means.pivot("dimension", index="item", values="level", maintain_order=True)


def _refuse_shared_ids(joined: pl.DataFrame) -> None:
    """Refuse an id that two pools use: the levels do not say whose item it is."""
    twice = joined.filter(pl.col("item").is_duplicated())
    if twice.height:
        pools = twice.filter(pl.col("item") == twice["item"][0])["pool"].to_list()
        raise MensuraError(
            f"pools: item {twice['item'][0]!r} occurs in {' and '.join(pools)}, and levels do not say which is meant; "
            "give the items ids that differ, such as pool:item"
        )


def _logits(table: pl.DataFrame) -> Floats:
    rate, n = table["rate"].to_numpy(), table["n"].to_numpy()
    known = np.isfinite(n)
    counted = (rate * np.where(known, n, 0) + 0.5) / (np.where(known, n, 0) + 1)
    return logit(np.where(known, counted, np.clip(rate, _NEAREST, 1 - _NEAREST)))


def correlation(levels: Floats, logits: Floats, weights: Floats) -> Floats:
    """Return draws × dimensions Pearson correlations, items weighted (draws × items); NaN if constant."""
    total = weights.sum(axis=1, keepdims=True)
    mean_x, mean_y = weights @ levels / total, weights @ logits[:, None] / total
    cross = weights @ (levels * logits[:, None]) / total - mean_x * mean_y
    spread_x = np.maximum(weights @ levels**2 / total - mean_x**2, 0)
    spread_y = np.maximum(weights @ (logits**2)[:, None] / total - mean_y**2, 0)
    scale = np.sqrt(spread_x * spread_y)
    defined = scale > 1e-9
    return np.where(defined, cross / np.where(defined, scale, 1), np.nan)


def _correlations(sample: _Sample, draws: int, rng: np.random.Generator) -> pl.DataFrame:
    rows = []
    for at, name in enumerate(sample.pools):
        inside = sample.pool == at
        size = int(inside.sum())
        drawn = correlation(sample.levels[inside], sample.logits[inside], resample_counts(size, draws, rng))
        for place, dimension in enumerate(sample.dimensions):
            note = "" if np.isfinite(drawn[0, place]) else "not defined: one level, or one rate, only"
            rows.append((name, dimension, *value_and_interval(drawn[:, place]), size, note))
    columns = {"pool": pl.String, "dimension": pl.String, **_FIGURES, "n": pl.Int64, "note": pl.String}
    return pl.DataFrame(rows, schema=columns, orient="row")


def _overall(sample: _Sample, draws: int, rng: np.random.Generator) -> pl.DataFrame:
    """Correlate deviations from pool means; resample pools, and items within them."""
    members = [np.flatnonzero(sample.pool == at) for at in range(len(sample.pools))]
    drawn = np.full((draws + 1, len(sample.dimensions)), np.nan)
    for draw in range(draws + 1):
        chosen = members
        if draw:
            picks = rng.integers(0, len(members), len(members))
            chosen = [rng.choice(members[pick], members[pick].size) for pick in picks]
        levels = np.concatenate([sample.levels[rows] - sample.levels[rows].mean(axis=0) for rows in chosen])
        logits = np.concatenate([sample.logits[rows] - sample.logits[rows].mean() for rows in chosen])
        drawn[draw] = correlation(levels, logits, np.ones((1, logits.size)))[0]
    rows = [
        (dimension, *value_and_interval(drawn[:, at]), len(sample.pools), sample.logits.size)
        for at, dimension in enumerate(sample.dimensions)
    ]
    return pl.DataFrame(
        rows, schema={"dimension": pl.String, **_FIGURES, "pools": pl.Int64, "n": pl.Int64}, orient="row"
    )


_FIGURES: Mapping[str, Any] = {"r": pl.Float64, "low": pl.Float64, "high": pl.Float64}
