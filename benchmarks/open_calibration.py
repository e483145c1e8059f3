"""The open calibration and what it hangs on: ``python -m benchmarks.open_calibration``.

Bases of the embedded items beside the published ones; then one change at a time: method, extrapolator, annotator run,
guessing floors, errors of levels, pools left out, range of levels. Last, human rates of pools left out, predicted from
demands alone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from mensura.calibration import open_demands, open_items, open_rates, read_items
from mensura.calibration.bases import calibrate_items
from mensura.calibration.hierarchical import fit_hierarchical
from mensura.calibration.items import RatedItems
from mensura.calibration.open_pool import READERS
from mensura.calibration.skill import FEWEST_POOLS, predict_rates
from mensura.evidence import load

DRAWS = 1000
LEFT_OUT_COLUMNS: Mapping[str, Any] = {
    "pool": pl.String,
    "n": pl.Int64,
    "error": pl.Float64,
    "error_mean": pl.Float64,
    "r": pl.Float64,
    "coverage": pl.Float64,
}


def variants() -> Mapping[str, tuple[str, RatedItems]]:
    """Return every variant by name: the method and its items."""
    demands = open_demands()
    whole = read_items(open_rates(), demands, readers=READERS)
    top = np.floor(whole.levels.max(axis=1) + 0.5)
    found = {
        "ours": ("hierarchical", whole),
        "published procedure": ("means", whole),
        "world rates: asked alone": ("hierarchical", read_items(open_rates("asked"), demands, readers=READERS)),
        "world rates: carried alone": ("hierarchical", read_items(open_rates("carried"), demands, readers=READERS)),
        "annotator: run 1 alone": ("hierarchical", read_items(open_rates(), open_demands("run-1"), readers=READERS)),
        "annotator: run 2 alone": ("hierarchical", read_items(open_rates(), open_demands("run-2"), readers=READERS)),
        "levels without error": ("hierarchical", read_items(open_rates(), demands, readers=READERS, level_error=0.0)),
        "no guessing floors": ("hierarchical", read_items(open_rates().drop("options"), demands)),
        "items up to level 3": ("hierarchical", whole.kept(top <= 3)),
        "items from level 3": ("hierarchical", whole.kept(top >= 3)),
        "published, asked alone": ("means", read_items(open_rates("asked"), demands)),
        "published, carried alone": ("means", read_items(open_rates("carried"), demands)),
    }
    for pool in ("enem", "naep"):
        found[f"without {pool}"] = ("hierarchical", whole.kept(whole.pool != whole.pools.index(pool)))
    return found


def markdown(header: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def said(row: Mapping[str, object]) -> str:
    """Return a base with its interval, in italics where it is not identified."""
    if row["base"] is None:
        return "–"
    text = f"{row['base']:.2f}" if row["low"] is None else f"{row['base']:.2f} ({row['low']:.2f}–{row['high']:.2f})"
    return text if " " not in str(row["verdict"]) else f"*{text}*"


def predict_left_out_pools(items: RatedItems, *, draws: int = 1_000, seed: int = 0) -> pl.DataFrame:
    """Predict each pool from the others: pool, n, error, error_mean, r, coverage.

    ``error``: mean absolute error of the rates, predicted from demands; ``error_mean``: when every item is given the
    other pools' mean rate. ``r``: correlation of predicted and true rates. ``coverage``: share of items whose rate lies
    in its 90% interval.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for at, name in enumerate(items.pools if len(items.pools) >= FEWEST_POOLS else ()):
        train, test = items.kept(items.pool != at), items.kept(items.pool == at)
        drawn = predict_rates(fit_hierarchical(train, draws=draws, rng=rng), test, rng)
        guess = np.median(drawn, axis=0)
        low, high = np.quantile(drawn, [0.05, 0.95], axis=0)
        base = float(np.mean([train.observed[train.pool == k].mean() for k in range(len(train.pools))]))
        varied = guess.std() > 0 and test.observed.std() > 0
        rows.append(
            (
                name,
                test.size,
                float(np.abs(guess - test.observed).mean()),
                float(np.abs(base - test.observed).mean()),
                float(np.corrcoef(guess, test.observed)[0, 1]) if varied else None,
                float(np.mean((low <= test.observed) & (test.observed <= high))),
            )
        )
    return pl.DataFrame(rows, schema=LEFT_OUT_COLUMNS, orient="row")


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    published = {row["code"]: row["base"] for row in load().bases.iter_rows(named=True)}
    figures: dict[str, object] = {}
    every = variants()
    ours = calibrate_items(every["ours"][1], draws=DRAWS)
    means = calibrate_items(every["ours"][1], method="means", draws=DRAWS)
    rows = []
    for alone, along, line in zip(
        *(t.iter_rows(named=True) for t in (ours.bases, ours.together, means.bases)), strict=True
    ):
        code = alone["dimension"]
        at = every["ours"][1].dimensions.index(code)
        spread = np.bincount(np.floor(every["ours"][1].levels[:, at] + 0.5).astype(int), minlength=6)
        rows.append([code, f"{published.get(code[:2]) or float('nan'):.2f}" if code[:2] in published else "–",
                     said(line), said(along), said(alone), "/".join(map(str, spread)), along["verdict"]])  # fmt: skip
    print("Bases: *in italics* where not identified; 90% intervals; items at levels 0/1/2/3/4/5.\n")
    header = [
        "dimension",
        "published",
        "published procedure",
        "ours, together",
        "ours, alone",
        "items by level",
        "verdict (together)",
    ]
    print(markdown(header, rows))
    figures["identified_together"] = sum(" " not in row["verdict"] for row in ours.together.iter_rows(named=True))
    figures["identified_alone"] = sum(" " not in row["verdict"] for row in ours.bases.iter_rows(named=True))
    table = []
    chosen = ("CEc", "MCt", "MCu", "QLl", "KNs", "AT")
    for name, (method, items) in every.items():
        made = calibrate_items(items, method=method, draws=DRAWS)
        found = {row["dimension"]: row for row in made.together.iter_rows(named=True)}
        slopes = made.together["slope"].drop_nulls()
        mean = 10.0 ** float(slopes.mean())  # type: ignore[arg-type]
        table.append([name, str(items.size), f"{mean:.2f}", *(said(found[code]) for code in chosen if code in found)])
        figures[name] = round(mean, 3)
    print("\nOne change at a time (ours: bases of items as they are, together); mean: of all dimensions, geometric.\n")
    print(markdown(["variant", "items", "mean", *chosen], table))
    observed = open_items().select("item", "pool", "options", "n", "rate")
    heldout = predict_left_out_pools(read_items(observed, open_demands()), draws=DRAWS)
    print(
        "\nHuman rates of a pool left out, from demands alone (mean absolute error; 90% intervals of single items).\n"
    )
    rows = [
        [str(value) if not isinstance(value, float) else f"{value:.3f}" for value in row] for row in heldout.iter_rows()
    ]
    print(markdown(heldout.columns, rows))
    weight = heldout["n"].to_numpy()
    figures["left_out_error"] = round(float(np.average(heldout["error"], weights=weight)), 4)
    figures["left_out_error_mean_only"] = round(float(np.average(heldout["error_mean"], weights=weight)), 4)
    figures["left_out_coverage"] = round(float(np.average(heldout["coverage"], weights=weight)), 4)
    figures["left_out_coverage_pools"] = round(float(heldout["coverage"].mean()), 4)  # type: ignore[arg-type]
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
