"""How much one benchmark decides, and what each benchmark can tell about whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats, Ints
from mensura.core.errors import MensuraError
from mensura.core.frames import sort_highest
from mensura.evidence.passing import PASSED, chance_over, verdict_of, who_is_above
from mensura.stitching.layout import levels
from mensura.stitching.links import to_date
from mensura.stitching.positions import LEVEL

if TYPE_CHECKING:
    from mensura.stitching.result import Stitch

FEWEST_DOMAINS = 3
"""Domains without which nobody can say how far another one would move capabilities."""


def benchmark_influence(fit: Stitch) -> pl.DataFrame:
    """Refit without each benchmark in turn and measure how far capabilities move.

    Parameters
    ----------
    fit : Stitch
        A fit of either method.

    Returns
    -------
    table
        benchmark, scores, shift (mean absolute change of capability), largest, subject (who moves most),
        rank_correlation with the whole fit, converged; most influential first. The anchor benchmark, which carries the
        scale, has no row.

    Examples
    --------
    >>> import mensura
    >>> rows = [(f"m{i}", f"b{j}", 0.2 + 0.1 * i + 0.01 * j**2) for i in range(6) for j in range(4)]
    >>> scores = {"subject": [r[0] for r in rows], "benchmark": [r[1] for r in rows], "score": [r[2] for r in rows]}
    >>> from mensura.stitching import benchmark_influence
    >>> benchmark_influence(mensura.stitch(scores, method="rosetta")).height
    3

    """
    layout = fit.data.layout
    turns = np.array([b for b in range(layout.n_benchmarks) if b != fit.scale.benchmark])
    weights = (layout.cols[None] != turns[:, None]).astype(float)
    positions, converged = fit.model.refit(weights)
    refitted = fit.scaled(positions)
    scored = layout.over_subjects(weights) > 0
    whole = fit.estimate.capability[0]
    moved = np.where(scored, refitted.capability - whole, np.nan)
    most = np.nanargmax(np.abs(moved), axis=1)
    every = np.arange(len(turns))
    rank = _ranks(whole)
    table = {
        "benchmark": [fit.data.benchmarks[b] for b in turns],
        "scores": np.bincount(layout.cols)[turns],
        "shift": np.nanmean(np.abs(moved), axis=1),
        "largest": moved[every, most],
        "subject": [fit.data.subjects[i] for i in most],
        "rank_correlation": [float(np.corrcoef(_ranks(row), rank)[0, 1]) for row in refitted.capability],
        "converged": converged,
    }
    return sort_highest(pl.DataFrame(table), "shift")


def battery_intervals(fit: Stitch, domains: Mapping[str, str]) -> pl.DataFrame:
    """Compute intervals of capability over batteries: how far other domains of tests could move it.

    The fit is repeated without each domain in turn (jackknife). What this moves, on average over the subjects, is the
    error of having these domains and no others; it adds to the error of the fit. Student's quantile counts the domains.

    Parameters
    ----------
    fit : Stitch
        A fit of either method.
    domains : mapping
        Benchmarks and their domains; a benchmark that it lacks is a domain of its own.

    Returns
    -------
    table
        subject, capability, low, high, battery_low, battery_high.

    Raises
    ------
    MensuraError
        If there are fewer than three domains.

    Examples
    --------
    >>> import mensura
    >>> rows = [(f"m{i}", f"b{j}", 0.2 + 0.1 * i + 0.01 * j**2) for i in range(6) for j in range(4)]
    >>> scores = {"subject": [r[0] for r in rows], "benchmark": [r[1] for r in rows], "score": [r[2] for r in rows]}
    >>> from mensura.stitching import battery_intervals
    >>> battery_intervals(mensura.stitch(scores), {"b0": "maths"}).columns[-2:]
    ['battery_low', 'battery_high']

    """
    layout, names = fit.data.layout, [domains.get(name, name) for name in fit.data.benchmarks]
    turns, place = np.unique(names, return_inverse=True)
    if turns.size < FEWEST_DOMAINS:
        raise MensuraError(
            f"domains: {turns.size} ({', '.join(turns)}); expected {FEWEST_DOMAINS} or more. Add tests of other ones."
        )
    weights = (place[layout.cols] != np.arange(turns.size)[:, None]).astype(float)
    scored = (layout.over_subjects(weights) > 0).all(axis=0)
    without = fit.scaled(fit.model.refit(weights)[0]).capability[:, scored]
    freedom = turns.size - 1
    squares = ((without - without.mean(axis=0)) ** 2).sum(axis=0) * freedom / turns.size
    half = scipy.special.stdtrit(freedom, 0.5 + fit.laplace.level / 2) * np.sqrt(squares.mean())
    middle = pl.col("capability")
    return fit.laplace.capabilities.with_columns(
        battery_low=middle - ((middle - pl.col("low")) ** 2 + half**2).sqrt(),
        battery_high=middle + ((pl.col("high") - middle) ** 2 + half**2).sqrt(),
    )


def information_curves(fit: Stitch, grid: Floats | None = None) -> pl.DataFrame:
    """Compute the Fisher information of one score about capability, for a subject with a typical profile.

    A benchmark is a sensor with a range: I_b(C) = f'(C)² / variance(f).

    Parameters
    ----------
    fit : Stitch
        A fit of either method.
    grid : array, optional
        Capabilities (default: those of the subjects, and a quarter of their range on both sides).

    Returns
    -------
    table
        benchmark, capability, information (per squared unit of the scale). 1/√(sum over benchmarks) is the standard
        error that a subject there would get.

    Examples
    --------
    >>> import mensura
    >>> rows = [(f"m{i}", f"b{j}", 0.2 + 0.1 * i + 0.01 * j**2) for i in range(6) for j in range(4)]
    >>> scores = {"subject": [r[0] for r in rows], "benchmark": [r[1] for r in rows], "score": [r[2] for r in rows]}
    >>> from mensura.stitching import information_curves
    >>> information_curves(mensura.stitch(scores)).columns
    ['benchmark', 'capability', 'information']

    """
    C = fit.estimate.capability[0]
    if grid is None:
        margin = 0.25 * (C.max() - C.min())
        grid = np.linspace(C.min() - margin, C.max() + margin, 61)
    data, b = fit.data, len(fit.data.benchmarks)
    cols, capability = np.repeat(np.arange(b), grid.size), np.tile(grid, b)
    phi = fit.estimate.phi[0][cols]
    f, slope = levels(data.chance[cols], data.ceiling[cols], phi[:, 0] + phi[:, 1] * capability, data.step)
    information = (slope * phi[:, 1]) ** 2 / fit.model.noise(f, cols)
    names = np.array(data.benchmarks)[cols]
    return pl.DataFrame({"benchmark": names, "capability": capability, "information": information})


def _ranks(values: Floats) -> Ints:
    return np.argsort(np.argsort(values, kind="stable"), kind="stable")


# Who scored above a group of people first on a test, when, and how surely: by scores on that test, in its metric.


def pass_tests(fit: Stitch, groups: pl.DataFrame) -> pl.DataFrame:
    """Say for every group on its test which models passed it, by :func:`~mensura.evidence.passing.who_is_above`.

    ``groups`` has benchmark, group, score, stderr, reason and more. Added: low and high (90%, of the group's score),
    models (measured on this test), above (how many of them passed the group), first and passed (the earliest released
    of those and its date; null: none yet), best and best_score (the model with the highest score), chance (that the
    best model's true score is above the group's), verdict. A group with a reason is compared with no model, except a
    panel.
    """
    takers = {benchmark: _takers(fit, benchmark) for benchmark in groups["benchmark"].unique()}
    rows = [
        who_is_above(takers[benchmark], score, stderr)
        for benchmark, score, stderr in groups.select("benchmark", "score", "stderr").iter_rows()
    ]
    schema = {
        "models": pl.Int64,
        "above": pl.Int64,
        "first": pl.String,
        "passed": pl.Date,
        "best": pl.String,
        "best_score": pl.Float64,
        "chance": pl.Float64,
    }
    moves = pl.DataFrame(rows, schema=schema, orient="row")
    half = float(scipy.special.ndtri(0.5 + LEVEL / 2)) * pl.col("stderr")
    table = pl.concat([groups, moves], how="horizontal").with_columns(
        low=(pl.col("score") - half).clip(0, 1), high=(pl.col("score") + half).clip(0, 1)
    )
    compared = pl.col("reason").is_null() | (pl.col("status") == "panel")
    verdicts = [
        PASSED if first else verdict_of(chance) for first, chance in table.select("first", "chance").iter_rows()
    ]
    table = table.with_columns(verdict=pl.Series(verdicts, dtype=pl.String))
    judged = ("above", "first", "passed", "chance", "verdict")
    table = table.with_columns(pl.when(compared).then(pl.col(name)).alias(name) for name in judged)
    order = ["benchmark", "group", "class", "status", "bound", "score", "low", "high", "stderr", "position"]
    return table.select(*order, *schema, "verdict", "reason").sort("benchmark", "score", descending=[False, True])


def win_chances(fit: Stitch, models: Sequence[str], benchmark: str, score: float, stderr: float) -> dict[str, float]:
    """Probabilities that the true scores of models that took a test are above a group's, by the errors of both."""
    taken = {subject: (own, variance) for subject, _, own, variance in _takers(fit, benchmark).iter_rows()}
    return {model: chance_over(*taken[model], score, stderr) for model in models if model in taken}


def _takers(fit: Stitch, benchmark: str) -> pl.DataFrame:
    """Return who took a test: subject, released, score, variance."""
    data = fit.data
    cells = np.flatnonzero(data.layout.cols == data.benchmarks.index(benchmark))
    rows = data.layout.rows[cells]
    released = [to_date(year) if np.isfinite(year) else None for year in data.years[rows]]
    table = {"subject": [data.subjects[row] for row in rows], "released": pl.Series(released, dtype=pl.Date)}
    return pl.DataFrame(table).with_columns(score=data.printed[cells], variance=data.sampling[cells])
