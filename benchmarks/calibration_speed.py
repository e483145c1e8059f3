"""How long calibrating takes: ``python -m benchmarks.calibration_speed [--items N]``.

100,000 items in 18 dimensions with 1,000 draws, from tables to bases, both methods; seconds and peak memory, each in a
process of its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np

from benchmarks.calibration_pools import simulate_pools
from mensura.calibration import calibrate
from mensura.demands.rubrics import annotated_dimensions

POOLS = 20


def run(items: int, method: str) -> dict[str, float]:
    rng = np.random.default_rng(0)
    drawn = simulate_pools(rng, pools=POOLS, items=items // POOLS, dimensions=tuple(annotated_dimensions()))
    start = time.perf_counter()
    calibrate(drawn.rates, drawn.demands, method=method, draws=1000)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--method", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.method:
        print(json.dumps(run(given.items, given.method)))
        return
    figures = {}
    for method in ("hierarchical", "means"):
        command = [
            sys.executable,
            "-m",
            "benchmarks.calibration_speed",
            "--items",
            str(given.items),
            "--method",
            method,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        figures[method] = json.loads(done.stdout.splitlines()[-1])
        print(f"{method:13s} {figures[method]['seconds']:6.1f} s {figures[method]['megabytes']:7.0f} MB")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
