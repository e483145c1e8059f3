"""Residuals: what was measured less what the fit, and capability alone, predict; cell by cell and in groups."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from mensura.stitching.models import Model
from mensura.stitching.positions import Positions
from mensura.stitching.predict import expected_scores


def cell_residuals(model: Model, at: Positions) -> pl.DataFrame:
    """One row per measured score: subject, benchmark, score, fitted, general, residual, above.

    Subjects and benchmarks stand at ``at``. ``fitted`` is what the whole fit expects, ``general`` what capability alone
    does; ``residual`` is measured minus fitted, ``above`` measured minus general.
    """
    data = model.data
    rows, cols = data.layout.rows, data.layout.cols
    alone = Positions(at.theta[:, :, :1], at.phi[:, :, :2])
    fitted, general = (expected_scores(model, where, rows, cols)[0] for where in (at, alone))
    return data.table.with_columns(
        fitted=pl.Series(fitted),
        general=pl.Series(general),
        residual=pl.Series(data.y - fitted),
        above=pl.Series(data.y - general),
    )


def residual_tables(
    residuals: pl.DataFrame, *, families: Mapping[str, str] | None = None, domains: Mapping[str, str] | None = None
) -> dict[str, pl.DataFrame]:
    """Residuals of a fit (``fit.residuals``) by benchmark, and by family of subjects and domain of benchmarks if given.

    Each table: the label, scores, mean residual, spread (root mean square), above (mean of measured minus what
    capability alone predicts), error (standard error of above), largest deviations first.
    """
    tables = {"residuals_by_benchmark": _grouped(residuals, "benchmark")}
    for name, column, labels in (("family", "subject", families), ("domain", "benchmark", domains)):
        if labels:
            named = residuals.with_columns(pl.col(column).replace_strict(dict(labels), default=None).alias(name))
            tables[f"residuals_by_{name}"] = _grouped(named.drop_nulls(name), name)
    return tables


def _grouped(cells: pl.DataFrame, by: str) -> pl.DataFrame:
    above = pl.col("above")
    table = cells.group_by(by).agg(
        pl.len().alias("scores"),
        pl.col("residual").mean(),
        (pl.col("residual") ** 2).mean().sqrt().alias("spread"),
        above.mean(),
        (above.std(ddof=1) / pl.len().sqrt()).alias("error"),
    )
    return table.sort(pl.col("above").abs(), by, descending=[True, False])
