"""Post-stratification: difficulty from the focal group's rate, then the average over the reference's strata.

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

from dataclasses import dataclass, field
from itertools import pairwise
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.errors import MensuraError
from mensura.extrapolation.assumptions import Draws, Floats, central, one_at_a_time, sample
from mensura.extrapolation.drivers import driver_table
from mensura.extrapolation.protocol import Extrapolation
from mensura.extrapolation.sensitivity import Source, sensitivity_table, triangular_sd
from mensura.extrapolation.transfer import Transfer
from mensura.people.groups import banded
from mensura.people.world import World

if TYPE_CHECKING:
    from mensura.people.population import Population

NAME = "poststratification"
BREAKDOWNS = ("region", "subregion", "age", "attainment", "country")
AGE_BANDS = (15.0, 25.0, 45.0, 65.0)


@dataclass(frozen=True)
class PostStratification:
    """The extrapolator that needs only descriptions of both populations and the world tables.

    ``draws`` and ``seed`` govern the interval of probability ``level``; ``domain`` overrides the items' own.
    """

    world: World = field(default_factory=World.load)
    draws: int = 1000
    seed: int = 0
    level: float = 0.9
    domain: str | None = None

    def __post_init__(self) -> None:
        if self.draws < 20:
            raise MensuraError(f"draws: at least 20 are needed for an interval, got {self.draws}")
        if not 0 < self.level < 1:
            raise MensuraError(f"level: between 0 and 1 (exclusive), got {self.level}")

    @property
    def name(self) -> str:
        """The name used in tables and by ``--method``."""
        return NAME

    def predict(
        self, items: pl.DataFrame, focal_rates: pl.DataFrame, focal: Population, reference: Population
    ) -> Extrapolation:
        """Return the reference population's rate for each item, with intervals and what they hang on."""
        transfer = Transfer(self.world, items, focal_rates, focal, reference, self.domain)
        draws, chance, departure = self._draw(transfer)
        rate = transfer.rates(central(transfer.assumptions))[:, 0]
        drawn = transfer.rates(draws, chance, departure)
        low, high = np.quantile(drawn, self._tails, axis=1)
        table = pl.DataFrame(
            {
                "item": transfer.observed.items,
                "rate": rate,
                "low": np.minimum(low, rate),
                "high": np.maximum(high, rate),
                "status": "extrapolated",
                "method": NAME,
            }
        )
        return Extrapolation(
            table,
            focal,
            reference,
            NAME,
            level=self.level,
            interval="assumption ranges, sampling of the focal rate, item-by-country departures",
            sensitivity=sensitivity_table(self._sources(transfer, chance, departure)),
            settings={"draws": self.draws, "seed": self.seed, "domain": self.domain},
            warnings=transfer.warnings,
        )

    def breakdown(
        self,
        items: pl.DataFrame,
        focal_rates: pl.DataFrame,
        focal: Population,
        reference: Population,
        *,
        by: str = "region",
    ) -> pl.DataFrame:
        """Return the mean rate over items in each part of the reference population.

        Columns: ``by``, share (of the reference population), rate, low, high. ``by``: region, subregion, age,
        attainment or country.
        """
        if by not in BREAKDOWNS:
            raise MensuraError(f"by: one of {', '.join(BREAKDOWNS)}, got {by!r}")
        transfer = Transfer(self.world, items, focal_rates, focal, reference, self.domain)
        draws, chance, departure = self._draw(transfer)
        stated = central(transfer.assumptions)
        cells = transfer.reference_cells
        if by == "age":
            cells = cells.with_columns(age_band=banded(cells["age"], AGE_BANDS, _band_labels()))
        key = "age_band" if by == "age" else by
        rows = []
        for (level,), part in cells.sort(key).group_by(key, maintain_order=True):
            rate = float(transfer.rates(stated, cells=part).mean())
            drawn = transfer.rates(draws, chance, departure, cells=part).mean(axis=0)
            low, high = np.quantile(drawn, self._tails)
            rows.append((level, part["weight"].sum(), rate, min(low, rate), max(high, rate)))
        return pl.DataFrame(rows, schema=[by, "share", "rate", "low", "high"], orient="row")

    def drivers(
        self, items: pl.DataFrame, focal_rates: pl.DataFrame, focal: Population, reference: Population
    ) -> pl.DataFrame:
        """Return how each driver moves the mean rate from the focal group's to the reference's."""
        return driver_table(Transfer(self.world, items, focal_rates, focal, reference, self.domain))

    @property
    def _tails(self) -> list[float]:
        return [(1 - self.level) / 2, (1 + self.level) / 2]

    def _draw(self, transfer: Transfer) -> tuple[Draws, Floats, Floats]:
        """Return draws of the assumptions, of the true focal rates and of the items' departures."""
        rng = np.random.default_rng(self.seed)
        draws = sample(transfer.assumptions, self.draws, rng)
        chance = transfer.observed.sample(self.draws, rng)
        noise = rng.standard_normal((transfer.observed.size, self.draws))
        return draws, chance, noise * draws["item_by_country"] * transfer.mismatch

    def _sources(self, transfer: Transfer, chance: Floats, departure: Floats) -> list[Source]:
        """Return every source of uncertainty, with the items' rates at its ends."""
        stated = central(transfer.assumptions)
        ends = transfer.rates(one_at_a_time(transfer.assumptions))
        sources = {
            row["assumption"]: Source(
                row["assumption"],
                ends[:, 2 * index],
                ends[:, 2 * index + 1],
                triangular_sd(row["low"], row["value"], row["high"]),
                row,
            )
            for index, row in enumerate(transfer.assumptions.iter_rows(named=True))
        }
        normal_sd = 1 / (2 * NormalDist().inv_cdf(self._tails[1]))
        shifts, rates = (np.quantile(values, self._tails, axis=1).T for values in (departure, chance))
        low, high = (transfer.rates(stated, departure=shifts[:, [end]])[:, 0] for end in (0, 1))
        sources["item_by_country"] = Source("item_by_country", low, high, normal_sd, sources["item_by_country"].row)
        low, high = (transfer.rates(stated, rates[:, [end]])[:, 0] for end in (0, 1))
        return [*sources.values(), Source("sampling of the focal rate", low, high, normal_sd, {})]


def _band_labels() -> list[str]:
    edges = [0, *(int(edge) for edge in AGE_BANDS)]
    return [f"{low:02d}–{high - 1}" for low, high in pairwise(edges)] + [f"{edges[-1]}+"]
