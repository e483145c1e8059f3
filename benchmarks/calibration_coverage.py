"""Do calibrations find known bases? ``python -m benchmarks.calibration_coverage [--replications N]``.

Simulated pools with known bases, guessing, annotation errors and pools that differ, at several sizes: coverage of the
90% intervals with its Monte Carlo error (bases of one simulated pool miss together, so it is that of means over
replications), and error in log10 of the base, ours against the published procedure on the same data ("means").
"held by": how often the interval of the published procedure, which resamples items, held the base.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
import polars as pl

from benchmarks import run
from benchmarks.calibration_pools import simulate_pools
from benchmarks.measured import percent_range, record
from mensura.calibration import read_items
from mensura.calibration.bases import calibrate_items
from mensura.demands.rubrics import annotated_dimensions

CODES = tuple(annotated_dimensions())
NINE = CODES[::2]
MEANS_DRAWS = 200
SHOWN = ("coverage", "coverage_se", "width", "rmse", "rmse_means", "bias", "coverage_means")
WORLDS: dict[str, dict[str, object]] = {
    "3 pools of 30": {"pools": 3, "items": 30},
    "4 pools of 60": {"pools": 4, "items": 60},
    "12 pools of 40": {"pools": 12, "items": 40},
    "6 pools of 150": {"pools": 6, "items": 150},
    "12 pools of 200": {"pools": 12, "items": 200},
    "12 pools of 40, no guessing": {"pools": 12, "items": 40, "options": None},
    "12 pools of 40, levels without error": {"pools": 12, "items": 40, "reading_error": 0.0},
    "12 pools of 40, pools alike": {"pools": 12, "items": 40, "pool_slope": 0.0, "pool_shift": 0.0},
    "5 pools of 80, worse readers, fewer people": {
        "pools": 5, "items": 80, "options": 3, "reading_error": 0.6, "people": 60, "residual": 0.4, "pool_slope": 0.1,
    },
    "8 pools of 60, 18 dimensions, flatter": {"pools": 8, "items": 60, "dimensions": CODES, "highest_slope": 0.25},
    "7 pools of 70, two options, pools far apart": {
        "pools": 7, "items": 70, "options": 2, "reading_error": 0.45, "people": 120, "residual": 0.3,
        "pool_slope": 0.07, "pool_shift": 0.4, "highest_slope": 0.45,
    },
    "12 pools of 40, readings share errors": {"pools": 12, "items": 40, "shared_error": 0.35},
    "12 pools of 40, abilities correlate 0.5": {"pools": 12, "items": 40, "correlation": 0.5},
}  # fmt: skip
"""The two before the last were not looked at while the method was made (the one before them was, once it had been
found short). In the one before the last, both readings share half of the variance of their errors, as two runs of one
language model may. In the last, people who meet one demand meet others more often, so depths do not add up."""
SHARED = "12 pools of 40, readings share errors"
CORRELATED = "12 pools of 40, abilities correlate 0.5"


def measure(world: dict[str, object], replications: int, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    held, ours, means, both, widths, held_by_means = [], [], [], [], [], []
    for _ in range(replications):
        drawn = simulate_pools(rng, **{"dimensions": NINE, **world})  # type: ignore[arg-type]
        items = read_items(drawn.rates, drawn.demands)
        found = calibrate_items(items, draws=1000, seed=int(rng.integers(1 << 31))).bases
        published = calibrate_items(items, method="means", draws=MEANS_DRAWS).bases
        line = published["slope"].cast(float).to_numpy()
        low, high = np.log10(found["low"].to_numpy()), np.log10(found["high"].to_numpy())
        held.append((low <= drawn.slopes) & (drawn.slopes <= high))
        widths.append(high - low)
        error = found["slope"].to_numpy() - drawn.slopes
        ours.append(error)
        known = np.isfinite(line)
        ends = np.log10(published.select(pl.col("low", "high").cast(float)).to_numpy()[known])
        held_by_means.append((ends[:, 0] <= drawn.slopes[known]) & (drawn.slopes[known] <= ends[:, 1]))
        means.append((line - drawn.slopes)[known])
        both.append(error[known])
    root = lambda parts: float(np.sqrt(np.mean(np.concatenate(parts) ** 2)))  # noqa: E731
    return {
        "coverage": float(np.mean(held)),
        "coverage_means": float(np.mean(np.concatenate(held_by_means))),
        "coverage_se": float(np.std(np.mean(held, axis=1)) / np.sqrt(len(held))),
        "width": float(np.mean(widths)),
        "rmse": root(both),
        "rmse_means": root(means),
        "bias": float(np.mean(ours)),
        "bases": int(np.size(held)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--world", choices=list(WORLDS), action="append", help="this one alone; repeatable")
    given = parser.parse_args()
    figures = {}
    titles = ("coverage", "± se", "width", "error", "means", "bias", "held by", "bases", "s")
    print(f"{'world':43s}" + "".join(f"{title:>9s}" for title in titles))
    for name in given.world or WORLDS:
        world = WORLDS[name]
        start = time.perf_counter()
        big = int(world["pools"]) * int(world["items"]) > 1000  # type: ignore[call-overload]
        figure = measure(world, max(given.replications // (2 if big else 1), 1), given.seed)
        figures[name] = {key: round(value, 4) for key, value in figure.items()}
        shown = [f"{figure[key]:9.3f}" for key in SHOWN]
        seconds = time.perf_counter() - start
        print(f"{name:43s}{''.join(shown)}{figure['bases']:9.0f}{seconds:9.0f}", flush=True)
    print(json.dumps(figures))
    if shared := figures.pop(SHARED, None):
        record("calibration.shared_readings", f"{shared['coverage']:.0%}")
    if correlated := figures.pop(CORRELATED, None):
        record("calibration.correlated_abilities", f"{correlated['coverage']:.0%}")
        record("calibration.correlated_bias", f"{10 ** correlated['bias']:.2f}")
    if figures:
        record("calibration.coverage", percent_range(figure["coverage"] for figure in figures.values()))


if __name__ == "__main__":
    run(main)
