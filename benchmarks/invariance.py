"""Do items behave alike for people and models? ``python -m benchmarks.invariance [--runs N]``.

First simulated worlds: 600 people and some models on 40 items, whose differences between the groups spread by 0, 0.3,
0.6 or 1.2 logits. Printed are the mean spread found, the share of 90% intervals that contain the true one, and how
often percentiles of models were refused.

Then the open items: does their order by difficulty agree between AI systems and people?
"""

from __future__ import annotations

import argparse
import json

import numpy as np
import polars as pl

from benchmarks import run
from benchmarks.measured import record
from mensura.calibration import open_items, open_outcomes
from mensura.core.arrays import expit
from mensura.responses import FitOptions, fit_responses, place_among

PEOPLE, ITEMS, ABOVE = 600, 40, 0.5
SPREADS = (0.0, 0.3, 0.6, 1.2)
LEAST_MODELS, LEAST_ITEMS, HALVES = 6, 20, 50


def answers(rng: np.random.Generator, ability: np.ndarray, easiness: np.ndarray, group: str) -> pl.DataFrame:
    right = rng.random((ability.size, easiness.size)) < expit(ability[:, None] + easiness)
    names = {f"i{at}": right[:, at].astype(int) for at in range(easiness.size)}
    return pl.DataFrame({"subject": [f"{group}{at}" for at in range(ability.size)], "group": group, **names})


def one_world(spread: float, models: int, rng: np.random.Generator) -> tuple[float, bool, bool]:
    """Return the spread found, whether its interval holds the true one, and whether models were refused."""
    easiness, ability = rng.normal(0, 1.2, ITEMS), rng.normal(ABOVE, 0.7, models)
    own = easiness + rng.normal(0, spread, ITEMS)
    tables = [answers(rng, rng.normal(size=PEOPLE), easiness, "people"), answers(rng, ability, own, "models")]
    fit = fit_responses(tables, model="rasch", options=FitOptions(checks=False))
    check = place_among(fit, group="people").invariance[0]
    return check.spread, check.low <= spread <= check.high, check.verdict == "different"


def real_tests(rng: np.random.Generator) -> pl.DataFrame:
    """Compare the order of items by difficulty between AI systems and people, on every open test that both took.

    ``order`` is the rank correlation of items' rates, ``reliability`` that of two halves of the systems, stepped up to
    all of them, and ``agreement`` the order freed of the systems' chance errors, at most 1.
    """
    outcomes = open_outcomes().filter(kind="AI").join(open_items().select("item", "pool", people="rate"), on="item")
    rows = []
    for (pool,), own in outcomes.group_by("pool", maintain_order=True):
        systems = own["subject"].unique().sort().to_list()
        if len(systems) < LEAST_MODELS or own["item"].n_unique() < LEAST_ITEMS:
            continue
        halves = []
        for _ in range(HALVES):
            half = pl.col("subject").is_in(rng.permutation(systems)[: len(systems) // 2].tolist())
            means = own.group_by("item").agg(
                one=pl.col("correct").filter(half).mean(), other=pl.col("correct").filter(~half).mean()
            )
            halves.append(means.select(pl.corr("one", "other", method="spearman")).item())
        reliability = 2 * np.mean(halves) / (1 + np.mean(halves))
        items = own.group_by("item").agg(pl.col("correct").mean(), pl.col("people").first())
        order = items.select(pl.corr("correct", "people", method="spearman")).item()
        rows.append((pool, len(systems), items.height, order, reliability, min(1.0, order / np.sqrt(reliability))))
    schema = ["test", "systems", "items", "order", "reliability", "agreement"]
    return pl.DataFrame(rows, schema=schema, orient="row")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    figures = []
    print(f"{'true spread':>12}{'models':>8}{'found':>8}{'inside':>8}{'refused':>9}")
    for models in (10, 60):
        for spread in SPREADS:
            rng = np.random.default_rng([options.seed, models, round(10 * spread)])
            found = np.array([one_world(spread, models, rng) for _ in range(options.runs)]).mean(axis=0)
            figures.append(
                {"spread": spread, "models": models, "found": found[0], "inside": found[1], "refused": found[2]}
            )
            print(f"{spread:12.1f}{models:8d}{found[0]:8.2f}{found[1]:8.2f}{found[2]:9.2f}", flush=True)
    real = real_tests(np.random.default_rng(options.seed))
    with pl.Config(tbl_cols=12, tbl_width_chars=140, float_precision=2):
        print(real)
    print(json.dumps({"simulated": figures, "open": real.to_dicts()}))
    alike = [row["refused"] for row in figures if row["spread"] <= 0.3]
    record("responses.invariance_wrongly", f"{np.mean(alike):.0%}")
    record("responses.invariance_rightly", f"{figures[-1]['refused']:.0%}")
    record("responses.invariance_half", f"{figures[-2]['refused']:.0%}")


if __name__ == "__main__":
    run(main)
