"""What a fit says: subjects and items on one scale, groups, differences between them, and how well one scale fits."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.core.results import Result
from mensura.intake.tables import read_table
from mensura.responses.bank import ItemBank

Z90 = 1.6448536269514722
"""Half the width of a 90% interval in standard errors."""
_OF_SUBJECTS = ("subject", "dimension", "ability", "low", "high", "n", "se", "rate", "group")


def ability_table(subjects: pl.DataFrame, ability: Floats, error: Floats) -> pl.DataFrame:
    """Return ``subjects`` with their abilities, 90% intervals and standard errors, columns in the order of all fits."""
    table = subjects.with_columns(
        ability=pl.Series(ability),
        low=pl.Series(ability - Z90 * error),
        high=pl.Series(ability + Z90 * error),
        se=pl.Series(error),
    )
    return table.select(name for name in _OF_SUBJECTS if name in table.columns)


@dataclass(frozen=True, eq=False, repr=False)
class ResponseFit(Result):
    """An item response model fitted to responses.

    ``subjects``: subject, ability, low, high (90%), n (items taken), se, rate, group. ``items``: item,
    discrimination, difficulty, guessing, their standard errors, fit (root mean square gap to the curve), fit_p,
    fit_q, n, rate. ``groups``: group, subjects, mean, sd of abilities and their standard errors (none for the
    measure). ``dif``: differences between groups. ``checks``: findings in words. ``log``: what the rules of counting
    met. ``observed``: item, ability, rate, low, high, n, the shares right at ranges of ability. Abilities are in
    standard deviations of the first group.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("subjects", "items", "groups", "dif", "checks", "log", "observed")

    model: str
    subjects: pl.DataFrame
    items: pl.DataFrame
    groups: pl.DataFrame
    dif: pl.DataFrame
    checks: pl.DataFrame
    log: pl.DataFrame
    observed: pl.DataFrame
    log_likelihood: float
    passes: int
    converged: bool
    warnings: tuple[str, ...] = field(default=())

    @property
    def heading(self) -> str:
        """The model, how much it was fitted to, and whether it converged."""
        ended = f"in {self.passes} passes" if self.converged else f"NOT converged in {self.passes} passes"
        counts = f"{self.subjects.height:,} subjects × {self.items.height:,} items"
        return f"{self.model}, {counts}, log likelihood {self.log_likelihood:,.1f}, {ended}"

    @property
    def reference(self) -> str:
        """The group whose abilities have mean 0 and standard deviation 1."""
        name: str = self.groups["group"][0]
        return name

    @property
    def bank(self) -> ItemBank:
        """The items as they are needed to choose among them."""
        return ItemBank.from_table(self.items)

    def predict(self, subject: str) -> pl.DataFrame:
        """Return item and chance of a right answer of one subject, at its ability."""
        found = self.subjects.filter(pl.col("subject") == subject)
        if not found.height:
            raise MensuraError(
                f"subject: got {subject!r}; {self.subjects.height} others were fitted. Choose a name of subjects.csv"
            )
        chance: Floats = self.bank.chances(np.array([float(found["ability"][0])]))[:, 0]
        return pl.DataFrame({"item": self.items["item"], "rate": chance})


def read_fit(folder: Path) -> ResponseFit:
    """Read the tables of a fit that ``mensura responses fit --out`` wrote; its likelihood is not kept there."""
    tables = {name: read_table(folder / f"{name}.csv") for name in ("subjects", "items", "groups")}
    require_columns(tables["subjects"], ["subject", "ability", "se", "group"], name=str(folder / "subjects.csv"))
    require_columns(
        tables["groups"], ["group", "subjects", "mean", "sd", "se_mean", "se_sd"], name=str(folder / "groups.csv")
    )
    return ResponseFit(
        "read",
        tables["subjects"],
        tables["items"],
        tables["groups"],
        _table_of(folder, "dif"),
        _table_of(folder, "checks"),
        _table_of(folder, "log"),
        _table_of(folder, "observed"),
        float("nan"),
        0,
        True,
    )


def _table_of(folder: Path, name: str) -> pl.DataFrame:
    """Return a table of a folder that may lack it."""
    path = folder / f"{name}.csv"
    return read_table(path) if path.is_file() and path.stat().st_size > 1 else pl.DataFrame()
