"""How many items place a model as well as the full test: adaptive, a fixed short form, anchor points, random items.

Real outcomes of the development data: language models on NAEP, ENEM and ARC items, one model (with all its relatives)
held out at a time; and people on four tests, some of them held out. Items are calibrated on the others (2PL, as
``mensura responses fit`` does it by default), then the held-out subject answers only the items a method picks, and
its score on the full test is predicted: what was seen as it was, the rest from the ability. Anchor points are those
of published short benchmarks: the items nearest to the centres of clusters of items that the others answer alike,
weighted by the clusters' sizes.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmarks import development_data, run
from mensura.responses import Aim, FitOptions, ItemBank, fit_responses, next_items, select_items

SIZES = (10, 20, 40, 80, 160)
RANDOM_DRAWS = 40
READ_DRAWS = 8
"""Random draws that are read through the model as well."""
DELTA = 0.3
STARTS = 3
"""Of k-means, of which the best counts."""
CALIBRATED, HELD_OUT = 3_000, 60
"""People whom items are calibrated on, at most, and people held out."""
PEOPLE = ("viqt_vocabulary", "cz_matura2019_math", "spisa_general_knowledge", "hci_physiology")
METHODS = ("adaptive", "adaptive, best", "short form", "short form, best", "anchor points", "random, read", "random")


class Pool(NamedTuple):
    """Outcomes: shares right (models × items), names, and the family that is held out together."""

    name: str
    share: np.ndarray
    models: list[str]
    families: list[str]
    items: list[str]


def naep() -> Pool:
    told = pl.read_csv(development_data("items/pools/naep/llm_outcomes.csv.gz"))
    return _pool("NAEP", told.select(subject="model", family="model", item="item", value="argmax_correct"))


def enem() -> Pool:
    told = pl.read_csv(development_data("items/pools/enem/llm_outcomes.csv.gz")).filter(pl.col("year") < 2023)
    named = told.with_columns(
        subject=pl.concat_str("model", "language", "prompt", separator=" "),
        item=pl.concat_str("year", "co_item", separator="-"),
    )
    return _pool("ENEM", named.select("subject", "item", family="model", value="rate"))


def arc() -> Pool:
    told = pl.read_csv(development_data("items/pools/arc_larc/arc1_model_outcomes.csv.gz"))
    told = told.filter(pl.col("split") == "evaluation")
    effort = pl.col("model").str.replace("_(low|med|high)_", "_")
    return _pool("ARC", told.select(subject="model", family=effort, item="task", value="all_tests_correct"))


def people(name: str) -> Pool:
    """Return persons who took every item of a test; they are no relatives of each other."""
    told = pl.read_parquet(development_data("human", name, "responses.parquet"))
    wide = told.pivot(on="item", index="person", values="correct", aggregate_function="first").drop_nulls()
    some = wide.sample(min(wide.height, CALIBRATED + HELD_OUT), seed=0, shuffle=True)
    names = some["person"].cast(pl.String).to_list()
    return Pool(name, some.drop("person").to_numpy().astype(float), names, names, some.columns[1:])


def _pool(name: str, rows: pl.DataFrame) -> Pool:
    """Lay outcomes out; models that took few of the items are left out, then items that not all took.

    The same question in another order or with another seed is hardly another trial: repeats are averaged.
    """
    rows = rows.group_by("subject", "family", "item").agg(pl.col("value").mean()).drop_nulls()
    most = rows.group_by("subject").len()["len"].max()
    kept = rows.group_by("subject").len().filter(pl.col("len") >= 0.9 * most)["subject"]
    rows = rows.filter(pl.col("subject").is_in(kept.implode()))
    items = rows.group_by("item").len().filter(pl.col("len") == kept.len())["item"].sort().to_list()
    rows = rows.filter(pl.col("item").is_in(items)).sort("subject", "item")
    models = rows["subject"].unique().sort().to_list()
    families = dict(rows.select("subject", "family").iter_rows())
    shape = (len(models), len(items))
    return Pool(name, rows["value"].to_numpy().reshape(shape), models, [families[m] for m in models], items)


def calibrate(pool: Pool, others: np.ndarray) -> ItemBank:
    """Fit the items on the other subjects."""
    wide = {item: pool.share[others, place] for place, item in enumerate(pool.items)}
    names = [name for name, other in zip(pool.models, others, strict=True) if other]
    fit = fit_responses(pl.DataFrame({"subject": names} | wide), options=FitOptions(checks=False))
    order = fit.items.with_columns(pl.col("item").cast(pl.Enum(pool.items))).sort("item")
    return ItemBank.from_table(order.with_columns(pl.col("item").cast(pl.String)))


def predicted_score(bank: ItemBank, taken: np.ndarray, share: np.ndarray, aim: Aim) -> float:
    """Full score: what was seen as it was, the rest from the ability."""
    seen = np.zeros(len(share))
    seen[taken] = 1.0
    ability = bank.place(share * seen, seen, mean=aim.mean, sd=aim.sd).ability
    return float(np.mean(np.where(seen > 0, share, bank.chances(np.array([ability]))[:, 0])))


class Sequence(NamedTuple):
    """A test run item by item: places in order, its length where it stopped, whether its interval held the ability."""

    order: list[int]
    stopped: int | None
    held: bool


def run_test(
    bank: ItemBank, share: np.ndarray, aim: Aim, most: int, choice: str, exposure: np.random.Generator | None = None
) -> Sequence:
    where = {item: place for place, item in enumerate(bank.items)}
    full = bank.place(share, np.ones(len(share)), mean=aim.mean, sd=aim.sd).ability
    answers: dict[str, tuple[float, float]] = {}
    order: list[int] = []
    stopped, held = None, False
    for _ in range(most):
        found = next_items(bank, answers, aim=aim, choice=choice, exposure=exposure)
        standing = found.standing.row(0, named=True)
        if standing["done"] and stopped is None:
            stopped, held = len(order), standing["low"] <= full <= standing["high"]
        if not found.next.height:
            break
        place = where[found.next["item"][0]]
        order.append(place)
        answers[bank.items[place]] = (float(share[place]), 1.0)
    return Sequence(order, stopped, held)


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


def compare(pool: Pool, seed: int, runs: int) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    sizes = [size for size in SIZES if size <= len(pool.items) // 2]
    one_bank = len(pool.models) > CALIBRATED // 10
    held_out = range(len(pool.models))[-HELD_OUT:] if one_bank else range(len(pool.models))
    errors = {name: np.zeros((len(held_out), len(sizes))) for name in METHODS}
    ends = []
    aim = Aim(delta=DELTA)
    bank = calibrate(pool, np.arange(len(pool.models)) < held_out[0]) if one_bank else None
    for row, at in enumerate(held_out):
        others = np.array([family != pool.families[at] for family in pool.families])
        if one_bank:
            others[held_out[0] :] = False
        items = bank or calibrate(pool, others)
        ends.extend(
            measure(pool, items, aim, at, others, sizes, rng, runs, {name: e[row] for name, e in errors.items()})
        )
    return report(pool, errors, ends, sizes, len(held_out))


def measure(
    pool: Pool,
    bank: ItemBank,
    aim: Aim,
    at: int,
    others: np.ndarray,
    sizes: list[int],
    rng: np.random.Generator,
    runs: int,
    errors: dict[str, np.ndarray],
) -> list[Sequence]:
    """Note the error of every method at every size for one subject held out; how its adaptive tests ended."""
    share, truth = pool.share[at], float(pool.share[at].mean())
    draws = [None, *(np.random.default_rng([at, run]) for run in range(1, runs))]
    tests = [run_test(bank, share, aim, sizes[-1], "spread", exposure) for exposure in draws]
    orders = {"adaptive": [test.order for test in tests]}
    orders["adaptive, best"] = [run_test(bank, share, aim, sizes[-1], "best").order]
    for choice, name in (("spread", "short form"), ("best", "short form, best")):
        form = select_items(bank, sizes[-1], aim=aim, choice=choice).form["item"]
        orders[name] = [[bank.items.index(item) for item in form]]
    for place, size in enumerate(sizes):
        for name, several in orders.items():
            off = [abs(predicted_score(bank, np.array(order[:size]), share, aim) - truth) for order in several]
            errors[name][place] = np.mean(off)
        chosen, weight = anchors(pool.share[others].T, size, rng)
        errors["anchor points"][place] = abs(float(weight @ share[chosen]) - truth)
        sets = [rng.choice(len(share), size, replace=False) for _ in range(RANDOM_DRAWS)]
        errors["random"][place] = np.mean([abs(share[some].mean() - truth) for some in sets])
        read = [abs(predicted_score(bank, some, share, aim) - truth) for some in sets[:READ_DRAWS]]
        errors["random, read"][place] = np.mean(read)
    return tests


def report(
    pool: Pool, errors: dict[str, np.ndarray], ends: list[Sequence], sizes: list[int], count: int
) -> dict[str, object]:
    own = float(np.mean(np.sqrt(pool.share[-count:].var(axis=1) / len(pool.items))) * np.sqrt(2 / np.pi))
    print(f"\n{pool.name}: {count} of {len(pool.models)} subjects held out × {len(pool.items)} items;", end=" ")
    print("mean absolute error of the full score, in points of 100 (± standard error)")
    print(f"{'items':>17}" + "".join(f"{size:>13}" for size in sizes) + f"{'as the full test':>18}")
    figures: dict[str, object] = {}
    for name, found in errors.items():
        mean, unsure = found.mean(axis=0), found.std(axis=0) / np.sqrt(count)
        enough = next((size for size, error in zip(sizes, mean, strict=True) if error <= own), None)
        cells = "".join(f"{100 * e:>7.2f} ±{100 * u:4.2f}" for e, u in zip(mean, unsure, strict=True))
        print(f"{name:>17}" + cells + f"{enough or f'> {sizes[-1]}':>18}")
        figures[name] = {"error": [round(float(error), 4) for error in mean], "as_full_test": enough}
    print(f"the full test's own mean absolute error, had its items been drawn anew: {100 * own:.2f}")
    stopped = [end for end in ends if end.stopped is not None]
    held = float(np.mean([end.held for end in stopped])) if stopped else None
    length = float(np.mean([end.stopped for end in stopped])) if stopped else None
    print(f"stop rule ±{DELTA:g} (90%): {len(stopped)} of {len(ends)} tests stopped within {sizes[-1]} items", end="")
    print(
        f", after {length:.0f} on average; the interval held the full test's ability in {held:.0%}" if stopped else ""
    )
    return figures | {"sizes": sizes, "full_error": round(own, 4), "stopped_at": length, "held": held}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pool", choices=["naep", "enem", "arc", *PEOPLE], help="one pool alone")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--runs",
        type=int,
        default=1,
        help="adaptive tests per subject: the default, the others with items drawn by seed",
    )
    chosen = parser.parse_args()
    readers = {"naep": naep} | {name: partial(people, name=name) for name in PEOPLE} | {"arc": arc, "enem": enem}
    names = [chosen.pool] if chosen.pool else list(readers)
    print(json.dumps({name: compare(readers[name](), chosen.seed, chosen.runs) for name in names}))


if __name__ == "__main__":
    run(main)
