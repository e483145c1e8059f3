"""Speed and memory of the published fit: SciPy's least squares beside the solver here, one thread each.

Same data, same start, both taken to their optimum. Growth: synthetic scores from 10³ to 10⁷. Run with
OMP_NUM_THREADS=1 (set here before NumPy is loaded).
"""

from __future__ import annotations

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import resource  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402

import numpy as np  # noqa: E402
from scipy.optimize import least_squares  # noqa: E402
from scipy.sparse import csr_matrix, vstack  # noqa: E402

from benchmarks.stitch_data import finish, parser, reference_scores  # noqa: E402
from mensura.stitching import Layout, ScoreSet, penalty_weight, solve_rosetta, stitch  # noqa: E402
from mensura.stitching.bootstrap import bootstrap_weights  # noqa: E402
from mensura.stitching.pooled import Cells, solve_pooled  # noqa: E402


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--largest", type=float, default=1e7, help="scores of the largest synthetic data set")
    arguments.add_argument("--skip-numerical", action="store_true", help="leave out the slow numerical Jacobian")
    options = arguments.parse_args()
    fit = stitch(reference_scores(options.shared), method="rosetta", anchor_benchmark="Winogrande")
    data = fit.data
    anchor = data.benchmarks.index("Winogrande")
    peer = Peer(data, anchor)
    figures: dict[str, object] = {}

    ours, solution = best(lambda: solve_rosetta(data.layout, data.y, anchor=anchor), 15)
    analytic, found = best(lambda: peer.fit(peer.start(), np.ones(data.y.size)), 2)
    loose, _ = best(lambda: peer.fit(peer.start(), np.ones(data.y.size), loose=True), 3)
    print(f"{'one fit':44}{'CPU s':>10}{'times faster':>14}")
    print(f"{'mensura':44}{ours:10.4f}")
    print(f"{'SciPy, analytic sparse, to the optimum':44}{analytic:10.4f}{analytic / ours:14.1f}")
    print(f"{'SciPy, analytic sparse, its own tolerances':44}{loose:10.4f}{loose / ours:14.1f}")
    figures |= {"fit_seconds": ours, "fit_analytic_seconds": analytic, "fit_times_analytic": analytic / ours}
    figures |= {"fit_analytic_loose_seconds": loose, "fit_times_analytic_loose": loose / ours}
    figures["fit_same_optimum"] = float(abs(2 * found.cost - 2 * solution.cost[0] + peer.penalty) / 2)
    if not options.skip_numerical:
        numerical, _ = best(lambda: peer.fit(peer.start(), np.ones(data.y.size), numerical=True), 1)
        print(f"{'SciPy least_squares, numerical Jacobian':44}{numerical:10.4f}{numerical / ours:14.1f}")
        figures |= {"fit_numerical_seconds": numerical, "fit_times_numerical": numerical / ours}

    weights = bootstrap_weights(data.layout, 1000, "within", np.random.default_rng(0))
    seconds, _ = best(lambda: fit.bootstrap(1000), 2)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    warm = np.concatenate((solution.C[0], solution.D[0], solution.slope[0]))
    one, rough = (
        best(lambda loose=loose: [peer.fit(warm, w, loose=loose) for w in weights[:5]], 1)[0] / 5
        for loose in (False, True)
    )
    print(f"\n{'bootstrap, warm start':44}{'CPU s':>10}{'times faster':>14}")
    print(f"{'mensura, 1,000 replicates':44}{seconds:10.3f}   {memory:.0f} MB at most")
    print(f"{'mensura, one replicate':44}{seconds / 1000:10.5f}")
    print(f"{'SciPy, one replicate, to the optimum':44}{one:10.4f}{one / seconds * 1000:14.1f}")
    print(f"{'SciPy, one replicate, its own tolerances':44}{rough:10.4f}{rough / seconds * 1000:14.1f}")
    figures |= {"bootstrap_1000_seconds": seconds, "bootstrap_memory_mb": memory}
    figures |= {"replicate_peer_seconds": one, "replicate_times": one / seconds * 1000}
    figures |= {"replicate_peer_loose_seconds": rough, "replicate_times_loose": rough / seconds * 1000}

    print(
        f"\n{'growth: scores':>16}{'subjects':>10}{'benchmarks':>12}{'rosetta s':>12}{'ns/score':>14}{'10 sweeps s':>13}"
    )
    growth = []
    scores = 1e3
    while scores <= options.largest * 1.01:
        growth.append(grown(int(scores)))
        print("{:16,}{:10,}{:12,}{:12.3f}{:14.0f}{:13.3f}".format(*growth[-1]))
        scores *= 10
    figures["growth"] = growth
    figures["memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    finish(figures)


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
    layout = Layout.of(rows, cols)
    started = time.process_time()
    solution = solve_rosetta(layout, y, anchor=0)
    seconds = time.process_time() - started
    assert solution.converged
    started = time.process_time()
    zero, one = np.zeros(benchmarks), np.ones(benchmarks)
    cells = Cells(layout, y, zero, one, np.zeros(y.size), np.ones(y.size), np.ones((subjects, 1)))
    solve_pooled(cells, 1, tolerance=0, max_iterations=10)
    pooled = time.process_time() - started
    return rows.size, subjects, benchmarks, seconds, seconds / rows.size * 1e9, pooled


if __name__ == "__main__":
    main()
