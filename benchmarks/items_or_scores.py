"""Compare rankings of models from answers item by item with those from mean scores, and their intervals.

Reads the response sets with outcomes of AI models of the development data. For each set it compares mean
scores with a Rasch fit of the answers. ``tau``: Kendall's correlation of both rankings. ``told apart``: share of pairs
whose difference exceeds its 90% error, with means as independent samples, with means over the same items, and with the
fit. ``half``: mean tau with the full ranking where every model took a random half of the items. ``uneven``: the same
where each model took mostly easy or mostly hard items.
"""

from __future__ import annotations

import argparse
import json
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from benchmarks import development_data, run
from mensura.responses import FitOptions, fit_responses

Z90 = 1.6448536269514722


def arc() -> pl.DataFrame:
    """Ten models on 400 public evaluation tasks of ARC-AGI-1, two attempts."""
    frame = pl.read_csv(development_data("items/pools/arc_larc/arc1_model_outcomes.csv.gz")).filter(
        pl.col("split") != "training"
    )
    return frame.select(subject="model", item="task", correct="all_tests_correct")


def enem() -> pl.DataFrame:
    """Five models in two languages and two prompts on items of Brazil's school exam; the rate of 30 runs."""
    frame = pl.read_csv(development_data("items/pools/enem/llm_outcomes.csv.gz")).filter(pl.col("n_runs") > 1)
    subject = pl.format("{} {} {}", "model", "language", "prompt")
    return frame.select(subject.alias("subject"), pl.format("{}-{}", "year", "co_item").alias("item"), correct="rate")


def metr() -> pl.DataFrame:
    """Ten models on 83 tasks of software and research; the rate of all runs."""
    frame = pl.read_csv(development_data("items/pools/metr_tasks/tasks_jan2025.csv"))
    columns = [name for name in frame.columns if name.startswith("rate ")]
    long = frame.select("task_id", *columns).unpivot(index="task_id", variable_name="subject", value_name="correct")
    return long.rename({"task_id": "item"}).drop_nulls().with_columns(pl.col("correct").clip(0.0, 1.0))


SETS = {"ARC-AGI-1": arc, "ENEM": enem, "METR tasks": metr}


def abilities(long: pl.DataFrame, subjects: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return abilities and their errors by a Rasch fit, in the order of subjects."""
    fit = fit_responses(long, model="rasch", options=FitOptions(checks=False))
    found = {name: (ability, error) for name, ability, error in fit.subjects.select("subject", "ability", "se").rows()}
    both = np.array([found.get(name, (np.nan, np.nan)) for name in subjects])
    return both[:, 0], both[:, 1]


def means(long: pl.DataFrame, subjects: list[str]) -> np.ndarray:
    found = dict(long.group_by("subject").agg(pl.col("correct").mean()).iter_rows())
    return np.array([found[name] for name in subjects])


def tau(one: np.ndarray, other: np.ndarray) -> float:
    from scipy.stats import kendalltau

    return float(kendalltau(one, other).statistic)


def told_apart(table: np.ndarray, ability: np.ndarray, error: np.ndarray) -> dict[str, float]:
    """Return the shares of pairs that differ by more than their 90% error; ``table``: models × items."""
    found: dict[str, list[bool]] = {"independent": [], "same_items": [], "fit": []}
    for one, other in combinations(range(len(table)), 2):
        both = ~np.isnan(table[one]) & ~np.isnan(table[other])
        first, second = table[one, both], table[other, both]
        gap, count = abs(first.mean() - second.mean()), int(both.sum())
        found["independent"].append(gap > Z90 * np.sqrt((first.var() + second.var()) / count))
        found["same_items"].append(gap > Z90 * np.sqrt((first - second).var() / count))
        found["fit"].append(abs(ability[one] - ability[other]) > Z90 * np.hypot(error[one], error[other]))
    return {name: round(float(np.mean(values)), 3) for name, values in found.items()}


def partly(long: pl.DataFrame, subjects: list[str], rng: np.random.Generator, *, uneven: bool) -> pl.DataFrame:
    """Return half of the items of every model: a random half, or one that is mostly easy or mostly hard."""
    rate = dict(long.group_by("item").agg(pl.col("correct").mean()).iter_rows())
    parts = []
    for name in subjects:
        own = long.filter(subject=name)
        ease = np.array([rate[item] for item in own["item"]])
        liking = (1 if rng.random() < 0.5 else -1) * 3.0 * (ease - 0.5) if uneven else np.zeros(len(ease))
        chosen = np.argsort(-(liking + rng.gumbel(size=len(ease))))[: len(ease) // 2]
        parts.append(own[np.sort(chosen)])
    return pl.concat(parts)


def compare(name: str, repeats: int) -> dict[str, Any]:
    long = SETS[name]()
    subjects = long["subject"].unique(maintain_order=True).to_list()
    table = long.pivot("item", index="subject", values="correct", aggregate_function="mean").sort(
        pl.col("subject").replace_strict(subjects, range(len(subjects)))
    )
    score = means(long, subjects)
    ability, error = abilities(long, subjects)
    row: dict[str, Any] = {"set": name, "models": len(subjects), "items": long["item"].n_unique()}
    row |= {"tau": round(tau(score, ability), 3)} | told_apart(table.drop("subject").to_numpy(), ability, error)
    rng = np.random.default_rng(0)
    for uneven in (False, True):
        found: dict[str, list[float]] = {"scores": [], "items": []}
        for _ in range(repeats):
            some = partly(long, subjects, rng, uneven=uneven)
            found["scores"].append(tau(means(some, subjects), score))
            found["items"].append(tau(abilities(some, subjects)[0], score))
        kind = "uneven" if uneven else "half"
        row |= {f"{kind}_{way}": round(float(np.mean(values)), 3) for way, values in found.items()}
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20)
    chosen = parser.parse_args()
    head = f"{'set':>12}{'models':>7}{'items':>6}{'tau':>6} | told apart: {'alone':>6}{'same':>7}{'fit':>7} |"
    print(f"{head} half: {'scores':>7}{'items':>7} | uneven: {'scores':>7}{'items':>7}")
    rows = []
    for name in SETS:
        row = compare(name, chosen.repeats)
        rows.append(row)
        apart = f"{row['independent']:>6.0%}{row['same_items']:>7.0%}{row['fit']:>7.0%}"
        halves = f"{row['half_scores']:>7.2f}{row['half_items']:>7.2f}"
        uneven = f"{row['uneven_scores']:>7.2f}{row['uneven_items']:>7.2f}"
        size = f"{name:>12}{row['models']:>7}{row['items']:>6}{row['tau']:>6.2f}"
        print(f"{size} |             {apart} |       {halves} |         {uneven}", flush=True)
    print(json.dumps(rows))


if __name__ == "__main__":
    run(main)
