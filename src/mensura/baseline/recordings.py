"""Recorded estimates of language models, their learned errors, and anchors: human rates on some items.

``benchmarks/baseline_learning.py`` learns the errors from recorded estimates with known rates.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import MARGIN, Floats
from mensura.core.errors import MensuraError, check_choice, listed_names
from mensura.core.frames import first_row, says_yes
from mensura.intake.columns import read_columns
from mensura.intake.tables import as_frame, read_table

RECORDED = "recorded/zero-shot"
COLUMNS = {
    "item": pl.String,
    "rate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "model": pl.String,
    "run": pl.String,
    "remembered": pl.Boolean,
    "population": pl.String,
    "date": pl.String,
    "prompt": pl.String,
    "benchmark": pl.String,
    "remembered_mean": pl.Float64,
}
"""The columns of estimates; all but item and rate may be missing.

``prompt``: hash of the prompt. ``benchmark``, ``remembered_mean``: which one the model recognises, and the human
mean that it remembers.
"""
_FILE = Path(__file__).parent / "data" / "zero_shot.csv"
_SHARES = ("rate", "low", "high")


def read_estimates(source: Any, estimator: str | None = None) -> pl.DataFrame:
    """Read estimates of language models.

    Parameters
    ----------
    source
        A file or table with item and rate, perhaps low, high, model, run, remembered, population, date, benchmark and
        remembered_mean; or
        ``recorded/zero-shot`` for the shipped recordings.
    estimator : str, optional
        Who made the estimates, a model or people; replaces the column model.

    Returns
    -------
    polars.DataFrame
        The estimates with all these columns.

    Raises
    ------
    MensuraError
        If a rate is missing or outside 0 to 1, or an interval does not contain its rate.

    Examples
    --------
    >>> from mensura.baseline import read_estimates
    >>> read_estimates({"item": ["sum"], "rate": [0.96]})["model"].to_list()
    ['unnamed']

    """
    if isinstance(source, str) and source == RECORDED:
        return read_recorded().select(list(COLUMNS))
    name = str(source) if isinstance(source, str | Path) else "estimates"
    table = _checked(as_frame(source, name=name), name)
    return table if estimator is None else table.with_columns(model=pl.lit(estimator))


def read_recorded(pool: str | None = None) -> pl.DataFrame:
    """Read the recorded estimates that ship with the package, without texts and true rates.

    Parameters
    ----------
    pool : str, optional
        One pool; all when left out.

    Returns
    -------
    polars.DataFrame
        The estimates, with pool, n_options and domain.

    Raises
    ------
    MensuraError
        If no recording has the name.

    Examples
    --------
    >>> from mensura.baseline import read_recorded
    >>> read_recorded("naep")["pool"].unique().to_list()
    ['naep']

    """
    frame = read_table(_FILE).rename({"people": "population"})
    if pool is not None:
        check_choice("recorded", pool, frame["pool"].unique().sort().to_list())
        frame = frame.filter(pl.col("pool") == pool)
    return _checked(frame, RECORDED).with_columns(frame["pool"], frame["n_options"], frame["domain"])


def _checked(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    frame = frame.rename({title: title.strip().casefold() for title in frame.columns})
    if "estimate" in frame.columns:  # beside it, a rate is the truth
        frame = frame.drop("rate", strict=False).rename({"estimate": "rate"})
    frame = read_columns(frame, ("item", *_SHARES), name=name, needed=("item", "rate"), numbers=_SHARES)
    if not frame.height:
        raise MensuraError(f"{name}: no estimates; expected one row per item")
    table = frame.select(_column(frame, column, kind) for column, kind in COLUMNS.items())
    for column in (*_SHARES, "remembered_mean"):
        wrong = table.filter(~pl.col(column).is_between(0, 1))
        if wrong.height:
            percent = "; is it a percentage? Divide by 100" if wrong[column][0] > 1 else ". Correct it"
            raise MensuraError(
                f"{name}, item {wrong['item'][0]}, {column}: {wrong[column][0]:g} is no rate; expected a number from 0 "
                f"to 1 ({wrong.height} such rows){percent}"
            )
    swapped = table.filter((pl.col("low") > pl.col("rate") + MARGIN) | (pl.col("high") < pl.col("rate") - MARGIN))
    if swapped.height:
        row = swapped.row(0, named=True)
        raise MensuraError(
            f"{name}, item {row['item']}: the interval {row['low']} to {row['high']} does not contain the rate "
            f"{row['rate']}; expected low ≤ rate ≤ high ({swapped.height} rows). Correct them"
        )
    return table


def _column(frame: pl.DataFrame, column: str, kind: Any) -> pl.Expr:
    default = {"model": UNNAMED, "run": "1", "remembered": False}.get(column)
    if column not in frame.columns:
        return pl.lit(default, dtype=kind).alias(column)
    if kind == pl.Boolean:
        return says_yes(column).alias(column)
    cell = pl.col(column).cast(kind, strict=False)
    return cell.fill_null(UNNAMED) if column == "model" else cell


_TOO_FAR = 4.0  # standard errors between two rates of one item, from which they contradict each other


def read_anchors(source: Any, people: int | None = None) -> pl.DataFrame:
    """Return item, rate, n, population (null: of every population); refuse anchors that contradict each other.

    ``people``: behind an anchor that states no n; without it, such an anchor is refused.

    Several rates of one item that agree within sampling error become one.
    """
    name = str(source) if isinstance(source, str | Path) else "anchors"
    frame = read_columns(source, ("item", "rate", "n"), name=name, needed=("item", "rate"), numbers=("rate", "n"))
    number = pl.col("n") if "n" in frame.columns else pl.lit(None, pl.Float64)
    population = pl.col("population") if "population" in frame.columns else pl.lit(None)
    table = frame.select(
        pl.col("item").cast(pl.String),
        "rate",
        number.fill_null(pl.lit(people, pl.Float64)).alias("n"),
        population.cast(pl.String).alias("population"),
    )
    unstated = table.filter(pl.col("n").is_null())["item"].to_list()
    if unstated:
        raise MensuraError(
            f"{name}: {len(unstated)} anchors state no number of people ({listed_names(unstated)}). How many answered? "
            "Add a column n, or give the number for all of them (--set n=60; anchor_people=60 in Python)"
        )
    if row := first_row(table.filter(~pl.col("rate").is_between(0, 1) | ~(pl.col("n") > 0))):
        raise MensuraError(
            f"{name}, item {row['item']}: rate {row['rate']} with n {row['n']:g} is no anchor; expected a rate "
            "from 0 to 1 and n above 0. Correct the row"
        )
    _refuse_contradictions(table, name)
    return table.group_by("item", "population", maintain_order=True).agg(
        rate=(pl.col("rate") * pl.col("n")).sum() / pl.col("n").sum(), n=pl.col("n").sum()
    )


def _refuse_contradictions(table: pl.DataFrame, name: str) -> None:
    """Refuse rates of one item and population that differ by more than sampling explains."""
    for (item, _), rows in table.group_by("item", "population", maintain_order=True):
        ends = rows.sort("rate")
        low, high = ends.row(0, named=True), ends.row(-1, named=True)
        pooled = float(np.clip(np.average(rows["rate"].to_numpy(), weights=rows["n"].to_numpy()), 0.01, 0.99))
        gap = (high["rate"] - low["rate"]) / np.sqrt(pooled * (1 - pooled) * (1 / low["n"] + 1 / high["n"]))
        if gap > _TOO_FAR:
            raise MensuraError(
                f"{name}, item {item}: rates {low['rate']:g} (n {low['n']:g}) and {high['rate']:g} (n {high['n']:g}) "
                f"contradict each other ({gap:.0f} standard errors apart); expected one rate per item and population. "
                "Remove one, or name its population in a column"
            )


@dataclass(frozen=True)
class KnownMean:
    """State the mean rate of a population on these items, known from some people.

    Attributes
    ----------
    mean : float
        The mean rate, between 0 and 1.
    n : int
        The number of people.

    """

    mean: float
    n: int

    def __post_init__(self) -> None:
        if not 0 < self.mean < 1 or self.n < 1:
            raise MensuraError(
                f"known mean {self.mean:g} of {self.n} people: expected a mean between 0 and 1, and n of 1 or more"
            )


# The learned errors of language models that estimate human success rates, and their file.

FILE = Path(__file__).parent / "data" / "learned.json"
UNNAMED = "unnamed"
"""The model of estimates that name none."""
SIMULATED = " (as simulated persons)"
"""End of an estimator's name where a model answered as persons. Nobody recorded the errors of this way."""
GROUPS = ("people", "time", "report", "domain", "format")
"""Groups of effects: kind of people, time pressure, tested or only claimed, domain, answer format."""

RATING, TRAIT = "rating", "trait"
"""Spreads that AI benchmarks taught: of a benchmark whose people were raters, and of a trait that none of them has."""


@dataclass(frozen=True, eq=False)
class Learned:
    """Effects (``names``, ``mean``, ``covariance``) and the spreads in logits of everything else.

    ``spreads``: of a pool's shift (``pool``) and slope (``pool_slope``), of far people per unit of distance (``far``),
    of an unknown kind in each group, of an item (``item``, and ``stated`` per unit of the stated spread), and between
    pools of the logarithm of the size of items' errors (``scale``). AI benchmarks teach the effects of traits of raters
    (``trait:majority``), and how far such people differ beyond them (``rating``, ``trait``).
    ``runs``, ``models``: correlations of the errors of two runs and of two models. ``usual_spread``: stated SD where
    none is stated. ``centre``: the logit around which slopes turn. ``log_posterior``: of the
    recordings, to compare settings.
    """

    names: tuple[str, ...]
    mean: Floats
    covariance: Floats
    spreads: Mapping[str, float]
    runs: float
    models: float
    usual_spread: float
    centre: float
    log_posterior: float = 0.0

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Learned:
        """Read what ``python -m tools.embed_baseline`` wrote."""
        arrays = {name: np.array(stored[name], dtype=np.float64) for name in ("mean", "covariance")}
        return cls(**{**stored, **arrays, "names": tuple(stored["names"])})


@cache
def shipped() -> dict[str, Any]:
    """Return the packaged file: ``errors`` (see :class:`Learned`), ``persons``, ``origin``, ``estimators``."""
    stored: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return stored


def is_recorded(estimator: str) -> bool:
    """Return whether the errors of a model were learned: its name has that of a recorded one; unnamed ones count."""
    name = estimator.casefold()
    recorded = any(model in name for model in shipped()["estimators"]) and not name.endswith(SIMULATED)
    return name == UNNAMED or recorded


@cache
def shipped_errors() -> Learned:
    """Return the packaged effects."""
    return Learned.from_dict(shipped()["errors"])
