"""Recover ratings in several dimensions, and the effect of a covariate on each: a part of ``benchmarks.irt_models``."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import polars as pl

from benchmarks.measured import percent_range, record
from mensura.responses import fit_dimensions, regress_abilities

Z90 = 1.6448536269514722
RATED = (
    ("2pl", 2, False),
    ("graded", 2, False),
    ("graded", 3, False),
    ("partial-credit", 2, False),
    ("graded", 2, True),
)
"""Models, dimensions, and whether these are found from the answers."""


def draw_rated(
    model: str, dimensions: int, rng: np.random.Generator, subjects: int = 1000
) -> tuple[pl.DataFrame, pl.DataFrame, Any]:
    """Draw subjects on 18 items of 4 categories (2pl: 2); abilities rise by 0.5, 0.3, 0.1 with schooling.

    They have sd 1 and correlate by 0.5.
    """
    kinds, own = 2 if model == "2pl" else 4, np.arange(18) % dimensions
    slopes = np.exp(rng.normal(0.0, 0.25, (18, 1))) * (own[:, None] == np.arange(dimensions))
    steps = rng.normal(0.0, 1.0, (18, kinds - 1))
    if model == "graded":
        steps = -np.sort(steps, axis=1) - 0.3 * np.arange(kinds - 1)
    effect = np.array([0.5, 0.3, 0.1])[:dimensions]
    shared = np.full((dimensions, dimensions), 0.5) + 0.5 * np.eye(dimensions)
    schooling = rng.normal(size=subjects)
    rest = rng.multivariate_normal(np.zeros(dimensions), shared - np.outer(effect, effect), subjects)
    ability = schooling[:, None] * effect + rest
    z = (ability @ slopes.T)[:, :, None] + steps
    if model == "partial-credit":
        heights = np.concatenate([np.zeros((subjects, 18, 1)), np.cumsum(z, axis=2)], axis=2)
        answers = np.argmax(heights + rng.gumbel(size=heights.shape), axis=2)
    else:
        answers = np.sum(z + rng.logistic(size=(subjects, 18, 1)) > 0.0, axis=2)
    names = [f"i{at}" for at in range(18)]
    wide = pl.DataFrame({"subject": np.arange(subjects).astype(str), **dict(zip(names, answers.T, strict=True))})
    pairs = pl.DataFrame({"item": names, "dimension": [f"d{one + 1}" for one in own]})
    return wide, pairs, (slopes, steps, effect, ability, schooling)


def recover_rated(model: str, dimensions: int, explored: bool, replications: int) -> dict[str, Any]:
    """Fit several dimensions and regress them on schooling; if explored, compare the effects alone."""
    found: dict[str, list[float]] = {}
    for seed in range(replications):
        wide, pairs, (slopes, steps, effect, ability, schooling) = draw_rated(
            model, dimensions, np.random.default_rng(seed)
        )
        began = time.process_time()
        chosen = {"dimensions": dimensions, "rotation": "oblimin"} if explored else {"dimensions": pairs}
        fit = fit_dimensions(wide, model=model, **chosen)
        people = wide.select("subject", schooling=pl.Series(schooling))
        effects = regress_abilities(fit, None, people, on=["schooling"], draws=1).regression.filter(term="schooling")
        found.setdefault("cpu_s", []).append(time.process_time() - began)
        order = np.arange(dimensions)
        if explored:  # which dimension is which: the one that its items load on
            loads = fit.items.pivot(on="dimension", index="item", values="loading").drop("item").to_numpy()
            order = np.argmax(loads.T @ slopes, axis=1)
        compared = {"effect": (effects["estimate"], effect[order], effects["se"])}
        if not explored:
            compared |= {
                "slope": (fit.items["discrimination"], slopes.T[slopes.T != 0], fit.items["se"]),
                "intercept": (fit.intercepts["intercept"], steps.ravel(), fit.intercepts["se"]),
                "ability": (fit.subjects["ability"], ability.T.ravel(), fit.subjects["se"]),
                "correlation": (fit.correlations["correlation"], np.array(0.5), fit.correlations["se"]),
            }
        for name, (estimate, truth, error) in compared.items():
            off = estimate.to_numpy() - truth
            found.setdefault(f"{name}_count", []).append(off.size)
            found.setdefault(f"{name}_rmse", []).append(float(np.sqrt(np.mean(off**2))))
            found.setdefault(f"{name}_held", []).append(float(np.mean(np.abs(off) < Z90 * error.to_numpy())))
        found.setdefault("converged", []).append(float(fit.converged))
    means = {name: round(float(np.mean(values)), 4) for name, values in found.items()}
    return {"model": model, "dimensions": dimensions, "explored": explored} | means


def show_rated(replications: int) -> list[dict[str, Any]]:
    """Print and return the rows of ratings in several dimensions with a covariate."""
    names = ("slope", "intercept", "ability", "correlation", "effect")
    print(f"{'model':>15}{'D':>3}{'':>10} |{'held a':>8}{'d':>7}{'θ':>7}{'r':>7}{'B':>7} |{'RMSE B':>8}{'CPU s':>7}")
    rows = []
    for model, dimensions, explored in RATED:
        row = recover_rated(model, dimensions, explored, replications)
        rows.append(row)
        held = "".join(f"{row.get(f'{name}_held', float('nan')):>7.1%}" for name in names)
        kind = "explored" if explored else ""
        print(
            f"{model:>15}{dimensions:>3}{kind:>10} | {held} |{row['effect_rmse']:>8.3f}{row['cpu_s']:>7.2f}", flush=True
        )
    means = {}
    for name in names:  # every interval counts once
        kept = [row for row in rows if f"{name}_held" in row]
        weights = [row[f"{name}_count"] for row in kept]
        means[name] = float(np.average([row[f"{name}_held"] for row in kept], weights=weights))
    print("all: " + ", ".join(f"{name} {share:.1%}" for name, share in means.items()))
    record("irt.rated", percent_range(means[name] for name in names[:4]))
    record("irt.effects", f"{means['effect']:.0%}")
    return rows
