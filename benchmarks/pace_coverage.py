"""Does the interval of the pace hold the pace? python -m benchmarks.pace_coverage [--worlds 30] [--method rosetta].

One-dimensional worlds without change (120 releases over two years, 30 benchmarks, 0.72 a year with a scatter of 0.3),
stitched, with two models of known capability for the unit. Printed are the mean slope and how often the nominal 90%
interval holds the true pace: for the pace (all releases) and, beside it, for the line through the records.
"""

from __future__ import annotations

import argparse
import json
from datetime import date, timedelta

import numpy as np
import polars as pl

from benchmarks import run
from benchmarks.measured import record
from mensura.core.arrays import expit
from mensura.stitching import stitch
from mensura.trends import measure_pace

RELEASES, BENCHMARKS, SPAN = 120, 30, 2.0
PACE, SCATTER, ERROR = 0.72, 0.3, 0.03


def make(rng: np.random.Generator) -> tuple[pl.DataFrame, np.ndarray]:
    """Scores with release dates, and the true capabilities in the order of the subjects' names."""
    years = np.sort(rng.uniform(0, SPAN, RELEASES))
    C = PACE * years + rng.normal(0, SCATTER, RELEASES)
    D, slope = rng.uniform(-0.5, PACE * SPAN + 0.7, BENCHMARKS), rng.uniform(2, 5, BENCHMARKS)
    expected = expit(slope * (C[:, None] - D))
    rows, cols = np.nonzero((expected > 0.03) & (expected < 0.97) & (rng.random(expected.shape) < 0.4))
    scores = np.clip(expected[rows, cols] + rng.normal(0, ERROR, rows.size), 0, 1)
    days = [date(2024, 1, 1) + timedelta(days=round(365.25 * year)) for year in years]
    table = {"subject": [f"m{i:03}" for i in rows], "benchmark": [f"b{j:02}" for j in cols], "score": scores}
    return pl.DataFrame(table | {"released": [days[i] for i in rows]}), C


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=30)
    parser.add_argument("--method", choices=["pooled", "rosetta"], default="rosetta")
    parser.add_argument("--dimensions", type=int, default=1, help="of the pooled method")
    options = parser.parse_args()
    settings = {"dimensions": options.dimensions} if options.method == "pooled" else {}
    found = []
    for world in range(options.worlds):
        scores, C = make(np.random.default_rng([3, world]))
        tested = scores.group_by("subject").len().filter(pl.col("len") >= 5)["subject"].sort()
        low, high = tested[0], tested[-1]
        known = {name: float(C[int(name[1:])]) for name in (low, high)}
        if abs(known[high] - known[low]) < 0.5:
            continue
        fit = stitch(scores, method=options.method, anchor_subjects=known, **settings)  # type: ignore[arg-type]
        found.append(
            measure_pace(fit).table.with_columns(world=world, held=pl.col("low").le(PACE) & pl.col("high").ge(PACE))
        )
    table = (
        pl.concat(found)
        .group_by("line", maintain_order=True)
        .agg(
            pl.len().alias("worlds"),
            pl.col("slope").mean(),
            pl.col("held").mean(),
            (pl.col("high") - pl.col("low")).mean().alias("width"),
        )
    )
    print(f"true pace {PACE} a year, {options.method}; intervals of 90%")
    for row in table.to_dicts():
        error = float(np.sqrt(row["held"] * (1 - row["held"]) / row["worlds"]))
        figures = f"slope {row['slope']:.3f}  held {row['held']:.2f} ± {error:.2f}  width {row['width']:.2f}"
        print(f"{row['line']:<10} {row['worlds']:>4} worlds  {figures}")
    print(json.dumps({"pace": PACE, "method": options.method, "lines": table.to_dicts()}))
    record("trends.pace", f"{table.filter(line='releases')['held'].item():.2f}")


if __name__ == "__main__":
    run(main)
