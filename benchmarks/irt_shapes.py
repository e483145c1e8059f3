"""Files of other shapes than tall tables, from file to fit, for ``benchmarks.irt_speed --shapes``.

Wide: 12 models × 41,871 items, a CSV with one row per model. Sparse: 5,000 models × 50,000 items of which 2% were
taken, a Parquet file with one row per answer. Each is read and fitted in a process of its own, for its memory.
"""

from __future__ import annotations

import multiprocessing
import resource
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl


class Shape(NamedTuple):
    """Subjects, items, share of items taken, and the model that is fitted."""

    name: str
    subjects: int
    items: int
    share: float
    model: str


SHAPES = (Shape("wide", 12, 41_871, 1.0, "rasch"), Shape("sparse", 5_000, 50_000, 0.02, "2pl"))


def write_shape(shape: Shape, folder: Path) -> Path:
    """Simulate answers and write them."""
    rng = np.random.default_rng(0)
    ability, difficulty = rng.normal(size=shape.subjects), rng.normal(size=shape.items)
    if shape.share == 1.0:
        chance = 1 / (1 + np.exp(-(ability[:, None] - difficulty)))
        right = (rng.random(chance.shape) < chance).astype(np.int8)
        columns = {f"i{place}": right[:, place] for place in range(shape.items)}
        pl.DataFrame({"subject": [f"m{one}" for one in range(shape.subjects)], **columns}).write_csv(
            folder / "wide.csv"
        )
        return folder / "wide.csv"
    count = int(shape.share * shape.subjects * shape.items)
    cells = np.unique(rng.integers(0, shape.subjects * shape.items, int(1.02 * count)))[:count]
    subject, item = np.divmod(cells, shape.items)
    right = rng.random(len(cells)) < 1 / (1 + np.exp(-(ability[subject] - difficulty[item])))
    frame = pl.DataFrame({"subject": subject, "item": item, "correct": right.astype(np.int8)})
    frame.with_columns(
        pl.format("m{}", "subject").alias("subject"), pl.format("i{}", "item").alias("item")
    ).write_parquet(folder / "sparse.parquet")
    return folder / "sparse.parquet"


def measure(path: Path, shape: Shape, told: Any) -> None:  # noqa: ANN401
    """Read and fit a file, and tell the processor time of both, the memory and the passes."""
    from mensura.responses import FitOptions, fit_responses, read_responses

    began = time.process_time()
    table = read_responses(path)
    read = time.process_time() - began
    fit = fit_responses(table, model=shape.model, options=FitOptions(checks=False))
    used = time.process_time() - began - read
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    told.send({"read_s": read, "fit_s": used, "mb": memory, "passes": fit.passes, "converged": fit.converged})


def show_shapes() -> list[dict[str, Any]]:
    """Print and return the figures of all shapes."""
    print(f"{'shape':>8}{'subjects':>9}{'items':>8}{'answers':>11} |{'read s':>8}{'fit s':>8}{'MB':>7}{'passes':>7}")
    rows = []
    spawned = multiprocessing.get_context("spawn")
    for shape in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            path = write_shape(shape, Path(folder))
            here, there = spawned.Pipe()
            child = spawned.Process(target=measure, args=(path, shape, there))
            child.start()
            found = here.recv()
            child.join()
        row = {**shape._asdict(), **{name: round(float(value), 2) for name, value in found.items()}}
        rows.append(row)
        answers = int(shape.subjects * shape.items * shape.share)
        size = f"{shape.name:>8}{shape.subjects:>9,}{shape.items:>8,}{answers:>11,}"
        print(f"{size} |{row['read_s']:>8.2f}{row['fit_s']:>8.2f}{row['mb']:>7.0f}{row['passes']:>7.0f}", flush=True)
    return rows
