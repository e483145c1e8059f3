"""What a report costs as models are added: ``python -m benchmarks.report_growth``.

For 0, 500 and 2,000 new models with scores on five embedded benchmarks each, ``mensura report --add FILE`` runs in a
process of its own with an empty cache. Printed: seconds by the clock, processor seconds of all its processes, the
memory they held together at the most (sampled ten times a second; Linux only) and the largest one's own peak, files
and megabytes written. ``--models 0 500`` measures other numbers. Prints a table, and one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl

import mensura
from benchmarks import run
from benchmarks.measured import record
from mensura.core.frames import text_table

ADDED = (0, 500, 2000)
TESTS = 5
SEED = 7
LEAST_TAKEN = 30  # embedded scores a benchmark has before new ones are modelled on them
LIMITS = {"seconds": 60.0, "together_mb": 1000.0}
"""Of the report with 2,000 models added."""
EVERY = 0.5  # seconds between two looks at the memory, each of which stops the processes while their pages are counted


def new_scores(models: int, seed: int = SEED) -> pl.DataFrame:
    """Return scores of new models on five benchmarks each, within what embedded ones scored.

    Columns: model, released, benchmark, score.

    A model is good or bad at all five alike: its place among the embedded scores of each varies a little about its own.
    """
    rng = np.random.default_rng(seed)
    known = {
        str(name): np.sort(part["score"].to_numpy())
        for (name,), part in mensura.load().primary_scores.group_by("benchmark", maintain_order=True)
        if part.height >= LEAST_TAKEN
    }
    rows = []
    for number in range(models):
        own, released = rng.uniform(0.1, 0.9), f"2026-{rng.integers(1, 11):02d}-{rng.integers(1, 28):02d}"
        for name in rng.choice(sorted(known), TESTS, replace=False):
            place = float(np.clip(own + rng.normal(0, 0.1), 0, 1))
            score = round(float(np.quantile(known[str(name)], place)), 2)
            rows.append((f"grown-{number:04d}", released, str(name), score))
    return pl.DataFrame(rows, schema=["model", "released", "benchmark", "score"], orient="row")


def held_mb(process: int) -> float:
    """Return the memory that a process and all its children hold, in MB; shared pages are counted once (PSS)."""
    found, waiting = 0.0, [process]
    while waiting:
        one = waiting.pop()
        try:
            text = Path(f"/proc/{one}/smaps_rollup").read_text(encoding="ascii")
            found += next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")) / 1e3
            for task in Path(f"/proc/{one}/task").iterdir():
                waiting += map(int, (task / "children").read_text(encoding="ascii").split())
        except (OSError, StopIteration):  # it has ended, or this is no Linux
            continue
    return found


def measure(models: int, folder: Path) -> dict[str, float]:
    """Build one report in a process of its own, and return what it cost."""
    out = folder / f"report-{models}"
    command = [sys.executable, "-m", "mensura", "report", "--out", str(out), "--json"]
    if models:
        file = folder / f"added-{models}.csv"
        new_scores(models).write_csv(file)
        command += ["--add", str(file)]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    child = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, env={**os.environ, "MENSURA_CACHE": str(folder / f"cache-{models}")}
    )
    most, done = 0.0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.wait(EVERY):
            most = max(most, held_mb(child.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    failed = child.wait()
    seconds = time.perf_counter() - start
    done.set()
    watcher.join()
    if failed:
        raise SystemExit(f"the report with {models} models added ended with {failed}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    files = [file for file in out.rglob("*") if file.is_file()]
    return {
        "models": models,
        "seconds": round(seconds, 1),
        "processor_seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
        "together_mb": round(most),
        "largest_mb": round(after.ru_maxrss / 1e3),  # of all children so far: sizes are measured in growing order
        "files": len(files),
        "written_mb": round(sum(file.stat().st_size for file in files) / 1e6, 1),
    }


def main() -> None:
    """Measure every size, and hold the largest against the bars."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--models", type=int, nargs="+", default=list(ADDED), help="models added, one report each")
    sizes = sorted(asked.parse_args().models)
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(size, Path(folder)) for size in sizes]
    print(text_table(pl.DataFrame(rows), rows=len(rows)))
    last = rows[-1]
    if last["models"] == ADDED[-1]:
        record("site.growth", f"{last['seconds']:.0f} s", "python -m benchmarks.report_growth")
        record("site.growth_memory", f"{last['together_mb']:.0f} MB", "python -m benchmarks.report_growth")
    within = {name: last[name] <= limit for name, limit in LIMITS.items()}
    print(json.dumps({"reports": rows, "limits": LIMITS, "within": within}))


if __name__ == "__main__":
    run(main)
