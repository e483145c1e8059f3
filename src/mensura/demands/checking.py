"""Do the demands mean anything? Levels against human success rates, within pools and on pools left out.

Rates are compared on the logit scale. With n answers a rate is read as (n·rate + ½)/(n + 1), so that 0 and 1 stay
finite; where n is unknown it is kept between 0.005 and 0.995.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Ints, expit, logit
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.demands.agreement import DRAWS, INTERVAL, resample_counts, value_and_interval
from mensura.demands.readings import mean_levels, read_demands
from mensura.intake.columns import read_rates

FEWEST_POOLS = 3
_PENALTIES = np.geomspace(0.1, 10_000, 21)
PREDICTION: Mapping[str, Any] = {
    **dict.fromkeys(("pool", "question"), pl.String),
    "n": pl.Int64,
    **dict.fromkeys(("mae", "mae_baseline", "rmse_logit", "rmse_logit_baseline", "r", "penalty"), pl.Float64),
}
VERDICTS: Mapping[str, Any] = {
    "question": pl.String,
    "pools": pl.Int64,
    **dict.fromkeys(("mae", "mae_baseline", "gain", "low", "high"), pl.Float64),
    "better_in": pl.Int64,
}
FEWEST_ITEMS = 5
SUM = "sum"
_NEAREST = 0.005
_FIGURES: Mapping[str, Any] = dict.fromkeys(("r", "low", "high"), pl.Float64)


@dataclass(frozen=True, eq=False, repr=False)
class DemandsCheck(Result):
    """What demands say about human success.

    Attributes
    ----------
    overall
        dimension, r, low, high, pools, n: levels and logits less their pool's mean, all pools together, resampling
        pools and the items within them.
    correlations
        pool, dimension, r, low, high, n, note: the Pearson correlation of levels with logit rates among the items of a
        pool (negative: more demand, fewer succeed), dimension ``sum`` for the sum of all.
    prediction
        One row per pool that was left out and question, with errors of the prediction from demands and of the baseline.
    verdicts
        The mean over pools.
    pools, items, warnings
        Numbers of pools and items that were used, and what was left out.

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


def check_demands(rates: Any, demands: Any, *, draws: int = DRAWS, seed: int = 0) -> DemandsCheck:
    """Compare demand levels with the success rates of people.

    Parameters
    ----------
    rates
        Table of any library, or path: pool, item, rate and, where known, n.
    demands
        Levels, as :func:`mensura.demands.read_demands` takes them; several readings of a cell are averaged.
    draws
        Resamples behind the intervals.
    seed
        Seed of the resamples.

    Returns
    -------
    DemandsCheck
        Correlations within pools, and predictions of pools left out.

    Raises
    ------
    MensuraError
        If no pool has five items with levels.

    Examples
    --------
    >>> import polars as pl
    >>> from mensura.demands import check_demands
    >>> items = [f"i{at}" for at in range(6)]
    >>> rates = pl.DataFrame({"pool": "p", "item": items, "rate": [0.9, 0.8, 0.6, 0.5, 0.3, 0.1]})
    >>> check_demands(rates, pl.DataFrame({"item": items, "KNc": [0, 1, 2, 3, 4, 5]}), draws=10).items
    6

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
    overall, sizes = _overall(sample, draws, rng), (len(sample.pools), sample.logits.size)
    return DemandsCheck(overall, correlations, prediction, verdicts, *sizes, tuple(warnings))


def _sample(rates: pl.DataFrame, readings: pl.DataFrame) -> tuple[_Sample, list[str]]:
    """Join rates and levels; items that lack either, and pools too small to say anything, go, with a warning."""
    whole, warnings = mean_levels(readings)
    joined = rates.join(whole, on="item", how="inner", maintain_order="left")
    if joined.is_empty():
        raise MensuraError(
            "demands: no item of the pools has levels; ids must agree "
            f"(pools: {rates['item'][0]!r} …, demands: {readings['item'][0]!r} …)"
        )
    _refuse_shared_ids(joined)
    if joined.height < rates.height:
        warnings.append(f"{rates.height - joined.height} of {rates.height} items of the pools have no levels")
    large = pl.len().over("pool") >= FEWEST_ITEMS
    if small := joined.filter(~large)["pool"].unique(maintain_order=True).to_list():
        warnings.append(f"fewer than {FEWEST_ITEMS} items with levels, left out: {', '.join(small)}")
    joined = joined.filter(large)
    if joined.is_empty():
        raise MensuraError(f"demands: no pool has {FEWEST_ITEMS} items with levels; correlations need that many")
    dimensions = tuple(name for name in whole.columns if name != "item")
    pools = tuple(joined["pool"].unique(maintain_order=True))
    index = joined["pool"].replace_strict({name: at for at, name in enumerate(pools)}).to_numpy()
    levels = joined.select(dimensions).to_numpy().astype(float)
    levels = np.column_stack([levels, levels.sum(axis=1)])
    return _Sample(pools, (*dimensions, SUM), index, _logits(joined), levels), warnings


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
    has_n = np.isfinite(n)
    counted = (rate * np.where(has_n, n, 0) + 0.5) / (np.where(has_n, n, 0) + 1)
    return logit(np.where(has_n, counted, np.clip(rate, _NEAREST, 1 - _NEAREST)))


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


# Predicting the success rates of pools that were left out, from demands alone.


def predict_left_out(pools: Sequence[str], pool: Ints, levels: Floats, logits: Floats) -> pl.DataFrame:
    """Predict every pool from the others, twice: knowing nothing of it, and knowing the mean of its logits.

    Ridge regression on standardised levels; the penalty is the one that predicts best when each of the other pools is
    left out in turn. Baselines: the mean of the other pools' means, and the pool's own mean.
    """
    rows: list[tuple[object, ...]] = []
    for question, centred in (("new pool", False), ("pool mean known", True)):
        for at, name in enumerate(pools):
            train = pool != at
            penalty = _best_penalty(levels[train], logits[train], pool[train], centred)
            (guess,), base = _predicted(levels, logits, pool, at, np.array([penalty]), centred)
            truth = logits[~train]
            rows.append((name, question, truth.size, *_errors(truth, guess, base), penalty))
    return pl.DataFrame(rows, schema=PREDICTION, orient="row")


def _predicted(
    levels: Floats, logits: Floats, pool: Ints, hidden: int, penalties: Floats, centred: bool
) -> tuple[Floats, Floats]:
    """Return the predicted logits of one hidden pool, penalties × items, and the baseline."""
    train, test = pool != hidden, pool == hidden
    others = np.unique(pool[train])
    means = {at: (levels[pool == at].mean(axis=0), logits[pool == at].mean()) for at in others}
    base = float(logits[test].mean()) if centred else float(np.mean([mean for _, mean in means.values()]))
    origin = np.mean([mean for mean, _ in means.values()], axis=0)
    x, y, weight = levels[train] - origin, logits[train], np.zeros(int(train.sum()))  # mean of x 0: y needs no shift
    for at in others:
        rows = pool[train] == at
        weight[rows] = weight.size / (len(others) * rows.sum())
        if centred:
            x[rows] = levels[pool == at] - means[at][0]
            y[rows] = logits[pool == at] - means[at][1]
    slopes = _ridge(x, y, weight, penalties)
    start = levels[test].mean(axis=0) if centred else origin
    return base + slopes @ (levels[test] - start).T, np.full(int(test.sum()), base)


def _ridge(x: Floats, y: Floats, weight: Floats, penalties: Floats) -> Floats:
    """Return slopes of weighted ridge regression through the origin, penalties × columns.

    Columns are standardised, constant ones get 0. One eigenvalue decomposition serves all penalties:
    slopes = V (Vᵀ Xᵀ W y) / (e + penalty).
    """
    scale = np.sqrt((weight[:, None] * x**2).mean(axis=0))
    used = scale > 1e-9
    z = x[:, used] / scale[used]
    values, vectors = np.linalg.eigh((z * weight[:, None]).T @ z)
    along = vectors.T @ ((z * weight[:, None]).T @ y)
    slopes = np.zeros((penalties.size, x.shape[1]))
    slopes[:, used] = (along / (values + penalties[:, None])) @ vectors.T / scale[used]
    return slopes


def _best_penalty(levels: Floats, logits: Floats, pool: Ints, centred: bool) -> float:
    """Return the penalty with the least squared error when each pool is left out in turn, pools counting alike."""
    errors = np.zeros(_PENALTIES.size)
    for hidden in np.unique(pool):
        guess, _ = _predicted(levels, logits, pool, int(hidden), _PENALTIES, centred)
        errors += np.mean((guess - logits[pool == hidden]) ** 2, axis=1)
    return float(_PENALTIES[errors.argmin()])


def _errors(truth: Floats, guess: Floats, base: Floats) -> tuple[float | None, ...]:
    rate = expit(truth)
    varied = guess.std() > 1e-9 and truth.std() > 1e-9
    return (
        float(np.abs(expit(guess) - rate).mean()),
        float(np.abs(expit(base) - rate).mean()),
        float(np.sqrt(np.mean((guess - truth) ** 2))),
        float(np.sqrt(np.mean((base - truth) ** 2))),
        float(np.corrcoef(guess, truth)[0, 1]) if varied else None,
    )


def judge(prediction: pl.DataFrame, draws: int, rng: np.random.Generator) -> pl.DataFrame:
    """Average over pools; ``gain``: baseline's error less ours, with an interval from resampling pools."""
    rows = []
    for (question,), table in prediction.group_by("question", maintain_order=True):
        ours, base = table["mae"].to_numpy(), table["mae_baseline"].to_numpy()
        gains = base - ours
        means = gains[rng.integers(0, gains.size, (draws, gains.size))].mean(axis=1)
        low, high = np.quantile(means, [(1 - INTERVAL) / 2, (1 + INTERVAL) / 2]) if draws else (None, None)
        mean = float(gains.mean())
        rows.append(
            (question, gains.size, float(ours.mean()), float(base.mean()), mean, low, high, int((gains > 0).sum()))
        )
    return pl.DataFrame(rows, schema=VERDICTS, orient="row")
