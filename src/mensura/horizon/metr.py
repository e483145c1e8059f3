"""The published method: a regularised logistic regression on log2 minutes, with weights by family of tasks."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats, expit
from mensura.core.errors import check_choice
from mensura.horizon.design import Integers
from mensura.horizon.kinds import LEAST, MEASURED
from mensura.horizon.reading import HorizonData

PENALTY = 0.1
DRAWS = 200
WEIGHTS = ("invsqrt", "equal")
LEVELS = {"p50": 0.5, "p80": 0.8}
_STEPS = 200


def fit_metr(
    data: HorizonData, *, weights: str = "invsqrt", penalty: float = PENALTY, draws: int = DRAWS, seed: int = 0
) -> pl.DataFrame:
    """Return the published horizons: subject, p50, p80 with 90% intervals, intercept, slope, tasks, runs.

    Each task counts with its best time as if it were exact; a time that is only a lower bound takes no part. The
    interval is a bootstrap over families, tasks and attempts, one draw shared by all subjects.
    """
    check_choice("weights", weights, WEIGHTS)
    table = data.runs.join(exact_minutes(data.times), on=["suite", "task"], how="inner", maintain_order="left")
    subjects = table["subject"].unique(maintain_order=True).sort().to_list()
    weight = _weights(table, weights)
    x, y, n = (np.asarray(column, dtype=float) for column in (table["x"], table["score"], table["trials"]))
    codes = table["subject"].cast(pl.Enum(subjects)).to_physical().to_numpy()
    resampled = list(_resampled(table, draws, np.random.default_rng(seed)))
    rows = []
    for place, subject in enumerate(subjects):
        own = np.flatnonzero(codes == place)
        intercept, slope = fit_logistic(x[own], y[own], weight[own], penalty)
        row: dict[str, Any] = {"subject": subject, "intercept": intercept, "slope": slope}
        lines = np.array([_line(x, y, n, weight, own, draw, penalty) for draw in resampled]).reshape(-1, 2)
        for name, level in LEVELS.items():
            row[name] = _minutes(intercept, slope, level) if y[own].any() else 0.0
            ends = _minutes(lines[:, 0], lines[:, 1], level)[np.isfinite(lines[:, 0])]
            low, high = np.quantile(ends, (0.05, 0.95)) if ends.size else (None, None)
            row |= {f"{name}_low": low, f"{name}_high": high}
        rows.append(row | {"tasks": own.size, "runs": int(n[own].sum())})
    return pl.DataFrame(rows)


def fit_logistic(x: Floats, y: Floats, weight: Floats, penalty: float) -> tuple[float, float]:
    """Minimise weighted log loss + penalty/2 · slope² by Newton's method; return intercept and slope."""
    alpha, beta = 0.0, 0.0
    for _ in range(_STEPS):
        rate = expit(alpha + beta * x)
        error, bend = weight * (rate - y), weight * rate * (1 - rate)
        gradient = np.array([error.sum(), error @ x + penalty * beta])
        hessian = np.array([[bend.sum(), bend @ x], [bend @ x, bend @ x**2 + penalty]])
        step = np.linalg.lstsq(hessian + 1e-12 * np.eye(2), gradient, rcond=None)[0]
        step *= min(1.0, 3.0 / max(float(np.abs(step).max()), 1e-300))
        alpha, beta = alpha - step[0], beta - step[1]
        if np.abs(step).max() < 1e-10:
            break
    return float(alpha), float(beta)


def exact_minutes(times: pl.DataFrame) -> pl.DataFrame:
    """Return suite, task and x, the log2 of the best time: a measured one before any other, several by their mean."""
    minutes = pl.coalesce("minutes", (pl.col("low") * pl.col("high")).sqrt())
    timed = times.with_columns(minutes=minutes).filter((pl.col("kind") != LEAST) & pl.col("minutes").is_not_null())
    best = timed.with_columns(place=pl.when(pl.col("kind") == MEASURED).then(0).otherwise(1))
    best = best.filter(pl.col("place") == pl.col("place").min().over("suite", "task"))
    return best.group_by("suite", "task", maintain_order=True).agg(x=pl.col("minutes").log(2).mean())


def _weights(table: pl.DataFrame, weights: str) -> Floats:
    """Return one weight per subject and task: the runs of a task share it, and a subject's weights add up to 1."""
    weight = pl.len().over("subject", "family").cast(pl.Float64) ** (-0.5 if weights == "invsqrt" else 0.0)
    return table.select(weight / weight.sum().over("subject")).to_series().to_numpy()


def _minutes(intercept: Any, slope: Any, level: float) -> Any:
    """Return the length at which success is ``level``; infinite where success does not fall."""
    with np.errstate(over="ignore", divide="ignore"):
        return np.where(slope == 0, np.inf, np.exp2((scipy.special.logit(level) - intercept) / slope))[()]


def _resampled(table: pl.DataFrame, draws: int, rng: np.random.Generator) -> Iterator[tuple[Floats, int]]:
    """Yield how often each row counts when families and their tasks are drawn again, and a seed for the attempts."""
    names = table.select(pl.struct("family", "suite", "task").rank("dense") - 1).to_series().to_numpy()
    family = table.select(pl.col("family").rank("dense") - 1).to_series().to_numpy()
    of_task = np.zeros(names.max() + 1, dtype=int)
    of_task[names] = family
    members = [np.flatnonzero(of_task == one) for one in range(family.max() + 1)]
    for _ in range(draws):
        counts = np.zeros(of_task.size)
        for one in rng.integers(len(members), size=len(members)):
            np.add.at(counts, rng.choice(members[one], members[one].size), 1.0)
        yield counts[names], int(rng.integers(2**31))


def _line(
    x: Floats, y: Floats, n: Floats, weight: Floats, own: Integers, draw: tuple[Floats, int], penalty: float
) -> tuple[float, float]:
    """Return the line of one draw; not a number where it has only successes or only failures."""
    counts, seed = draw[0][own], draw[1]
    used = own[counts > 0]
    times = counts[counts > 0]
    drawn = np.random.default_rng(seed).binomial(np.maximum(1, n[used] * times).astype(int), y[used])
    rate = drawn / np.maximum(1, (n[used] * times).astype(int))
    if used.size == 0 or rate.max() == 0 or rate.min() == 1:
        return np.nan, np.nan
    return fit_logistic(x[used], rate, weight[used] * times, penalty)
