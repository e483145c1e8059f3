"""Calls saved by stopping early: adaptive asking against 27 variants × 5 repeats, on simulated models.

``python -m benchmarks.adaptive_calls [--worlds N]``. A simulated model errs as much as the published ones (root mean
squared error of one answer); how its error is made up is not published, so several make-ups are tried. The part that
all answers about an item share sets what any number of calls can reach; in the recorded estimates it is two thirds
(correlation of errors between two prompts on the same cells, ``benchmarks.llm_extrapolation``).
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass

import numpy as np
import polars as pl

from benchmarks import run
from mensura.core.arrays import Floats
from mensura.core.frames import text_table
from mensura.extrapolation.item_by_item import CallPlan, ask_adaptively, effects_design, levels_of
from mensura.extrapolation.prompts import all_variants

PUBLISHED = {"ICAR, best": 0.044, "PISA, best": 0.111, "TIMSS, best": 0.149, "TIMSS, worst": 0.217}
"""Root mean squared errors of single answers in the paper's validation tables."""
MAKE_UPS = {
    "as recorded": (0.66, 0.06, 0.18, 0.10),
    "half shared": (0.50, 0.15, 0.20, 0.15),
    "wording": (0.30, 0.40, 0.20, 0.10),
    "chance": (0.30, 0.05, 0.15, 0.50),
    "nothing shared": (0.00, 0.20, 0.40, 0.40),
}
"""Shares of the error variance: of the item in all answers, of the wording, of item and wording, of the single call."""
ITEMS, VARIANTS, REPEATS = 50, 27, 5
WIDTH = 0.4
"""Width asked for, in units of the model's error: narrower intervals say nothing more of the truth."""
BUDGET = VARIANTS * REPEATS / 5
SAME_ACCURACY = 0.02
"""How much larger a mean absolute error may be and still count as the same."""
UNEVEN = 0.5
"""Spread (log) of how much items differ in noise."""


@dataclass(frozen=True)
class SimulatedItems:
    """True rates, and every answer a model would give: items × variants × repeats."""

    truth: Floats
    answers: Floats

    @classmethod
    def draw(cls, rng: np.random.Generator, error: float, make_up: tuple[float, ...], design: Floats) -> SimulatedItems:
        """Draw items, and a model whose single answers have this root mean squared error."""
        item, wording, mixed, call = error * np.sqrt(np.array(make_up))
        truth = rng.uniform(0.1, 0.9, ITEMS)
        effect = design @ rng.normal(size=design.shape[1])
        effect *= wording / effect.std()
        noise = np.exp(UNEVEN * rng.normal(size=(ITEMS, 1)))
        noise /= np.sqrt((noise**2).mean())
        per_item = truth + item * rng.normal(size=ITEMS)
        per_variant = per_item[:, None] + effect + mixed * noise * rng.normal(size=(ITEMS, VARIANTS))
        answers = per_variant[..., None] + call * noise[..., None] * rng.normal(size=(ITEMS, VARIANTS, REPEATS))
        return cls(truth, np.clip(answers, 0.0, 1.0))

    def error_of(self, rates: Floats) -> float:
        """Return the mean absolute error of estimated rates."""
        return float(np.abs(rates - self.truth).mean())


def measure(error: float, make_up: tuple[float, ...], worlds: int) -> dict[str, float]:
    """Return the mean absolute errors of one answer, 27 × 5, 27 × 1 and adaptive calls, and the calls per item."""
    design = effects_design([(v.order, v.phrasing, v.numbers) for v in all_variants()])
    plan = CallPlan(VARIANTS, REPEATS, width=WIDTH * error, budget=BUDGET)
    found = []
    for seed in range(worlds):
        world = SimulatedItems.draw(np.random.default_rng(seed), error, make_up, design)
        answers, made = ask_adaptively(lambda calls, w=world: w.answers[tuple(np.array(calls).T)], ITEMS, plan, design)
        adaptive = levels_of(answers, ITEMS, design).rate
        rates = (world.answers[:, 0, 0], world.answers.mean(axis=(1, 2)), world.answers[:, :, 0].mean(axis=1), adaptive)
        found.append([*(world.error_of(rate) for rate in rates), made.mean()])
    one, full, once, adaptive, calls = np.mean(found, axis=0)
    return {
        "one_answer": one,
        "full": full,
        "once": once,
        "adaptive": adaptive,
        "change": adaptive / full - 1,
        "calls": calls,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=40, help="simulated pools per row")
    worlds = parser.parse_args().worlds
    rows = []
    for level, error in PUBLISHED.items():
        for name, make_up in MAKE_UPS.items():
            figures = measure(error, make_up, worlds)
            reached = figures["change"] <= SAME_ACCURACY and figures["calls"] <= BUDGET
            rows.append({"error": level, "make-up": name, "shared": make_up[0], **figures, "reached": reached})
    table = pl.DataFrame(rows)
    print(
        f"Mean absolute error of {VARIANTS} × {REPEATS} = {VARIANTS * REPEATS} calls (full), {VARIANTS} × 1 (once) and "
        f"adaptive calls.\nReached: at most {SAME_ACCURACY:.0%} more error with at most {BUDGET:.0f} calls per item."
    )
    print(text_table(table, rows=table.height, digits=4))
    shared, recorded = table.filter(pl.col("shared") > 0), table.filter(pl.col("make-up") == "as recorded")
    figures = {
        "reached_where_errors_are_shared": f"{int(shared['reached'].sum())} of {shared.height}",
        "largest_change_where_shared": round(float(shared["change"].to_numpy().max()), 4),
        "most_calls_per_item": round(float(table["calls"].to_numpy().max()), 2),
        "calls_as_recorded": round(float(recorded["calls"].to_numpy().mean()), 2),
        "change_nothing_shared": round(float(table.filter(pl.col("shared") == 0)["change"].to_numpy().mean()), 4),
        "full_calls": VARIANTS * REPEATS,
    }
    print("Where nothing is shared, an error falls with the root of the calls: no plan reaches 135 calls with 27.")
    print(json.dumps(figures))


if __name__ == "__main__":
    run(main)
