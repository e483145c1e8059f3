"""Tables of a regression of abilities: effects of covariates, plausible values, what the covariates leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.results import Result
from mensura.responses.result import Z90


@dataclass(frozen=True, eq=False, repr=False)
class AbilityRegression(Result):
    """``regression``: term, estimate, se, low, high (90%), in sd of the first group. ``plausible``: subject, pv1, ….

    ``sd`` is that of abilities around the line, ``explained`` the share of their variance along it.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("regression", "plausible")

    regression: pl.DataFrame
    plausible: pl.DataFrame
    sd: float
    explained: float

    @property
    def heading(self) -> str:
        """How much the covariates explain."""
        return f"Abilities of {self.plausible.height:,} subjects on covariates: {self.explained:.0%} of the variance"


@dataclass(frozen=True, eq=False, repr=False)
class DimensionRegression(AbilityRegression):
    """The same of several abilities, with a column ``dimension`` in both tables, in sd of each ability.

    ``residuals``: dimension, other, covariance, correlation of abilities around the line. ``sd`` and ``explained`` are
    those of all abilities together (mean variances).
    """

    TABLES: ClassVar[tuple[str, ...]] = ("regression", "plausible", "residuals")

    residuals: pl.DataFrame

    @property
    def heading(self) -> str:
        """How much the covariates explain."""
        people = self.plausible["subject"].n_unique()
        count = self.plausible["dimension"].n_unique()
        return f"{count} abilities of {people:,} subjects on covariates: {self.explained:.0%} of the variance"


def estimates_table(terms: Sequence[str], values: Floats, errors: Floats) -> pl.DataFrame:
    """Return term, estimate, se and the ends of 90% intervals."""
    return pl.DataFrame(
        {
            "term": list(terms),
            "estimate": values,
            "se": errors,
            "low": values - Z90 * errors,
            "high": values + Z90 * errors,
        }
    )


def dimension_regression(
    dimensions: Sequence[str],
    terms: Sequence[str],
    effects: tuple[Floats, Floats],
    subjects: pl.Series,
    values: Mapping[str, Floats],
    left: Floats,
    explained: float,
) -> DimensionRegression:
    """Return the tables of several abilities.

    ``effects``: estimates and errors (terms × abilities). ``values``: plausible values by name (subjects × abilities).
    ``left``: covariance of abilities around the line.
    """
    regression = [
        estimates_table(terms, *(part[:, at] for part in effects)).select(pl.lit(name).alias("dimension"), pl.all())
        for at, name in enumerate(dimensions)
    ]
    plausible = [
        pl.DataFrame({"subject": subjects}).with_columns(
            pl.lit(name).alias("dimension"), *(pl.Series(pv, one[:, at]) for pv, one in values.items())
        )
        for at, name in enumerate(dimensions)
    ]
    sd = float(np.sqrt(np.trace(left) / len(left)))
    return DimensionRegression(pl.concat(regression), pl.concat(plausible), sd, explained, _residuals(dimensions, left))


def _residuals(dimensions: Sequence[str], covariance: Floats) -> pl.DataFrame:
    sd = np.sqrt(np.diag(covariance))
    rows = [
        (name, other, float(covariance[one, two]), float(covariance[one, two] / (sd[one] * sd[two])))
        for one, name in enumerate(dimensions)
        for two, other in enumerate(dimensions)
        if one <= two
    ]
    return pl.DataFrame(rows, schema=["dimension", "other", "covariance", "correlation"], orient="row")
