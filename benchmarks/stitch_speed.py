"""Speed and memory of the published fit: SciPy's least squares beside the solver here, one thread each.

Same data, same start, both taken to their optimum. Growth: synthetic scores from 10³ to 10⁷. Run with
OMP_NUM_THREADS=1 (set here before NumPy is loaded).
"""

from __future__ import annotations

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import argparse  # noqa: E402
import resource  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402

import numpy as np  # noqa: E402
from scipy.optimize import least_squares  # noqa: E402
from scipy.sparse import csr_matrix, vstack  # noqa: E402

from benchmarks import run  # noqa: E402
from benchmarks.stitch_data import finish, reference_scores  # noqa: E402
from mensura.stitching import ScoreLayout, ScoreSet, Stitch, penalty_weight, solve_rosetta, stitch  # noqa: E402
from mensura.stitching.pooled import solve_pooled  # noqa: E402
from mensura.stitching.predict import bootstrap_weights  # noqa: E402
from mensura.stitching.sweeps import Cells  # noqa: E402


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--largest", type=float, default=1e7, help="scores of the largest synthetic data set")
    arguments.add_argument("--only-growth", action="store_true", help="leave out the comparison with SciPy")
    options = arguments.parse_args()
    figures: dict[str, object] = {}
    if not options.only_growth:
        fit = stitch(reference_scores(), method="rosetta", anchor_benchmark="Winogrande")
        peer = Peer(fit.data, fit.data.benchmarks.index("Winogrande"))
        figures |= one_fit(fit.data, peer) | replicates(fit, peer)
    figures["growth"] = growth(options.largest)
    figures["memory_mb"] = peak_memory()
    finish(figures)


def one_fit(data: ScoreSet, peer: Peer) -> dict[str, object]:
    """One cold fit, beside SciPy with analytic and with numerical derivatives."""
    even = np.ones(data.y.size)
    ours, solution = best(lambda: solve_rosetta(data.layout, data.y, anchor=peer.anchor), 15)
    analytic, found = best(lambda: peer.fit(peer.start(), even), 2)
    loose, _ = best(lambda: peer.fit(peer.start(), even, loose=True), 3)
    numerical, _ = best(lambda: peer.fit(peer.start(), even, numerical=True), 1)
    print(f"{'one fit':44}{'CPU s':>10}{'times faster':>14}")
    print(f"{'mensura':44}{ours:10.4f}")
    print(f"{'SciPy, analytic sparse, to the optimum':44}{analytic:10.4f}{analytic / ours:14.1f}")
    print(f"{'SciPy, analytic sparse, its own tolerances':44}{loose:10.4f}{loose / ours:14.1f}")
    print(f"{'SciPy, numerical Jacobian':44}{numerical:10.4f}{numerical / ours:14.1f}")
    return {
        "fit_seconds": ours,
        "fit_times_analytic": analytic / ours,
        "fit_times_analytic_loose": loose / ours,
        "fit_times_numerical": numerical / ours,
        "fit_cost_difference": float(abs(found.cost - solution.cost[0] + peer.penalty / 2)),
    }


def replicates(fit: Stitch, peer: Peer) -> dict[str, object]:
    """A thousand bootstrap replicates, beside SciPy's first few, all from the same warm start."""
    seconds, _ = best(lambda: fit.bootstrap(1000), 2)
    memory = peak_memory()
    at = fit.model.solution
    warm = np.concatenate((at.C[0], at.D[0], at.slope[0]))
    weights = bootstrap_weights(fit.data.layout, 5, np.random.default_rng(0))
    tight, loose = (
        best(lambda loose=loose: [peer.fit(warm, w, loose=loose) for w in weights], 1)[0] / len(weights)
        for loose in (False, True)
    )
    ours = seconds / 1000
    print(f"\n{'bootstrap, warm start':44}{'CPU s':>10}{'times faster':>14}")
    print(f"{'mensura, 1,000 replicates':44}{seconds:10.3f}   {memory:.0f} MB at most")
    print(f"{'mensura, one replicate':44}{ours:10.5f}")
    print(f"{'SciPy, one replicate, to the optimum':44}{tight:10.4f}{tight / ours:14.1f}")
    print(f"{'SciPy, one replicate, its own tolerances':44}{loose:10.4f}{loose / ours:14.1f}")
    return {
        "bootstrap_1000_seconds": seconds,
        "bootstrap_memory_mb": memory,
        "replicate_times": tight / ours,
        "replicate_times_loose": loose / ours,
    }


def growth(largest: float) -> list[tuple[int, int, int, float, float, float]]:
    """From a thousand scores to the largest data set, tenfold each time."""
    heads = ("growth: scores", "subjects", "benchmarks", "rosetta s", "ns/score", "10 sweeps s")
    print("\n{:>16}{:>10}{:>12}{:>12}{:>14}{:>13}".format(*heads))
    rows, scores = [], 1000
    while scores <= largest:
        rows.append(grown(scores))
        print("{:16,}{:10,}{:12,}{:12.3f}{:14.0f}{:13.3f}".format(*rows[-1]), flush=True)
        scores *= 10
    return rows


def peak_memory() -> float:
    """Return the most memory this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def best(work: Callable[[], object], times: int) -> tuple[float, object]:
    """Least process CPU time of some runs, and the last result."""
    seconds, result = np.inf, None
    for _ in range(times):
        started = time.process_time()
        result = work()
        seconds = min(seconds, time.process_time() - started)
    return seconds, result


class Peer:
    """The same objective for SciPy: residuals of the scores, then the square roots of the penalty."""

    def __init__(self, data: ScoreSet, anchor: int) -> None:
        self.rows, self.cols, self.y, self.anchor = data.layout.rows, data.layout.cols, data.y, anchor
        self.m, self.b = len(data.subjects), len(data.benchmarks)
        self.penalty = penalty_weight(self.m, self.b)
        self.free = np.delete(np.arange(self.m + 2 * self.b), self.m + self.b + anchor)

    def start(self) -> np.ndarray:
        """Return the published start."""
        drawn = 0.1 * np.random.default_rng(42).standard_normal(self.m + self.b)
        return np.concatenate((drawn, np.ones(self.b)))

    def fit(self, start: np.ndarray, weights: np.ndarray, *, numerical: bool = False, loose: bool = False) -> object:
        """Run to a gradient of about 1e-7, or to SciPy's own tolerances (a gradient of about 1e-3)."""
        root = np.sqrt(weights)
        low = np.concatenate((np.full(self.m + self.b, -10.0), np.full(self.b, 0.1)))[self.free]
        high = np.full(low.size, 10.0)

        def parts(x: np.ndarray) -> tuple[np.ndarray, ...]:
            p = np.ones(self.m + 2 * self.b)
            p[self.free] = x
            slope, distance = p[self.m + self.b + self.cols], p[self.rows] - p[self.m + self.cols]
            s = 1 / (1 + np.exp(-slope * distance))
            return s, slope, distance, p

        def residual(x: np.ndarray) -> np.ndarray:
            s = parts(x)[0]
            return np.concatenate((root * (s - self.y), np.sqrt(self.penalty) * x))

        def jacobian(x: np.ndarray) -> csr_matrix:
            s, slope, distance, p = parts(x)
            d = root * s * (1 - s)
            i = np.arange(s.size)
            columns = (self.rows, self.m + self.cols, self.m + self.b + self.cols)
            values = np.concatenate((d * slope, -d * slope, d * distance))
            top = csr_matrix((values, (np.tile(i, 3), np.concatenate(columns))), shape=(s.size, p.size))[:, self.free]
            j = np.arange(x.size)
            bottom = csr_matrix((np.full(x.size, np.sqrt(self.penalty)), (j, j)), shape=(x.size, x.size))
            return vstack((top, bottom)).tocsr()

        options: dict[str, object] = {"bounds": (low, high), "jac": "2-point" if numerical else jacobian}
        if not loose:
            options |= {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-8, "x_scale": "jac", "max_nfev": 300}
        if not loose and not numerical:
            options |= {"tr_solver": "lsmr", "tr_options": {"atol": 1e-10, "btol": 1e-10, "maxiter": 600}}
        return least_squares(residual, np.clip(start[self.free], low, high), **options)


def grown(scores: int) -> tuple[int, int, int, float, float, float]:
    """Fit synthetic scores, up to 100 benchmarks a subject out of up to 1,000; time ten sweeps of the default too."""
    rng = np.random.default_rng(0)
    subjects = max(50, scores // 100)
    benchmarks = int(np.clip(scores // 100, 30, 1000))
    each = scores // subjects
    chosen = np.argsort(rng.random((subjects, benchmarks)), axis=1)[:, :each] if subjects * benchmarks < 2e6 else None
    if chosen is None:
        offset, stride = rng.integers(0, benchmarks, (subjects, 1)), rng.choice([1, 3, 7, 9, 11, 13], (subjects, 1))
        chosen = (offset + stride * np.arange(each)) % benchmarks
    rows, cols = np.repeat(np.arange(subjects), each), np.sort(chosen, axis=1).ravel()
    C, D, slope = rng.normal(0, 1, subjects), rng.normal(0, 1, benchmarks), rng.uniform(0.5, 3, benchmarks)
    y = 1 / (1 + np.exp(-slope[cols] * (C[rows] - D[cols]))) + rng.normal(0, 0.05, rows.size)
    y = np.clip(y, 0, 1)
    layout = ScoreLayout.of(rows, cols)
    started = time.process_time()
    solution = solve_rosetta(layout, y, anchor=0)
    seconds = time.process_time() - started
    if not solution.converged.all():
        sys.exit(f"{rows.size} scores: the fit did not converge")
    started = time.process_time()
    zero, one = np.zeros(benchmarks), np.ones(benchmarks)
    cells = Cells(layout, y, zero, one, np.zeros(y.size), np.ones(y.size), np.ones((subjects, 1)))
    solve_pooled(cells, 1, tolerance=0, max_iterations=10)
    pooled = time.process_time() - started
    return rows.size, subjects, benchmarks, seconds, seconds / rows.size * 1e9, pooled


if __name__ == "__main__":
    run(main)
