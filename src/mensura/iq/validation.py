"""Is the imputation any good? Hide what was measured, impute it, and compare."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from mensura.core.arrays import Ints
from mensura.core.errors import MensuraError
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

    Parameters
    ----------
    result : IqResult
        A scoring.
    by : str
        Hide one ``score`` at a time, all of a model in a ``dimension``, or one of ten parts at random (``fold``).
    seed : int
        Seed of the parts.
    advance : callable, optional
        Called once per hiding.

    Returns
    -------
    table
        subject, benchmark, dimension, truth, imputed, step, error (imputed − truth), expected (the error that the
        method
        claims); null, with the step ``none``, where nothing could be imputed.

    Examples
    --------
    >>> import mensura
    >>> from mensura.iq import hide_and_impute
    >>> outcomes = hide_and_impute(mensura.score_iq(method="published"), by="fold")
    >>> outcomes.columns[:4]
    ['subject', 'benchmark', 'dimension', 'truth']

    """
    if seed and by != "fold":
        raise MensuraError(f"seed: got {seed}, but only by='fold' draws; choose it, or leave seed out")
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
            "expected": pl.Series(np.where(np.isnan(imputed), np.nan, expected), nan_to_null=True),
        }
    )


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
    return replace(matrix, iqs=iqs)


def summarise(outcomes: pl.DataFrame, by: str = "step") -> pl.DataFrame:
    """Sum up imputed scores by step or another column.

    Parameters
    ----------
    outcomes : table
        As :func:`hide_and_impute` returns it.
    by : str
        Column to group by.

    Returns
    -------
    table
        n, bias (mean error), mae and rmse, in IQ points.

    Examples
    --------
    >>> import polars as pl
    >>> from mensura.iq import summarise
    >>> summarise(pl.DataFrame({"step": ["peers", "peers"], "error": [-1.0, 3.0]})).row(0)
    ('peers', 2, 1.0, 2.0, 2.23606797749979)

    """
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
