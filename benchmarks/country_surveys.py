"""Surveys that put the same questions to people of several countries: the rates of each country on each item.

Read from the development data (``people_by_country`` and the pools of ``human``); nothing of them is committed but the
few numbers that ``tools.embed_departures`` learns. Sources: Wellcome Global Monitor 2018 (Wellcome and Gallup), the
vocabulary checklist and VIQT of openpsychometrics.org, Gapminder Misconception Study 2017 (CC BY 4.0), PISA 2009
(OECD), PIRLS and TIMSS 2011 (IEA).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks import development_data
from mensura.extrapolation.facts import country_of

FEWEST_ITEMS = 5  # for a survey to tell countries from items
FEWEST_ANSWERS = 40  # of a country on an item; fewer show little but noise


@dataclass(frozen=True, eq=False)
class Survey:
    """One survey. ``rates``: item, country (ISO code), rate, n. ``n_options``: None where "don't know" counts as wrong.

    ``ages`` and ``pupils`` describe whom it asked, ``kind`` how people came to be asked.
    """

    name: str
    rates: pl.DataFrame
    domain: str
    n_options: int | None
    ages: tuple[int, int]
    pupils: bool = False
    kind: str = "school"

    @property
    def countries(self) -> list[str]:
        """The countries, in order of their codes."""
        return self.rates["country"].unique().sort().to_list()

    def parts(self) -> list[Survey]:
        """Return one survey per item where there are fewer items than a line needs, else the survey itself."""
        if self.rates["item"].n_unique() >= FEWEST_ITEMS:
            return [self]
        return [
            replace(self, name=f"{self.name} {item}", rates=rows)
            for (item,), rows in self.rates.group_by("item", maintain_order=True)
        ]

    def table(self, column: str = "rate") -> np.ndarray:
        """Return items × countries, NaN where nobody was asked."""
        wide = self.rates.pivot(on="country", index="item", values=column, maintain_order=True)
        return wide.select(self.countries).cast(pl.Float64).fill_null(float("nan")).to_numpy()


def read_surveys() -> dict[str, Survey]:
    """Return the surveys by name."""
    by_country, human = development_data("people_by_country"), development_data("human")
    wellcome = _coded(pl.read_csv(by_country / "wellcome_2018_144c" / "rates_by_country.csv"), n="n_nominal")
    words = pl.read_csv(by_country / "vocab_checklist_web" / "rates_by_country.csv").filter(
        pl.col("is_pseudoword") == 0
    )
    found = [
        Survey("wellcome2018", wellcome, "knowledge", None, (15, 120), kind="national sample"),
        Survey("checklist", _coded(words), "vocabulary", None, (16, 60), kind="web visitors"),
        Survey(
            "viqt",
            _groups(human / "viqt_vocabulary", "country_group"),
            "vocabulary",
            None,
            (16, 60),
            kind="web visitors",
        ),
        Survey("gapminder2017", _groups(human / "gapminder2017_14c"), "facts", 3, (18, 75), kind="online panel"),
        Survey("pisa2009", _groups(human / "pisa2009_12c"), "reading", None, (15, 15), pupils=True),
        Survey("pirls2011", _groups(human / "pirls2011_4c"), "reading", None, (10, 10), pupils=True),
        Survey("timss2011", _groups(human / "timss2011_g8_math_4c"), "mathematics", None, (14, 14), pupils=True),
    ]
    return {survey.name: survey for survey in found}


def _groups(folder: Path, covariate: str = "country") -> pl.DataFrame:
    table = pl.read_csv(folder / "group_rates.csv").filter(pl.col("covariate") == covariate)
    return _coded(table.with_columns(country=pl.col("group").str.strip_prefix(f"{covariate}=")))


def _coded(table: pl.DataFrame, n: str = "n") -> pl.DataFrame:
    """Return item, country, rate, n with ISO codes; leave out places that are no country and groups of a few people."""
    code = pl.col("country").map_elements(country_of, return_dtype=pl.String, skip_nulls=True)
    named = table.with_columns(country=code, n=pl.col(n).cast(pl.Int64)).drop_nulls("country")
    return named.filter(pl.col("n") >= FEWEST_ANSWERS).select("item", "country", "rate", "n")
