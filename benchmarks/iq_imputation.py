"""Is the imputation any good? Measured scores are hidden, imputed and compared, beside two simple alternatives.

``python -m benchmarks.iq_imputation``. Error is imputed − measured, in IQ points, so a negative bias means that the
method puts models too low. The alternatives see the same scores (ten random parts hidden in turn): the mean of the
benchmark, and the joint model of all scores, which is how score_iq fills gaps unless the published method is asked for.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl

import mensura
from mensura.core.arrays import Floats
from mensura.core.frames import text_table
from mensura.iq.dimensions import STATUSES, score_dimensions
from mensura.iq.joint import complete_jointly, fill_benchmarks
from mensura.iq.matrix import ScoreMatrix
from mensura.iq.result import IqResult
from mensura.iq.validation import hide, hide_and_impute, hidings, summarise


def column_mean(iqs: Floats) -> Floats:
    return np.broadcast_to(np.nanmean(iqs, axis=0), iqs.shape)


def alternatives(result: mensura.IqResult) -> pl.DataFrame:
    matrix, tables = result.matrix, []
    for cells in hidings(matrix, "fold"):
        hidden = hide(matrix, cells)
        at = cells[:, 0], cells[:, 1]
        for name, completed in (
            ("column mean", column_mean(hidden.iqs)),
            ("joint", complete_jointly(hidden, result.rules.imputation).iqs[0]),
        ):
            columns = {
                "subject": pl.Series(matrix.subjects).gather(cells[:, 0]),
                "benchmark": pl.Series(matrix.benchmarks).gather(cells[:, 1]),
                "method": name,
                "error": completed[at] - matrix.iqs[at],
            }
            tables.append(pl.DataFrame(columns))
    return pl.concat(tables)


def coverage(outcomes: pl.DataFrame) -> pl.DataFrame:
    inside = (pl.col("error").abs() <= 1.645 * pl.col("expected")).mean()
    return outcomes.drop_nulls("error").group_by("step").agg(inside.alias("covered"))


def hide_dimensions(result: IqResult) -> pl.DataFrame:
    """Hide each model's scores of a whole dimension in turn and estimate the dimension at its own level.

    Columns: subject, dimension, truth (as scored), imputed, step, error. Predecessors, peers and zeros are kept out of
    it, so that the dimension step itself is measured.
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
    table = pl.DataFrame(rows, schema=["subject", "dimension", "truth", "imputed", "step"], orient="row")
    return table.with_columns(pl.col("imputed").fill_nan(None)).with_columns(error=pl.col("imputed") - pl.col("truth"))


def _alone(matrix: ScoreMatrix, row: int) -> ScoreMatrix:
    """Return the matrix with one model cut off from predecessors, and without peers or assumed zeros."""
    ancestors = matrix.ancestors.copy()
    ancestors[row] = -1
    no_peers, no_zeros = np.zeros_like(matrix.by_peers), np.zeros_like(matrix.zero_before)
    return replace(matrix, ancestors=ancestors, by_peers=no_peers, zero_before=no_zeros)


def main() -> None:
    result = mensura.score_iq(mensura.load(), method="published")
    figures: dict[str, object] = {}
    single = hide_and_impute(result)
    table = summarise(single).join(coverage(single), on="step", maintain_order="left")
    print("One score hidden at a time, by the step that filled it (covered: share within the claimed 90 % interval)")
    print(text_table(table, digits=2))
    print(f"not imputed at all: {single['error'].null_count()} of {single.height}")
    figures["by_step"] = {row["step"]: row for row in table.to_dicts()}

    whole = summarise(hide_and_impute(result, by="dimension"))
    print("\nAll scores of a model in one dimension hidden together, benchmark by benchmark")
    print(text_table(whole, digits=2))
    dimensions = hide_dimensions(result)
    print("\nThe dimension step alone: a scored dimension hidden and estimated from models alike")
    print(text_table(summarise(dimensions), digits=2))
    print(text_table(summarise(dimensions, "dimension"), digits=2))
    figures["dimension_step"] = {row["dimension"]: row for row in summarise(dimensions, "dimension").to_dicts()}
    figures["peers"] = next((row for row in whole.to_dicts() if row["step"] == "peers"), None)

    parts = hide_and_impute(result, by="fold").drop_nulls("error")
    others = (
        alternatives(result)
        .filter(pl.col("error").is_finite())
        .join(parts.select("subject", "benchmark", "step"), on=["subject", "benchmark"])
    )
    ours = parts.select("subject", "benchmark", pl.lit("waterfall").alias("method"), "error", "step")
    compared = pl.concat([ours, others.select(ours.columns)])
    print("\nThe same hidden scores, three ways")
    overall = summarise(compared, "method")
    print(text_table(overall, digits=2))
    by_step = compared.group_by("step", "method").agg(
        pl.len().alias("n"), pl.mean("error").alias("bias"), pl.col("error").abs().mean().alias("mae")
    )
    print(text_table(by_step.sort("step", "method"), rows=30, digits=2))
    figures["compared"] = {row["method"]: row for row in overall.to_dicts()}
    joint = mensura.score_iq(mensura.load())
    print("\nThe joint model alone (covered: share within the claimed 90 % interval)")
    found = hide_and_impute(joint, by="fold")
    table = summarise(found).join(coverage(found), on="step")
    print(text_table(table, digits=2))
    figures["joint"] = table.to_dicts()[0]
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
