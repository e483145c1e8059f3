"""Sources that score high or low: estimated where they score the same subject on the same benchmark, then taken out.

On the logit scale, in cells with several sources: logit = cell + offset of the source + error, offsets N(0, τ²). The
published method takes the maximum over sources instead, which biases upward.
"""

from __future__ import annotations

import numpy as np
import polars as pl

PRINTED = "score as printed"
"""Column of scores before offsets are taken out; a user's table has no such name."""
SWEEPS = 30
"""Alternations of cell means and source offsets; offsets settle geometrically, far below a hundredth of a logit."""
SMALLEST_SPREAD = 1e-4
"""Least variance of the offsets, so that their shrinkage stays finite."""
CERTAIN = 0.01
"""Scores nearer than this to 0 or 1 have no usable logit: they keep their value and inform no offset beyond it."""
SMALLEST_OVERLAP = 10
"""Cells with several sources below which no offsets are estimated."""


def adjust_sources(frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return scores with source offsets taken out, and the offsets: source, offset (logits), scores in common cells.

    Where there are offsets, :data:`PRINTED` keeps the scores as their sources give them.
    """
    empty = pl.DataFrame(schema={"source": pl.String, "offset": pl.Float64, "scores": pl.UInt32})
    if "source" not in frame.columns:
        return frame, empty
    logit = (pl.col("score").clip(CERTAIN, 1 - CERTAIN) / (1 - pl.col("score").clip(CERTAIN, 1 - CERTAIN))).log()
    cells = frame.with_columns(logit=logit).filter(
        pl.col("source").is_not_null() & (pl.col("source").n_unique().over("subject", "benchmark") > 1)
    )
    if cells.select("subject", "benchmark").unique().height < SMALLEST_OVERLAP:
        return frame, empty
    offsets = _offsets(cells)
    shifted = logit - pl.col("offset").fill_null(0.0)
    inside = (pl.col("score") > CERTAIN) & (pl.col("score") < 1 - CERTAIN)
    adjusted = frame.join(
        offsets.select("source", "offset"), on="source", how="left", maintain_order="left"
    ).with_columns(
        pl.col("score").alias(PRINTED),
        score=pl.when(inside).then(1 / (1 + (-shifted).exp())).otherwise(pl.col("score")),
    )
    return adjusted.drop("offset"), offsets


def _offsets(cells: pl.DataFrame) -> pl.DataFrame:
    """Alternate cell means and shrunken source offsets; variances by moments."""
    cells = cells.with_columns(offset=pl.lit(0.0))
    offsets = pl.DataFrame()
    for _ in range(SWEEPS):
        centre = (pl.col("logit") - pl.col("offset")).mean().over("subject", "benchmark")
        cells = cells.with_columns(deviation=pl.col("logit") - centre)
        error = float(np.mean((cells["deviation"] - cells["offset"]).to_numpy() ** 2))
        raw = cells.group_by("source").agg(pl.col("deviation").mean().alias("raw"), pl.len().alias("scores"))
        spread = max(float(np.mean(raw["raw"].to_numpy() ** 2 - error / raw["scores"].to_numpy())), SMALLEST_SPREAD)
        offsets = raw.with_columns(
            offset=pl.col("raw") * pl.col("scores") / (pl.col("scores") + error / spread)
        ).select("source", "offset", "scores")
        cells = cells.drop("offset").join(offsets.select("source", "offset"), on="source", how="left")
    return offsets.sort("source")
