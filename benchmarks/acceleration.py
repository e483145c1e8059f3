"""The acceleration watch as it ships, in worlds it was not made for: python -m benchmarks.acceleration.

    python -m benchmarks.acceleration [--watches 20] [--first 0] [--streams 39] [--worlds uniform real …]

Every watch is planned by itself from its own data: nothing is shared. Worlds without change give the false-alarm rate
over the whole watch (asked: 5%), the same worlds with twice the pace from the start of the watch the power and the
months to the alarm. About 140 releases over four years, 45 benchmarks, half of the pairs within reach scored:

- uniform: even release dates, independent normal scatter;
- real: the release dates of the embedded evidence, crowded at the end;
- design: its dates and its pairs of model and benchmark too, with the difficulties and slopes fitted to it;
- labs: twelve labs, eight of them entering on the way, each with a level of its own (40% of the variance);
- heavy: Student's t with 3 degrees of freedom for the scatter of releases and the error of scores;
- dimensions: three capabilities per release, half of the variance shared, every benchmark with its own mixture;
- growing: independent normal scatter that doubles over the four years;
- shocks: 15% of the variance common to neighbours, fading over half a year, as seen in the embedded evidence
  (`Plan.common` of its watch).

The rule behind the alarm is a rank among the simulated worlds, so the false-alarm rate does not hang on their number;
power grows with it. Last, the published set-up (180 models, 60 benchmarks, 2024 to 2030), the published rule beside.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks import run
from benchmarks.measured import percent_range, record
from benchmarks.published_streams import simulate_detection
from mensura.core.arrays import expit
from mensura.stitching import ScoreLayout, Solution, solve_rosetta
from mensura.trends import Stream, watch_stream
from mensura.trends.kinks import read_stream

BEGIN, SPAN = 54.0, 4.0
RELEASES, BENCHMARKS = 140, 45
PACE, SCATTER, ERROR, EVIDENCE_ERROR = 0.6, 0.2, 0.025, 0.06
VISIBLE, EVALUATED = (0.05, 0.95), 0.5
SHARE, FADING = 0.15, 0.5
LABS, FIRST_LABS, LAB_SHARE = 12, 4, 0.4
BEFORE = 0.4
"""Share of the real releases before the watch, as in the report."""


@dataclass(frozen=True)
class World:
    """Years since the beginning, scatter in standard deviations, the start of the watch, and how scores come about."""

    years: np.ndarray
    scatter: np.ndarray
    start: float = SPAN / 2
    noise: Callable[[np.random.Generator, int], np.ndarray] = field(default=lambda rng, size: rng.standard_normal(size))
    own: np.ndarray | None = None


def even(rng: np.random.Generator) -> np.ndarray:
    return np.sort(rng.uniform(0, SPAN, RELEASES))


def student(rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.standard_t(3, size) / np.sqrt(3)


def uniform(rng: np.random.Generator) -> World:
    return World(even(rng), rng.standard_normal(RELEASES))


def real(rng: np.random.Generator) -> World:
    years = EVIDENCE.years - EVIDENCE.years[0]
    return World(years, rng.standard_normal(years.size), float(years[int(BEFORE * years.size)]))


def growing(rng: np.random.Generator) -> World:
    years = even(rng)
    return World(years, (1 + years / SPAN) / 1.5 * rng.standard_normal(RELEASES))


def labs(rng: np.random.Generator) -> World:
    entry = np.r_[np.zeros(FIRST_LABS), rng.uniform(0, 0.9 * SPAN, LABS - FIRST_LABS)]
    rate = RELEASES / np.sum(SPAN - entry)
    lab = np.repeat(np.arange(LABS), np.maximum(rng.poisson(rate * (SPAN - entry)), 1))
    years = rng.uniform(entry[lab], SPAN)
    order = np.argsort(years)
    level = rng.standard_normal(LABS)[lab[order]]
    scatter = np.sqrt(LAB_SHARE) * level + np.sqrt(1 - LAB_SHARE) * rng.standard_normal(lab.size)
    return World(years[order], scatter)


def heavy(rng: np.random.Generator) -> World:
    return World(even(rng), student(rng, RELEASES), noise=student)


def dimensions(rng: np.random.Generator) -> World:
    return World(even(rng), rng.standard_normal(RELEASES), own=rng.standard_normal((RELEASES, 3)))


def shocks(rng: np.random.Generator) -> World:
    years = even(rng)
    together = np.exp(-np.abs(years[:, None] - years) / FADING) + 1e-9 * np.eye(RELEASES)
    common = np.linalg.cholesky(together) @ rng.standard_normal(RELEASES)
    return World(years, np.sqrt(SHARE) * common + np.sqrt(1 - SHARE) * rng.standard_normal(RELEASES))


WORLDS = {world.__name__: world for world in (uniform, real, labs, heavy, dimensions, growing, shocks)}


def make(world: World, rng: np.random.Generator, acceleration: float) -> Stream:
    """Scores of a world on a ladder of benchmarks; from the start of the watch the pace is multiplied."""
    trend = PACE * (world.years + (acceleration - 1) * np.maximum(world.years - world.start, 0))
    difficulty = rng.uniform(0.3, trend.max() + 0.5, BENCHMARKS) + rng.normal(0, 0.2, BENCHMARKS)
    slope = rng.uniform(3, 10, BENCHMARKS)
    if world.own is None:
        level = (trend + SCATTER * world.scatter)[:, None]
    else:
        parts = trend[:, None] + SCATTER * np.sqrt(0.5) * (world.scatter[:, None] + world.own)
        level = parts @ rng.dirichlet([0.4] * 3, BENCHMARKS).T
    expected = expit(slope * (level - difficulty))
    low, high = VISIBLE
    taken = (expected >= low) & (expected <= high) & (rng.random(expected.shape) < EVALUATED)
    scored, tested = taken.any(axis=1), taken.any(axis=0)
    rows, cols = np.nonzero(taken[scored][:, tested])
    exact = expected[scored][:, tested][rows, cols]
    scores = np.clip(exact + ERROR * world.noise(rng, exact.size), 0, 1)
    return Stream(BEGIN + world.years[scored], rows, cols, scores)


def make_design(rng: np.random.Generator, acceleration: float) -> tuple[Stream, float]:
    """Capabilities drawn anew about a line, everything else as in the embedded evidence."""
    years = EVIDENCE.years
    start = float(years[int(BEFORE * years.size)])
    since = np.maximum(years - start, 0)
    pace, level = np.polyfit(years, FIT.C[0], 1)
    scatter = np.std(FIT.C[0] - level - pace * years)
    gain = (acceleration - 1) * pace * since
    takers = np.bincount(EVIDENCE.cols)
    difficulty = FIT.D[0] + np.bincount(EVIDENCE.cols, gain[EVIDENCE.rows]) / takers
    C = level + pace * years + gain + rng.normal(0, scatter, years.size)
    distance = C[EVIDENCE.rows] - difficulty[EVIDENCE.cols]
    expected = expit(FIT.slope[0][EVIDENCE.cols] * distance)
    scores = np.clip(expected + rng.normal(0, EVIDENCE_ERROR, expected.size), 0, 1)
    return Stream(years, EVIDENCE.rows, EVIDENCE.cols, scores), start


def watch_world(name: str, watches: int, streams: int, acceleration: float, first: int) -> dict[str, Any]:
    """Watch fresh streams of one world, each with a plan of its own."""
    begun, months = time.process_time(), []
    for i in range(first, first + watches):
        rng = np.random.default_rng([1, i])
        if name == "design":
            stream, start = make_design(rng, acceleration)
        else:
            world = WORLDS[name](rng)
            stream, start = make(world, rng, acceleration), BEGIN + world.start
        watch = watch_stream(stream, start, streams=streams, seed=i)
        beyond = watch.looks["alarm"].to_numpy()
        months.append(12 * (watch.plan.years[beyond][0] - start) if beyond.any() else np.nan)
    alarms = np.isfinite(months)
    share = float(np.mean(alarms))
    row = {
        "world": name,
        "acceleration": acceleration,
        "watches": watches,
        "alarms": share,
        "error": float(np.sqrt(share * (1 - share) / watches)),
        "months": float(np.median(np.array(months)[alarms])) if alarms.any() else float("nan"),
        "seconds": (time.process_time() - begun) / watches,
    }
    cells = f"{name:<11} ×{acceleration:g} {watches:>5} {share:7.3f} ± {row['error']:.3f} {row['months']:8.1f}"
    print(f"{cells} {row['seconds']:8.2f}", flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--watches", type=int, default=20, help="watches without change per world; a fourth with")
    parser.add_argument("--first", type=int, default=0, help="number of the first watch: runs with others add up")
    parser.add_argument("--streams", type=int, default=39, help="simulated worlds behind every plan")
    parser.add_argument(
        "--worlds", nargs="+", default=["uniform", "real", "design", "labs", "heavy", "dimensions", "growing", "shocks"]
    )
    parser.add_argument("--power", type=float, nargs="*", default=[2.0], help="accelerations to find")
    parser.add_argument("--published", type=int, default=5, help="runs of the published set-up; 0 for none")
    options = parser.parse_args()
    print(
        "world, change of pace, watches, share with an alarm (×1: false) ± Monte Carlo error, months, seconds a watch"
    )
    cells = [watch_world(name, options.watches, options.streams, 1.0, options.first) for name in options.worlds]
    if options.power:
        fewer = max(options.watches // 4, 1)
        cells += [
            watch_world(n, fewer, options.streams, factor, options.first)
            for factor in options.power
            for n in options.worlds
        ]
    result: dict[str, object] = {"cells": cells, "streams": options.streams}
    if options.published:
        found = simulate_detection((1.0, 2.0, 4.0), runs=options.published, streams=options.streams)
        print(found)
        result["published_set_up"] = found.to_dicts()
    print(json.dumps(result, allow_nan=True).replace("NaN", "null"))
    alarms = {str(cell["world"]): float(cell["alarms"]) for cell in cells if cell["acceleration"] == 1.0}
    if (grown := alarms.pop("growing", None)) is not None:
        record("acceleration.growing_scatter", f"{grown:.1%}")
    if alarms:
        record("acceleration.false_alarms", percent_range(alarms.values(), digits=1))


EVIDENCE: Stream = read_stream(None)[0]
FIT: Solution = solve_rosetta(
    ScoreLayout.of(EVIDENCE.rows, EVIDENCE.cols), EVIDENCE.scores, tolerance=1e-3, max_iterations=500
)

if __name__ == "__main__":
    run(main)
