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
from mensura.core.frames import require_columns, says_yes
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
_ALSO = {"id": "item"}


def read_estimates(source: Any, estimator: str | None = None) -> pl.DataFrame:  # noqa: ANN401
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
    frame = read_table(Path(source)) if isinstance(source, str | Path) else as_frame(source, name=name)
    table = _checked(frame, name)
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
        names = frame["pool"].unique().sort().to_list()
        check_choice("recorded", pool, names)
        frame = frame.filter(pl.col("pool") == pool)
    return _checked(frame, RECORDED).with_columns(frame["pool"], frame["n_options"], frame["domain"])


def _checked(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    titles = {title: title.strip().casefold() for title in frame.columns}
    frame = frame.rename(titles)
    if "estimate" in frame.columns:  # beside it, a rate is the truth
        frame = frame.drop("rate", strict=False).rename({"estimate": "rate"})
    frame = frame.rename({old: new for old, new in _ALSO.items() if old in frame.columns and new not in frame.columns})
    missing = [column for column in ("item", "rate") if column not in frame.columns]
    if missing:
        raise MensuraError(
            f"{name}: no column {missing[0]!r}; expected item, rate, low, high (and model, run, remembered), "
            f"got {', '.join(frame.columns)}. Rename the column"
        )
    if not frame.height:
        raise MensuraError(f"{name}: no estimates; expected one row per item")
    columns = [_column(frame, column, kind) for column, kind in COLUMNS.items()]
    table = frame.select(columns)
    for column in ("rate", "low", "high", "remembered_mean"):
        _refuse_numbers(frame, table, column, name)
    swapped = table.filter((pl.col("low") > pl.col("rate") + MARGIN) | (pl.col("high") < pl.col("rate") - MARGIN))
    if swapped.height:
        row = swapped.row(0, named=True)
        raise MensuraError(
            f"{name}, item {row['item']}: the interval {row['low']} to {row['high']} does not contain the rate "
            f"{row['rate']}; expected low ≤ rate ≤ high ({swapped.height} rows). Correct them"
        )
    return table


def _column(frame: pl.DataFrame, column: str, kind: Any) -> pl.Expr:  # noqa: ANN401
    if column not in frame.columns:
        default = {"model": UNNAMED, "run": "1", "remembered": False}.get(column)
        return pl.lit(default, dtype=kind).alias(column)
    if kind == pl.Boolean:
        return says_yes(column).alias(column)
    cell = pl.col(column).cast(kind, strict=False)
    return cell.fill_null(UNNAMED).alias(column) if column == "model" else cell.alias(column)


def _refuse_numbers(frame: pl.DataFrame, table: pl.DataFrame, column: str, name: str) -> None:
    """Refuse rates that are no numbers, missing or outside 0 to 1."""
    if column not in frame.columns:
        return
    given = frame[column].cast(pl.String).fill_null("")
    value = table[column]
    no_number = (value.is_null() | value.is_nan()) & (
        (given != "") if column != "rate" else pl.repeat(True, len(value), eager=True)
    )
    wrong = no_number | ~value.fill_null(0.5).fill_nan(0.5).is_between(0, 1)
    if wrong.any():
        row = int(wrong.arg_true()[0])
        percent = "; is it a percentage? Divide by 100" if (value > 1).any() else ". Correct it"
        raise MensuraError(
            f"{name}, item {table['item'][row]}, {column}: {given[row] or 'nothing'} is no rate; expected a number "
            f"from 0 to 1 ({int(wrong.sum())} such rows){percent}"
        )


_TOO_FAR = 4.0  # standard errors between two rates of one item, from which they contradict each other


def read_anchors(source: Any, people: int | None = None) -> pl.DataFrame:  # noqa: ANN401
    """Return item, rate, n, population (null: of every population); refuse anchors that contradict each other.

    ``people``: behind an anchor that states no n; without it, such an anchor is refused.

    Several rates of one item that agree within sampling error become one.
    """
    name = str(source) if isinstance(source, str | Path) else "anchors"
    frame = read_table(Path(source)) if isinstance(source, str | Path) else as_frame(source, name=name)
    require_columns(frame, ["item", "rate"], name=name)
    columns = frame.columns
    table = frame.select(
        pl.col("item").cast(pl.String),
        pl.col("rate").cast(pl.Float64, strict=False),
        (pl.col("n").cast(pl.Float64, strict=False) if "n" in columns else pl.lit(None, pl.Float64))
        .fill_null(pl.lit(people, pl.Float64))
        .alias("n"),
        (pl.col("population").cast(pl.String) if "population" in columns else pl.lit(None, pl.String)).alias(
            "population"
        ),
    )
    unstated = table.filter(pl.col("n").is_null())["item"].to_list()
    if unstated:
        raise MensuraError(
            f"{name}: {len(unstated)} anchors state no number of people ({listed_names(unstated)}). How many answered? "
            "Add a column n, or give the number for all of them (--set n=60; anchor_people=60 in Python)"
        )
    wrong = table.filter(pl.col("rate").is_null() | ~pl.col("rate").is_between(0, 1) | ~(pl.col("n") > 0))
    if wrong.height:
        row = wrong.row(0, named=True)
        raise MensuraError(
            f"{name}, item {row['item']}: rate {row['rate']} with n {row['n']:g} is no anchor; expected a rate "
            "from 0 to 1 and n above 0. Correct the row"
        )
    return _merged(table, name)


def _merged(table: pl.DataFrame, name: str) -> pl.DataFrame:
    for (item, _), rows in table.group_by("item", "population", maintain_order=True):
        if rows.height > 1 and (gap := _gap(rows)) > _TOO_FAR:
            low, high = rows.sort("rate").row(0, named=True), rows.sort("rate").row(-1, named=True)
            raise MensuraError(
                f"{name}, item {item}: rates {low['rate']:g} (n {low['n']:g}) and {high['rate']:g} (n {high['n']:g}) "
                f"contradict each other ({gap:.0f} standard errors apart); expected one rate per item and population. "
                "Remove one, or name its population in a column"
            )
    return table.group_by("item", "population", maintain_order=True).agg(
        rate=(pl.col("rate") * pl.col("n")).sum() / pl.col("n").sum(), n=pl.col("n").sum()
    )


def _gap(rows: pl.DataFrame) -> float:
    ends = rows.sort("rate")
    low, high = ends.row(0, named=True), ends.row(-1, named=True)
    rate, n = rows["rate"].to_numpy(), rows["n"].to_numpy()
    pooled = float(np.clip(np.average(rate, weights=n), 0.01, 0.99))
    return float((high["rate"] - low["rate"]) / np.sqrt(pooled * (1 - pooled) * (1 / low["n"] + 1 / high["n"])))


# The learned errors of language models that estimate human success rates, and their file.

FILE = Path(__file__).parent / "data" / "learned.json"
UNNAMED = "unnamed"
"""The model of estimates that name none."""
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

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers for JSON, rounded to five digits."""
        return {
            "names": list(self.names),
            "mean": np.round(self.mean, 5).tolist(),
            "covariance": np.round(self.covariance, 5).tolist(),
            "spreads": {name: round(value, 5) for name, value in self.spreads.items()},
            "runs": self.runs,
            "models": self.models,
            "usual_spread": self.usual_spread,
            "centre": self.centre,
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Learned:
        """Read what :meth:`to_dict` wrote."""
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
    return name == UNNAMED or any(recorded in name for recorded in shipped()["estimators"])


@cache
def shipped_errors() -> Learned:
    """Return the packaged effects."""
    return Learned.from_dict(shipped()["errors"])
