"""Do simulated items with several categories come back: errors against the truth, and coverage of 90% intervals.

Each setting is drawn ``--replications`` times: model, subjects, items, categories. The table gives the root mean square
errors of slopes a, intercepts d and abilities, how often their intervals hold the truth, and the processor time of a
fit.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from benchmarks import run
from benchmarks.measured import percent_range, record
from mensura.responses import fit_categories
from mensura.responses.irt.categories import CategoryItems, begin, log_chances

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=20)
    chosen = parser.parse_args()
    head = f"{'model':>15}{'subjects':>9}{'items':>6}{'K':>3} |{'RMSE a':>8}{'d':>7}{'θ':>7} |"
    print(f"{head}{'held a':>8}{'d':>7}{'θ':>7} |{'CPU s':>7}")
    rows = []
    for setting in SETTINGS:
        row = recover(setting, chosen.replications)
        rows.append(row)
        size = f"{row['discrimination_rmse']:>8.3f}{row['intercept_rmse']:>7.3f}{row['ability_rmse']:>7.3f} |"
        held = f"{row['discrimination_held']:>8.1%}{row['intercept_held']:>7.1%}{row['ability_held']:>7.1%} |"
        design = f"{setting.model:>15}{setting.subjects:>9}{setting.items:>6}{setting.kinds:>3} |"
        print(f"{design}{size}{held}{row['cpu_s']:>7.2f}", flush=True)
    print(json.dumps(rows))
    held = [float(row[f"{name}_held"]) for row in rows for name in ("discrimination", "intercept", "ability")]
    record("irt.models", percent_range(held))


if __name__ == "__main__":
    run(main)
