"""Recover simulated items with several categories, skewed abilities, several dimensions or all of it.

Errors are those against the truth; coverage is that of 90% intervals; ``--part`` chooses the models. Each setting is
drawn ``--replications`` times. The table gives root mean square errors of slopes a, intercepts d (or difficulties b)
and abilities, the coverage of their intervals, and the processor time of a fit.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from benchmarks import irt_rated, run
from benchmarks.measured import percent_range, record
from mensura.responses import FitOptions, fit_categories, fit_dimensions, fit_responses
from mensura.responses.irt.category_curves import CategoryItems, begin, log_chances

PARTS = ("all", "categories", "shapes", "dimensions", "bifactor", "rated")
Z90 = 1.6448536269514722


class Setting(NamedTuple):
    """One design: model, subjects, items, categories."""

    model: str
    subjects: int
    items: int
    kinds: int


SETTINGS = (
    Setting("graded", 500, 10, 5),
    Setting("graded", 2000, 30, 4),
    Setting("partial-credit", 500, 10, 5),
    Setting("partial-credit", 2000, 30, 4),
    Setting("nominal", 1000, 15, 4),
    Setting("nominal", 2000, 30, 4),
)


def draw(setting: Setting, seed: int) -> tuple[pl.DataFrame, CategoryItems, np.ndarray]:
    """Draw a wide table of categories, and what it was drawn from."""
    rng = np.random.default_rng(seed)
    steps = setting.kinds - 1
    values = begin(setting.model, [np.ones(setting.kinds)] * setting.items, 1).values
    if setting.model == "nominal":
        values[:, :steps] = np.cumsum(np.exp(rng.normal(-0.6, 0.3, (setting.items, steps))), axis=1)
        values[:, steps:] = rng.normal(0.0, 0.7, (setting.items, steps))
    else:
        values[:, 0] = np.exp(rng.normal(0.0, 0.3, setting.items))
        drawn = rng.normal(0.0, 1.0, (setting.items, steps))
        values[:, 1:] = drawn if setting.model == "partial-credit" else -np.sort(drawn, axis=1) - 0.3 * np.arange(steps)
    truth = CategoryItems(setting.model, np.full(setting.items, setting.kinds), values, np.zeros(1), np.ones(1))
    ability = rng.normal(size=setting.subjects)
    below = np.exp(log_chances(truth, ability)).cumsum(axis=1)[:, :-1]
    answers = (rng.random((setting.items, 1, setting.subjects)) > below).sum(axis=1)
    columns = {f"i{at}": answers[at] for at in range(setting.items)}
    return pl.DataFrame({"subject": [f"s{at}" for at in range(setting.subjects)], **columns}), truth, ability


def recover(setting: Setting, replications: int) -> dict[str, Any]:
    found: dict[str, list[float]] = {}
    for seed in range(replications):
        wide, truth, ability = draw(setting, seed)
        began = time.process_time()
        fit = fit_categories(wide, model=setting.model)
        found.setdefault("cpu_s", []).append(time.process_time() - began)
        steps = setting.kinds - 1
        slopes = (
            truth.values[:, :steps] if setting.model == "nominal" else np.repeat(truth.values[:, :1], steps, axis=1)
        )
        known = {"discrimination": slopes, "intercept": truth.values[:, -steps:]}
        for name, values in known.items():
            if fit.categories.height < values.size:  # a category that nobody chose: nothing to compare
                continue
            off = fit.categories[name].to_numpy() - values.ravel()
            found.setdefault(f"{name}_rmse", []).append(float(np.sqrt(np.mean(off**2))))
            found.setdefault(f"{name}_held", []).append(
                float(np.mean(np.abs(off) < Z90 * fit.categories[f"se_{name}"].to_numpy()))
            )
        off = fit.subjects["ability"].to_numpy() - ability
        found.setdefault("ability_rmse", []).append(float(np.sqrt(np.mean(off**2))))
        found.setdefault("ability_held", []).append(float(np.mean(np.abs(off) < Z90 * fit.subjects["se"].to_numpy())))
        found.setdefault("converged", []).append(float(fit.converged))
    return setting._asdict() | {name: round(float(np.mean(values)), 4) for name, values in found.items()}


def draw_abilities(shape: str, subjects: int, rng: np.random.Generator) -> np.ndarray:
    """Draw abilities of a shape, with mean 0 and sd 1."""
    if shape == "skewed":
        return (rng.gamma(2.0, 1.0, subjects) - 2.0) / np.sqrt(2.0)
    own = rng.normal(size=subjects)
    return own if shape == "normal" else np.where(rng.random(subjects) < 0.5, -0.9, 0.9) + np.sqrt(0.19) * own


def recover_shape(shape: str, abilities: str, replications: int) -> dict[str, Any]:
    """Fit 1,000 subjects on 30 items with normal or estimated abilities."""
    found: dict[str, list[float]] = {}
    for seed in range(replications):
        rng = np.random.default_rng(seed)
        slope, intercept = np.exp(rng.normal(0.0, 0.3, 30)), rng.normal(0.0, 1.0, 30)
        ability = draw_abilities(shape, 1000, rng)
        right = (rng.random((1000, 30)) < 1 / (1 + np.exp(-(ability[:, None] * slope + intercept)))).astype(np.int8)
        wide = pl.DataFrame({"subject": np.arange(1000), **{f"i{at}": right[:, at] for at in range(30)}})
        began = time.process_time()
        fit = fit_responses(wide, options=FitOptions(density=abilities, checks=False))
        found.setdefault("cpu_s", []).append(time.process_time() - began)
        truths = ("discrimination", slope, fit.items), ("difficulty", -intercept / slope, fit.items)
        for name, truth, table in (*truths, ("ability", ability, fit.subjects)):
            error = table["se" if name == "ability" else f"se_{name}"].to_numpy()
            off = table[name].to_numpy() - truth
            found.setdefault(f"{name}_rmse", []).append(float(np.sqrt(np.mean(off**2))))
            found.setdefault(f"{name}_held", []).append(float(np.mean(np.abs(off) < Z90 * error)))
    return {"shape": shape, "abilities": abilities} | {
        name: round(float(np.mean(values)), 4) for name, values in found.items()
    }


def show_shapes(replications: int) -> list[dict[str, Any]]:
    """Print and return the rows of all shapes."""
    names = ("discrimination", "difficulty", "ability")
    head = f"{'abilities':>12}{'fitted as':>11} |{'RMSE a':>8}{'b':>7}{'θ':>7} |"
    print(f"{head}{'held a':>8}{'b':>7}{'θ':>7} |{'CPU s':>7}")
    rows = []
    for shape in ("normal", "skewed", "two humps"):
        for kind in ("normal", "estimated"):
            row = recover_shape(shape, kind, replications)
            rows.append(row)
            size = "".join(f"{row[f'{name}_rmse']:>7.3f}" for name in names)
            held = "".join(f"{row[f'{name}_held']:>7.1%}" for name in names)
            print(f"{shape:>12}{kind:>11} | {size} | {held} |{row['cpu_s']:>7.2f}", flush=True)
    held = [row[f"{name}_held"] for row in rows if row["abilities"] == "estimated" for name in names]
    record("irt.shapes", percent_range(held))
    plain = next(row for row in rows if (row["shape"], row["abilities"]) == ("skewed", "normal"))
    record("irt.skewed", f"{plain['discrimination_held']:.0%}")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=20)
    parser.add_argument("--part", choices=PARTS, default="all", help="which models to simulate")
    parser.add_argument("--seed", type=int, default=0, help="first seed (dimensions, bifactor)")
    parser.add_argument("--spread", type=float, default=1.0, help="factor on the spread of log slopes (bifactor)")
    chosen = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if chosen.part in ("all", "categories"):
        rows += show_categories(chosen.replications)
    if chosen.part in ("all", "shapes"):
        rows += show_shapes(chosen.replications)
    if chosen.part in ("all", "dimensions"):
        rows += show_dimensions(((2, False), (3, False), (4, False)), chosen.replications, seed=chosen.seed)
    if chosen.part in ("all", "bifactor"):
        rows += show_dimensions(((2, True), (3, True)), chosen.replications, chosen.spread, chosen.seed)
    if chosen.part in ("all", "rated"):
        rows += irt_rated.show_rated(chosen.replications)
    print(json.dumps(rows))


def recover_dimensions(
    dimensions: int, bifactor: bool, replications: int, spread: float = 1.0, seed: int = 0
) -> dict[str, Any]:
    """Fit 1,000 subjects on 24 items, each of one dimension; correlations are 0.5, or a general ability is added.

    ``spread`` multiplies the standard deviation of log slopes, which is 0.25, and 0.2 for the general ability.
    """
    found: dict[str, list[float]] = {}
    items = 24
    own = np.arange(items) % dimensions
    names = [f"i{at}" for at in range(items)]
    pairs = pl.DataFrame({"item": names, "dimension": [f"d{one}" for one in own]})
    for own_seed in range(seed, seed + replications):
        rng = np.random.default_rng(own_seed)
        slopes = np.exp(rng.normal(0.0, 0.25 * spread, (items, 1))) * (own[:, None] == np.arange(dimensions))
        shared = np.full((dimensions, dimensions), 0.5) + 0.5 * np.eye(dimensions)
        if bifactor:
            slopes = np.column_stack([np.exp(rng.normal(0.2, 0.2 * spread, items)), slopes])
            shared = np.eye(dimensions + 1)
        ability, intercept = rng.multivariate_normal(np.zeros(len(shared)), shared, 1000), rng.normal(size=items)
        right = (rng.random((1000, items)) < 1 / (1 + np.exp(-(ability @ slopes.T + intercept)))).astype(np.int8)
        wide = pl.DataFrame({"subject": np.arange(1000), **dict(zip(names, right.T, strict=True))})
        began = time.process_time()
        fit = fit_dimensions(wide, pairs, bifactor=bifactor)
        found.setdefault("cpu_s", []).append(time.process_time() - began)
        compared = {
            "slope": (fit.items["discrimination"], slopes.T[slopes.T != 0], fit.items["se"]),
            "intercept": (fit.intercepts["intercept"], intercept, fit.intercepts["se"]),
            "ability": (fit.subjects["ability"], ability.T.ravel(), fit.subjects["se"]),
        }
        if not bifactor:
            compared["correlation"] = fit.correlations["correlation"], np.array(0.5), fit.correlations["se"]
        for name, (estimate, truth, error) in compared.items():
            off = estimate.to_numpy() - truth
            found.setdefault(f"{name}_rmse", []).append(float(np.sqrt(np.mean(off**2))))
            found.setdefault(f"{name}_held", []).append(float(np.mean(np.abs(off) < Z90 * error.to_numpy())))
        found.setdefault("converged", []).append(float(fit.converged))
    means = {name: round(float(np.mean(values)), 4) for name, values in found.items()}
    return {"dimensions": dimensions, "bifactor": bifactor} | means


def show_dimensions(
    settings: Sequence[tuple[int, bool]], replications: int, spread: float = 1.0, seed: int = 0
) -> list[dict[str, Any]]:
    """Print and return the rows of several dimensions, with a general ability (True) or without."""
    names = ("slope", "intercept", "ability", "correlation")
    head = f"{'dimensions':>12} |{'RMSE a':>8}{'d':>7}{'θ':>7}{'r':>7} |"
    print(f"{head}{'held a':>8}{'d':>7}{'θ':>7}{'r':>7} |{'CPU s':>7}")
    rows = []
    for dimensions, bifactor in settings:
        row = recover_dimensions(dimensions, bifactor, replications, spread, seed)
        rows.append(row)
        size = "".join(f"{row.get(f'{name}_rmse', float('nan')):>7.3f}" for name in names)
        held = "".join(f"{row.get(f'{name}_held', float('nan')):>7.1%}" for name in names)
        title = f"{dimensions}{' + general' if bifactor else ''}"
        print(f"{title:>12} | {size} | {held} |{row['cpu_s']:>7.2f}", flush=True)
        if bifactor:
            key = f"irt.bifactor_{dimensions}" + ("" if spread == 1.0 else "_unequal")
            record(key, percent_range(row[f"{name}_held"] for name in names[:3]))
    if not rows[0]["bifactor"]:
        record("irt.dimensions", percent_range(row[f"{name}_held"] for row in rows for name in names))
    return rows


def show_categories(replications: int) -> list[dict[str, Any]]:
    """Print and return the rows of items with several categories."""
    head = f"{'model':>15}{'subjects':>9}{'items':>6}{'K':>3} |{'RMSE a':>8}{'d':>7}{'θ':>7} |"
    print(f"{head}{'held a':>8}{'d':>7}{'θ':>7} |{'CPU s':>7}")
    rows = []
    for setting in SETTINGS:
        row = recover(setting, replications)
        rows.append(row)
        size = f"{row['discrimination_rmse']:>8.3f}{row['intercept_rmse']:>7.3f}{row['ability_rmse']:>7.3f} |"
        held = f"{row['discrimination_held']:>8.1%}{row['intercept_held']:>7.1%}{row['ability_held']:>7.1%} |"
        design = f"{setting.model:>15}{setting.subjects:>9}{setting.items:>6}{setting.kinds:>3} |"
        print(f"{design}{size}{held}{row['cpu_s']:>7.2f}", flush=True)
    held = [float(row[f"{name}_held"]) for row in rows for name in ("discrimination", "intercept", "ability")]
    record("irt.models", percent_range(held))
    return rows


if __name__ == "__main__":
    run(main)
