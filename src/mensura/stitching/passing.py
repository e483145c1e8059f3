"""Who scored above a group of people first on a test, when, and how surely: by scores on that test, in its metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats, Ints
from mensura.evidence.above import chance_over, who_is_above
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
    taken = {subject: (own, variance) for subject, _, own, variance in _takers(fit, benchmark).iter_rows()}
    known = ((model, taken.get(model) or _expected(fit, model, benchmark)) for model in models)
    return {model: chance_over(own, variance, score, stderr) for model, (own, variance) in known}


def _expected(fit: Stitch, model: str, benchmark: str) -> tuple[float, float]:
    """Return the expected score of a model on a test it did not take, and its variance."""
    data = fit.data
    pair: tuple[Ints, Ints] = (
        np.array([data.subjects.index(model)]),
        np.array([data.benchmarks.index(benchmark)]),
    )
    expected: Floats = point_scores(fit.model, *pair)
    spread = expected_scores(fit.model, fit.own_draws, *pair).var(axis=0)
    return expected[0], (spread + fit.model.noise(expected, pair[1]))[0]


def _takers(fit: Stitch, benchmark: str) -> pl.DataFrame:
    """Return who took a test: subject, released, score, variance."""
    data = fit.data
    cells = np.flatnonzero(data.layout.cols == data.benchmarks.index(benchmark))
    rows = data.layout.rows[cells]
    released = [to_date(year) if np.isfinite(year) else None for year in data.years[rows]]
    return pl.DataFrame(
        {
            "subject": [data.subjects[row] for row in rows],
            "released": pl.Series(released, dtype=pl.Date),
            "score": data.printed[cells],
            "variance": data.sampling[cells],
        }
    )
