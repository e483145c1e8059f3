"""Profiles held against data: ``python -m benchmarks.profiles``.

1. The published abilities from the embedded counts, where the published table is at hand. 2. Held-out prediction of AI
outcomes on the open pool from demands: the non-compensatory model, the compensatory one, and the plain share. 3. The
same on simulated subjects that follow either model, and coverage of the intervals of abilities. 4. Speed: 1,000
subjects on 16,000 items each.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
import polars as pl

from benchmarks import optional_data, run
from benchmarks.measured import record
from benchmarks.profile_models import MODELS, compare_models
from mensura.calibration import open_demands, open_outcomes, profile_counts
from mensura.calibration.joint import LevelGrid, NonCompensatory, chance, fit_joint
from mensura.calibration.outcomes import Answered, line_up
from mensura.calibration.profiles import profile_answered
from mensura.core.frames import text_table
from mensura.evidence import load

PUBLISHED_AUROC = 0.84
"""Area under the ROC curve that the published assessors reach in distribution, on their own battery."""
FEWEST = 90
"""Items a system must have answered to take part."""


def published() -> dict[str, float]:
    file = optional_data("adele", "ability_scores.csv")
    if file is None:
        print("1. Published abilities: left out; they need development data\n")
        return {}
    both = profile_counts(load().demand_outcomes).profile.join(pl.read_csv(file), on=["subject", "dimension"])
    off = (both["ability"] - both["ability_published_plot"]).abs()
    figures = {"n": both.height, "median": float(off.median()), "largest": float(off.max())}
    print(f"1. Published abilities: {both.height} compared, median difference {figures['median']:.5f}, "
          f"largest {figures['largest']:.4f}\n")  # fmt: skip
    return figures


def table(title: str, scores: pl.DataFrame) -> dict[str, dict[str, float]]:
    print(title)
    print("| model | answers | log loss | Brier | AUROC | calibration error |\n|---|---|---|---|---|---|")
    pooled = scores.filter(subject="all")
    for row in pooled.iter_rows(named=True):
        print(f"| {row['model']} | {row['n']:,} | {row['log_loss']:.4f} | {row['brier']:.4f} | {row['auroc']:.3f} | "
              f"{row['calibration_error']:.3f} |")  # fmt: skip
    own = scores.filter(pl.col("subject") != "all").pivot("model", index="subject", values="log_loss")
    better = int((own["non-compensatory"] < own["compensatory"]).sum())
    print(f"non-compensatory has the lower log loss for {better} of {own.height} subjects\n")
    rounded = pooled.drop("subject").with_columns(pl.col(pl.Float64).round(4))
    figures = {row.pop("model"): row for row in rounded.to_dicts()}
    return figures | {"better": {"non-compensatory": better, "of": own.height}}


def real() -> dict[str, dict[str, float]]:
    told = open_outcomes().filter(kind="AI")
    many = told.group_by("subject").len().filter(pl.col("len") >= FEWEST)["subject"]
    answered = line_up(told.filter(pl.col("subject").is_in(many.implode())), open_demands())
    return table(f"2. AI systems on the open pool ({len(answered.subjects)} systems, 5 folds of items)",
                 compare_models(answered))  # fmt: skip


def battery(
    subjects: int, items: int, dimensions: int, rng: np.random.Generator, model: str
) -> tuple[Answered, np.ndarray]:
    """Return simulated answers of subjects that follow a model, and their parameters."""
    codes = tuple(load().demand_outcomes["dimension"].unique(maintain_order=True))[:dimensions]
    general = rng.normal(2.0, 1.0, items)
    levels = np.clip(np.round(general[:, None] + rng.normal(-0.8, 1.2, (items, dimensions))), 0, 5)
    made, grid, floor = MODELS[model](dimensions), LevelGrid.of(levels), np.zeros(items)
    if model == "non-compensatory":
        able = rng.normal(3.2, 1.0, (subjects, 1)) + rng.normal(0, 0.7, (subjects, dimensions))
        truth = np.column_stack([able, rng.normal(0.4, 0.2, subjects)])
    else:
        weights = np.abs(rng.normal(0.25, 0.15, (subjects, dimensions)))
        truth = np.column_stack([weights, (weights.sum(axis=1) * 1.6) + rng.normal(0, 1.0, subjects)])
    solved = np.concatenate([rng.random(items) < chance(made, one, grid, floor) for one in truth]).astype(float)
    places = np.arange(subjects + 1) * items
    names = tuple(f"s{k}" for k in range(subjects))
    answered = Answered(
        names, tuple(f"i{k}" for k in range(items)), codes, levels, np.repeat(np.arange(subjects), items),
        np.tile(np.arange(items), subjects), solved, np.zeros(subjects * items), places,
    )  # fmt: skip
    return answered, truth


def simulated(rng: np.random.Generator) -> dict[str, object]:
    figures: dict[str, object] = {}
    for model in MODELS:
        answered, _ = battery(20, 800, 9, rng, model)
        figures[model] = table(
            f"3. Simulated, {model} (20 subjects, 800 items, 9 dimensions)", compare_models(answered)
        )
    answered, truth = battery(100, 800, 9, rng, "non-compensatory")
    grid, inside = LevelGrid.of(answered.levels), []
    for at in range(len(answered.subjects)):
        _, solved, floor = answered.of(at)
        fit = fit_joint(NonCompensatory(9), grid, solved, floor)
        off = (fit.parameters - truth[at])[:-1] / np.sqrt(np.diag(fit.covariance))[:-1]
        inside.append(np.abs(off) < 1.6448536)
    figures["coverage"] = round(float(np.mean(inside)), 3)
    print(f"Coverage of the 90% intervals of what a demand alone takes: {np.mean(inside):.3f} (900 abilities)\n")
    return figures


def speed(subjects: int, rng: np.random.Generator) -> dict[str, float]:
    answered, _ = battery(subjects, 16_000, 18, rng, "non-compensatory")
    figures: dict[str, float] = {"subjects": subjects}
    for method in ("adele", "joint"):
        began = time.perf_counter()
        profile_answered(answered, method=method)
        figures[method] = round(time.perf_counter() - began, 1)
        print(f"4. {subjects:,} subjects × 16,000 items × 18 dimensions, {method}: {figures[method]:.1f} s")
    return figures


def strong_and_weak() -> dict[str, float]:
    """Print the median level of 15 language models per group of dimensions.

    The papers find AI "strong in knowledge, weak in volume and attention".
    """
    made = profile_counts(load().demand_outcomes).profile
    table = (
        made.with_columns(group=pl.col("dimension").str.head(2))
        .group_by("group")
        .agg(median_level=pl.col("ability").median())
        .sort("median_level", descending=True)
    )
    print("\nMedian level of 15 language models")
    print(text_table(table, digits=3))
    levels: dict[str, float] = dict(table.iter_rows())
    for group in ("AT", "VO", "KN"):
        record(f"profiles.level_{group.lower()}", f"{levels[group]:.1f}")
    return levels


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--subjects", type=int, default=1000, help="subjects of the speed run")
    subjects = options.parse_args().subjects
    rng = np.random.default_rng(0)
    figures = {
        "published": published(),
        "published_auroc": PUBLISHED_AUROC,
        "real": real(),
        "simulated": simulated(rng),
        "rarity": strong_and_weak(),
    }
    figures["speed"] = speed(subjects, rng)
    print(json.dumps(figures))


if __name__ == "__main__":
    run(main)
