"""Rates of all subgroups of 500,000 persons × 200 items: time, memory, growth, and the plain way beside it.

``python -m benchmarks.people_rates``
"""

from __future__ import annotations

import json
import resource
import time
from itertools import combinations

import numpy as np
import polars as pl

from mensura.core.frames import text_table
from mensura.people import tabulate

PERSONS, ITEMS = 500_000, 200
LEVELS = {"age_band": 6, "sex": 2, "country": 30, "education": 4}
REPEATS = 3


def simulate(persons: int, items: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return answers (a tenth of them missing) and covariates (a fiftieth of them unknown)."""
    rng = np.random.default_rng(0)
    columns = [pl.Series("person", np.arange(persons, dtype=np.int32))]
    for item in range(items):
        draw = rng.random(persons, dtype=np.float32)
        right = pl.Series(f"i{item}", (draw < 0.6).astype(np.int8))
        columns.append(right.set(pl.Series(draw > 0.9), None))
    covariates = {}
    for name, count in LEVELS.items():
        level = pl.Series(name, [f"level {index}" for index in range(count)]).gather(rng.integers(0, count, persons))
        covariates[name] = level.set(pl.Series(rng.random(persons) < 0.02), None)
    return pl.DataFrame(columns), pl.DataFrame(covariates)


def plain_group_by(answers: pl.DataFrame, covariates: pl.DataFrame, crossings: list[tuple[str, ...]]) -> int:
    """Count the same rates with one polars group-by per crossing; return how many there are."""
    table = pl.concat([answers, covariates], how="horizontal")
    items = answers.columns[1:]
    counts = [pl.col(items).count().name.suffix(" n"), pl.col(items).cast(pl.Int64).sum()]
    groups = [table.drop_nulls(crossing).group_by(crossing).agg(counts).height for crossing in crossings]
    return (sum(groups) + table.select(counts).height) * len(items)


def timed(work, repeats: int = REPEATS) -> tuple[float, float, object]:  # noqa: ANN001
    """Return the best wall and CPU seconds of several runs, and the last result."""
    walls, cpus, result = [], [], None
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        result = work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return min(walls), min(cpus), result


def main() -> None:
    crossings = [names for size in range(1, len(LEVELS) + 1) for names in combinations(LEVELS, size)]
    rows = []
    for persons, items in [(PERSONS // 4, ITEMS), (PERSONS // 2, ITEMS), (PERSONS, ITEMS // 4), (PERSONS, ITEMS)]:
        answers, covariates = simulate(persons, items)
        wall, cpu, table = timed(lambda a=answers, c=covariates: tabulate(a, c, by=crossings))
        groups = table.height // items
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append(("mensura", persons, items, groups, table.height, wall, cpu, peak))
    small = PERSONS // 10
    wall, cpu, count = timed(lambda: plain_group_by(answers.head(small), covariates.head(small), crossings), 1)
    rows.append(("polars group_by", small, ITEMS, None, count, wall, cpu, None))
    columns = ["method", "persons", "items", "groups", "rates", "seconds", "cpu_seconds", "peak_mb"]
    report = pl.DataFrame(rows, schema=columns, orient="row")
    print("All subgroups (every crossing of four covariates), with n, rate and standard error")
    print(text_table(report, digits=2))
    full = report.filter((pl.col("persons") == PERSONS) & (pl.col("items") == ITEMS)).row(0, named=True)
    print(json.dumps({**full, "bar_seconds": 2, "bar_mb": 1024, "growth": report.to_dicts()}))


if __name__ == "__main__":
    main()
