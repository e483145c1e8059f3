"""Accuracy and coverage of extrapolation in the three situations, every pool judged by priors learned without it.

``python -m benchmarks.extrapolation_situations [--shipped] [--draws N]``. What is measured is the
procedure that ships, as it meets a pool not yet seen: priors are learned anew on all other development pools (pools of
one survey and wave are left out together). Coverage of 90% intervals counts the pool as the unit: mean over a pool's
groups, then over pools; also by kind of group. Mean absolute errors are over focal groups, per pool and class of
groups, beside the plain methods on the same items; the leave-one-group-out regression is read from
``baselines_summary.csv`` beside the pools. ``--shipped`` uses the shipped priors instead, which have seen the pools:
what it covers is in-sample.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np
import polars as pl

from benchmarks import development_data, run as run_measurement
from benchmarks.extrapolation_pools import DevelopmentPool, development_pools, priors_without
from benchmarks.measured import percent_range, record
from mensura.core.frames import text_table
from mensura.extrapolation import make_method
from mensura.extrapolation.cases import pairs_of
from mensura.extrapolation.scoring import ScoredCase, Trial, shift_error, trials_of

BARS = {
    ("timss2011_g8_math_4c", "country"): 0.080,
    ("pisa2009_12c", "country"): 0.052,
    ("pirls2011_4c", "country"): 0.045,
}
RUNS = {
    "described": ("described", "described", 3),
    "linked3": ("linked", "linked", 3),
    "linked5": ("linked", "linked", 5),
    "slices": ("slices", "hierarchical", 3),
    "strict": ("slices", "hierarchical", 3),
}
"""Per run its situation, method and number of links."""
QUOTED = [
    ("cz_matura2019_math", "other"),
    ("gapminder2017_14c", "country"),
    ("pirls2011_4c", "country"),
    ("pisa2009_12c", "country"),
    ("timss2011_g8_math_4c", "country"),
    ("viqt_vocabulary", "other"),
]
"""Pools and classes of groups whose plain figures the specification quotes."""
KINDS = {
    "country": "countries",
    **dict.fromkeys(("age", "education", "grade", "school", "ability"), "age and schooling"),
    **dict.fromkeys(("sex", "ethnicity"), "sex and ethnicity"),
}
"""Kinds of groups whose coverage is given apart; the others are ``other groups``."""
ADULTS = ("viqt_vocabulary", "spisa_general_knowledge", "pks_probability", "iq1_matrices", "ccobra_syllogisms")
"""Pools of adults."""


def measure(found: DevelopmentPool, priors: pl.DataFrame | None, draws: int) -> pl.DataFrame:
    """Return one row per run and focal group: covariate, kind, errors of the method and of the plain ones, coverage."""
    learned = {} if priors is None else {"priors": priors}
    rows = []
    for run, (situation, name, links) in RUNS.items():
        method = make_method(name, **learned, **({"means": False} if run == "strict" else {}))
        trials = trials_of(situation, found.cases, links=links, draws=draws, rng=np.random.default_rng(0))
        for trial in trials:
            if trial is None:
                continue
            scored = ScoredCase.of(trial, [method.predict(task) for task in trial.tasks])
            case, metrics = trial.case, scored.metrics()
            gap = np.broadcast_to(np.abs(case.task.rate - case.truth), scored.hidden.shape)[scored.hidden]
            rows.append(
                {
                    "pool": found.name,
                    "run": run,
                    "class": _class(case.covariate),
                    "kind": KINDS.get(case.task.kind, "other groups"),
                    "group": case.group,
                    "identity": float(gap.mean()),
                    "shift": shift_error(trial) if situation == "linked" else None,
                    "mae": metrics["mae"],
                    "coverage": metrics["coverage"],
                }
            )
    return pl.DataFrame(rows, schema_overrides={"shift": pl.Float64}, infer_schema_length=None)


def measure_pairs(found: DevelopmentPool, priors: pl.DataFrame | None) -> pl.DataFrame:
    """Return, per ordered pair of countries of a pool, error and coverage of the second predicted from the first."""
    method = make_method("described", **({} if priors is None else {"priors": priors}))
    rows = []
    for case in pairs_of(found.pool, found.cases, found.description):
        trial = Trial(case, (case.task,), np.ones((1, case.task.size), dtype=np.bool_))
        metrics = ScoredCase.of(trial, [method.predict(case.task)]).metrics()
        plain = float(np.abs(case.task.rate - case.truth).mean())
        rows.append((found.name, plain, metrics["mae"], metrics["coverage"]))
    types = {"pool": pl.String, "identity": pl.Float64, "mae": pl.Float64, "coverage": pl.Float64}
    return pl.DataFrame(rows, schema=types, orient="row")


def measure_all(
    pools: dict[str, DevelopmentPool], draws: int, *, shipped: bool = False
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the measures of every pool and of its pairs of countries, each by priors learned on other surveys."""
    parts, pairs = [], []
    for found in pools.values():
        priors = None if shipped else priors_without(pools, found.family)
        parts.append(measure(found, priors, draws))
        pairs.append(measure_pairs(found, priors))
    return pl.concat(parts), pl.concat(pairs)


def _class(covariate: str) -> str:
    return {"country": "country", "country_sex": "country_x_sex"}.get(covariate, "other")


def regression_baseline() -> pl.DataFrame:
    table = pl.read_csv(development_data("human", "baselines_summary.csv")).filter(
        pl.col("method") == "d1_logo_regression"
    )
    return table.select(pool="dataset", class_="class", d1="mae").rename({"class_": "class"})


def by_class(table: pl.DataFrame) -> pl.DataFrame:
    """Return means over focal groups per pool, class of groups and run."""
    means = pl.col("mae", "identity", "shift", "coverage").mean()
    return table.group_by("pool", "class", "run", maintain_order=True).agg(pl.len().alias("groups"), means)


def coverage_by_pool(table: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Return coverage per run with the pool as unit: means over a pool's groups, then over pools."""
    units = list(dict.fromkeys([*keys, "pool", "run"]))
    pools = table.filter(pl.col("run") != "strict").group_by(units).agg(pl.col("coverage").mean())
    means = pools.group_by(*keys, "run").agg(pl.col("coverage").mean(), pools=pl.len())
    wide = means.pivot("run", index=[*keys], values="coverage") if keys else means
    if not keys:
        return means.sort("run")
    sizes = pools.filter(pl.col("run") == "described").group_by(*keys).agg(pools=pl.len())
    runs = [run for run in RUNS if run in wide.columns]
    return sizes.join(wide, on=list(keys)).select(*keys, "pools", *runs).sort(*keys)


def report(table: pl.DataFrame, pairs: pl.DataFrame, regression: pl.DataFrame) -> dict[str, Any]:
    """Print errors and coverage; return the figures."""
    classes = by_class(table)
    bars = pl.DataFrame([(*key, bar) for key, bar in BARS.items()], schema=["pool", "class", "bar"], orient="row")
    described = classes.filter(pl.col("run") == "described").join(bars, on=["pool", "class"], how="left")
    described = described.with_columns(against_identity=pl.col("mae") - pl.col("identity"))
    columns = ["pool", "class", "groups", "identity"]
    show("described", described.select(*columns, "mae", "bar", "against_identity", "coverage"))
    linked = {}
    for run in ("linked3", "linked5"):
        part = classes.filter(pl.col("run") == run).with_columns(change=pl.col("mae") / pl.col("shift") - 1)
        show(run, part.select(*columns, "shift", "mae", "change", "coverage"))
        quoted = [change for *key, change in part.select("pool", "class", "change").iter_rows() if tuple(key) in QUOTED]
        linked[run] = {
            "mean_change_quoted_pools": float(np.mean(quoted)) if quoted else None,
            "mean_change_all": float(part["change"].to_numpy().mean()),
            "change_of_mean_mae": float(part["mae"].to_numpy().mean() / part["shift"].to_numpy().mean() - 1),
            "worst_against_identity": float((part["mae"] - part["identity"]).to_numpy().max()),
        }
    strict = classes.filter(pl.col("run") == "strict").select("pool", "class", strict="mae")
    slices = classes.filter(pl.col("run") == "slices").join(strict, on=["pool", "class"])
    slices = slices.join(regression, on=["pool", "class"], how="left", maintain_order="left")
    show(
        "slices (d1: leave-one-group-out regression; strict: other groups' fold means hidden too)",
        slices.select(*columns, "d1", "mae", "strict", "coverage"),
    )
    pools = coverage_by_pool(table, "pool").drop("pools")
    show("coverage of 90% intervals per pool (mean over groups)", pools)
    kinds = coverage_by_pool(table, "kind")
    show("coverage with the pool as unit, by kind of group", kinds)
    adults = coverage_by_pool(table.filter(pl.col("pool").is_in(ADULTS)), "kind")
    show("the same inside surveys of adults", adults)
    countries = pairs.group_by("pool", maintain_order=True).agg(
        pl.len().alias("pairs"), pl.all().exclude("pool").mean()
    )
    show("from one country to another, described", countries)
    overall = coverage_by_pool(table)
    show("coverage with the pool as unit", overall)
    return {
        "described": _rows(described, "mae", "identity", "bar", "coverage"),
        "linked": linked,
        "slices": _rows(slices, "mae", "strict", "d1", "coverage"),
        "coverage_by_pool": {row["pool"]: row for row in pools.to_dicts()},
        "coverage_by_kind": {row["kind"]: row for row in kinds.to_dicts()},
        "coverage_by_kind_adults": {row["kind"]: row for row in adults.to_dicts()},
        "pairs_of_countries": {row["pool"]: row for row in countries.to_dicts()},
        "pairs_coverage": float(countries["coverage"].to_numpy().mean()),
        "coverage": dict(overall.select("run", "coverage").iter_rows()),
        "mean_error": {run: float(part["mae"].to_numpy().mean()) for (run,), part in classes.group_by("run")},
    }


def show(title: str, table: pl.DataFrame) -> None:
    print(f"\n{title}")
    print(text_table(table, rows=table.height, digits=4))


def _rows(table: pl.DataFrame, *columns: str) -> dict[str, dict[str, float]]:
    return {f"{row['pool']}/{row['class']}": {c: row[c] for c in columns} for row in table.to_dicts()}


def _rounded(value: object) -> object:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return round(value, 4) if isinstance(value, float) else value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shipped", action="store_true", help="use the shipped priors, which have seen the pools")
    parser.add_argument("--draws", type=int, default=100, help="of linking items")
    arguments = parser.parse_args()
    table, pairs = measure_all(development_pools(), arguments.draws, shipped=arguments.shipped)
    figures = report(table, pairs, regression_baseline())
    print(json.dumps(_rounded({"priors": "shipped" if arguments.shipped else "without the pool judged", **figures})))
    if not arguments.shipped:
        record("extrapolation.coverage", percent_range(figures["coverage"].values()))
        timss = figures["described"]["timss2011_g8_math_4c/country"]
        record("extrapolation.timss_identity", f"{timss['identity']:.3f}")
        record("extrapolation.timss_described", f"{timss['mae']:.3f}")


if __name__ == "__main__":
    run_measurement(main)
