"""Read a synthetic store of Every Eval Ever: 229,000 results of 22,000 models, in seconds and megabytes.

Run: python -m benchmarks.exchange [--models 22000]
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

import mensura
from mensura.intake.shared_writing import score_records

RESULTS_PER_MODEL = 229_000 / 22_000


def write_store(folder: Path, models: int) -> int:
    """Write one record per model, 1% of the models known; return the number of results."""
    evidence = mensura.load()
    rng = np.random.default_rng(0)
    known = evidence.models["subject"].to_list()
    tests = evidence.benchmarks.filter(unit="percent")["benchmark"].to_list()
    written = 0
    for number in range(models):
        subject = known[number % len(known)] if number % 100 == 0 else f"model-{number}"
        count = int(np.ceil((number + 1) * RESULTS_PER_MODEL) - np.ceil(number * RESULTS_PER_MODEL))
        rows = [
            {"subject": subject, "benchmark": test, "score": round(float(rng.uniform(0, 100)), 2), "unit": "percent"}
            | {"source": "store", "provider": "lab", "n": 500, "date": "2026-01-01"}
            for test in rng.choice(tests, size=min(count, len(tests)), replace=False)
        ]
        for name, record in score_records(rows, "1").items():
            path = folder / Path(name).parent / f"{number}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(record))
        written += len(rows)
    return written


def main() -> None:
    """Write, read and add the store, and print time and memory."""
    options = argparse.ArgumentParser()
    options.add_argument("--models", type=int, default=22_000)
    models = options.parse_args().models
    with tempfile.TemporaryDirectory() as name:
        results = write_store(Path(name), models)
        evidence = mensura.load()
        start, worked = time.perf_counter(), time.process_time()
        reading = evidence.read_scores([name], skip_unknown=True)
        added = evidence.add(reading)
        spent, worked = time.perf_counter() - start, time.process_time() - worked
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    times = f"{spent:.1f} s ({worked:.1f} s of processor)"
    print(f"{results:,} results of {models:,} models: {times}, {memory:.0f} MB at most")
    print(
        f"kept {reading.scores.height:,} scores, left out {reading.dropped.height:,}; evidence {added.scores.height:,}"
    )


if __name__ == "__main__":
    main()
