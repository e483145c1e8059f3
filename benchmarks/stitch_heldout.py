"""Held-out error of the default method beside the published one: the same cells, 10 folds, several splits."""

from __future__ import annotations

import argparse
import time

import polars as pl

import mensura
from benchmarks import run
from benchmarks.stitch_data import finish, reference_scores, table
from benchmarks.stitch_validation import SETTINGS, held_out_errors
from mensura.stitching import evidence_scores

EVERY = dict(SETTINGS) | {"rosetta (as published)": {"method": "rosetta", "anchor_benchmark": "Winogrande"}}
BOTH = {name: EVERY[name] for name in ("rosetta (as published)", "pooled (default)")}
BRIEF = ("reference scores, names only", "reference scores, with release dates", "embedded evidence")
FREE = {name: SETTINGS[name] for name in BOTH}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--splits", type=int, default=2, help="splits of the main comparison")
    arguments.add_argument("--brief", action="store_true", help="names, dates and the embedded evidence only")
    options = arguments.parse_args()
    scores = reference_scores()
    levels = table("benchmarks").select("benchmark", chance="chance_level")
    names, dates = ["model", "benchmark", "score"], ["model", "benchmark", "score", "release_date"]
    everything = table("scores")
    embedded = evidence_scores(mensura.load())[0]
    main_splits, few = range(options.splits), range(min(2, options.splits))
    runs = {
        "reference scores, names only": (scores.select(names), BOTH, main_splits),
        "reference scores, with release dates": (scores.select(dates), BOTH, main_splits),
        "reference scores, dates and standard errors": (scores.select([*dates, "stderr"]), BOTH, few),
        "reference scores, dates and chance levels": (scores.select(dates).join(levels, on="benchmark"), BOTH, few),
        "all 2,408 rows, with release dates": (everything.select([*dates, "source"]), BOTH, few),
        "embedded evidence": (embedded, FREE, few),
        "sensitivity, with release dates": (scores.select(dates), EVERY, few),
    }
    if options.brief:
        runs = {title: run for title, run in runs.items() if title in BRIEF}
    figures: dict[str, object] = {}
    for title, (frame, settings, splits) in runs.items():
        started = time.process_time()
        found = held_out_errors(frame, settings, splits=splits)
        seconds = time.process_time() - started
        print(f"\n{title} ({len(splits)} splits, {seconds:.0f} s)")
        with pl.Config(tbl_rows=20, float_precision=4, tbl_hide_dataframe_shape=True, fmt_str_lengths=60):
            print(found)
        figures[title] = {row["setting"]: [row["rmse"], row["coverage"]] for row in found.to_dicts()}
        figures[f"{title}: change"] = found["change"][1]
    finish(figures)


if __name__ == "__main__":
    run(main)
