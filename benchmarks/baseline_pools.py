"""The recordings that baselines are learned and judged on: estimates of a language model, with the true rates.

``items/zero_shot.csv`` of the development data. Nothing of it is committed but what ``tools.embed_baseline`` writes.
The facts per pool below (answer format, domain) are what a user states with the items: options and ``--domain``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl

from benchmarks import development_data
from benchmarks.baseline_learning import Recorded
from mensura.baseline.estimator import PooledEstimates, logit_rate, pool_estimates
from mensura.baseline.kinds import PeopleKind, describe_people, kind_of_domain, kind_of_format, kind_of_report
from mensura.core.arrays import Floats
from mensura.people import World

FACTS = {
    "conceptarc": (0, "reasoning"),
    "directions": (0, "spatial reasoning"),
    "gapminder": (3, "facts"),
    "naep": (4, "school"),
    "relations": (2, "reasoning"),
    "remote-associates": (0, "associates"),
    "spisa": (0, "general knowledge"),
    "syllogisms": (9, "syllogisms"),
    "viqt": (10, "vocabulary"),
    "word-prevalence": (2, "vocabulary"),
    "enem": (5, "exam"),
    "hq_trivia_2018": (3, "trivia"),
    "mwh2021_crowd": (2, "facts"),
    "pragmatics_floyd": (4, "pragmatics"),
    "prelec_trivia": (2, "trivia"),
    "us_capitals_true_false": (2, "capitals"),
    "vocab_checklist_web": (2, "vocabulary"),
    "wellcome_2018_144c": (2, "facts"),
    "aser_india": (0, "school"),
    "aser_pakistan_2012": (0, "school"),
}
"""Answer options (0: open) and domain of each pool."""
CLAIMED = ("vocab_checklist_web", "wellcome_2018_144c")
"""Pools in which people only say that they know or agree. (Word prevalence is corrected with invented words.)"""
TESTS = ("conceptarc", "directions", "gapminder", "naep", "relations", "remote-associates", "spisa", "syllogisms")
TESTS += ("viqt", "word-prevalence")
"""The ten pools of tests; the others are the ten further pools."""
LARGE = 1000.0  # people behind a rate whose n is not stated: national samples and exams
RUNS = 0.9
"""Correlation of the errors of two runs, measured by ``correlation_of_runs`` (see the benchmark)."""
MODELS = 0.7
"""Correlation assumed between the errors of two models: every recording is of one family, so nobody measured it."""


@dataclass(frozen=True, eq=False)
class Recordings:
    """Cells (one per item and people) as a table, as pooled estimates and as the learner takes them.

    ``inverted``: cells whose estimate and truth speak of opposite answers (see :func:`read`).
    """

    table: pl.DataFrame
    pooled: PooledEstimates
    cells: Recorded
    inverted: np.ndarray

    @property
    def rate(self) -> Floats:
        """True rates."""
        return self.table["truth"].to_numpy()


@cache
def world() -> World:
    """Return the world tables."""
    return World.load()


@cache
def kinds_of(prose: str) -> PeopleKind:
    """Return how people in prose are read."""
    return describe_people(prose, world())


def recorded_estimates() -> pl.DataFrame:
    """Return the estimates that the model did not remember."""
    file = development_data("items", "zero_shot.csv")
    return pl.read_csv(file, infer_schema_length=None).filter(pl.col("remembered") == 0)


def read(*, mend: bool = False) -> Recordings:
    """Read all estimates that the model did not remember.

    Twelve cells of the vocabulary checklist are words that do not exist. Their truth is the share that did not claim
    them, and the recorded estimates, near 0.05, are of the share that did. ``mend`` turns those estimates round.
    """
    raw = recorded_estimates()
    words = pl.read_csv(development_data("people_by_country", "vocab_checklist_web", "rates_by_country.csv"))
    invented = [f"vocab:{row}" for row, flag in enumerate(words["is_pseudoword"]) if flag]
    cell = pl.concat_str("item", "people", separator="\0")
    raw = raw.with_columns(inverted=pl.col("item").is_in(invented), cell=cell, truth=pl.col("rate"))
    raw = raw.with_columns(rate=pl.col("estimate"))
    if mend:
        turned = {"rate": 1 - pl.col("rate"), "low": 1 - pl.col("high"), "high": 1 - pl.col("low")}
        raw = raw.with_columns(
            pl.when("inverted").then(new).otherwise(pl.col(name)).alias(name) for name, new in turned.items()
        )
    pooled = pool_estimates(raw.drop("item").rename({"cell": "item"}), usual_spread=1.0)
    table = raw.unique("cell", keep="first", maintain_order=True)
    assert table["cell"].to_list() == list(pooled.items)
    return Recordings(table, pooled, _cells(table, pooled), table["inverted"].to_numpy())


def _cells(table: pl.DataFrame, pooled: PooledEstimates) -> Recorded:
    n = table["n"].fill_null(LARGE).to_numpy()
    truth, noise = logit_rate(table["truth"].to_numpy(), n)
    people = [kinds_of(prose) for prose in table["people"]]
    facts = [FACTS[pool] for pool in table["pool"]]
    levels = {
        "people": np.array([one.kind for one in people]),
        "time": np.array(["timed" if one.timed else "untimed" for one in people]),
        "report": np.array([kind_of_report("checklist" if pool in CLAIMED else "") for pool in table["pool"]]),
        "domain": np.array([kind_of_domain(domain) for _, domain in facts]),
        "format": np.array([kind_of_format(options) for options, _ in facts]),
    }
    return Recorded(
        pooled.logit,
        pooled.spread,
        pooled.share_of_error(RUNS, MODELS),
        truth,
        noise,
        levels,
        np.array([one.distance for one in people]),
        table["pool"].to_numpy(),
        table["people"].to_numpy(),
    )


def correlation_of_runs() -> float:
    """Return the correlation of the errors of runs 1 and 2 within pools, over all items with both."""
    raw = recorded_estimates()
    at = raw.with_columns(
        (pl.col("estimate").clip(0.005, 0.995).log() - (1 - pl.col("estimate").clip(0.005, 0.995)).log()).alias("at"),
        pl.Series("true", logit_rate(raw["rate"].to_numpy(), raw["n"].fill_null(LARGE).to_numpy())[0]),
    ).with_columns(error=pl.col("true") - pl.col("at"))
    both = at.filter(pl.col("run") == 1).join(at.filter(pl.col("run") == 2), on=["pool", "item"], suffix="_2")
    both = both.with_columns(pl.col(name) - pl.col(name).mean().over("pool") for name in ("error", "error_2"))
    return float(np.corrcoef(both["error"].to_numpy(), both["error_2"].to_numpy())[0, 1])
