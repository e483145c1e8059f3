"""Learning priors from many pools: what is asked is how a group of a pool not yet seen will behave.

Each row of the table is one group: its pool, kind and basis, the ``actual`` and ``expected`` shift with the
``shift_error`` (sampling variance) of the former, ``parts`` = 1 + concentration, the ``gap`` |actual|, and the
``slope`` and ``interaction`` of its line. Pools count alike. With g a group of pool p:

    actual_g = r_p expected_g + √parts s₀ z_g,     r_p = 1 + κ z_p

κ comes from the ratios r_p of actual to expected shifts, s₀ from what the ratios leave over.

``python -m tools.embed_priors`` learns the shipped table on the development pools and rounds it. The benchmark
``extrapolation_situations`` learns it again without each pool in turn; what it then covers is the figure to quote.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import scipy

from mensura.extrapolation.descriptions import OTHER
from mensura.extrapolation.facts import DATA, concentration_of, expected, logits_per_unit
from mensura.extrapolation.line_methods import PRIOR_COLUMNS
from mensura.extrapolation.slices import SMALLEST_INTERACTION, TYPICAL_SLOPE_VARIANCE, TYPICAL_VARIANCE, fit_slice
from mensura.extrapolation.straight_line import LARGEST_GAP, Contrast
from mensura.intake.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mensura.core.arrays import Floats
    from mensura.extrapolation.protocol import Task

CLASSES = ("country", "sex", "stage", "within")
STAGES = ("age", "grade", "education", "school", "ability")
THINNEST_SD = 0.15  # of the shift, for a kind that few pools show
FEW_POOLS = 3  # fewer say too little of the next one
UNSEEN_SD = 0.3  # of the shift, for a basis that no pool shows
SMALLEST_SLOPE_SD = 0.04
SHIFT_ERRORS, INTERACTION_ERRORS = 1.0, 2.0
"""Standard errors over pools that s₀² and τ² have on top: a new pool may differ, in its interactions above all."""
SMALLEST_SHIFT_SD = 0.08  # no pool shows that groups are alike
NO_CHANGE = 0.1  # weight of the pool in which nothing changes with the gap, in squared units of the regressor
LARGEST_RATIO_SD = 3.0  # a bound for κ; facts that err by more than their own size several times are no facts
DF_RANGE = (4.5, 20.0)  # of the Student interaction of a pool not yet seen
_ROUNDS = 30  # of alternating between κ and s₀


def class_of(kind: str) -> str:
    """Return the class within which slopes, interactions and κ are learned together.

    Groups at another ``stage`` of life or schooling have met other content, so that their items depart more than
    those of groups ``within`` one stage.
    """
    return kind if kind in {"country", "sex"} else "stage" if kind in STAGES else "within"


def learn_shifts(table: pl.DataFrame, spreads: pl.DataFrame) -> pl.DataFrame:
    """Return kind, basis, class, shift_sd (s₀) and gap_shift (κ) from the groups and published ``spreads`` (logits).

    s₀² of a kind and basis is the mean over pools (published spreads counting as pools) plus one standard error, as a
    new pool may differ from those seen; with fewer than three pools the largest of them, and at least 0.15².
    """
    groups = table.with_columns(pl.col("kind").map_elements(class_of, pl.String).alias("class"))
    keys = ["class", "kind", "basis", "pool"]
    parts = groups.group_by(keys, maintain_order=True)
    cells = [_Cell.of((str(kind), str(basis)), str(group), part) for (group, kind, basis, _), part in parts]
    kappa = dict.fromkeys({cell.group for cell in cells}, 0.5)
    published = {
        (kind, basis): part["spread"].to_numpy() ** 2 for (kind, basis), part in spreads.group_by("kind", "basis")
    }
    scatter: dict[tuple[str, str], float] = {}
    for _ in range(_ROUNDS):
        seen = {
            key: np.append(values, published.get(key, [])) for key, values in _scatter(cells, kappa, scatter).items()
        }
        scatter = {key: float(values.mean()) for key, values in seen.items()}
        kappa = _ratio_spreads(cells, scatter)
    for key, values in published.items():
        seen.setdefault(key, values)
    found = {key: _for_a_new_pool(values) for key, values in seen.items()}
    for basis in ("matched", "none"):
        alike = [values.mean() for (_, other), values in seen.items() if other == basis]
        found.setdefault((OTHER, basis), float(np.sqrt(np.mean(alike))) if alike else UNSEEN_SD)
    overall = float(np.mean(list(kappa.values())))
    rows = [
        {
            "kind": kind,
            "basis": basis,
            "class": class_of(kind),
            "shift_sd": sd,
            "gap_shift": kappa.get(class_of(kind), overall),
        }
        for (kind, basis), sd in sorted(found.items())
    ]
    return pl.DataFrame(rows)


@dataclass(frozen=True, eq=False)
class _Cell:
    """The groups of one pool, kind and basis (``key``), and their class: shifts in logits, with sampling variances."""

    key: tuple[str, str]
    group: str
    actual: Floats
    expected: Floats
    error: Floats
    parts: Floats

    @classmethod
    def of(cls, key: tuple[str, str], group: str, part: pl.DataFrame) -> _Cell:
        """Read the rows of a cell."""
        return cls(key, group, *(part[name].to_numpy() for name in ("actual", "expected", "shift_error", "parts")))

    def ratio(self, scatter: float) -> tuple[float, float] | None:
        """Return actual over expected by weighted least squares, and its error variance; None if none is expected."""
        weight = 1.0 / (scatter * self.parts + self.error)
        size = float(weight @ self.expected**2)
        return (float(weight @ (self.expected * self.actual)) / size, 1.0 / size) if size > 0 else None

    def left_over(self, kappa: float, scatter: float) -> float:
        """Return the mean square of the shifts beyond the pool's own ratio, per part, sampling taken off."""
        found = self.ratio(scatter)
        ratio, unsure = 1.0, 0.0
        if found is not None and kappa > 0:
            trust = kappa**2 / (kappa**2 + found[1])
            ratio, unsure = 1.0 + trust * (found[0] - 1.0), trust * found[1]
        square = (self.actual - ratio * self.expected) ** 2 + unsure * self.expected**2 - self.error
        return float(np.maximum(square / self.parts, 0.0).mean())


def _scatter(
    cells: list[_Cell], kappa: dict[str, float], scatter: dict[tuple[str, str], float]
) -> dict[tuple[str, str], Floats]:
    """Return, per kind and basis, the mean square left over in each pool."""
    found: dict[tuple[str, str], list[float]] = {}
    for cell in cells:
        before = scatter.get(cell.key, UNSEEN_SD**2)
        found.setdefault(cell.key, []).append(cell.left_over(kappa[cell.group], max(before, SMALLEST_SHIFT_SD**2)))
    return {key: np.array(values) for key, values in found.items()}


def _ratio_spreads(cells: list[_Cell], scatter: dict[tuple[str, str], float]) -> dict[str, float]:
    """Return κ by class: that of the class's ratios with one more that behaves like those of all classes together."""
    ratios: dict[str, list[tuple[float, float]]] = {cell.group: [] for cell in cells}
    for cell in cells:
        found = cell.ratio(max(scatter[cell.key], SMALLEST_SHIFT_SD**2))
        if found is not None:
            ratios[cell.group].append(found)
    overall = ratio_spread([found for some in ratios.values() for found in some])
    return {
        name: ratio_spread([*found, (1.0 + overall, 0.0)] if overall > 0 else found) for name, found in ratios.items()
    }


def ratio_spread(ratios: list[tuple[float, float]]) -> float:
    """Return κ such that Σ (r − 1)² / (κ² + error) is the number of ratios (Paule and Mandel), 0 where none is needed.

    ``ratios``: actual over expected shift of a pool and the sampling variance of that ratio.
    """
    if not ratios:
        return 0.0
    away, error = np.array(ratios).T
    square = (away - 1.0) ** 2

    def beyond(kappa: float) -> float:
        return float((square / np.maximum(kappa**2 + error, 1e-12)).sum()) - len(ratios)

    if beyond(0.0) <= 0.0:
        return 0.0
    if beyond(LARGEST_RATIO_SD) >= 0.0:
        return LARGEST_RATIO_SD
    return float(scipy.optimize.brentq(beyond, 0.0, LARGEST_RATIO_SD, xtol=1e-14))


def _for_a_new_pool(variances: Floats) -> float:
    if len(variances) < FEW_POOLS:
        return float(np.sqrt(max(variances.max(), THINNEST_SD**2)))
    found = variances.mean() + SHIFT_ERRORS * variances.std(ddof=1) / len(variances) ** 0.5
    return float(max(np.sqrt(found), SMALLEST_SHIFT_SD))


def learn_lines(table: pl.DataFrame) -> pl.DataFrame:
    """Return, per class, slope and interaction, how both change with the gap, and the spread of either.

    Levels are those of the class, changes with the gap common to all classes, as few classes show large gaps. Slopes
    count by how exactly they are known. What pools show of the interaction beyond that is its spread: ``weight`` is the
    degrees of freedom of an inverse-χ² with that coefficient of variation, 4 + 2 / cv²; and τ² has two standard errors
    over pools on top. A class that no pool shows is like ``within``.
    """
    groups = table.with_columns(
        pl.col("kind").map_elements(class_of, pl.String).alias("class"),
        tau2=pl.col("interaction") / pl.col("parts"),
        w=1.0 / pl.len().over("pool"),
    )
    gap, w, parts = (groups[name].to_numpy() for name in ("gap", "w", "parts"))
    classes = groups["class"].to_numpy()
    steep, tau2 = groups["slope"].to_numpy(), groups["tau2"].to_numpy()
    error = groups["slope_error"].to_numpy()
    sure = w * TYPICAL_SLOPE_VARIANCE / (TYPICAL_SLOPE_VARIANCE + error)
    level, fall = _regress(gap, steep, sure, classes)
    base, growth = _regress(gap**2, tau2, w, classes)
    fall, growth = max(-fall, 0.0), max(growth, 0.0)
    left = (steep - np.array([level[name] for name in classes]) + fall * gap) ** 2 - error
    rows = []
    for name in sorted(set(classes)):
        mine = classes == name
        inner = max(base[name], SMALLEST_INTERACTION**2)
        pools = groups.filter(pl.col("class") == name).with_columns(left=tau2[mine] - growth * gap[mine] ** 2)
        means = pools.group_by("pool").agg(pl.col("left").mean())["left"].to_numpy()
        slope_variance = float(np.average((left / parts)[mine], weights=sure[mine]))
        unsure = float(means.std(ddof=1) / len(means) ** 0.5) if len(means) > 1 else inner
        rows.append(
            {
                "class": name,
                "slope": min(level[name], 1.0),
                "slope_sd": max(slope_variance, SMALLEST_SLOPE_SD**2) ** 0.5,
                "gap_slope": fall,
                "interaction": (inner + INTERACTION_ERRORS * unsure) ** 0.5,
                "gap_interaction": growth**0.5,
                "weight": _degrees(means),
            }
        )
    found = {row["class"]: row for row in rows}
    default = found.get("within", rows[0])
    return pl.DataFrame([found.get(name, {**default, "class": name}) for name in CLASSES])


def _degrees(variances: Floats) -> float:
    """Return the degrees of freedom of the Student interaction from how much its variance differs between pools."""
    if len(variances) < FEW_POOLS:
        return DF_RANGE[0]
    spread = float(variances.std(ddof=1) / max(variances.mean(), SMALLEST_INTERACTION**2))
    return float(np.clip(4.0 + 2.0 / max(spread, 1e-3) ** 2, *DF_RANGE))


def _regress(x: Floats, y: Floats, w: Floats, classes: np.ndarray) -> tuple[dict[str, float], float]:
    """Return the level of y at x = 0 in each class and a common slope, drawn towards 0 as if by one pool without."""
    centres = {name: (classes == name) for name in sorted(set(classes))}
    mean_x = {name: float(np.average(x[mine], weights=w[mine])) for name, mine in centres.items()}
    mean_y = {name: float(np.average(y[mine], weights=w[mine])) for name, mine in centres.items()}
    dx = x - np.array([mean_x[name] for name in classes])
    dy = y - np.array([mean_y[name] for name in classes])
    slope = float((w * dx) @ dy) / (float((w * dx) @ dx) + NO_CHANGE)
    return {name: mean_y[name] - slope * mean_x[name] for name in centres}, slope


def learn_priors(pools: Mapping[str, Sequence[Task]]) -> pl.DataFrame:
    """Learn the table of priors from pools: per pool its groups, as tasks of which every link is known.

    Pools count alike, whatever their number of groups; how far groups lie apart in published figures
    (``data/group_spreads.csv``) counts as further pools for the spread of shifts.
    """
    seen_rows = [_row(pool, task) for pool, tasks in pools.items() for task in tasks]
    table = pl.DataFrame([row for row in seen_rows if row is not None])
    return (
        learn_shifts(table, published_spreads())
        .join(learn_lines(table), on="class")
        .select("kind", "basis", *PRIOR_COLUMNS)
    )


@cache
def published_spreads() -> pl.DataFrame:
    """Return kind, basis and the spread of group means in published figures, in logits, one row per kind of test."""
    table = read_table(DATA / "group_spreads.csv")
    return table.select("kind", "basis", "evidence", spread=pl.col("spread") * logits_per_unit())


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
