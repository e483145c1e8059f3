"""Two detectors of an acceleration on the published synthetic set-up: false alarms, power, months to detection.

    python -m benchmarks.acceleration [--noise 0.5 1 2 4] [--null 150] [--power 25] [--calibration 199]

For every noise level: streams without change, watched from 2027 to 2030 with a refit at every release, give the
false-alarm rates; streams with an acceleration in 2027 give power and median months to detection. Our detector's plan
comes from simulations of a no-change stream fitted to baselines (20 baselines share one plan, to save time); the
published rule is run as published (slope ratio 2) and with the ratio at which it too raises 5% false alarms. Last,
the published false-alarm set-up (100 models, 20 benchmarks), with one look at the full data and one at every release.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

import numpy as np

from mensura.stitching import ScoreLayout, solve_rosetta
from mensura.trends.breaks import rosetta_ratio
from mensura.trends.kinks import KinkDesign
from mensura.trends.streams import PUBLISHED, Stream, StreamModel, fit_stream, make_stream, refit_by_look
from mensura.trends.watching import FEWEST, Plan, WatchPath, calibrate, first_releases, follow

START, UNTIL = 2027.0, 2030.0
RATE, PUBLISHED_RATIO = 0.05, 2.0
ACCELERATIONS = (2, 4, 8)
BASELINES = 20


def watch_both(stream: Stream) -> tuple[WatchPath, np.ndarray]:
    """Follow one stream with both detectors on the same refits: our path, and the published ratio at every look."""
    design = KinkDesign.of(stream.years, START)
    fits, _ = refit_by_look(stream, design.counts)
    ratios = [rosetta_ratio(stream.years[:n], row[:n], START) for n, row in zip(design.counts, fits, strict=True)]
    counts = design.counts[FEWEST - 1 :]
    statistics = design.statistics_by_look(fits)[FEWEST - 1 :]
    path = WatchPath(stream.years[counts - 1], counts, statistics, (float("nan"), float("nan")))
    return path, np.array(ratios)


def make_plan(model: StreamModel, streams: int) -> Plan:
    """Calibrate on streams simulated from no-change models that were fitted to baselines of fresh streams."""
    paths = []
    for i in range(BASELINES):
        rng = np.random.default_rng([1, i])
        stream = make_stream(model, rng)
        baseline = first_releases(stream, int(np.count_nonzero(stream.years <= START)))
        fitted = fit_stream(baseline, UNTIL)
        paths += [follow(make_stream(fitted, rng), START) for _ in range(-(-(streams - i) // BASELINES))]
    return calibrate(paths, START, UNTIL, rate=RATE)


def months(years: np.ndarray, alarms: np.ndarray) -> float:
    """Months from the start to the first alarm; nan without one."""
    hits = np.flatnonzero(alarms)
    return float(12 * (years[hits[0]] - START)) if hits.size else float("nan")


def study(noise: float, null: int, power: int, calibration: int) -> list[dict[str, float]]:
    """All cells of one noise level."""
    model = PUBLISHED.noisier(noise)
    plan = make_plan(model, calibration)
    quiet = [watch_both(make_stream(model, np.random.default_rng([2, i]))) for i in range(null)]
    peaks = np.sort([ratios.max() for _, ratios in quiet])
    equal = float(peaks[-max(int(RATE * (null + 1)), 1)])
    rows = []
    for acceleration in (1, *ACCELERATIONS):
        runs = (
            quiet
            if acceleration == 1
            else [
                watch_both(make_stream(model, np.random.default_rng([3, i]), change=START, acceleration=acceleration))
                for i in range(power)
            ]
        )
        ours = [months(path.years, plan.standardise(path.years, path.statistics) > plan.threshold) for path, _ in runs]
        row: dict[str, float] = {"noise": noise, "acceleration": acceleration, "runs": len(runs)}
        row |= figures("ours", ours)
        for name, ratio in (("published", PUBLISHED_RATIO), ("published_equal", equal)):
            when = []
            for path, ratios in runs:
                years = np.r_[np.full(FEWEST - 1, path.years[0]), path.years]
                when.append(months(years, ratios > ratio if name == "published_equal" else ratios >= ratio))
            row |= figures(name, when)
        row["equal_ratio"] = equal
        rows.append(row)
        print_row(row)
    return rows


def figures(name: str, when: list[float]) -> dict[str, float]:
    """Share of runs with an alarm and the median months to it."""
    found = [x for x in when if not np.isnan(x)]
    return {
        f"{name}_alarms": len(found) / len(when),
        f"{name}_months": float(np.median(found)) if found else float("nan"),
    }


def one_look(runs: int) -> dict[str, float]:
    """The published false-alarm set-up: 100 models, 20 benchmarks, three years after, no change."""
    model = replace(PUBLISHED, models=100, benchmarks=20)
    single, every = 0, 0
    for i in range(runs):
        _, ratios = watch_both(make_stream(model, np.random.default_rng([4, i])))
        single += ratios[-1] >= PUBLISHED_RATIO
        every += ratios.max() >= PUBLISHED_RATIO
    print(
        f"published rule, no change, 100 models, 20 benchmarks: one look {single}/{runs}, every release {every}/{runs}"
    )
    return {"runs": runs, "one_look": single / runs, "every_release": every / runs}


def print_row(row: dict[str, float]) -> None:
    cells = [f"{row['noise']:>5}", f"×{row['acceleration']:<2}", f"{row['runs']:>4} runs"]
    for name in ("ours", "published", "published_equal"):
        cells.append(f"{name} {row[f'{name}_alarms']:.3f} in {row[f'{name}_months']:5.1f} months")
    print("  ".join(cells), flush=True)


def warm_up() -> None:
    """Solve a small problem once, so that the first cell is not slower than the rest."""
    layout = ScoreLayout.of([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1])
    solve_rosetta(layout, np.full(6, 0.5))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--noise", type=float, nargs="+", default=[0.5, 1, 2, 4])
    parser.add_argument("--null", type=int, default=150)
    parser.add_argument("--power", type=int, default=25)
    parser.add_argument("--calibration", type=int, default=199)
    options = parser.parse_args()
    warm_up()
    print("alarms: share of runs with an alarm between 2027 and 2030 (×1: false alarms); months: median to the alarm")
    cells = [row for noise in options.noise for row in study(noise, options.null, options.power, options.calibration)]
    false = float(np.average([r["ours_alarms"] for r in cells if r["acceleration"] == 1]))
    print(f"false alarms of ours over all noise levels: {false:.3f} (asked {RATE})")
    result = {"cells": cells, "false_alarms": false, "published_set_up": one_look(min(options.null, 40))}
    print(json.dumps(result, allow_nan=True).replace("NaN", "null"))


if __name__ == "__main__":
    main()
