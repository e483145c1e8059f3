"""Answers of persons, complete matrices: what the spread of ability and slopes is learned on and checked with."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
from scipy.optimize import brentq

from benchmarks import development_data
from mensura.baseline.persons import PersonSpread, score_curve
from mensura.core.arrays import Floats

_TIDY = {
    "viqt": "viqt_vocabulary",
    "spisa": "spisa_general_knowledge",
    "matura": "cz_matura2019_math",
    "hci": "hci_physiology",
    "icar": "icar_sapa",
    "pirls": "pirls2011_4c",
}
_LONG = {
    "syllogisms": "syllogisms_Ragni2016_responses",
    "syllogisms-2": "syllogisms_Veser2018_responses",
    "directions": "relational_cardinal_responses",
}
ESTIMATED = ("viqt", "spisa", "syllogisms", "directions")
"""Pools with answers of persons whose item rates were also estimated by the language model."""
_FAMILY = {"syllogisms-2": "syllogisms"}


@cache
def answers() -> dict[str, pl.DataFrame]:
    """Return per pool a table with one column per item, one row per person, without gaps."""
    pools = development_data("items", "pools")
    human = development_data("human")
    found = {name: _wide(pl.read_parquet(human / folder / "responses.parquet")) for name, folder in _TIDY.items()}
    for name, file in _LONG.items():
        found[name] = _wide(pl.read_csv(pools / "ccobra_reasoning" / f"{file}.csv.gz"))
    tsa = pl.read_csv(pools / "critical_thinking_tsa" / "human_responses_wide.csv")
    found["tsa"] = tsa.select(pl.selectors.matches(r"^T\d")).drop_nulls()
    return found


def _wide(long: pl.DataFrame) -> pl.DataFrame:
    wide = long.pivot(on="item", index="person", values="correct", aggregate_function="first")
    return wide.drop("person").drop_nulls()


@cache
def _spreads() -> dict[str, tuple[float, float]]:
    matrices = {name: table.to_numpy().astype(np.float64) for name, table in answers().items()}
    return {name: (float(np.log(ability_sd(matrix))), slope_spread(matrix)) for name, matrix in matrices.items()}


def learn_persons(besides: str = "") -> PersonSpread:
    """Return the spreads learned on all pools, or on all but one and its family."""
    kept = [pair for name, pair in _spreads().items() if _FAMILY.get(name, name) != besides]
    sds, slopes = np.array(kept).T
    return PersonSpread(float(sds.mean()), float(sds.std(ddof=1)), float(np.median(slopes)))


def scores_of(pool: str, items: list[str]) -> Floats:
    """Return the real scores of persons on some items of a pool."""
    return answers()[pool].select(items).to_numpy().astype(np.float64).mean(axis=1)


def ability_sd(answers: Floats) -> float:
    """Return the SD of ability in logits with which the rates reproduce the spread of persons' scores.

    ``answers``: persons × items of 0 and 1, complete.
    """
    rate, observed = answers.mean(axis=0), float(answers.mean(axis=1).var(ddof=1))

    def surplus(sd: float) -> float:
        mean, variance = score_curve(rate, np.full(rate.size, sd))
        return float(mean.var() + variance.mean() / rate.size) - observed

    return float(brentq(surplus, 1e-3, 6.0)) if surplus(1e-3) < 0 < surplus(6.0) else 1e-3


def slope_spread(answers: Floats) -> float:
    """Return the SD over items of the logarithm of the slope, from each item's covariance with the other items."""
    total, rate = answers.sum(axis=1), answers.mean(axis=0)
    usable = (rate > 0.1) & (rate < 0.9)
    slopes = [
        np.cov(column, total - column)[0, 1] / max(p * (1 - p), 1e-6)
        for column, p, use in zip(answers.T, rate, usable, strict=True)
        if use
    ]
    positive = np.array([slope for slope in slopes if slope > 0])
    return float(np.log(positive).std(ddof=1)) if positive.size > 2 else 0.0
