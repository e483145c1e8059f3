"""How many items place a model as well as the full test: adaptive, a fixed short form, anchor points, random items.

Real outcomes of language models (NAEP and ENEM items of the development data), one model held out at a time: items
are calibrated on all others, then the held-out model answers only the items a method picks, and its score on the full
test is predicted. Anchor points are those of published short benchmarks: the items nearest to the centres of clusters
of items that the other models answer alike, weighted by the clusters' sizes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from mensura.responses import Aim, FitOptions, ItemBank, fit_responses, next_items, read_responses, select_items

SIZES = (10, 20, 40, 80)
RANDOM_DRAWS = 40
DELTA = 0.3
MODEL = "rasch"
"""Some dozen models tell difficulties of items, not discriminations."""
STARTS = 3
"""Of k-means, of which the best counts."""


class Pool(NamedTuple):
    """Outcomes: shares right and trials (models × items), names, and the family that is held out together."""

    name: str
    share: np.ndarray
    trials: np.ndarray
    models: list[str]
    families: list[str]
    items: list[str]


def naep(shared: Path) -> Pool:
    told = pl.read_csv(shared / "data/items/pools/naep/llm_outcomes.csv.gz")
    return _pool(
        "NAEP", told.select(subject="model", family="model", item="item", value="argmax_correct", n="n_orders")
    )


def enem(shared: Path) -> Pool:
    told = pl.read_csv(shared / "data/items/pools/enem/llm_outcomes.csv.gz").filter(pl.col("year") < 2023)
    named = told.with_columns(
        subject=pl.concat_str("model", "language", "prompt", separator=" "),
        item=pl.concat_str("year", "co_item", separator="-"),
    )
    return _pool("ENEM", named.select("subject", "item", family="model", value="rate", n="n_runs"))


def _pool(name: str, rows: pl.DataFrame) -> Pool:
    """Lay outcomes out; models that took few of the items are left out, then items that not all took."""
    rows = rows.group_by("subject", "family", "item").agg(pl.col("value").mean(), pl.col("n").sum()).drop_nulls()
    most = rows.group_by("subject").len()["len"].max()
    kept = rows.group_by("subject").len().filter(pl.col("len") >= 0.9 * most)["subject"]
    rows = rows.filter(pl.col("subject").is_in(kept.implode()))
    items = rows.group_by("item").len().filter(pl.col("len") == kept.len())["item"].sort().to_list()
    rows = rows.filter(pl.col("item").is_in(items)).sort("subject", "item")
    models = rows["subject"].unique().sort().to_list()
    families = dict(rows.select("subject", "family").iter_rows())
    shape = (len(models), len(items))
    trials = np.ones(shape)  # the same question in another order or with another seed: hardly another trial
    return Pool(name, rows["value"].to_numpy().reshape(shape), trials, models, [families[m] for m in models], items)


def calibrate(pool: Pool, others: np.ndarray) -> tuple[ItemBank, Aim]:
    """Fit the items on the other models."""
    rows = [
        (pool.models[at], item, float(pool.share[at, place]), int(pool.trials[at, place]))
        for at in np.flatnonzero(others)
        for place, item in enumerate(pool.items)
    ]
    table = read_responses(pl.DataFrame(rows, schema=["subject", "item", "correct", "n"], orient="row"))
    fit = fit_responses(table, model=MODEL, options=FitOptions(checks=False))
    order = fit.items.with_columns(pl.col("item").cast(pl.Enum(pool.items))).sort("item")
    return ItemBank.from_table(order.with_columns(pl.col("item").cast(pl.String))), Aim(0.0, 1.5, DELTA)


def predicted_score(bank: ItemBank, taken: np.ndarray, share: np.ndarray, trials: np.ndarray, aim: Aim) -> float:
    """Full score: what was seen as it was, the rest from the ability."""
    seen = np.zeros(len(share), dtype=bool)
    seen[taken] = True
    ability = bank.place(
        np.where(seen, share * trials, 0.0), np.where(seen, trials, 0.0), mean=aim.mean, sd=aim.sd
    ).ability
    return float(np.mean(np.where(seen, share, bank.chances(np.array([ability]))[:, 0])))


def adaptive_order(
    bank: ItemBank, share: np.ndarray, trials: np.ndarray, aim: Aim, most: int
) -> tuple[list[int], int, bool]:
    """Run a test item by item; its order, the length at which it stops, whether its interval held the full ability."""
    where = {item: place for place, item in enumerate(bank.items)}
    full = bank.place(share * trials, trials.astype(float), mean=aim.mean, sd=aim.sd).ability
    answers: dict[str, tuple[float, float]] = {}
    order: list[int] = []
    stopped, held = 0, False
    for _ in range(most):
        found = next_items(bank, answers, aim=aim)
        standing = found.standing.row(0, named=True)
        if standing["done"] and not stopped:
            stopped, held = len(order), standing["low"] <= full <= standing["high"]
        place = where[found.next["item"][0]]
        order.append(place)
        answers[bank.items[place]] = (float(share[place] * trials[place]), float(trials[place]))
    return order, stopped or most, held


def anchors(columns: np.ndarray, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Cluster items by how the other models answer them (k-means): the item nearest to each centre, its weight."""
    best: tuple[float, np.ndarray, np.ndarray] | None = None
    for _ in range(STARTS):
        centres = columns[rng.choice(len(columns), size, replace=False)]
        for _ in range(15):
            far = (columns**2).sum(axis=1)[:, None] - 2.0 * columns @ centres.T + (centres**2).sum(axis=1)
            group = far.argmin(axis=1)
            centres = np.array(
                [columns[group == k].mean(axis=0) if np.any(group == k) else centres[k] for k in range(size)]
            )
        cost = float(far.min(axis=1).sum())
        if best is None or cost < best[0]:
            best = cost, far.argmin(axis=0), np.bincount(group, minlength=size) / len(columns)
    assert best is not None
    return best[1], best[2]


def compare(pool: Pool, seed: int) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    sizes = [size for size in SIZES if size <= len(pool.items) // 2]
    errors: dict[str, np.ndarray] = {
        name: np.zeros((len(pool.models), len(sizes)))
        for name in ("adaptive", "short form", "anchor points", "random, IRT", "random")
    }
    stops, holds = [], []
    for at in range(len(pool.models)):
        others = np.array([family != pool.families[at] for family in pool.families])
        bank, aim = calibrate(pool, others)
        share, trials = pool.share[at], pool.trials[at]
        truth = float(share.mean())
        order, stopped, held = adaptive_order(bank, share, trials, aim, sizes[-1])
        stops.append(stopped)
        holds.append(held)
        form = [bank.items.index(item) for item in select_items(bank, sizes[-1], aim=aim).form["item"]]
        for place, size in enumerate(sizes):
            errors["adaptive"][at, place] = abs(
                predicted_score(bank, np.array(order[:size]), share, trials, aim) - truth
            )
            errors["short form"][at, place] = abs(
                predicted_score(bank, np.array(form[:size]), share, trials, aim) - truth
            )
            chosen, weight = anchors(pool.share[others].T, size, rng)
            errors["anchor points"][at, place] = abs(float(weight @ share[chosen]) - truth)
            draws = [rng.choice(len(share), size, replace=False) for _ in range(RANDOM_DRAWS)]
            errors["random"][at, place] = np.mean([abs(share[draw].mean() - truth) for draw in draws])
            errors["random, IRT"][at, place] = np.mean(
                [abs(predicted_score(bank, draw, share, trials, aim) - truth) for draw in draws[:4]]
            )
    noise = float(
        np.mean(np.sqrt(np.sum(pool.share * (1 - pool.share) / np.maximum(pool.trials, 1), axis=1)) / len(pool.items))
    )
    spread = float(np.mean(np.sqrt(pool.share.var(axis=1) / len(pool.items))))
    print(
        f"\n{pool.name}: {len(pool.models)} models × {len(pool.items)} items; "
        "mean absolute error of the full score, in points of 100"
    )
    print(f"{'items':>16}" + "".join(f"{size:>8}" for size in sizes) + f"{'items for the full test’s error':>34}")
    figures: dict[str, object] = {}
    for name, found in errors.items():
        mean = found.mean(axis=0)
        enough = next(
            (size for size, error in zip(sizes, mean, strict=True) if error <= spread * np.sqrt(2 / np.pi)), None
        )
        print(f"{name:>16}" + "".join(f"{100 * error:8.2f}" for error in mean) + f"{enough or f'> {sizes[-1]}':>34}")
        figures[name] = {"error": [round(float(error), 4) for error in mean], "items_for_full_error": enough}
    print(
        f"the full test's own error, had its items been drawn anew: {100 * spread:.2f} (standard error); "
        f"repeating the same items: {100 * noise:.2f}"
    )
    print(
        f"stop rule ±{DELTA:g} (90%): {np.mean(stops):.0f} items on average; "
        f"the interval held the full test's ability in {np.mean(holds):.0%}"
    )
    return figures | {
        "sizes": sizes,
        "full_error": round(spread, 4),
        "stopped_at": float(np.mean(stops)),
        "held": float(np.mean(holds)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--shared", type=Path, default=Path(__file__).parents[2] / "shared", help="the development data"
    )
    parser.add_argument("--pool", choices=["naep", "enem"], help="one pool alone")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    readers = {"naep": naep, "enem": enem}
    pools = [readers[name](chosen.shared) for name in ([chosen.pool] if chosen.pool else readers)]
    print(json.dumps({pool.name: compare(pool, chosen.seed) for pool in pools}))


if __name__ == "__main__":
    main()
