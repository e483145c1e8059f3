"""How long a task: horizons of models by kind of work, their pace, and those that the stitched scale expects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mensura.charts.lengths import say_minutes
from mensura.core.cache import recall
from mensura.core.frames import read_csv
from mensura.horizon import HorizonFit, fit_horizons, load_runs
from mensura.horizon.minutes import DATA, SECURITY
from mensura.horizon.wages import compare_wages, read_wages
from mensura.trends import follow_horizons, relate_horizons
from mensura.trends.horizons import RECENT

if TYPE_CHECKING:
    from mensura.study.study import Study

DOMAINS = {SECURITY: "Security tasks", "science": "Science questions", "software": "Software fixes"}
"""Kinds of work with runs of models on tasks that people were timed on, or whose times somebody judged."""
TASK_COST_NOTE = (
    "Security tasks, at list prices. An attempt counts with 2 million tokens, the limit of the study that ran the "
    "models: all of them read at least, half of them written at most. Short tasks need fewer tokens, so a model may be "
    "cheaper earlier. People count as if they always succeed, and checking a result is not counted."
)
"""Said wherever costs of tasks are."""
FEWEST_RELATED = 5
"""Models with both a horizon and a capability from which a line between them says anything."""


@dataclass(frozen=True, eq=False)
class TaskHorizons:
    """Horizons by domain and system, longest first, the pace by domain, and lengths of the tasks by suite."""

    rows: pl.DataFrame
    trend: pl.DataFrame
    lengths: pl.DataFrame

    @cached_property
    def by_model(self) -> dict[str, dict[str, dict[str, Any]]]:
        """The horizons of each model by domain."""
        own = self.rows.drop_nulls("model").rows_by_key("model", named=True, include_key=True)
        return {model: {row["domain"]: row for row in rows} for model, rows in own.items()}

    def best(self, domain: str) -> dict[str, Any]:
        """Return the longest horizon of a domain."""
        return self.rows.filter(pl.col("domain") == domain).row(0, named=True)


@cache
def task_horizons() -> TaskHorizons:
    """Return the embedded horizons with names, makers and release dates, and their pace."""
    embedded, fit = load_runs(), fitted_horizons()
    security = fit.horizons.filter(suite="all").with_columns(suite=pl.lit(SECURITY))
    rows = (
        pl.concat([security, embedded.derived])
        .rename({"suite": "domain"})
        .join(embedded.models, on="subject", how="left")
        .join(embedded.systems.select("subject", "released"), on="subject", how="left")
        .join(embedded.published.select("subject", "^p50_(minutes|low95|high95)$"), on="subject", how="left")
        .with_columns(pl.col("released").cast(pl.Date))
        .sort(
            pl.col("domain").cast(pl.Enum(list(DOMAINS))),
            pl.coalesce("p50", "p50_low", pl.lit(0.0)),
            "name",
            descending=[False, True, False],
        )
    )
    trend = follow_horizons(rows.drop("released").rename({"domain": "suite"}), embedded.systems)
    lengths = fit.tasks.select("suite", "minutes", timed=pl.col("how").str.contains("measured|gave up"))
    return TaskHorizons(rows, trend, pl.concat([lengths, *_other_tasks()]))


def _other_tasks() -> Iterator[pl.DataFrame]:
    """Yield science questions, which were timed, and software fixes at lengths from the curve of their number."""
    for (domain,), curve in read_csv(DATA / "spread.csv").group_by("domain", maintain_order=True):
        places = np.arange(curve["shorter"][-1]) + 0.5
        minutes = np.exp2(np.interp(places, curve["shorter"], curve["minutes"].log(2)))
        yield pl.DataFrame({"suite": domain, "minutes": minutes, "timed": domain == "science"})


def fitted_horizons() -> HorizonFit:
    """Return the fit of the embedded security runs, from the cache where it was made before."""
    embedded = load_runs()
    return recall("horizon-fit", (), lambda: fit_horizons(embedded.runs, embedded.times))


def price_tasks(models: pl.DataFrame, wage: Any) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return from which length of task each model with a price is cheaper than people, and both costs by length.

    ``models``: subject, input_price, output_price. ``wage``: dollars an hour, or a table of occupation, wage.
    """
    names = load_runs().models.select("subject", "model").drop_nulls()
    curves = fitted_horizons().curves.join(names, on="subject").drop("subject").rename({"model": "subject"})
    return compare_wages(curves, models, read_wages(wage))


def judged_errors() -> dict[str, list[float]]:
    """Return how far judged times lie from measured ones, in doublings, by kind of judge."""
    times = read_csv(DATA / "estimates.csv", schema_overrides={"task": pl.String})
    measured = times.filter(how="measured").select("suite", "task", right="minutes")
    both = times.filter(pl.col("how") != "measured").join(measured, on=["suite", "task"])
    both = both.with_columns(error=(pl.col("minutes") / pl.col("right")).log(2))
    return {str(how): part["error"].to_list() for (how,), part in both.sort("how").group_by("how", maintain_order=True)}


def typical_error(errors: list[float]) -> tuple[float, float]:
    """Return by which factor judged times are typically off, and which share of the true time they are on average."""
    return float(np.exp2(np.median(np.abs(errors)))), float(np.exp2(np.mean(errors)))


def expected_horizon(study: Study, model: str) -> dict[str, Any] | None:
    """Return the security horizon that a model's place on the stitched scale suggests (minutes, low, high), or None.

    The line runs through the models that were run on both; its interval is that of one more model.
    """
    return _expected_horizons(study).get(model)


@lru_cache(maxsize=1)
def _expected_horizons(study: Study) -> dict[str, dict[str, Any]]:
    measured = task_horizons().rows.filter(domain=SECURITY).drop_nulls(["model", "p50"])
    measured = measured.join(study.capabilities, left_on="model", right_on="subject", how="semi")
    if measured.height < FEWEST_RELATED:
        return {}
    related = relate_horizons(study.capabilities, measured.select(subject="model", minutes="p50"))
    return {row["subject"]: {**row, "models": related.line.n} for row in related.table.iter_rows(named=True)}


def say_horizon(row: dict[str, Any], level: str = "p50") -> str:
    """Say a horizon: its value, "over" or "under" where an end is open, or that it cannot be told."""
    value, low, high = (row[f"{level}{end}"] for end in ("", "_low", "_high"))
    if high is None:
        return "cannot be told" if low is None else f"over {say_minutes(low)}"
    if low is None or value is None:
        return f"under {say_minutes(high)}"
    return say_minutes(value)


def say_interval(row: dict[str, Any]) -> str:
    """Say the 90% interval of a horizon, open ends in words."""
    low, high = row["p50_low"], row["p50_high"]
    if low is None:
        return "both ends are open" if high is None else f"{say_minutes(high)} or less"
    return f"{say_minutes(low)} or more" if high is None else f"{say_minutes(low)} to {say_minutes(high)}"


def horizon_sentence() -> str:
    """Say in one sentence how long a security task the best system does half of the time."""
    best = task_horizons().best(SECURITY)
    open_end = best["p50_high"] is None
    length = say_minutes(best["p50_low" if open_end else "p50"])
    share = "at least one in two" if open_end else "about one in two"
    return f"A security task that takes a professional {length}: {best['name']} solves {share}."


def horizon_deck() -> str:
    """Say how sure the sentence is, what the study itself says, and where the other kinds of work stand."""
    rows = task_horizons()
    best, others = rows.best(SECURITY), [(name, rows.best(key)) for key, name in DOMAINS.items() if key != SECURITY]
    top = "no upper end" if best["p50_high"] is None else f"its upper end at {say_minutes(best['p50_high'])}"
    own, *ends = (say_minutes(best[f"p50_{part}"]) for part in ("minutes", "low95", "high95"))
    rest = "; ".join(f"{name.lower()}: {row['name']}, {say_horizon(row)}" for name, row in others)
    return (
        f"Its 90% interval has {top}, because few tasks are longer and most long ones were judged, not timed. Four "
        f"times in five it does {say_horizon(best, 'p80')}. The study that ran it says {own} (95%: {ends[0]} to "
        f"{ends[1]}). Best elsewhere, in results to May 2025: {rest}."
    )


def pace_words() -> str:
    """Say in how many months the length of security tasks doubles, since 2024 and over all years."""
    trend = task_horizons().trend.filter(domain="security")
    recent, every = (trend.filter(since=since).row(0, named=True) for since in (RECENT, "all"))
    ends = [
        f"{one['doubling_months']:.1f} months (90%: {one['low']:.1f} to {one['high']:.1f})" for one in (recent, every)
    ]
    return (
        f"In security the length has doubled every {ends[0]} since 2024; over all {every['systems']} systems, {ends[1]}"
    )


def say_lengths(study: Study, model: str) -> str:
    """Say a model's horizon by kind of work; of one that was never run, which one the stitched scale suggests."""
    own = task_horizons().by_model.get(model)
    if own:
        return ", ".join(f"{say_horizon(row)} in {domain}" for domain, row in own.items())
    none, expected = "Nobody published its results on tasks that people were timed on.", expected_horizon(study, model)
    if expected is None:
        return none
    ends = f"{say_minutes(expected['low'])} to {say_minutes(expected['high'])}"
    return (
        f"{none} Its place on the stitched scale suggests about {say_minutes(expected['expected'])} in security (90%: "
        f"{ends}), by a line through {expected['models']} models that were run. This is no measurement."
    )
