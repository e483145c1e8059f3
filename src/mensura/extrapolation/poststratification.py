"""Which assumption a result hangs on.

What moves a rate between two populations: each driver's share of the way, whatever the order.

Post-stratification: difficulty from the focal group's rate, then the average over the reference's strata.

The probability that a person of a stratum with ability ``N(μ, σ²)`` is right on an item of slope ``a``,
difficulty ``b`` and floor ``c``::

P = c + (1 − c) Φ((μ − b) / √(σ² + 1/a²))

``b`` is solved so that the focal population, itself a mixture of strata, reproduces its observed rate; the
reference's rate is the average of ``P`` over its strata, with those who cannot read or are unwell at ``c``
and those below the first age at 0. Every constant comes from the assumptions table. The rate is the one at
the stated values; the interval comes from draws of all assumptions, of the focal rate's sampling error
(Jeffreys) and of the item's own departure between countries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import factorial, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError, check_choice
from mensura.core.frames import sort_highest
from mensura.extrapolation.abilities import DRIVERS, central, one_at_a_time
from mensura.extrapolation.distributions import TINY
from mensura.extrapolation.protocol import LEVEL, Prediction, check_level
from mensura.extrapolation.transfer import Drawn, Transfer
from mensura.people.groups import banded
from mensura.people.world import World

if TYPE_CHECKING:
    from mensura.extrapolation.protocol import Task

SMALLEST = 1e-9  # distance from 0 and 1 at which rates are read as probits

ROUNDING = 1e-16  # variance of a probit rate below which only arithmetic moved it


class Source(NamedTuple):
    """A source of uncertainty: the items' rates with it at its low and high end, all else as stated.

    ``sd`` is its standard deviation as a share of the distance between the ends; ``row`` its row of the
    assumptions table, where it has one.
    """

    name: str
    low: Floats
    high: Floats
    sd: float
    row: Mapping[str, Any]


def triangular_sd(low: float, peak: float, high: float) -> float:
    """Return the standard deviation of a triangular distribution as a share of its range, 0 without a range."""
    if high <= low:
        return 0.0
    place = (peak - low) / (high - low)
    return sqrt((1 - place + place**2) / 18)


def sensitivity_table(sources: Sequence[Source]) -> pl.DataFrame:
    """Return one row per source of uncertainty that has an effect, the largest first.

    ``rate_low``, ``rate_high``: the mean rate over items with the source at its low and high end; ``swing``:
    their distance. ``share``: its part of the variance of an item's probit rate, to first order, mean over items;
    the shares sum to 1.
    """
    probit = np.array(
        [scipy.special.ndtri(np.clip([source.low, source.high], SMALLEST, 1 - SMALLEST)) for source in sources]
    )
    variance = ((probit[:, 1] - probit[:, 0]) * np.array([[source.sd] for source in sources])) ** 2
    variance[variance < ROUNDING] = 0
    share = (variance / np.maximum(variance.sum(axis=0), ROUNDING)).mean(axis=1)
    columns = {
        "assumption": [source.name for source in sources],
        **{name: [source.row.get(name) for source in sources] for name in ("value", "low", "high")},
        "rate_low": [source.low.mean() for source in sources],
        "rate_high": [source.high.mean() for source in sources],
    }
    table = pl.DataFrame(columns, schema_overrides=dict.fromkeys(("value", "low", "high"), pl.Float64))
    table = table.with_columns(swing=(pl.col("rate_high") - pl.col("rate_low")).abs(), share=pl.Series(share))
    return sort_highest(table.filter(pl.col("share") > 0), "share")


NEGLIGIBLE = 1e-6  # change of a rate that is no row of its own


def driver_table(transfer: Transfer) -> pl.DataFrame:
    """Return driver, change (of the mean rate over items, at the stated assumptions) and meaning.

    With every driver off, each person of the reference population is like a member of the focal group. A
    driver's change is its Shapley value: the mean, over all orders of switching the drivers on, of how far
    the rate moves with it. The changes add up to the whole way; a last row ``shape`` holds what a focal
    group that is itself a mixture loses when described by its mean and spread alone. Between the same people nothing
    moves, and the table is empty.
    """
    columns = {"driver": pl.String, "change": pl.Float64, "meaning": pl.String}
    if transfer.same_people:
        return pl.DataFrame(schema=columns)
    names = list(DRIVERS)
    stated = transfer.stated(central(transfer.assumptions))
    everything = frozenset(names)
    rate = {
        on: float(transfer.rates(stated, off=everything - on).mean())
        for size in range(len(names) + 1)
        for on in map(frozenset, combinations(names, size))
    }
    rows = [(name, _shapley(name, names, rate), DRIVERS[name]) for name in names]
    shape = rate[frozenset()] - float(transfer.observed.rate.mean())
    if abs(shape) > NEGLIGIBLE:
        rows.append(("shape", shape, "the focal group described by its mean and spread alone"))
    return pl.DataFrame(rows, schema=columns, orient="row")


def _shapley(name: str, names: list[str], rate: dict[frozenset[str], float]) -> float:
    others = [other for other in names if other != name]
    total = 0.0
    for size in range(len(others) + 1):
        weight = factorial(size) * factorial(len(others) - size) / factorial(len(names))
        for before in map(frozenset, combinations(others, size)):
            total += weight * (rate[before | {name}] - rate[before])
    return total


FEWEST_DRAWS = 20  # for an interval of draws to have ends
BREAKDOWNS = ("region", "subregion", "age", "attainment", "country")
AGE_BANDS, BAND_LABELS = (15.0, 25.0, 45.0, 65.0), ("00–14", "15–24", "25–44", "45–64", "65+")
_RANDOM = {"item_by_country": "departure", "country_score": "shift", "sampling of the focal rate": "focal_rate"}


@dataclass(frozen=True, eq=False)
class PostStratification:
    """The method that needs only descriptions of both populations and the world tables; links are not used.

    ``draws`` and ``seed`` govern the interval of probability ``level``; ``domain`` overrides the items' own.
    """

    name: ClassVar[str] = "poststratification"

    world: World = field(default_factory=World.load)
    draws: int = 1000
    seed: int = 0
    level: float = LEVEL
    domain: str | None = None

    def __post_init__(self) -> None:
        if self.draws < FEWEST_DRAWS:
            raise MensuraError(f"draws: at least {FEWEST_DRAWS} are needed for an interval, got {self.draws}")
        check_level(self.level)

    def predict(self, task: Task) -> Prediction:
        """Return the reference population's rate for each item, with intervals and what they hang on."""
        transfer = Transfer(self.world, task, self.domain)
        drawn = transfer.sampled(self.draws, np.random.default_rng(self.seed))
        rate = transfer.rates(transfer.stated(central(transfer.assumptions)))[:, 0]
        low, high = np.quantile(transfer.rates(drawn), self._tails, axis=1)
        shape = (task.draws, task.size)
        return Prediction(
            np.broadcast_to(rate, shape),
            np.broadcast_to(np.minimum(low, rate), shape),
            np.broadcast_to(np.maximum(high, rate), shape),
            account=lambda: sensitivity_table(self._sources(transfer, drawn)),
            warnings=transfer.warnings,
            interval="assumption ranges, country scores, item-by-country departures, sampling of the focal rate",
        )

    def breakdown(self, task: Task, *, by: str = "region") -> pl.DataFrame:
        """Return the mean rate over items in each part of the reference population.

        Columns: ``by``, share (of the reference population), rate, low, high. ``by``: region, subregion, age,
        attainment or country.
        """
        check_choice("by", by, BREAKDOWNS)
        transfer = Transfer(self.world, task, self.domain)
        drawn = transfer.sampled(self.draws, np.random.default_rng(self.seed))
        stated = transfer.stated(central(transfer.assumptions))
        cells = transfer.reference_cells
        if by == "age":
            cells = cells.with_columns(age_band=banded(cells["age"], AGE_BANDS, BAND_LABELS))
        key = "age_band" if by == "age" else by
        rows = []
        for (level,), part in cells.sort(key).group_by(key, maintain_order=True):
            rate = float(transfer.rates(stated, cells=part).mean())
            nearer = transfer.distance(part) / max(transfer.distance(cells), TINY)
            here = replace(drawn, shift=drawn.shift * nearer)
            low, high = np.quantile(transfer.rates(here, cells=part).mean(axis=0), self._tails)
            rows.append((level, part["weight"].sum(), rate, min(low, rate), max(high, rate)))
        return pl.DataFrame(rows, schema=[by, "share", "rate", "low", "high"], orient="row")

    def drivers(self, task: Task) -> pl.DataFrame:
        """Return how each driver moves the mean rate from the focal group's to the reference's."""
        return driver_table(Transfer(self.world, task, self.domain))

    @property
    def _tails(self) -> list[float]:
        return [(1 - self.level) / 2, (1 + self.level) / 2]

    def _sources(self, transfer: Transfer, drawn: Drawn) -> list[Source]:
        """Return every source of uncertainty, with the items' rates at its ends."""
        ends = transfer.rates(transfer.stated(one_at_a_time(transfer.assumptions)))
        sources = {}
        for index, row in enumerate(transfer.assumptions.iter_rows(named=True)):
            sd = triangular_sd(row["low"], row["value"], row["high"])
            low, high = ends[:, 2 * index : 2 * index + 2].T
            sources[row["assumption"]] = Source(row["assumption"], low, high, sd, row)
        stated = transfer.stated(central(transfer.assumptions))
        normal_sd = 1 / (2 * NormalDist().inv_cdf(self._tails[1]))
        for name, field_name in _RANDOM.items():
            values = getattr(drawn, field_name)
            low, high = (
                transfer.rates(replace(stated, **{field_name: np.quantile(values, [tail], axis=-1).T}))[:, 0]
                for tail in self._tails
            )
            sources[name] = Source(name, low, high, normal_sd, sources[name].row if name in sources else {})
        return list(sources.values())
