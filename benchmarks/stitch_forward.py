"""Error forward in time: models before an origin and three scores of each later one predict its other scores.

The default beside the published model and one dimension, on the reference scores and on the embedded evidence, at
rolling origins a quarter apart; all later models of half a year at once, and (``--alone N``) N of them one by one.
``python -m benchmarks.stitch_forward scores.csv`` does the same on a table of your own.
"""

from __future__ import annotations

import argparse
import time
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl

import mensura
from benchmarks import run
from benchmarks.stitch_data import finish, reference_scores
from benchmarks.stitch_validation import FORWARD, GIVEN, forward_errors, merge_cells, vintages
from mensura.intake.own_scores import read_own_scores
from mensura.stitching import evidence_scores, read_any, stitch

THREE = {name: FORWARD[name] for name in ("rosetta (as published)", "pooled (default)", "pooled, 1 dimension")}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seeds", type=int, default=1, help="draws of the three given scores")
    arguments.add_argument("--alone", type=int, default=0, help="later models per origin that are also refitted alone")
    arguments.add_argument("scores", type=Path, nargs="?", help="table with model, benchmark, score, release_date")
    options = arguments.parse_args()
    if options.scores is not None:
        mine = read_any(read_own_scores(options.scores))[0]
        show(str(options.scores), forward_errors(mine), 0.0, {})
        return
    reference = reference_scores().select(
        "benchmark", "score", subject="model", released=pl.col("release_date").str.to_date()
    )
    quarters = [date(2024 + (i // 4), 1 + 3 * (i % 4), 1) for i in range(1, 7)]
    runs = {"reference scores": (reference, quarters), "embedded evidence": (evidence_scores(mensura.load())[0], None)}
    figures: dict[str, object] = {}
    for title, (frame, origins) in runs.items():
        started = time.process_time()
        found = pl.concat(forward_errors(frame, origins=origins, seed=seed) for seed in range(options.seeds))
        found = found.group_by("setting", maintain_order=True).mean()
        show(title, found, time.process_time() - started, figures)
        if options.alone:
            show(f"{title}, one by one", alone(frame, origins, options.alone), 0.0, figures)
    finish(figures)


def alone(frame: pl.DataFrame, origins: list[date] | None, per_origin: int) -> pl.DataFrame:
    """Refit with one later model at a time, so that nothing later informs the benchmarks."""
    rng = np.random.default_rng(0)
    dated = merge_cells(frame).drop_nulls("released")
    rows = []
    for vintage in vintages(dated, origins, GIVEN, 0):
        before = vintage.known.filter(pl.col("released") < vintage.origin)
        names = vintage.later["subject"].unique().sort().to_numpy()
        for name in rng.permutation(names)[:per_origin]:
            mine = pl.col("subject") == name
            for setting, chosen in THREE.items():
                fit = stitch(pl.concat([before, vintage.known.filter(mine)]), parts="keep", **chosen)
                seen = vintage.later.filter(mine)["score"]
                predicted = fit.predict(vintage.later.filter(mine))
                error = predicted["score"] - seen
                inside = (predicted["low"] <= seen) & (seen <= predicted["high"])
                rows += zip([setting] * seen.len(), error, inside, strict=True)
    cells = pl.DataFrame(rows, schema=["setting", "error", "inside"], orient="row")
    table = cells.group_by("setting", maintain_order=True).agg(
        pl.len().alias("scores"),
        (pl.col("error") ** 2).mean().sqrt().alias("rmse"),
        pl.col("error").mean().alias("bias"),
        pl.col("inside").mean().alias("coverage"),
    )
    return table.with_columns(change=pl.col("rmse") / pl.col("rmse").first() - 1)


def show(title: str, found: pl.DataFrame, seconds: float, figures: dict[str, object]) -> None:
    """Print one comparison and keep its figures."""
    print(f"\n{title} ({seconds:.0f} s)", flush=True)
    with pl.Config(tbl_rows=20, tbl_cols=12, float_precision=4, tbl_hide_dataframe_shape=True, fmt_str_lengths=60):
        print(found, flush=True)
    figures[title] = {row["setting"]: [row["rmse"], row["coverage"], row["change"]] for row in found.to_dicts()}


if __name__ == "__main__":
    run(main)
