"""The default of ``stitch`` end to end as scores grow: CPU seconds and peak memory of fit, intervals and all tables.

Every size runs in a process of its own, one thread. The scores are simulated from two latent dimensions with noise,
chance levels not given, so that nothing of the default is spared: floors, near-duplicates, four dimensions, the
calibration on the joint posterior, 500 draws. ``thin`` rows hold a tenth of all cells.

Then the same scores through the former dense way, which inverts the precision of all unknowns at once, at a size that
it can do: how far the ends of the intervals differ, in half-widths, beside the Monte Carlo error of an end that 500
draws find.
"""

from __future__ import annotations

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ[name] = "1"

import argparse  # noqa: E402
import multiprocessing  # noqa: E402
import resource  # noqa: E402
import time  # noqa: E402
from typing import NamedTuple  # noqa: E402
from unittest import mock  # noqa: E402

import numpy as np  # noqa: E402
import polars as pl  # noqa: E402
from scipy.special import ndtri  # noqa: E402

from benchmarks.stitch_data import finish  # noqa: E402
from mensura.stitching import Stitch, stitch  # noqa: E402
from mensura.stitching.laplace import ArrowPrecision, JointCovariances  # noqa: E402
from mensura.stitching.positions import LEVEL  # noqa: E402
from mensura.stitching.result import DRAWS  # noqa: E402

SIZES = ((200, 50, 1.0), (2_500, 40, 0.1), (1_000, 100, 1.0), (5_000, 200, 1.0), (50_000, 200, 1.0))
"""Subjects, benchmarks and the share of cells that hold a score."""
COMPARED = (200, 50, 1.0)


class Measured(NamedTuple):
    """What one size cost."""

    scores: int
    subjects: int
    benchmarks: int
    fit_seconds: float
    tables_seconds: float
    memory_mb: float
    sweeps: int
    converged: bool

    @property
    def seconds(self) -> float:
        """CPU seconds from score table to all result tables."""
        return self.fit_seconds + self.tables_seconds


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--largest", type=float, default=1e6, help="scores of the largest data set (1e7 at most)")
    largest = arguments.parse_args().largest
    rows = []
    heads = ("scores", "subjects", "benchmarks", "CPU s", "µs/score", "peak MB", "× scores", "× CPU", "sweeps")
    print(("{:>12}" * len(heads)).format(*heads))
    for size in SIZES:
        if size[0] * size[1] * size[2] > largest:
            continue
        with multiprocessing.get_context("spawn").Pool(1) as alone:
            found = alone.apply(measure, (size,))
        full = size[2] == 1.0
        before = rows[-1] if full and rows else None
        if full:
            rows.append(found)
        print(
            line(found, before) + ("" if full else "  thin") + ("" if found.converged else "  NOT CONVERGED"),
            flush=True,
        )
    figures: dict[str, object] = {f"seconds_{row.scores}": row.seconds for row in rows}
    figures |= {f"memory_mb_{row.scores}": row.memory_mb for row in rows}
    finish(figures | compare())


def line(found: Measured, before: Measured | None) -> str:
    text = f"{found.scores:12,}{found.subjects:12,}{found.benchmarks:12,}{found.seconds:12.1f}"
    text += f"{found.seconds / found.scores * 1e6:12.0f}{found.memory_mb:12.0f}"
    if before is None:
        return text + f"{'':24}{found.sweeps:12}"
    return text + f"{found.scores / before.scores:12.1f}{found.seconds / before.seconds:12.1f}{found.sweeps:12}"


def simulated(subjects: int, benchmarks: int, share: float) -> pl.DataFrame:
    """Scores of two latent dimensions, the second one slight, with a noise of five points."""
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(subjects, 2))
    loadings = np.stack((rng.uniform(0.5, 2, benchmarks), rng.normal(0, 0.4, benchmarks)), axis=1)
    expected = 1 / (1 + np.exp(-rng.normal(0, 1.5, benchmarks) - theta @ loadings.T))
    taken = rng.random(expected.shape) < share
    score = np.clip(expected + rng.normal(0, 0.05, expected.shape), 0, 1)[taken]
    rows, cols = np.nonzero(taken)
    subject = pl.Series("subject", [f"s{i:05}" for i in range(subjects)])[rows]
    benchmark = pl.Series("benchmark", [f"b{i:03}" for i in range(benchmarks)])[cols]
    return pl.DataFrame([subject, benchmark, pl.Series("score", score)])


def measure(size: tuple[int, int, float]) -> Measured:
    """Stitch one data set from its table to all result tables."""
    scores = simulated(*size)
    started = time.process_time()
    fit = stitch(scores)
    fitted = time.process_time()
    fit.tables()
    str(fit)
    ended = time.process_time()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    data, end = fit.data, fit.convergence
    counts = (data.y.size, len(data.subjects), len(data.benchmarks))
    return Measured(*counts, fitted - started, ended - fitted, memory, end.iterations, end.converged)


def compare() -> dict[str, object]:
    """Intervals of both ways at a size that the dense one can do."""
    scores = simulated(*COMPARED)
    ours, seconds = intervals(scores)
    where = "mensura.stitching.{}"
    with (
        mock.patch(where.format("pooled.factorise"), whole_covariance),
        mock.patch(where.format("pooled.joint_covariances"), dense_covariances),
        mock.patch(where.format("pooled_model.factorise"), whole_covariance),
        mock.patch(where.format("pooled_model.draw_deviations"), dense_draws),
    ):
        theirs, dense_seconds = intervals(scores)
    half = (theirs["high"] - theirs["low"]).to_numpy() / 2
    apart = np.concatenate([(ours[end] - theirs[end]).to_numpy() / half for end in ("low", "high")])
    wider = float(((ours["high"] - ours["low"]) / (theirs["high"] - theirs["low"])).mean())
    moved = float((ours["capability"] - theirs["capability"]).abs().max())
    z = float(ndtri(0.5 + LEVEL / 2))
    tail = (1 - LEVEL) / 2
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    chance = float(np.sqrt(2 * tail * (1 - tail) / DRAWS) / density / z)
    print(f"\n{scores.height:,} scores, beside the dense way ({seconds:.1f} and {dense_seconds:.1f} CPU s)")
    print(f"{'capabilities, largest difference (SD of subjects)':64}{moved:10.1e}")
    print(f"{'interval ends, root mean square difference (half-widths)':64}{np.sqrt(np.mean(apart**2)):10.3f}")
    print(f"{'  what two times 500 draws differ by':64}{chance:10.3f}")
    print(f"{'width of the intervals, ratio':64}{wider:10.3f}")
    return {
        "difference_capability": moved,
        "difference_ends": float(np.sqrt(np.mean(apart**2))),
        "monte_carlo_ends": chance,
        "ratio_width": wider,
    }


def intervals(scores: pl.DataFrame) -> tuple[pl.DataFrame, float]:
    started = time.process_time()
    fit: Stitch = stitch(scores)
    table = fit.capabilities.sort("subject")
    return table, time.process_time() - started


class Whole(NamedTuple):
    """The inverse of the whole precision matrix, subjects first."""

    precision: ArrowPrecision
    covariance: np.ndarray


def whole_covariance(precision: ArrowPrecision) -> Whole:
    layout = precision.layout
    (m, k), (b, width) = precision.subjects.shape[:2], precision.benchmarks.shape[:2]
    matrix = np.zeros((m * k + b * width,) * 2)
    first, second = np.arange(m * k).reshape(m, k), m * k + np.arange(b * width).reshape(b, width)
    matrix[first[:, :, None], first[:, None]] = precision.subjects
    matrix[second[:, :, None], second[:, None]] = precision.benchmarks
    between = first[layout.rows][:, :, None], second[layout.cols][:, None]
    matrix[between] = precision.coupling(slice(None))
    matrix[between[1], between[0]] = precision.coupling(slice(None))
    return Whole(precision, np.linalg.inv(matrix))


def dense_covariances(whole: Whole) -> JointCovariances:
    layout, covariance = whole.precision.layout, whole.covariance
    (m, k), (b, width) = whole.precision.subjects.shape[:2], whole.precision.benchmarks.shape[:2]
    first, second = np.arange(m * k).reshape(m, k), m * k + np.arange(b * width).reshape(b, width)
    between = covariance[first[layout.rows][:, :, None], second[layout.cols][:, None]]
    coupled = (between * whole.precision.coupling(slice(None))).sum(axis=(1, 2))
    subjects, benchmarks = (covariance[at[:, :, None], at[:, None]] for at in (first, second))
    return JointCovariances(subjects, benchmarks, coupled)


def dense_draws(whole: Whole, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draws of all unknowns at once, so that the same numbers of ``rng`` make other draws."""
    (m, k), (b, width) = whole.precision.subjects.shape[:2], whole.precision.benchmarks.shape[:2]
    drawn = rng.standard_normal((n, m * k + b * width)) @ np.linalg.cholesky(whole.covariance).T
    return drawn[:, : m * k].reshape(n, m, k), drawn[:, m * k :].reshape(n, b, width)


if __name__ == "__main__":
    main()
