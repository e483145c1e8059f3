"""Accuracy of extrapolation in the three situations: ours, the plain method, the bar, and interval coverage.

``python -m benchmarks.extrapolation_situations [HUMAN_DATA] [--leave-one-out]``. Mean absolute error over focal groups,
per pool and class of groups. The plain methods are computed on the same items; the leave-one-group-out regression
is read from ``baselines_summary.csv`` beside the pools. With ``--leave-one-out`` the priors are learned again without
the pool they are used on.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import polars as pl

from mensura.extrapolation import cases_of, learn_priors, validate
from mensura.extrapolation.line.descriptions import read_description
from mensura.people import ItemPool

DEFAULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "human"
BARS = {
    ("timss2011_g8_math_4c", "country"): 0.080,
    ("pisa2009_12c", "country"): 0.052,
    ("pirls2011_4c", "country"): 0.045,
}
RUNS = {
    "described": {"situation": "described"},
    "linked3": {"situation": "linked", "links": 3},
    "linked5": {"situation": "linked", "links": 5},
    "slices": {"situation": "slices"},
    "strict": {"situation": "slices", "method": "hierarchical-strict"},
}
QUOTED = [
    ("cz_matura2019_math", "other"),
    ("gapminder2017_14c", "country"),
    ("pirls2011_4c", "country"),
    ("pisa2009_12c", "country"),
    ("timss2011_g8_math_4c", "country"),
    ("viqt_vocabulary", "other"),
]
"""Pools and classes of groups whose plain figures the specification quotes."""


def group_class(covariate: pl.Expr) -> pl.Expr:
    sexes = pl.when(covariate == "country_sex").then(pl.lit("country_x_sex"))
    return sexes.when(covariate == "country").then(pl.lit("country")).otherwise(pl.lit("other"))


def measure(folder: Path, pool: ItemPool, priors: pl.DataFrame | None) -> pl.DataFrame:
    """Return one row per run and class of groups: groups, mae, MAE of the plain methods, coverage."""
    text, tables = read_description(folder), []
    for run, settings in RUNS.items():
        situation = {name: value for name, value in settings.items() if name != "method"}
        plain = ("identity", "shift") if situation["situation"] == "linked" else ("identity",)
        learned = {} if priors is None else {"priors": priors}
        table = validate(pool, description=text, **learned, **settings).summary
        table = table.select("covariate", "group", "mae", "coverage").with_columns(shift=pl.lit(None, pl.Float64))
        for name in plain:
            found = validate(pool, description=text, method=name, **situation).summary.select(
                "covariate", "group", "mae"
            )
            table = table.drop(name, strict=False).join(
                found.rename({"mae": name}), on=["covariate", "group"], maintain_order="left"
            )
        table = table.with_columns(group_class(pl.col("covariate")).alias("class"))
        columns = pl.col("mae", "identity", "shift", "coverage").mean()
        means = table.group_by("class", maintain_order=True).agg(pl.len().alias("groups"), columns)
        tables.append(means.with_columns(pl.lit(pool.name).alias("pool"), pl.lit(run).alias("run")))
    return pl.concat(tables)


def regression_baseline(human: Path) -> pl.DataFrame:
    table = pl.read_csv(human / "baselines_summary.csv").filter(pl.col("method") == "d1_logo_regression")
    return table.select(pool="dataset", class_="class", d1="mae").rename({"class_": "class"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("human", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("--leave-one-out", action="store_true", help="learn the priors without the pool they serve")
    arguments = parser.parse_args()
    if not arguments.human.is_dir():
        raise SystemExit(f"{arguments.human}: no pools here; give the folder of tidy pools as the argument")
    folders = sorted(path for path in arguments.human.iterdir() if (path / "items.csv").is_file())
    pools = {folder: ItemPool.read(folder) for folder in folders}
    tasks = {
        folder: [case.revealed for case in cases_of(pool, read_description(folder))] for folder, pool in pools.items()
    }
    parts = []
    for folder, pool in pools.items():
        others = {str(path): found for path, found in tasks.items() if path != folder}
        parts.append(measure(folder, pool, learn_priors(others) if arguments.leave_one_out else None))
    report(pl.concat(parts), regression_baseline(arguments.human), leave_one_out=arguments.leave_one_out)


def report(table: pl.DataFrame, regression: pl.DataFrame, *, leave_one_out: bool) -> None:
    bars = pl.DataFrame([(*key, bar) for key, bar in BARS.items()], schema=["pool", "class", "bar"], orient="row")
    described = table.filter(pl.col("run") == "described").join(bars, on=["pool", "class"], how="left")
    described = described.with_columns(against_identity=pl.col("mae") - pl.col("identity"))
    columns = ["pool", "class", "groups", "identity"]
    show("described", described.select(*columns, "mae", "bar", "against_identity", "coverage"))
    linked = {}
    for run in ("linked3", "linked5"):
        part = table.filter(pl.col("run") == run).with_columns(change=pl.col("mae") / pl.col("shift") - 1)
        show(run, part.select(*columns, "shift", "mae", "change", "coverage"))
        quoted = [change for *key, change in part.select("pool", "class", "change").iter_rows() if tuple(key) in QUOTED]
        linked[run] = {
            "mean_change_quoted_pools": float(np.mean(quoted)),
            "mean_change_all": float(part["change"].to_numpy().mean()),
            "change_of_mean_mae": float(part["mae"].to_numpy().mean() / part["shift"].to_numpy().mean() - 1),
            "worst_against_identity": float((part["mae"] - part["identity"]).to_numpy().max()),
        }
    strict = table.filter(pl.col("run") == "strict").select("pool", "class", strict="mae")
    slices = table.filter(pl.col("run") == "slices").join(strict, on=["pool", "class"])
    slices = slices.join(regression, on=["pool", "class"], how="left", maintain_order="left")
    show(
        "slices (d1: leave-one-group-out regression; strict: other groups' fold means hidden too)",
        slices.select(*columns, "d1", "mae", "strict", "coverage"),
    )
    runs = [run for run in RUNS if run != "strict"]
    weighted = (pl.col("coverage") * pl.col("groups")).sum() / pl.col("groups").sum()
    coverage = table.group_by("pool", "run").agg(coverage=weighted).pivot("run", index="pool", values="coverage")
    coverage = coverage.select("pool", *runs).sort("pool")
    show("coverage of 90% intervals per pool (mean over groups)", coverage)
    overall = table.group_by("run").agg(coverage=weighted)
    figures = {
        "leave_one_out": leave_one_out,
        "described": _rows(described, "mae", "identity", "bar", "coverage"),
        "described_worst_against_identity": float(described["against_identity"].to_numpy().max()),
        "linked": linked,
        "slices": _rows(slices, "mae", "strict", "d1", "coverage"),
        "coverage": {row["pool"]: {run: row[run] for run in runs} for row in coverage.to_dicts()},
        "coverage_overall": {run: value for run, value in sorted(overall.iter_rows()) if run in runs},
    }
    print(json.dumps(_rounded(figures)))


def show(title: str, table: pl.DataFrame) -> None:
    print(f"\n{title}")
    with pl.Config(
        tbl_rows=-1,
        tbl_cols=-1,
        tbl_width_chars=160,
        float_precision=4,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
        tbl_formatting="NOTHING",
    ):
        print(table)


def _rows(table: pl.DataFrame, *columns: str) -> dict[str, dict[str, float]]:
    return {f"{row['pool']}/{row['class']}": {c: row[c] for c in columns} for row in table.to_dicts()}


def _rounded(value: object) -> object:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return round(value, 4) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
