"""From draws of a fit to horizons and curves: lengths at which success is half or four fifths; people's own rates."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, expit
from mensura.horizon.fitting import Mode, lines, precision
from mensura.horizon.kinds import LEAST, MEASURED
from mensura.horizon.lengths import CENTER
from mensura.horizon.metr import LEVELS, exact_minutes
from mensura.horizon.reading import ALL, HorizonData
from mensura.horizon.totals import status_of
from mensura.scale import rate_interval

DRAWS = 600
FLAT = 0.05
"""Logits per doubling: a draw with a smaller slope has no length at which success falls to a level."""
MOST_FLAT = 0.25
"""Share of such draws above which success hardly falls with length, so that there is no horizon."""
REACH = 3.0
"""Doublings beyond the shortest and longest task of a subject; an end further out is open."""
NEAR = 2.0
"""Tasks within so many doublings of a horizon decide whether it is based on measured times."""
_SPREADS = tuple(np.linspace(0.0, 8.0, 33).tolist())
PARTS = ("suites", "times", "tasks", "runs")
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


FEWEST = 20
"""Attempts of one length that a rate of people needs."""
EDGES = (1.0, 4.0, 15.0, 60.0, 240.0)
"""Minutes between the lengths: under a minute, one to four, to fifteen, to an hour, to four hours, longer."""
PEOPLE = "people"
_NUMBERS = ("minutes", "rate", "low", "high")
CURVE = {"subject": pl.String, "suite": pl.String, **dict.fromkeys(_NUMBERS, pl.Float64), "n": pl.Int64}
"""Columns of curves."""


def draw_unknowns(mode: Mode, rng: np.random.Generator, draws: int = DRAWS) -> Floats:
    """Draw the dense unknowns; shifts of suites have the tails of Student's distribution, as few suites show them."""
    normal = rng.standard_normal((draws, mode.places.size))
    drawn = normal @ np.linalg.cholesky(mode.covariance + 1e-10 * np.eye(mode.places.size)).T
    freedom = len(mode.design.suites) + 2
    longer = np.sqrt(freedom / rng.chisquare(freedom, draws)) - 1
    shifts = np.r_[np.arange(mode.places.size)[mode.places.v], np.arange(mode.places.size)[mode.places.u]]
    follow = np.linalg.solve(mode.covariance[np.ix_(shifts, shifts)], mode.covariance[shifts])
    return np.asarray(mode.theta + drawn + longer[:, None] * (drawn[:, shifts] @ follow))


@cache
def _logits_by_spread(level: float) -> Floats:
    low, high = np.full((2, len(_SPREADS)), 40.0) * [[-1], [1]]
    for _ in range(60):
        middle = (low + high) / 2
        is_low = expit(middle[:, None] + np.outer(_SPREADS, _NODES)) @ _WEIGHTS < level
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    return np.asarray((low + high) / 2)


def logit_of_mean(level: float, spread: Floats | float) -> Floats:
    """Return the middle logit at which success, averaged over tasks that differ by ``spread``, is ``level``."""
    return np.asarray(np.interp(spread, _SPREADS, _logits_by_spread(level)))


def lengths_at(height: Floats, slope: Floats, level: float, spread: Floats | float, slip: float) -> Floats:
    """Return the length, in doublings of a minute, at which success is ``level``; infinite where it does not fall."""
    target = logit_of_mean(min(level / (1 - slip), 0.999), spread)
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = CENTER + (height - target) / slope
    return np.where(slope > FLAT, crossing, np.where(height > target, np.inf, -np.inf))


def table_of(mode: Mode, times: pl.DataFrame, theta: Floats) -> pl.DataFrame:
    """Return the horizons of all subjects, over all suites and by suite."""
    design, at, effect = mode.design, mode.places, mode.spreads.effect
    timed = _timed(mode, times)
    slip = float(np.average(mode.spreads.slip, weights=[suite.trials.sum() for suite in design.suites]))
    spread = _drawn_spreads(mode, theta.shape[0])
    rows: list[dict[str, Any]] = []
    for place, subject in enumerate(design.subjects):
        own = [suite for suite in design.suites if place in suite.rows]
        cells = [_cells(mode, suite, place, timed) for suite in own]
        merged = tuple(np.concatenate(part) for part in zip(*cells, strict=True))
        height, slope = theta[:, at.a][:, place], theta[:, at.b][:, place]
        rows.append({"subject": subject, "suite": ALL, **_row(height, slope, merged, spread, slip)})
        for suite, some in zip(own, cells, strict=True) if design.suites[0].name != ALL else ():
            which = design.suites.index(suite)
            a, b = lines(mode, which, theta, shared=False)
            k = int(np.searchsorted(suite.rows, place))
            row = _row(a[:, k], b[:, k], some, effect["e"], float(mode.spreads.slip[which]))
            rows.append({"subject": subject, "suite": suite.name, **row})
    return pl.DataFrame(rows, infer_schema_length=None)


def _drawn_spreads(mode: Mode, draws: int) -> Floats:
    """Return how much tasks of one length differ, over suites, tasks and pairs; few suites leave it uncertain."""
    effect, rng = mode.spreads.effect, np.random.default_rng(draws)
    square = np.full(draws, effect["e"] ** 2)
    if len(mode.design.suites) > 1:
        for name, count in (("v", len(mode.design.suites)), ("w", len(mode.design.pairs))):
            square += effect[name] ** 2 * (count + 2) / rng.chisquare(count + 2, draws)
    return np.asarray(np.sqrt(square))


def _timed(mode: Mode, times: pl.DataFrame) -> Floats:
    """Return 1 for each task that somebody was timed on, else 0."""
    measured = times.filter(pl.col("kind").is_in([MEASURED, LEAST])).select("suite", "task", timed=pl.lit(1.0)).unique()
    tasks = mode.design.tasks.join(measured, on=["suite", "task"], how="left", maintain_order="left")
    return tasks["timed"].fill_null(0.0).to_numpy()


def _cells(mode: Mode, suite: Any, place: int, timed: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return lengths, whether timed, successes and trials of the tasks that a subject ran."""
    row = int(np.searchsorted(suite.rows, place))
    ran = suite.trials[row] > 0
    lengths = CENTER + mode.lengths.mean[suite.tasks][ran]
    return lengths, timed[suite.tasks][ran], suite.successes[row][ran], suite.trials[row][ran]


def _row(
    height: Floats, slope: Floats, cells: tuple[Floats, ...], spread: Floats | float, slip: float
) -> dict[str, Any]:
    """Return one row of horizons: values, open ends as empty cells, and the status."""
    lengths, timed, successes, trials = cells
    row: dict[str, Any] = {}
    bottom, top = lengths.min() - REACH, lengths.max() + REACH
    mixed = 0 < successes.sum() < trials.sum()
    is_flat = mixed and float((slope <= FLAT).mean()) > MOST_FLAT
    for name, level in LEVELS.items():
        crossing = np.sort(lengths_at(height, slope, level, spread, slip))
        ends = [float(crossing[int(share * (crossing.size - 1))]) for share in (0.5, 0.05, 0.95)]
        low_open = is_flat or ends[1] < bottom or not successes.any()
        high_open = is_flat or ends[2] > top or successes.sum() == trials.sum()
        middle_open = not bottom <= ends[0] <= top or not successes.any() or successes.sum() == trials.sum()
        open_ends = (middle_open or (low_open and high_open), low_open, high_open)
        for suffix, value, is_open in zip(("", "_low", "_high"), ends, open_ends, strict=True):
            row[name + suffix] = None if is_open or not np.isfinite(value) else float(np.exp2(value))
    near = np.abs(lengths - np.clip(np.log2(row["p50"] or 1.0), lengths.min(), lengths.max())) <= NEAR
    row |= {"tasks": int(lengths.size), "runs": round(float(trials.sum()))}
    row["status"] = status_of(row, bool(timed[near].mean() >= 0.5) if near.any() else False)
    return row


def curve_table(mode: Mode, theta: Floats) -> pl.DataFrame:
    """Return success by length over all suites, from a quarter of the shortest to four times the longest task."""
    at, effect = mode.places, mode.spreads.effect
    between = effect["v"] ** 2 + effect["w"] ** 2 if len(mode.design.suites) > 1 else 0.0
    spread, slip = float(np.sqrt(effect["e"] ** 2 + between)), float(mode.spreads.slip.mean())
    ends = mode.lengths.mean.min() - 2, mode.lengths.mean.max() + 2
    grid = np.arange(np.floor(ends[0]), np.ceil(ends[1]) + 1)
    shrink = 1 / np.sqrt(1 + (16 * np.sqrt(3) / (15 * np.pi)) ** 2 * spread**2)
    parts = []
    for place, subject in enumerate(mode.design.subjects):
        logits = theta[:, at.a][:, place, None] - theta[:, at.b][:, place, None] * grid
        rates = np.quantile((1 - slip) * expit(shrink * logits), (0.5, 0.05, 0.95), axis=0)
        columns = (subject, ALL, np.exp2(CENTER + grid), *rates, None)
        parts.append(pl.DataFrame(dict(zip(CURVE, columns, strict=True)), schema_overrides=CURVE))
    return pl.concat(parts)


def part_table(mode: Mode) -> pl.DataFrame:
    """Return the shares of the variance of each subject's p50 from suites, times, tasks and runs.

    Each part is the variance that goes away when the part is given, in that order.
    """
    at = mode.places
    size = np.arange(at.size)
    base = np.r_[size[at.a], size[at.b], size[at.mean]]
    exact = replace(mode, lengths=replace(mode.lengths, variance=np.zeros_like(mode.lengths.variance)))
    inverses = [mode.covariance]
    for matrix, kept in (
        (precision(mode), np.r_[base, size[at.u]]),
        (precision(exact), base),
        (precision(exact, tasks_fixed=True), base),
    ):
        inverse = np.zeros_like(matrix)
        inverse[np.ix_(kept, kept)] = np.linalg.inv(matrix[np.ix_(kept, kept)])
        inverses.append(inverse)
    a, b = size[at.a], size[at.b]
    slope = np.maximum(mode.theta[b], FLAT)
    first, second = 1 / slope, -mode.theta[a] / slope**2
    variances = np.array(
        [first**2 * one[a, a] + 2 * first * second * one[a, b] + second**2 * one[b, b] for one in inverses]
    )
    steps = np.maximum(0.0, np.vstack([variances[:-1] - variances[1:], variances[-1:]]))
    return pl.DataFrame({"subject": mode.design.subjects, **dict(zip(PARTS, steps / steps.sum(0), strict=True))})


def people_curve(data: HorizonData, persons: list[str]) -> pl.DataFrame:
    """Return subject, suite, minutes, rate, low, high, n of people by length; rates only of 20 attempts or more.

    The length of an attempt is its task's best time; a task without one has the minutes of the attempt.
    """
    attempts = data.attempts.select(
        "suite", "task", "minutes", score=pl.col("solved").cast(pl.Float64), trials=pl.lit(1.0)
    )
    runs = data.runs.filter(pl.col("subject").is_in(persons)).select(
        "suite", "task", pl.lit(None, pl.Float64).alias("minutes"), "score", "trials"
    )
    table = pl.concat([attempts, runs]).join(exact_minutes(data.times), on=["suite", "task"], how="left")
    table = table.with_columns(x=pl.coalesce("x", pl.col("minutes").log(2))).drop_nulls("x")
    bins = np.digitize(np.exp2(table["x"].to_numpy()), EDGES)
    binned = table.group_by(place=pl.Series(bins)).agg(
        pl.sum("trials"), right=(pl.col("score") * pl.col("trials")).sum()
    )
    ends = np.r_[EDGES[0] / 4, EDGES, EDGES[-1] * 4]
    rows = []
    for place, tried, right in binned.sort("place").rows():
        bounds = (right / tried, *map(float, rate_interval(right, tried))) if tried >= FEWEST else (None, None, None)
        rows.append((PEOPLE, ALL, float(np.sqrt(ends[place] * ends[place + 1])), *bounds, int(tried)))
    return pl.DataFrame(rows, schema=CURVE, orient="row")
