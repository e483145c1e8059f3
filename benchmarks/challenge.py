"""Our own entries in the challenge of estimators, scored like any other entry.

Run: python -m benchmarks.challenge [--record]
Needs the development data. Two pools are sealed: items with demand levels, and trivia whose takers also guessed what
others would answer. Entries: direct asking as recorded, the same with the learned correction, calibrated demands, and
the crowd's own guess. Whatever is learned is learned without the pool that is estimated. Prints the standing of
methods for each sealed pool, then one line of JSON.
"""

from __future__ import annotations

import json
import tempfile
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks import development_data, measured, run
from benchmarks.baseline import Judged, leave_pools_out
from benchmarks.baseline_pools import Recordings, read
from mensura.baseline.challenge import score_submissions, seal_pool, write_submission
from mensura.core.arrays import Floats, expit, logit
from mensura.core.frames import text_table
from mensura.demands.checking import _best_penalty, _predicted
from mensura.scale import Z90

ENTRIES = {
    "Claude, as recorded": "raw",
    "Claude, corrected by mensura baseline": "corrected",
    "ridge on 18 levels": "demands",
    "its takers, of each other": "crowd",
}
"""Short names of estimators, for recorded figures."""
GUESSED = "prelec_trivia"
"""The pool whose takers predicted the answers of others."""
Entries = dict[tuple[str, str], pl.DataFrame]
"""Estimates (item, population, rate, low, high) by method and estimator."""


def direct_entries(recordings: Recordings, judged: list[Judged]) -> Entries:
    """Return direct asking as recorded, and with the correction that all other pools teach."""
    table = recordings.table.select("item", "pool", population="people", rate="rate", low="low", high="high")
    corrected = []
    for one in judged:
        low, high = one.estimate.interval()
        cells = table.filter(pool=one.pool).select("item", "population")
        corrected.append(cells.with_columns(rate=one.estimate.rate, low=low, high=high))
    return {
        ("direct", "Claude, as recorded"): table.drop("pool"),
        ("direct", "Claude, corrected by mensura baseline"): pl.concat(corrected),
    }


def demand_entry(cells: pl.DataFrame, codes: list[str]) -> pl.DataFrame:
    """Return rates predicted from demand levels by the other pools, with the error that they have there."""
    names = cells["pool"].unique(maintain_order=True).to_list()
    pool = cells["pool"].replace_strict({name: at for at, name in enumerate(names)}).to_numpy()
    levels = cells.select(codes).to_numpy().astype(float)
    truth = logit(np.clip(cells["truth"].to_numpy(), 0.005, 0.995))
    guess = np.empty(truth.size)
    for at in range(len(names)):
        train = pool != at
        penalty = np.array([_best_penalty(levels[train], truth[train], pool[train], False)])
        guess[~train] = _predicted(levels, truth, pool, at, penalty, False)[0][0]
    errors = (guess - truth) ** 2
    spread: Floats = np.sqrt([errors[pool != at].mean() for at in pool])
    ends = {"low": expit(guess - Z90 * spread), "high": expit(guess + Z90 * spread)}
    return cells.select("item", "population").with_columns(rate=expit(guess), **ends)


def crowd_entry() -> pl.DataFrame:
    """Return what the takers of the trivia predicted of each other, without an interval."""
    file = development_data("items", "pools", GUESSED, "items.csv")
    share = pl.col("mean_predicted_share_true")
    return pl.read_csv(file).select(
        item="prelec:" + pl.col("item"), rate=pl.when(pl.col("key")).then(share).otherwise(1 - share)
    )


def score(name: str, cells: pl.DataFrame, entries: Entries) -> pl.DataFrame:
    """Seal the cells, submit every entry, open the pool and score them."""
    opens = date.today()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        cells.select("item", "population", "n", rate="truth").write_csv(place / "rates.csv")
        pool = seal_pool(place / "rates.csv", place / name, opens)
        files = []
        for number, ((method, estimator), table) in enumerate(entries.items()):
            out = place / f"entry{number}"
            made = opens - timedelta(days=1)
            write_submission(pool, table, out, method=method, estimator=estimator, made=made)
            files.append(out)
        return score_submissions(pool, files, opens).filter(people="all").drop("people", "date", "late")


def main() -> None:
    """Score our entries on both pools."""
    recordings = read(mend=True)
    cells = recordings.table.select("item", "pool", "truth", pl.col("n").fill_null(1000.0), population="people")
    direct = direct_entries(recordings, leave_pools_out(recordings))
    levels = pl.read_csv(development_data("items", "annotations.csv")).drop("annotator", "why")
    levels = levels.group_by("item").mean()
    codes = [name for name in levels.columns if name != "item"]
    annotated = cells.join(levels, on="item", maintain_order="left")
    trivia = cells.filter(pool=GUESSED)
    guessed = trivia.select("item", "population").join(crowd_entry(), on="item", maintain_order="left")
    standings = {
        "demands": score(
            "items-with-demand-levels",
            annotated,
            direct | {("demands", "ridge on 18 levels"): demand_entry(annotated, codes)},
        ),
        "crowd": score("trivia", trivia, direct | {("crowd", "its takers, of each other"): guessed}),
    }
    for name, standing in standings.items():
        print(f"\nSealed pool: {name}, {standing['items'][0]} items; error: mean absolute error of rates")
        print(text_table(standing, rows=standing.height, digits=3))
        for row in standing.iter_rows(named=True):
            key = f"challenge.{name}_{ENTRIES[row['estimator']]}"
            measured.record(f"{key}_error", f"{row['error']:.3f}")
            if row["width"] > 0:
                measured.record(f"{key}_held", f"{row['held']:.0%}")
    print(json.dumps({name: standing.to_dicts() for name, standing in standings.items()}))


if __name__ == "__main__":
    run(main)
