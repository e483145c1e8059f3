"""Write the embedded data of ``mensura horizon`` from the development data.

``python -m tools.embed_horizons FOLDER`` with the human times of the development data. The security suites
(CC BY 4.0) go in as runs and times; of the science and software tasks only horizons per system, which this tool
fits, and the curve of how many tasks are shorter than a length go in.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
from scipy.special import ndtr

import mensura
from mensura.core.files import write_csv
from mensura.horizon.minutes import DATA

DOMAINS = {"gpqa_diamond": "science", "swe_bench_verified": "software"}
CHANCE = {"gpqa_diamond": 0.25}
SMOOTH, STEP = 0.3, 0.25
"""Spread of a timed task and distance of the points of the curve, doublings."""
RANGES = {7.5: (3.75, 15.0), 30.0: (15.0, 60.0), 120.0: (60.0, 240.0), 480.0: (240.0, 960.0)}
"""What annotators chose for a software fix, by its middle; the outer two are as wide as their neighbours."""


def shorter(suite: str, minutes: pl.Series) -> pl.DataFrame:
    """Return how many tasks are shorter than some lengths: smoothed where timed, even inside a range where judged."""
    logs = np.log2(minutes.to_numpy())
    points = np.arange(np.floor((logs.min() - 1) / STEP), np.ceil((logs.max() + 1) / STEP) + 1) * STEP
    if suite == "swe_bench_verified":
        low, high = (np.log2([RANGES[value][end] for value in minutes])[:, None] for end in (0, 1))
        share = np.clip((points - low) / (high - low), 0.0, 1.0)
    else:
        share = ndtr((points - logs[:, None]) / SMOOTH)
    found = {"domain": DOMAINS[suite], "minutes": np.exp2(points).round(3), "shorter": share.sum(axis=0).round(1)}
    return pl.DataFrame(found).filter(pl.col("shorter").diff().fill_null(1.0) > 0)


def main() -> None:
    folder = Path(sys.argv[1])
    DATA.mkdir(exist_ok=True)
    outcomes, tasks, attempts, estimates, systems = (
        pl.read_csv(folder / f"{name}.csv", infer_schema_length=None)
        for name in ("outcomes", "tasks", "attempts", "estimates", "systems")
    )
    security = ~pl.col("suite").is_in(list(DOMAINS))
    timed = tasks.filter(security & pl.col("minutes").is_not_null()).select("suite", "task", "minutes", "how", "people")
    solved = attempts.filter(pl.col("minutes") > 0).drop("person").with_row_index("person", offset=1)
    runs = outcomes.filter(security).join(timed, on=["suite", "task"], how="semi")
    write_csv(runs.select("subject", "suite", "task", score=pl.col("rate").cast(pl.Int64)), DATA / "runs.csv")
    write_csv(timed.with_columns(pl.col("minutes").round(3)), DATA / "times.csv")
    write_csv(solved.select("suite", "task", "person", "minutes", "solved", "gave_up"), DATA / "attempts.csv")
    both = estimates.join(tasks.filter(pl.col("completion_minutes") > 0), on=["suite", "task"], suffix="_task")
    judged = both.select("suite", "task", "estimator", pl.col("minutes").round(3), how="kind")
    measured = both.select("suite", "task", minutes=pl.col("completion_minutes").round(3)).unique(maintain_order=True)
    measured = measured.with_columns(estimator=pl.lit(None, pl.String), how=pl.lit("measured"))
    write_csv(pl.concat([judged, measured.select(judged.columns)]), DATA / "estimates.csv")
    derived = []
    for suite, domain in DOMAINS.items():
        own = pl.col("suite") == suite
        chance = pl.lit(CHANCE.get(suite, 0.0)).alias("chance")
        fit = mensura.fit_horizons(outcomes.filter(own).drop("trials"), tasks.filter(own).with_columns(chance))
        rows = fit.horizons.filter(pl.col("suite") == "all").with_columns(suite=pl.lit(domain))
        derived.append(rows.with_columns(pl.col("^p[58]0.*$").round(2)))
    write_csv(pl.concat(derived), DATA / "derived.csv")
    lengths = [shorter(suite, tasks.filter(suite=suite)["minutes"].drop_nulls()) for suite in DOMAINS]
    write_csv(pl.concat(lengths), DATA / "spread.csv")
    published = pl.read_csv(folder / "published_cyber_horizons.csv").sort("subject")
    write_csv(published, DATA / "published.csv")
    domain = pl.when(pl.col("suites").str.contains("cyb")).then(pl.lit("security")).otherwise(pl.lit(None))
    write_csv(
        systems.with_columns(domain=domain).select("subject", "released", "date_from").drop_nulls("released"),
        DATA / "systems.csv",
    )


if __name__ == "__main__":
    main()
