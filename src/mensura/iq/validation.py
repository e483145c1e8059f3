"""Is the imputation any good? Hide what was measured, impute it, and compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from mensura.core.arrays import Ints
from mensura.core.errors import MensuraError
from mensura.iq.dimensions import STATUSES, score_dimensions
from mensura.iq.joint import fill_benchmarks
from mensura.iq.matrix import ScoreMatrix
from mensura.iq.result import IqResult
from mensura.iq.waterfall import STEPS

By: TypeAlias = Literal["score", "dimension", "fold"]
FOLDS = 10


def hide_and_impute(
    result: IqResult, *, by: By = "score", seed: int = 0, advance: Callable[[], object] | None = None
) -> pl.DataFrame:
    """Hide every measured benchmark IQ, impute it by the waterfall, and return what came out.

    ``by``: hide one score at a time, all of a model's scores in a dimension, or one of ten random parts of all scores.
    Columns: subject, benchmark, dimension, truth, imputed, step, error (imputed − truth) and expected (the error the
    waterfall claims). Where nothing could be imputed these are null and the step is ``none``. ``advance`` is called
    once per hiding.
    """
    matrix = result.matrix
    tables = []
    for cells in hidings(matrix, by, seed):
        hidden = hide(matrix, cells)
        filled = fill_benchmarks(hidden, hidden.iqs[None], result.rules)
        at = cells[:, 0], cells[:, 1]
        tables.append((*at, filled.iqs[0][at], filled.steps[at], filled.errors[0][at]))
        if advance is not None:
            advance()
    rows, columns, imputed, steps, expected = (np.concatenate(part) for part in zip(*tables, strict=True))
    truth = matrix.iqs[rows, columns]
    return pl.DataFrame(
        {
            "subject": pl.Series(matrix.subjects).gather(rows),
            "benchmark": pl.Series(matrix.benchmarks).gather(columns),
            "dimension": pl.Series(matrix.dimensions).gather(matrix.dimension_of[columns]),
            "truth": truth,
            "imputed": pl.Series(imputed, nan_to_null=True),
            "step": pl.Series(STEPS).gather(steps),
            "error": pl.Series(imputed - truth, nan_to_null=True),
            "expected": np.where(np.isnan(imputed), np.nan, expected),
        }
    ).with_columns(pl.col("expected").fill_nan(None))


def hide_dimensions(result: IqResult, *, advance: Callable[[], object] | None = None) -> pl.DataFrame:
    """Hide each model's scores of a whole dimension in turn and estimate the dimension at its own level.

    Columns: subject, dimension, truth (as scored), imputed, step, error. Predecessors, peers and zeros are kept out of
    it, so that the dimension step itself is measured. ``advance`` is called once per hiding.
    """
    matrix, scored = result.matrix, result.scored
    rows = []
    own = (matrix.measured @ matrix.members > 0) & ~np.isnan(scored.dimensions[0])
    for row, place in np.argwhere(own).tolist():
        cells = np.argwhere(matrix.measured & (matrix.dimension_of == place))
        hidden = _alone(hide(matrix, cells[cells[:, 0] == row]), row)
        filled = fill_benchmarks(hidden, hidden.iqs[None], result.rules)
        again = score_dimensions(hidden, filled, result.rules, result.weights)
        truth, value = scored.dimensions[0, row, place], again.dimensions[0, row, place]
        rows.append(
            (matrix.subjects[row], matrix.dimensions[place], truth, value, STATUSES[again.statuses[row, place]])
        )
        if advance is not None:
            advance()
    table = pl.DataFrame(rows, schema=["subject", "dimension", "truth", "imputed", "step"], orient="row")
    return table.with_columns(pl.col("imputed").fill_nan(None)).with_columns(error=pl.col("imputed") - pl.col("truth"))


def hidings(matrix: ScoreMatrix, by: By, seed: int = 0) -> Iterator[Ints]:
    """Yield the cells (row, column) that are hidden together."""
    cells = np.argwhere(matrix.measured)
    if by == "score":
        yield from cells[:, None, :]
    elif by == "dimension":
        group = cells[:, 0] * len(matrix.dimensions) + matrix.dimension_of[cells[:, 1]]
        yield from (cells[group == one] for one in np.unique(group))
    elif by == "fold":
        yield from np.array_split(np.random.default_rng(seed).permutation(cells), FOLDS)
    else:
        raise MensuraError(f"by: expected score, dimension or fold, got {by!r}")


def hide(matrix: ScoreMatrix, cells: Ints) -> ScoreMatrix:
    """Return the matrix without these scores."""
    iqs = matrix.iqs.copy()
    iqs[cells[:, 0], cells[:, 1]] = np.nan
    return matrix.with_iqs(iqs)


def summarise(outcomes: pl.DataFrame, by: str = "step") -> pl.DataFrame:
    """Return error and bias per step (or other column): n, bias (mean error), mae and rmse, in IQ points."""
    error = pl.col("error")
    return (
        outcomes.filter(error.is_not_null())
        .group_by(by)
        .agg(
            pl.len().cast(pl.Int64).alias("n"),
            error.mean().alias("bias"),
            error.abs().mean().alias("mae"),
            (error**2).mean().sqrt().alias("rmse"),
        )
        .sort("n", by, descending=[True, False])
    )


def _alone(matrix: ScoreMatrix, row: int) -> ScoreMatrix:
    """Return the matrix with one model cut off from predecessors, and without peers or assumed zeros."""
    ancestors = matrix.ancestors.copy()
    ancestors[row] = -1
    no_peers, no_zeros = np.zeros_like(matrix.by_peers), np.zeros_like(matrix.zero_before)
    return replace(matrix, ancestors=ancestors, by_peers=no_peers, zero_before=no_zeros)
