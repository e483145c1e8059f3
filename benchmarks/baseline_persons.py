"""Answers of persons, complete matrices: what the spread of ability and slopes is learned on and checked with."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl

from benchmarks import development_data
from mensura.baseline.persons import PersonSpread, ability_sd, slope_spread
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
