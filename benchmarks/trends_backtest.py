"""Rolling-origin backtest of the frontier forecasts: python -m benchmarks.trends_backtest [--every 2].

From the first of every second month on which 15 models and 3 records were known, the frontier is forecast 3, 6 and 12
months ahead and compared with what came. "refitted": everything is refitted at every origin to the scores known then:
of models out by then and, on the reference data, of benchmarks out by then (the embedded evidence does not know when
its benchmarks came out, and its scores carry the day their source was read, later than the day they were known).
"final": the capabilities of the last fit, as in the published validation, which forgives the error of the early fit.
The reference data are development data: where they are absent, only the embedded evidence is measured.
"""

from __future__ import annotations

import argparse

import polars as pl

from benchmarks import optional_data, run
from benchmarks.measured import record
from benchmarks.stitch_data import finish, reference_scores, table
from mensura.evidence import load
from mensura.stitching import evidence_scores, read_scores, stitch
from mensura.trends import Backtest, backtest, read_capabilities
from mensura.trends.backtesting import monthly_origins

PUBLISHED = {"method": "rosetta", "anchor_benchmark": "Winogrande"}


def show(name: str, result: Backtest) -> dict[str, object]:
    for row in result.summary.to_dicts():
        ahead = "all" if row["horizon"] is None else f"{12 * row['horizon']:.0f} months"
        print(
            f"{name:58} {ahead:>9} {row['n']:>4} {row['error']:7.3f} {row['rmse']:7.3f} {row['bias']:+7.3f} "
            f"{row['coverage']:8.2f} {row['width']:7.2f}",
            flush=True,
        )
    return {"forecast": name, "refitted": result.refitted, "rows": result.summary.to_dicts()}


def reference() -> pl.DataFrame:
    """Scores of the published fit with the days their models and benchmarks came out."""
    scores = reference_scores().select("model", "benchmark", "score", released="release_date")
    benchmarks = table("benchmarks").select("benchmark", benchmark_released="release_date")
    return read_scores(scores).join(benchmarks, on="benchmark", how="left", maintain_order="left")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--every", type=int, default=2, help="months from origin to origin")
    options = arguments.parse_args()
    embedded = evidence_scores(load())[0]
    heads = f"{'ahead':>9} {'n':>4}   error    rmse    bias coverage   width"
    print(f"{'forecast of the frontier, intervals of 90%':58} {heads}")
    runs = []
    if optional_data("stitching"):
        scores = reference()
        runs += [
            ("published, final", scores, {"method": "rosetta", "refit": False, "fit_settings": PUBLISHED}),
            ("published, refitted", scores, {"method": "rosetta", "fit_settings": PUBLISHED}),
            ("ours, refitted, without the error of the fit", scores, {"fit_error": False, "fit_settings": PUBLISHED}),
            ("ours, refitted, with the error of C, D and α", scores, {"fit_settings": PUBLISHED}),
        ]
    runs += [
        ("embedded evidence: published, final", embedded, {"method": "rosetta", "refit": False}),
        ("embedded evidence: published, refitted", embedded, {"method": "rosetta"}),
        ("embedded evidence: ours, refitted", embedded, {}),
    ]
    rows = []
    for name, source, settings in runs:
        final = read_capabilities(stitch(source, parts="largest", **settings.get("fit_settings", {})))
        origins = monthly_origins(final)[:: options.every]
        last = backtest(source, origins=origins, **settings)
        rows.append(show(name, last))
    finish({"backtests": rows})
    record("trends.backtest", f"{last.summary.filter(pl.col('horizon').is_null())['coverage'].item():.0%}")


if __name__ == "__main__":
    run(main)
