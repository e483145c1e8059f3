"""Compare what predicts which items people solve: demands, the largest, calibrated lines, a language model asked.

``python -m benchmarks.what_predicts_people``. Rank correlation of predicted and true success within each pool of the
open items, everything learned on the other pools; then the mean, by items and with every pool alike. The estimates of a
language model that saw an item's text and a sentence about the people are recordings of the development data; items
whose rate it remembered are left out, and the other predictors are shown on the same items as well.
"""

from __future__ import annotations

import json

import numpy as np
import polars as pl

from benchmarks import optional_data, run
from benchmarks.measured import record
from mensura.calibration import chosen_lines, open_demands, open_items, read_items
from mensura.calibration.items import RatedItems
from mensura.calibration.skill import LARGEST, compare_predictors, judge_rulers, predict_by_lines
from mensura.core.arrays import Floats
from mensura.core.frames import text_table

DRAWS = 400
LEFT_OUT = {
    "word-prevalence": "CC BY-NC-SA 4.0, non-commercial",
    "viqt": "terms not cleared, to be treated as non-commercial",
}
"""Pools of the development data that are not embedded, with the reason."""
RECORDED = "a language model asked"


def recorded_estimates(items: RatedItems) -> Floats | None:
    """Return the recorded estimate of each item's rate, NaN where there is none or the model remembered the figure."""
    folder = optional_data("items")
    if folder is None:
        return None
    named = pl.read_csv(folder / "items.csv").filter(~pl.col("pool").is_in(list(LEFT_OUT))).sort("pool", "item")
    number = pl.int_range(1, pl.len() + 1).over("pool").cast(pl.String).str.zfill(3)
    ids = named.select("item", "pool", id=pl.col("pool") + ":" + number)
    told = pl.read_csv(folder / "zero_shot.csv").filter(pl.col("remembered") == 0)
    means = told.group_by("pool", "item").agg(pl.col("estimate").mean())
    found = dict(ids.join(means, on=["pool", "item"]).select("id", "estimate").iter_rows())
    return np.array([found.get(item, np.nan) for item in items.items])


def main() -> None:
    items = read_items(open_items().select("item", "pool", "options", "n", "rate"), open_demands())
    told = {
        "published lines": predict_by_lines(items, chosen_lines("published")),
        "open lines (fitted on these pools)": predict_by_lines(items, chosen_lines("open")),
    }
    estimates = recorded_estimates(items)
    if estimates is not None:
        told[RECORDED] = estimates
    table = compare_predictors(items, told, draws=DRAWS)
    print("Rank correlation with people's success within pools left out; the bar is the largest demand\n")
    print(text_table(table, digits=2))
    figures: dict[str, object] = {row["predictor"]: row for row in table.iter_rows(named=True)}
    if estimates is not None:
        both = items.kept(np.isfinite(estimates))
        same = compare_predictors(both, {RECORDED: estimates[np.isfinite(estimates)]}, draws=DRAWS)
        print("\nOn the items that the language model was asked about and did not remember\n")
        print(text_table(same, digits=2))
        figures["same_items"] = {row["predictor"]: row for row in same.iter_rows(named=True)}
    rulers = judge_rulers(items)
    print("\nSingle dimensions, pools alike\n")
    print(text_table(rulers, rows=rulers.height, digits=2))
    found = rulers.filter(pl.col("ruler"))["dimension"].to_list()
    print(f"\nrulers, above the largest demand on the same pools: {', '.join(found) or 'none'}")
    print(json.dumps({**figures, "rulers": found}))
    record("people.skill_demands", f"{table['by_pools'][0]:.1f}")
    record("people.skill_largest", f"{table.filter(predictor=LARGEST)['by_pools'][0]:.2f}")
    if estimates is not None:
        record("people.skill_asked", f"{table.filter(predictor=RECORDED)['by_pools'][0]:.2f}")


if __name__ == "__main__":
    run(main)
