"""What is believed of a group before its reference is seen, by kind of covariate: looked up, or learned anew.

The shipped table was learned by :func:`learn_priors` on ten open pools and rounded; the accuracy benchmark
learns it again without each pool in turn, to see that it generalises.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.errors import MensuraError
from mensura.extrapolation.line.descriptions import KINDS, OTHER
from mensura.extrapolation.line.facts import DATA, concentration_of, expected
from mensura.extrapolation.line.model import LARGEST_GAP, LINK_TRUST, Contrast, Prior
from mensura.extrapolation.line.slices import SMALLEST_INTERACTION, TYPICAL_VARIANCE, fit_slice
from mensura.frames import read_frame, require_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mensura.arrays import Floats
    from mensura.extrapolation.protocol import Task

FIELDS = ("shift_sd", "slope", "slope_sd", "interaction", "gap_interaction", "gap_slope", "weight")
THINNEST_SD = 0.15  # of the shift, for a kind that few pools show
FEW_POOLS = 3  # fewer say too little of the next one
UNSEEN_SD = 0.3  # of the shift, for a basis that no pool shows
SMALLEST_SLOPE_SD = 0.04
LARGEST_EXCESS = 4.0  # of a kind's interaction variance over that of its class: one odd pool must not decide
NO_CHANGE = 0.1  # weight of the pool in which nothing changes, in squared units of the regressor


def prior_for(kind: str, basis: str, table: pl.DataFrame | None = None) -> Prior:
    """Return the prior of a kind of covariate (see ``descriptions.KINDS``) and basis of its fact.

    ``basis``: ``matched`` (same test, or a fact of this kind of group), ``general`` (a country's mean in other
    tests) or ``none``. ``table`` replaces the shipped one; a kind it lacks counts as ``other``.
    """
    if kind not in {*KINDS, OTHER}:
        raise MensuraError(f"unknown kind {kind!r}; there are {', '.join([*KINDS, OTHER])}")
    rows = shipped_priors() if table is None else _rows(table)
    row = rows.get((kind, basis)) or rows.get((OTHER, "none" if basis == "none" else "matched"))
    if row is None:
        raise MensuraError(f"priors: no row for kind {kind!r} and basis {basis!r}, and none for kind {OTHER!r}")
    return Prior(**{name: row[name] for name in FIELDS})


def learn_priors(pools: Mapping[str, Sequence[Task]]) -> pl.DataFrame:
    """Learn the table of priors from pools: per pool its groups, as tasks of which every link is known.

    Shift and interaction are learned per unit of 1 + concentration (see ``Task``). Pools count alike, whatever their
    number of groups. Slope and interaction are regressed on the size of the difference between group and rest,
    within classes: countries on tests made to compare them, countries on other tests, sexes, all other groups; a
    kind whose interactions exceed its class's gets larger ones. The SD of the shift that facts leave over is a
    root mean square per kind and basis, plus one standard error over the pools, as a new pool may differ from
    those seen; a kind seen in fewer than three pools takes the largest of them, and at least 0.15.
    """
    seen_rows = [_row(pool, task) for pool, tasks in pools.items() for task in tasks]
    table = pl.DataFrame([row for row in seen_rows if row is not None])
    lines = {name: _lines(part) for (name,), part in table.group_by("class")}
    shifts = table.group_by("kind", "basis", "pool").agg(v=(pl.col("shift") ** 2).mean())
    thin = pl.max_horizontal(pl.col("v").max(), THINNEST_SD**2)
    pooled = (
        pl.when(pl.len() < FEW_POOLS).then(thin).otherwise(pl.col("v").mean() + pl.col("v").std() / pl.len().sqrt())
    )
    found = shifts.group_by("kind", "basis").agg(shift_sd=pooled.sqrt()).sort("kind", "basis")
    overall = dict(shifts.group_by("basis").agg(pl.col("v").mean().sqrt()).iter_rows())
    learned = list(found.iter_rows(named=True))
    seen = {(row["kind"], row["basis"]) for row in learned}
    for kind, basis in ((OTHER, "matched"), (OTHER, "none")):
        if (kind, basis) not in seen:
            learned.append({"kind": kind, "basis": basis, "shift_sd": overall.get(basis, UNSEEN_SD)})
    default = lines.get("within") or next(iter(lines.values()))
    excess = _excess(table, lines)
    rows = []
    for row in learned:
        line = dict(lines.get(_class(row["kind"], row["basis"]), default))
        for name in ("interaction", "gap_interaction"):
            line[name] *= excess.get(row["kind"], 1.0) ** 0.5
        rows.append({**row, **line, "weight": LINK_TRUST})
    return pl.DataFrame(rows)


@cache
def shipped_priors() -> dict[tuple[str, str], dict[str, float]]:
    """Return the shipped table by kind and basis."""
    return _rows(read_frame(DATA / "priors.csv"))


def _rows(table: pl.DataFrame) -> dict[tuple[str, str], dict[str, float]]:
    require_columns(table, ["kind", "basis", *FIELDS], name="priors")
    return {(row["kind"], row["basis"]): row for row in table.iter_rows(named=True)}


def _class(kind: str, basis: str) -> str:
    if kind == "country":
        return "country, same test" if basis == "matched" else "country"
    return kind if kind == "sex" else "within"


def _row(pool: str, task: Task) -> dict[str, object] | None:
    fit = fit_slice(task)
    if fit is None:
        return None
    offset, basis = expected(task)
    contrast = Contrast.of(task, offset)
    y, parts = contrast.y[0], 1.0 + concentration_of(task)
    weight = np.where(contrast.known[0], 1.0 / (TYPICAL_VARIANCE + contrast.x_noise + contrast.y_noise(y)), 0.0)
    difference = y - contrast.x
    return {
        "pool": pool,
        "class": _class(task.kind, basis),
        "kind": task.kind,
        "basis": basis,
        "shift": float(np.average(difference - offset, weights=weight)) / parts**0.5,
        "gap": min(abs(float(np.average(difference, weights=weight))), LARGEST_GAP),
        "slope": fit.slope / contrast.reliability,
        "slope_variance": fit.slope_variance,
        "interaction": fit.interaction / parts,
    }


def _lines(table: pl.DataFrame) -> dict[str, float]:
    """Regress slope and interaction variance on the gap, pools weighing alike."""
    weight = (1.0 / pl.len().over("pool")).alias("w")
    table = table.with_columns(weight)
    gap, w = table["gap"].to_numpy(), table["w"].to_numpy()
    slope, fall = _regress(gap, table["slope"].to_numpy(), w)
    tau2, growth = _regress(gap**2, table["interaction"].to_numpy(), w)
    left = table["slope"].to_numpy() - slope - fall * gap
    spread = float(np.average(left**2 - table["slope_variance"].to_numpy(), weights=w))
    return {
        "slope": min(slope, 1.0),
        "slope_sd": max(spread, SMALLEST_SLOPE_SD**2) ** 0.5,
        "interaction": max(tau2, SMALLEST_INTERACTION**2) ** 0.5,
        "gap_interaction": max(growth, 0.0) ** 0.5,
        "gap_slope": max(-fall, 0.0),
    }


def _excess(table: pl.DataFrame, lines: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return, per kind, how much larger interaction variances are than its class predicts: mean of pools, 1 to 4."""
    predicted = [
        lines[name]["interaction"] ** 2 + (lines[name]["gap_interaction"] * gap) ** 2
        for name, gap in table.select("class", "gap").iter_rows()
    ]
    ratio = pl.col("interaction").sum() / pl.col("predicted").sum()
    pools = table.with_columns(predicted=pl.Series(predicted)).group_by("kind", "pool").agg(ratio=ratio)
    return dict(pools.group_by("kind").agg(pl.col("ratio").mean().clip(1.0, LARGEST_EXCESS)).iter_rows())


def _regress(x: Floats, y: Floats, w: Floats) -> tuple[float, float]:
    """Weighted least squares with a slope drawn towards 0 as if by one pool in which nothing changes."""
    mean_x, mean_y = np.average(x, weights=w), np.average(y, weights=w)
    spread = float((w * (x - mean_x)) @ (x - mean_x))
    b = float((w * (x - mean_x)) @ (y - mean_y)) / (spread + NO_CHANGE)
    return float(mean_y - b * mean_x), b
