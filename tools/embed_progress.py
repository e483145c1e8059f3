"""Rebuild the report's figures on algorithmic progress: ``python -m tools.embed_progress``.

Capabilities are those of the default stitched fit of the Epoch AI scores; only the resulting estimates are kept.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from benchmarks import development_data
from mensura.core.files import write_csv
from mensura.stitching import stitch
from mensura.trends import measure_progress

TARGET = Path(__file__).parents[1] / "src" / "mensura" / "site" / "data" / "algorithmic_progress.csv"


def main() -> None:
    data = development_data("stitching")
    scores = pl.read_csv(data / "scores.csv", infer_schema_length=None).filter(in_reference_fit=1)
    models = pl.read_csv(data / "models.csv", infer_schema_length=None)
    known = models.filter(~pl.col("distilled").fill_null(False)).select(
        "training_compute_flop", subject="model", released="release_date", family="compute_family"
    )
    fit = stitch(scores.select("model", "benchmark", "score", "stderr", "release_date"))
    progress = measure_progress(fit.capabilities.select("subject", "capability").join(known, on="subject"))
    label = pl.concat_str("analysis", pl.lit(", "), "selection")
    table = progress.estimates.drop_nulls("factor").select(label.alias("label"), "n", "low", "high", value="factor")
    source = "computed by Mensura from scores and compute estimates of Epoch AI (CC BY 4.0), November 2025"
    write_csv(table.with_columns(source=pl.lit(source)), TARGET)


if __name__ == "__main__":
    main()
