"""Every bar of the horizons: ``python -m benchmarks.horizons [--tables 50] [--data FOLDER]``.

Prints the published method against its reference, coverage in simulated worlds, success and means of suites left out,
minutes of suites left out, and speed. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path

import numpy as np
import polars as pl

import mensura
from benchmarks import SHARED
from benchmarks.horizon_suites import predict_suites
from benchmarks.horizon_worlds import WORLDS, measure
from mensura.horizon import estimate_minutes, load_runs
from mensura.horizon.metr import exact_minutes
from mensura.horizon.reading import read_data

METHODS = (("invsqrt", 0.1, "inverse square root weights, penalty 0.1"), ("equal", 0.0, "equal weights, no penalty"))
EDGE = 1e-3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=50)
    parser.add_argument("--data", type=Path, default=SHARED / "data" / "human_times")
    given = parser.parse_args()
    figures: dict[str, object] = {}
    if given.data.is_dir():
        figures |= reference(given.data) | speed(given.data)
    figures |= left_out() | minutes_left_out()
    for kind in WORLDS if given.tables else ():
        figures[kind] = measure(kind, given.tables)
        print(f"simulated, {kind} times: {figures[kind]}", flush=True)
    print(json.dumps(figures))


def reference(folder: Path) -> dict[str, float]:
    """Return the largest relative difference to the reference of the published method."""
    table = pl.read_csv(folder / "reference_five_suites.csv")
    runs = pl.read_csv(folder / "outcomes.csv").filter(pl.col("subject").is_in(table["subject"].to_list()))
    worst = {}
    for weights, penalty, label in METHODS:
        fit = mensura.fit_horizons(runs, folder / "tasks.csv", method="metr", weights=weights, penalty=penalty, draws=2)
        both = table.filter(pl.col("method") == label).join(fit.horizons, on="subject")
        gaps = [(both[name] / both[f"{name}_minutes"] - 1).abs().max() for name in ("p50", "p80")]
        worst[f"reference_{weights}"] = round(max(gaps), 5)  # type: ignore[type-var, arg-type]
        print(f"published method, {label}: within {max(gaps):.2%} of the reference ({both.height} systems)")  # type: ignore[type-var]
    return worst


def speed(folder: Path) -> dict[str, float]:
    """Return seconds and memory of the fit of all outcomes, and seconds of a million."""
    start = time.perf_counter()
    mensura.fit_horizons(folder / "outcomes.csv", folder / "tasks.csv")
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"34,046 outcomes: {seconds:.1f} s, {memory:.0f} MB")
    rng = np.random.default_rng(0)
    lengths, levels = rng.normal(4, 2.5, 2000), rng.normal(4, 2, 500)
    success = rng.random((500, 2000)) < 1 / (1 + np.exp(lengths - levels[:, None]))
    who, task = np.indices(success.shape)
    runs = pl.DataFrame(
        {
            "subject": who.ravel(),
            "suite": task.ravel() % 10,
            "task": task.ravel(),
            "score": success.ravel().astype(float),
        }
    ).with_columns(pl.col("suite").cast(pl.String))
    times = {"task": np.arange(2000), "minutes": 2**lengths}
    start = time.perf_counter()
    mensura.fit_horizons(runs, times)
    million = time.perf_counter() - start
    print(f"1,000,000 outcomes: {million:.1f} s")
    return {"seconds": round(seconds, 1), "megabytes": round(memory), "seconds_million": round(million, 1)}


def left_out() -> dict[str, object]:
    """Return log loss on each security suite left out, and how often intervals hold the means of suites."""
    embedded = load_runs()
    every = read_data(embedded.runs, embedded.times)
    losses, inside = {}, []
    for suite in sorted(every.runs["suite"].unique()):
        other = embedded.runs.filter(pl.col("suite") != suite)
        times = [table.filter(pl.col("suite") != suite) for table in embedded.times]
        new = every.times.filter(pl.col("suite") == suite).rename({"who": "person"}).drop("kind")
        truth = every.runs.filter(pl.col("suite") == suite)
        rates, means = predict_suites(mensura.fit_horizons(other, times), new)
        ours = truth.join(rates, on=["subject", "suite", "task"])
        published = _published(other, times, ours, exact_minutes(every.times))
        losses[suite] = [_loss(ours["score"], rate) for rate in (ours["rate"].to_numpy(), published)]
        mean = truth.group_by("subject").agg(observed=pl.col("score").mean()).join(means, on="subject")
        inside += mean.select(pl.col("observed").is_between("low", "high")).to_series().to_list()
        print(f"left out {suite}: log loss {losses[suite][0]:.3f}, published {losses[suite][1]:.3f}")
    wins = sum(one < other for one, other in losses.values())
    print(f"lower in {wins} of {len(losses)} suites; 90% intervals hold {np.mean(inside):.2f} of {len(inside)} means")
    return {"suites_won": wins, "suite_means_held": round(float(np.mean(inside)), 3), "log_loss": losses}


def _published(runs: pl.DataFrame, times: list[pl.DataFrame], rows: pl.DataFrame, x: pl.DataFrame) -> np.ndarray:
    """Return the published method's success on tasks of the suite left out."""
    fit = mensura.fit_horizons(runs, times, method="metr", draws=2)
    lines = fit.horizons.select("subject", "intercept", "slope")
    joined = rows.join(lines, on="subject", how="left", maintain_order="left").join(
        x, on=["suite", "task"], how="left", maintain_order="left"
    )
    logit = joined["intercept"] + joined["slope"] * joined["x"]
    return np.clip(1 / (1 + np.exp(-logit.fill_null(0.0).to_numpy())), EDGE, 1 - EDGE)


def _loss(score: pl.Series, rate: np.ndarray) -> float:
    rate, y = np.clip(rate, EDGE, 1 - EDGE), score.to_numpy()
    return float(-(y * np.log(rate) + (1 - y) * np.log1p(-rate)).mean())


def minutes_left_out() -> dict[str, object]:
    """Return the error of minutes of suites left out, from a language model's and experts' estimates."""
    from mensura.core.frames import read_csv
    from mensura.horizon.minutes import DATA

    table = read_csv(DATA / "estimates.csv")
    measured = table.filter(pl.col("how") == "measured")
    figures: dict[str, object] = {}
    for kind, label in (("language model", "language model"), ("expert who saw the solution", "expert estimate")):
        for anchors in (0, 5):
            errors, raws, held = [], [], []
            for (suite,), judged in table.filter(pl.col("how") == kind).group_by("suite", maintain_order=True):
                truth = measured.filter(pl.col("suite") == suite).select("task", truth="minutes")
                judged = judged.join(truth, on="task", how="semi").drop("suite")
                truth = truth.join(judged, on="task", how="semi")
                if anchors and truth.height < 10:
                    continue
                for seed in range(3 if anchors else 1):
                    ties = truth.sample(anchors, seed=seed).select("task", minutes="truth") if anchors else None
                    others = table.filter(pl.col("suite") != suite)
                    estimate = estimate_minutes(judged, ties, kind=label, reference=others)
                    raw = judged.group_by("task").agg(raw=pl.col("minutes").log(2).mean())
                    both = estimate.rename({"item": "task"}).join(truth, on="task").join(raw, on="task")
                    both = both.filter(pl.col("status") != "measured")
                    errors += (both["minutes"] / both["truth"]).log(2).to_list()
                    raws += (both["raw"] - both["truth"].log(2)).to_list()
                    held += both.select(pl.col("truth").is_between("minutes_low", "minutes_high")).to_series().to_list()
            rms, before = (float(np.sqrt(np.mean(np.square(one)))) for one in (errors, raws))
            key = f"{label}, {anchors} anchors"
            figures[key] = [round(rms, 2), round(before, 2), round(1 - rms / before, 2), round(float(np.mean(held)), 2)]
            print(
                f"{key}: {rms:.2f} doublings, raw {before:.2f} ({1 - rms / before:.0%} less), held {np.mean(held):.2f}"
            )
    return figures


if __name__ == "__main__":
    main()
