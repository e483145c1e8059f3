"""Speed of the IQ scorer on the embedded evidence, process time, best of several runs.

``python -m benchmarks.iq_speed``
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import polars as pl

import mensura
from mensura.core.frames import text_table
from mensura.iq import sensitivity
from mensura.iq.validation import hide_and_impute


def best_of(runs: int, work: Callable[[], object]) -> float:
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    evidence = mensura.load()

    def score(method: str) -> object:
        result = mensura.score_iq(evidence, method=method)
        return result.composites, result.dimensions, result.benchmark_iqs

    result = mensura.score_iq(evidence, method="published")
    scores = int(result.matrix.measured.sum())
    times = {
        "score_published": (
            f"score {len(result.matrix.subjects)} models by the published method, tables included",
            best_of(7, lambda: score("published")),
            0.05,
        ),
        "score_joint": ("… by the default method", best_of(3, lambda: score("joint")), 3.0),
        "draws_1000": ("… with 1,000 draws, intervals of everything", best_of(3, lambda: intervals(evidence)), 5.0),
        "leave_one_out": (
            f"published: leave out each of {scores} scores, each benchmark, each dimension; move each ladder",
            best_of(2, lambda: (hide_and_impute(result), sensitivity(result))),
            10.0,
        ),
    }
    rows = [(what, seconds, bar) for what, seconds, bar in times.values()]
    print(text_table(pl.DataFrame(rows, schema=["work", "seconds", "at most"], orient="row")))
    print(json.dumps({name: round(seconds, 4) for name, (_, seconds, _) in times.items()}))


def intervals(evidence: mensura.Evidence) -> object:
    result = mensura.score_iq(evidence, draws=1000)
    return result.composites, result.dimensions, result.trail


if __name__ == "__main__":
    main()
