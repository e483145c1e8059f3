"""Fit a response store with two local Ray workers and with none: time, equality, and a worker that is killed.

Needs the extra ``ray``. The store is simulated: ``--subjects`` × ``--items``. Results must be equal to 1e-12, also if
a worker is killed in the middle of a pass. All use one thread per process, as Ray's workers do.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import tempfile
import time
from functools import partial
from pathlib import Path

from mensura.core.processes import ONE_THREAD

os.environ.update(ONE_THREAD)  # before NumPy is imported, which reads them once

import numpy as np
import polars as pl

from benchmarks import run
from benchmarks.irt_data import simulate
from benchmarks.measured import record
from mensura.core.errors import MensuraError
from mensura.responses import FitOptions, ResponseFit, fit_responses, write_store
from mensura.responses.irt.shards import Shard
from mensura.responses.store import Part, RayPass, parts_of

WORKERS = 2
TOLERANCE = 1e-12


def dies_once(marker: Path, part: Part) -> Shard:
    """Return a part; the first worker that reads it is killed."""
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part()


def largest_gap(one: ResponseFit, other: ResponseFit) -> float:
    """Return the largest difference of two fits in their items and abilities."""
    gaps = [
        np.max(np.abs(one.items[name].to_numpy() - other.items[name].to_numpy()))
        for name in ("discrimination", "difficulty")
    ]
    return float(max(*gaps, np.max(np.abs(one.subjects["ability"].to_numpy() - other.subjects["ability"].to_numpy()))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", type=int, default=400_000)
    parser.add_argument("--items", type=int, default=200)
    chosen = parser.parse_args()
    try:
        import ray
    except ImportError:
        raise MensuraError(
            "benchmarks.cluster: needs the extra 'ray'; install it with pip install 'mensura[ray]'"
        ) from None
    options = FitOptions(checks=False)
    with tempfile.TemporaryDirectory() as folder:
        right, _ = simulate(chosen.subjects, chosen.items, 0)
        wide = pl.DataFrame({f"i{place}": right[:, place] for place in range(chosen.items)})
        store = write_store([wide.with_row_index("subject")], Path(folder) / "store", parts=8)
        began = time.perf_counter()
        alone = fit_responses(store, options=options)
        seconds = {"none": time.perf_counter() - began}
        ray.init(address="local", num_cpus=WORKERS, log_to_driver=False)
        parts = parts_of(store)
        how = {"groups": store.groups, "complete": store.complete}
        began = time.perf_counter()
        spread = fit_responses(store, options=options, run=RayPass(parts, **how))
        seconds["two workers"] = time.perf_counter() - began
        parts[1] = partial(dies_once, Path(folder) / "died", parts[1])
        killed = fit_responses(store, options=options, run=RayPass(parts, **how))
    gaps = {"two workers": largest_gap(alone, spread), "worker killed": largest_gap(alone, killed)}
    faster = seconds["none"] / seconds["two workers"]
    for name, value in seconds.items():
        print(f"{name:>14} {value:8.2f} s")
    for name, gap in gaps.items():
        print(f"{name:>14} differs by {gap:.1e} at most")
    print(f"two workers are {faster:.2f} times as fast as none")
    record("cluster.faster", f"{faster:.2f}")
    print(json.dumps({"seconds": seconds, "gaps": gaps, "faster": faster, "equal": max(gaps.values()) <= TOLERANCE}))
    if max(gaps.values()) > TOLERANCE:
        raise MensuraError(f"benchmarks.cluster: results differ by {max(gaps.values()):.1e}; expected {TOLERANCE:g}")


if __name__ == "__main__":
    run(main)
