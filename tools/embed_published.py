"""Rebuild the estimates of the published stitched fit: ``python -m tools.embed_published``.

Writes what Mensura's fit of the Epoch AI scores gives: difficulties with their 5%-loss bars, and the capabilities of
models that a picture or an analysis of the published fit needs. No score is kept.
"""

from __future__ import annotations

import polars as pl

from benchmarks import development_data
from benchmarks.published_robustness import sens5
from mensura.core.files import write_csv
from mensura.stitching import stitch
from mensura.trends import find_frontier, load_compute, load_horizons
from mensura.trends.capabilities import DATA

ANCHOR = "Winogrande"
SOURCE = "computed by Mensura from scores of Epoch AI (CC BY 4.0), November 2025"


def main() -> None:
    scores = pl.read_csv(development_data("stitching", "scores.csv"), infer_schema_length=None).filter(
        in_reference_fit=1
    )
    fit = stitch(
        scores.select("model", "benchmark", "score", "release_date"), method="rosetta", anchor_benchmark=ANCHOR
    )
    bars = sens5(fit)[1].join(fit.benchmarks.select("benchmark", "slope"), on="benchmark")
    write_csv(
        _rounded(bars.select("benchmark", "difficulty", "slope", "low", "high")), DATA / "published_benchmarks.csv"
    )
    used = pl.concat([table.select("subject") for table in (load_compute(), load_horizons(), find_frontier(fit))])
    dated = fit.dated.with_columns(pl.col("subject").str.strip_chars())
    models = dated.join(used, on="subject", how="semi").sort("released", "subject")
    write_csv(_rounded(models.select("subject", "released", "capability")), DATA / "published_models.csv")


def _rounded(table: pl.DataFrame) -> pl.DataFrame:
    numbers = pl.selectors.float().round(6)
    return table.with_columns(pl.when(numbers == 0).then(0.0).otherwise(numbers).name.keep(), source=pl.lit(SOURCE))


if __name__ == "__main__":
    main()
