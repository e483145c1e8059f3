"""Who scored above a group of people first on a test, when, and how surely: by scores on that test, in its metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats, Ints
from mensura.evidence.above import chance_over
from mensura.stitching.draws import LEVEL
from mensura.stitching.predict import expected_scores, point_scores
from mensura.stitching.years import to_date

if TYPE_CHECKING:
    from mensura.stitching.result import Stitch


def pass_tests(fit: Stitch, groups: pl.DataFrame) -> pl.DataFrame:
    """Say for every group on its test which models scored above it.

    ``groups`` has benchmark, group, score, stderr and more. Added: low and high (90%, of the group's score), models
    (measured on this test), above (how many of them scored higher), first and passed (the earliest released of those
    and its date; null: none yet), best and best_score (the model with the highest score), chance (that the best
    model's true score is above the group's).
    """
    data = fit.data
    rows = [_passing(fit, data.benchmarks.index(row[0]), *row[1:]) for row in _keys(groups)]
    schema = {
        "models": pl.Int64,
        "above": pl.Int64,
        "first": pl.String,
        "passed": pl.Date,
        "best": pl.String,
        "best_score": pl.Float64,
        "chance": pl.Float64,
    }
    found = pl.DataFrame(rows, schema=schema, orient="row")
    half = float(scipy.special.ndtri(0.5 + LEVEL / 2)) * pl.col("stderr")
    table = pl.concat([groups, found], how="horizontal").with_columns(
        low=(pl.col("score") - half).clip(0, 1), high=(pl.col("score") + half).clip(0, 1)
    )
    order = ["benchmark", "group", "class", "status", "bound", "score", "low", "high", "stderr", "position"]
    return table.select(*order, *schema).sort("benchmark", "score", descending=[False, True])


def win_chance(fit: Stitch, model: str, benchmark: str, score: float, stderr: float) -> float:
    """Probability that a model's true score on a test is above a group's, both read as normal around what is known.

    A measured score counts with its sampling error; where there is none, the model's expected score with its spread.
    """
    return win_chances(fit, [model], benchmark, score, stderr)[model]


def win_chances(fit: Stitch, models: Sequence[str], benchmark: str, score: float, stderr: float) -> dict[str, float]:
    """Return :func:`win_chance` of many models on one test; the test's scores are looked up once."""
    data = fit.data
    col = data.benchmarks.index(benchmark)
    cells = np.flatnonzero(data.layout.cols == col)
    measured = {data.subjects[data.layout.rows[cell]]: cell for cell in reversed(cells)}
    found = {}
    for model in models:
        cell = measured.get(model)
        own, variance = (data.y[cell], data.sampling[cell]) if cell is not None else _expected(fit, model, col)
        found[model] = chance_over(own, variance, score, stderr)
    return found


def _expected(fit: Stitch, model: str, col: int) -> tuple[float, float]:
    """Return the expected score of a model on a test it did not take, and its variance."""
    pair: tuple[Ints, Ints] = (np.array([fit.data.subjects.index(model)]), np.array([col]))
    expected: Floats = point_scores(fit.model, *pair)
    spread = expected_scores(fit.model, fit.own_draws, *pair).var(axis=0)
    return expected[0], (spread + fit.model.noise(expected, pair[1]))[0]


def _keys(groups: pl.DataFrame) -> list[tuple[str, float, float]]:
    return list(groups.select("benchmark", "score", "stderr").iter_rows())


def _passing(fit: Stitch, col: int, score: float, stderr: float) -> tuple[object, ...]:
    data = fit.data
    cells = np.flatnonzero(data.layout.cols == col)
    subjects, scores = data.layout.rows[cells], data.y[cells]
    over = subjects[scores > score]
    dated = over[np.isfinite(data.years[over])]
    first = int(dated[np.argmin(data.years[dated])]) if dated.size else None
    best = int(np.argmax(scores))
    name = data.subjects[subjects[best]]
    return (
        cells.size,
        over.size,
        None if first is None else data.subjects[first],
        None if first is None else to_date(data.years[first]),
        name,
        float(scores[best]),
        win_chance(fit, name, data.benchmarks[col], score, stderr),
    )
