"""What is believed of a group before its reference is seen, by kind of covariate: looked up, or learned anew.

The shipped table was learned by :func:`learn_priors` on the development pools and rounded; the accuracy benchmark
learns it again without each pool in turn, and what it then covers is the figure to quote.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.extrapolation.line.descriptions import KINDS, OTHER
from mensura.extrapolation.line.facts import DATA, concentration_of, expected, logits_per_unit
from mensura.extrapolation.line.learning import learn_lines, learn_shifts
from mensura.extrapolation.line.model import LARGEST_GAP, Contrast, Prior
from mensura.extrapolation.line.slices import TYPICAL_VARIANCE, fit_slice
from mensura.intake.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mensura.extrapolation.protocol import Task

FIELDS = (
    "shift_sd",
    "gap_shift",
    "slope",
    "slope_sd",
    "gap_slope",
    "interaction",
    "gap_interaction",
    "weight",
)


def prior_for(kind: str, basis: str, table: pl.DataFrame | None = None) -> Prior:
    """Return the prior of a kind of covariate (see ``descriptions.KINDS``) and basis of its fact.

    ``basis``: ``matched`` (same test, or a fact of this kind of group), ``general`` (a country's mean in other
    tests) or ``none``. ``table`` replaces the shipped one; a kind it lacks counts as ``other``.
    """
    if kind not in {*KINDS, OTHER}:
        raise MensuraError(f"unknown kind {kind!r}; expected one of {', '.join([*KINDS, OTHER])}")
    rows = shipped_priors() if table is None else _rows(table)
    row = rows.get((kind, basis)) or rows.get((OTHER, "none" if basis == "none" else "matched"))
    if row is None:
        raise MensuraError(
            f"priors: no row for kind {kind!r} and basis {basis!r}, and none for kind {OTHER!r}; add one of these rows"
        )
    return Prior(**{name: row[name] for name in FIELDS})


def learn_priors(pools: Mapping[str, Sequence[Task]]) -> pl.DataFrame:
    """Learn the table of priors from pools: per pool its groups, as tasks of which every link is known.

    Pools count alike, whatever their number of groups; how far groups lie apart in published figures
    (``data/group_spreads.csv``) counts as further pools for the spread of shifts.
    See :mod:`~mensura.extrapolation.line.learning`.
    """
    seen_rows = [_row(pool, task) for pool, tasks in pools.items() for task in tasks]
    table = pl.DataFrame([row for row in seen_rows if row is not None])
    return (
        learn_shifts(table, published_spreads()).join(learn_lines(table), on="class").select("kind", "basis", *FIELDS)
    )


@cache
def shipped_priors() -> dict[tuple[str, str], dict[str, float]]:
    """Return the shipped table by kind and basis."""
    return _rows(read_table(DATA / "priors.csv"))


@cache
def published_spreads() -> pl.DataFrame:
    """Return kind, basis and the spread of group means in published figures, in logits, one row per kind of test."""
    table = read_table(DATA / "group_spreads.csv")
    return table.select("kind", "basis", "evidence", spread=pl.col("spread") * logits_per_unit())


def _rows(table: pl.DataFrame) -> dict[tuple[str, str], dict[str, float]]:
    require_columns(table, ["kind", "basis", *FIELDS], name="priors")
    return {(row["kind"], row["basis"]): row for row in table.iter_rows(named=True)}


def _row(pool: str, task: Task) -> dict[str, object] | None:
    """Return what one group shows of shift, slope and interaction; None where it has too few items."""
    fit = fit_slice(task)
    if fit is None:
        return None
    offset, basis = expected(task)
    contrast = Contrast.of(task, offset)
    y = contrast.y[0]
    noise = contrast.x_noise + contrast.y_noise(y)
    weight = np.where(contrast.known[0], 1.0 / (TYPICAL_VARIANCE + noise), 0.0)
    weight /= weight.sum()
    actual, hoped = float((y - contrast.x) @ weight), float(offset @ weight)
    return {
        "pool": pool,
        "kind": task.kind,
        "basis": basis,
        "actual": actual,
        "expected": hoped,
        "shift_error": float(weight**2 @ (max(fit.interaction, 0.0) + noise)),
        "parts": 1.0 + concentration_of(task),
        "gap": min(abs(actual), LARGEST_GAP),
        "slope": fit.slope / contrast.reliability,
        "slope_error": fit.slope_variance / contrast.reliability**2,
        "interaction": fit.interaction,
    }
