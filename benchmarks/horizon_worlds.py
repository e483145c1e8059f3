"""Simulated worlds in which the true horizons are given: how often intervals contain them.

Each world has eight suites of 40 tasks and ten systems. Task effects have heavy tails, slopes and abilities are not
normal, and suites are spread unevenly over lengths, so the fit's own assumptions do not hold exactly.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.special import expit

import mensura

WORLDS = ("noisy", "biased", "bucketed", "censored")
SYSTEMS, TASKS = 10, 40
PERSON, JUDGE = 1.3, 1.0


def make_world(
    kind: str, seed: int, suites: int = 8
) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, tuple[float, float]]]:
    """Return runs, times and the true p50 and p80 in minutes of each system."""
    rng = np.random.default_rng([WORLDS.index(kind), seed])
    centers = rng.permutation(np.linspace(0.0, 8.5, suites)) + rng.normal(0, 0.5, suites)
    suite = np.repeat(np.arange(suites), TASKS)
    length = centers[suite] + rng.normal(0, rng.uniform(0.8, 1.6, suites)[suite])
    spread_e, spread_v, spread_w = rng.uniform(0.6, 1.4), rng.uniform(0.3, 0.9), rng.uniform(0.2, 0.6)
    effects = spread_e * rng.standard_t(5, suite.size) / np.sqrt(5 / 3)
    shifts = spread_v * rng.normal(size=suites)
    horizons = rng.uniform(1.0, 8.0, SYSTEMS)
    slopes = rng.uniform(0.55, 1.05, SYSTEMS)
    pairs = spread_w * rng.normal(size=(SYSTEMS, suites))
    logits = slopes[:, None] * (horizons[:, None] - length) - effects - shifts[suite] + pairs[:, suite]
    success = rng.random(logits.shape) < expit(logits)
    truth = {
        f"system {place}": _truth(horizons[place], slopes[place], spread_e, np.hypot(spread_v, spread_w), rng)
        for place in range(SYSTEMS)
    }
    who, task = np.indices(success.shape)
    names = np.array([f"task {place}" for place in range(suite.size)])
    labels = np.array([f"suite {place}" for place in range(suites)])
    runs = pl.DataFrame(
        {
            "subject": [f"system {place}" for place in who.ravel()],
            "suite": labels[suite][task.ravel()],
            "task": names[task.ravel()],
            "score": success.ravel().astype(float),
        }
    )
    return runs, _times(kind, length, suite, labels, names, rng), truth


def _truth(
    horizon: float, slope: float, spread: float, between: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the lengths at which success over tasks of all suites is half and four fifths."""
    shift = spread * rng.standard_t(5, 20_000) / np.sqrt(5 / 3) + between * rng.normal(size=20_000)
    grid = np.linspace(horizon - 12, horizon + 4, 161)
    rate = np.array([expit(slope * (horizon - x) - shift).mean() for x in grid])
    return tuple(float(2 ** np.interp(-level, -rate, grid)) for level in (0.5, 0.8))  # type: ignore[return-value]


def _times(kind: str, length, suite, labels, names, rng) -> pl.DataFrame:  # noqa: ANN001
    """Return the times that this world's experimenters publish."""
    rows: list[tuple[str, str, float | None, str, str | None, float | None, float | None]] = []
    bias = rng.normal(-0.6, 1.0, labels.size)
    limit = 240.0
    for place, x in enumerate(length):
        where, task = labels[suite[place]], names[place]
        if kind in ("noisy", "censored"):
            for person in range(1 + (rng.random() < 0.25)):
                minutes = 2 ** (x + PERSON * rng.normal())
                if kind == "censored" and minutes > limit:
                    rows.append((where, task, limit, "at least (gave up)", f"person {person}", None, None))
                else:
                    rows.append((where, task, minutes, "measured", f"person {person}", None, None))
        judged = x + bias[suite[place]] + JUDGE * rng.normal()
        if kind == "biased":
            rows.append((where, task, float(2**judged), "expert estimate", None, None, None))
            if rng.random() < 0.15:
                rows.append((where, task, float(2 ** (x + PERSON * rng.normal())), "measured", None, None, None))
        if kind == "bucketed":
            edges = np.array([0, 1, 4, 15, 60, 240, np.inf])
            slot = int(np.searchsorted(edges, 2**judged)) - 1
            low = None if slot == 0 else float(edges[slot])
            high = None if slot == 5 else float(edges[slot + 1])
            rows.append((where, task, None, "range", None, low, high))
            if rng.random() < 0.15:
                rows.append((where, task, float(2 ** (x + PERSON * rng.normal())), "measured", None, None, None))
    columns = {"suite": pl.String, "task": pl.String, "minutes": pl.Float64, "how": pl.String, "person": pl.String}
    return pl.DataFrame(rows, schema=columns | {"low": pl.Float64, "high": pl.Float64}, orient="row")


def measure(kind: str, tables: int = 50, *, published: bool = True) -> dict[str, float]:
    """Return how often 90% intervals contain the truth: Mensura's and the published method's."""
    methods = (("", "mensura"), ("metr_", "metr"))[: 1 + published]
    held: dict[str, list[bool]] = {prefix + key: [] for prefix, _ in methods for key in ("p50", "p80")}
    width: list[float] = []
    error: dict[str, list[float]] = {method: [] for _, method in methods}
    for seed in range(tables):
        runs, times, truth = make_world(kind, seed)
        for prefix, method in methods:
            fit = mensura.fit_horizons(runs, times, method=method, draws=400 if method == "mensura" else 60, seed=seed)
            for row in fit.horizons.filter(pl.col("suite") == "all").iter_rows(named=True):
                for name, value in zip(("p50", "p80"), truth[row["subject"]], strict=True):
                    low, high = row[f"{name}_low"], row[f"{name}_high"]
                    held[prefix + name].append((low is None or low <= value) and (high is None or value <= high))
                value = truth[row["subject"]][0]
                if row["p50"]:
                    error[method].append(float(np.log2(row["p50"] / value)))
                if not prefix and row["p50_low"] and row["p50_high"]:
                    width.append(float(np.log2(row["p50_high"] / row["p50_low"])))
    figures = {key: round(float(np.mean(values)), 3) for key, values in held.items()}
    figures["width"] = round(float(np.mean(width)), 2)
    return figures | {f"rms_{key}": round(float(np.sqrt(np.mean(np.square(v)))), 2) for key, v in error.items()}


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=WORLDS)
    parser.add_argument("--tables", type=int, default=50)
    parser.add_argument("--own", action="store_true", help="leave out the published method, which is slower")
    given = parser.parse_args()
    for kind in given.kinds:
        print(kind, measure(kind, given.tables, published=not given.own), flush=True)
