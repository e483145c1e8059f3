"""Make the rates of the example pool and pack its recorded answers: ``python -m tools.embed_asking_example``.

Nobody was tested: the answers of 400 imagined people are drawn at random (seed below) from easiness values of our own
guess. ``estimates.csv`` beside the rates holds the language model's estimates; they become ``recorded/example-rates``.
"""

from __future__ import annotations

import json

import numpy as np
import polars as pl

from mensura.core.arrays import expit
from mensura.core.files import write_csv
from mensura.demands.views import example_folder, item_table
from mensura.extrapolation.methods import EXAMPLE, example_pool
from mensura.llm.providers import SHIPPED

SEED = 20251115
EASINESS = (1.2, 1.0, -0.3, 0.3, 0.0, 0.8, 0.2, 0.7, 1.3, 0.6, -1.2, 2.0, 1.2, -1.8, -1.5, 0.4)
"""Logits of knowing the answer, in the order of the example items: ours, guessed."""
PEOPLE = {"schooling=up to 9 years": 160, "schooling=10 years or more": 240}
NOTE = "given on 2026-11-15, version not recorded; see the README of the example rates"


def make_rates() -> pl.DataFrame:
    """Draw how many of two imagined groups answer each item correctly; the rest guess."""
    items, rng = item_table("example"), np.random.default_rng(SEED)
    chance = np.array([1 / n if n else 0.0 for n in items["n_options"]])
    shift, rows, right = -rng.uniform(0.4, 1.2), [], np.zeros(items.height, dtype=np.int64)
    for k, (group, n) in enumerate(PEOPLE.items()):
        known = expit(np.array(EASINESS) + shift * (1 - k) + 0.3 * rng.normal(size=items.height))
        correct = rng.binomial(n, known + (1 - known) * chance)
        right += correct
        rows += [(item, "schooling", group, n, int(c)) for item, c in zip(items["item"], correct, strict=True)]
    rows += [(item, "all", "all", sum(PEOPLE.values()), int(c)) for item, c in zip(items["item"], right, strict=True)]
    return pl.DataFrame(rows, schema=["item", "covariate", "group", "n", "n_correct"], orient="row")


def make_recording() -> pl.DataFrame:
    """Return the recorded answers: a whole pool per prompt for every task, one item per call to the world."""
    estimates = pl.read_csv(EXAMPLE / "estimates.csv")
    rows: list[dict[str, object]] = []
    for (source, target), table in estimates.group_by("from", "to", maintain_order=True):
        table = table.drop_nulls("estimate")
        place = {"task": "extrapolation", "from": source, "to": target, "model": "claude", "note": NOTE}
        told = [
            {"item": f"i{number}", **{key: row[key] for key in ("estimate", "low", "high")}}
            for number, row in enumerate(table.iter_rows(named=True), 1)
        ]
        whole = json.dumps({"rationale": table["rationale"][0], "answers": told}, ensure_ascii=False)
        names = json.dumps(table["item"].to_list())
        rows.append({**place, "protocol": "whole-pool", "item": None, "items": names, "answer": whole})
        if target == "world":
            rows += [
                {**place, "protocol": "item-by-item", "item": row["item"], "items": None, "answer": _said(row)}
                for row in table.iter_rows(named=True)
            ]
    columns = ["task", "protocol", "from", "to", "item", "items", "answer", "model", "note"]
    return pl.DataFrame(rows, infer_schema_length=None).select(columns)


def _said(row: dict[str, object]) -> str:
    return f"{row['why']}\nFinal answer: {row['estimate']:g}%"


def main() -> None:
    write_csv(make_rates(), EXAMPLE / "group_rates.csv")
    if (EXAMPLE / "estimates.csv").is_file():
        write_csv(make_recording(), SHIPPED / "example-rates.csv")
    print(f"{example_pool()}\nitems from {example_folder()}")


if __name__ == "__main__":
    main()
