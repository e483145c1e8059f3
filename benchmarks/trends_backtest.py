"""Rolling-origin backtest of the frontier forecasts: python -m benchmarks.trends_backtest [--every 2].

From the first of every second month on which 15 models and 3 records were known, the frontier is forecast 3, 6 and 12
months ahead and compared with what came. "refitted": everything is refitted at every origin to the scores known then:
of models out by then and, on the reference data, of benchmarks out by then (the embedded evidence does not know when
its benchmarks came out, and its scores carry the day their source was read, later than the day they were known).
"final": the capabilities of the last fit, as in the published validation, which forgives the error of the early fit.
The reference data are development data: where they are absent, only the embedded evidence is measured.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

import numpy as np
import polars as pl

from benchmarks import optional_data, run
from benchmarks.measured import record
from benchmarks.stitch_data import finish, reference_scores, table
from mensura.core.arrays import Floats, just_above
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.evidence import Evidence, load
from mensura.intake.tables import as_frame
from mensura.stitching import Stitch, evidence_scores, read_any, read_scores, stitch, to_date, to_years
from mensura.trends import read_capabilities
from mensura.trends.capabilities import read_dates, read_draws
from mensura.trends.lines import is_record
from mensura.trends.pace import forecast_known

PUBLISHED = {"method": "rosetta", "anchor_benchmark": "Winogrande"}
HORIZONS = (0.25, 0.5, 1.0)
"""Years ahead."""
FEWEST, RECORDS = 15, 3
"""Subjects and records known at the first origin."""


@dataclass(frozen=True, eq=False, repr=False)
class Backtest(Result):
    """``table``: ``origin``, ``horizon`` (years), ``date``, ``expected``, ``low``, ``high``, ``actual``, ``covered``.

    ``summary`` per horizon and over all: ``n``, ``error`` (mean absolute), ``rmse``, ``bias`` (actual − expected),
    ``coverage``, ``width``. Origins overlap, so rows of the table are not independent. ``refitted`` says whether every
    forecast came from a fit to the scores known at its origin, or from the final capabilities of the models out then.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("summary", "table")

    method: str
    level: float
    table: pl.DataFrame
    summary: pl.DataFrame
    refitted: bool = False

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        how = "refitted at every origin" if self.refitted else "from the final capabilities"
        return f"{self.table.height} forecasts ({self.method}, {how}) against what came, intervals of {self.level:.0%}"


def backtest(
    source: Any = None,  # noqa: ANN401
    *,
    origins: list[date] | None = None,
    horizons: tuple[float, ...] = HORIZONS,
    refit: bool | None = None,
    fit_error: bool = True,
    fit_settings: dict[str, Any] | None = None,
    method: str = "releases",
    level: float = 0.9,
    seed: int = 0,
) -> Backtest:
    """Forecast the frontier from days in the past and compare with what came.

    With evidence or a table of scores, everything is refitted at every origin to the scores known by then, unless
    ``refit`` is False. With a fit or a table of capabilities, the final capabilities are used, as the published
    validation does. ``fit_error``: whether the draws of the refits enter the intervals.
    """
    scores = _scores_of(source)
    if refit and scores is None:
        raise MensuraError("refit: a fit or a table of capabilities has no scores to refit; hand in the scores")
    refitted = scores is not None and refit is not False
    settings = fit_settings or {}
    frame = read_capabilities(source if scores is None else stitch(scores, parts="largest", **settings))
    years = to_years(frame["released"])
    rows: list[dict[str, object]] = []
    for origin in origins or monthly_origins(frame):
        at = float(to_years(pl.Series([origin]))[0])
        ends = [at + ahead for ahead in horizons if at + ahead <= just_above(years[-1])]
        if ends:
            known, draws = frame.filter(pl.col("released") <= origin), None
            if refitted and scores is not None:
                known, draws = on_final_scale(*refit_vintage(scores, origin, settings), frame)
            days = [to_date(end) for end in ends]
            drawn = draws if fit_error else None
            prediction = forecast_known(known, days, draws=drawn, level=level, method=method, seed=seed)
            rows += [
                _compared(origin, at, end, row, frame) for end, row in zip(ends, prediction.to_dicts(), strict=True)
            ]
    if not rows:
        raise MensuraError("backtest: no origin has a horizon that ends by the last release; choose earlier origins")
    table = pl.DataFrame(rows)
    return Backtest(method, level, table, summarise(table), refitted)


def monthly_origins(frame: pl.DataFrame) -> list[date]:
    """First day of every month from the one by which 15 subjects and 3 records are known."""
    values, days = frame["capability"].to_numpy(), frame["released"].to_list()
    records = np.cumsum(is_record(to_years(frame["released"]), values))
    ready = np.flatnonzero((np.arange(1, values.size + 1) >= FEWEST) & (records >= RECORDS))
    if ready.size == 0:
        raise MensuraError(
            f"backtest: {FEWEST} subjects and {RECORDS} records are needed at the first origin, got {values.size} "
            f"subjects and {records[-1]} records in all"
        )
    months = pl.date_range(days[int(ready[0])], days[-1], "1mo", eager=True).dt.month_end().dt.offset_by("1d")
    return [day for day in months.to_list() if day < days[-1]]


def summarise(table: pl.DataFrame) -> pl.DataFrame:
    """Error and coverage per horizon, and over all of them (``horizon`` empty)."""
    off = pl.col("actual") - pl.col("expected")
    figures = [
        pl.len().alias("n"),
        off.abs().mean().alias("error"),
        (off**2).mean().sqrt().alias("rmse"),
        off.mean().alias("bias"),
        pl.col("covered").mean().alias("coverage"),
        (pl.col("high") - pl.col("low")).mean().alias("width"),
    ]
    each = table.group_by("horizon").agg(figures).sort("horizon")
    overall = table.select(pl.lit(None, dtype=pl.Float64).alias("horizon"), *figures)
    return pl.concat([each, overall])


def _scores_of(source: Any) -> pl.DataFrame | None:  # noqa: ANN401
    """Scores to refit, where the source has them; a fit and a table of capabilities have none."""
    if isinstance(source, Stitch):
        return None
    if source is None or isinstance(source, Evidence):
        return read_any(source)[0]
    frame = as_frame(source, name="scores")
    return read_any(frame)[0] if "score" in frame.columns and "capability" not in frame.columns else None


def on_final_scale(known: pl.DataFrame, draws: Floats, final: pl.DataFrame) -> tuple[pl.DataFrame, Floats]:
    """Put an early fit and its draws on the final scale, by the line through the subjects both have."""
    both = known.join(final.select("subject", last="capability"), on="subject")
    slope, intercept = np.polyfit(both["capability"].to_numpy(), both["last"].to_numpy(), 1)
    return known.with_columns(capability=intercept + slope * pl.col("capability")), intercept + slope * draws


def _compared(origin: date, at: float, end: float, row: dict[str, Any], frame: pl.DataFrame) -> dict[str, object]:
    """One forecast beside what came."""
    out = to_years(frame["released"]) <= just_above(end)
    actual = float(frame["capability"].to_numpy()[out].max())
    forecasts = {"expected": row["capability"], "low": row["low"], "high": row["high"]}
    covered = row["low"] <= actual <= row["high"]
    when = {"origin": origin, "horizon": round(end - at, 6), "date": row["date"]}
    return when | forecasts | {"actual": actual, "covered": covered}


# What was known on a day: the scores of that vintage, and the fit that could have been made from them.
#
# A score was known no earlier than its model's release. Where the table says more it is used: ``known`` is the day a
# score was published, ``benchmark_released`` the day its benchmark came out. A day that a table does not give is not
# guessed at.

DATES = ("released", "benchmark_released", "known")
"""Columns that a score's vintage follows from: it was known when all of them had passed."""


def known_by(scores: pl.DataFrame, day: date) -> pl.DataFrame:
    """Keep the scores of models and benchmarks out, and published, on a day, as far as is known."""
    frame = read_dates(scores, name="scores")
    for column in set(DATES[1:]) & set(frame.columns):
        frame = frame.with_columns(_as_date(frame[column], column))
    given = [column for column in DATES if column in frame.columns]
    return frame.filter(pl.all_horizontal(pl.col(column).fill_null(day) <= day for column in given))


def refit_vintage(scores: pl.DataFrame, day: date, settings: dict[str, Any]) -> tuple[pl.DataFrame, Floats]:
    """Fit what was known on a day: ``subject``, ``released``, ``capability``, and draws in that order."""
    fit: Stitch = stitch(known_by(scores, day), parts="largest", **settings)
    frame = read_capabilities(fit)
    return frame, read_draws(fit.laplace, frame["subject"])


def _as_date(values: pl.Series, name: str) -> pl.Series:
    """Read days; what is there and is none is refused."""
    if values.dtype == pl.Date:
        return values
    days = values.cast(pl.String).str.to_date("%Y-%m-%d", strict=False)
    bad = values.filter(days.is_null() & values.is_not_null() & (values.cast(pl.String) != ""))
    if bad.len():
        raise MensuraError(
            f"scores: {bad.len()} days in {name!r} are not YYYY-MM-DD, the first is {bad[0]!r}; correct them"
        )
    return days.alias(name)


def show(name: str, result: Backtest) -> dict[str, object]:
    for row in result.summary.to_dicts():
        ahead = "all" if row["horizon"] is None else f"{12 * row['horizon']:.0f} months"
        print(
            f"{name:58} {ahead:>9} {row['n']:>4} {row['error']:7.3f} {row['rmse']:7.3f} {row['bias']:+7.3f} "
            f"{row['coverage']:8.2f} {row['width']:7.2f}",
            flush=True,
        )
    return {"forecast": name, "refitted": result.refitted, "rows": result.summary.to_dicts()}


def reference() -> pl.DataFrame:
    """Scores of the published fit with the days their models and benchmarks came out."""
    scores = reference_scores().select("model", "benchmark", "score", released="release_date")
    benchmarks = table("benchmarks").select("benchmark", benchmark_released="release_date")
    return read_scores(scores).join(benchmarks, on="benchmark", how="left", maintain_order="left")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--every", type=int, default=2, help="months from origin to origin")
    options = arguments.parse_args()
    embedded = evidence_scores(load())[0]
    heads = f"{'ahead':>9} {'n':>4}   error    rmse    bias coverage   width"
    print(f"{'forecast of the frontier, intervals of 90%':58} {heads}")
    runs = []
    if optional_data("stitching"):
        scores = reference()
        runs += [
            ("published, final", scores, {"method": "rosetta", "refit": False, "fit_settings": PUBLISHED}),
            ("published, refitted", scores, {"method": "rosetta", "fit_settings": PUBLISHED}),
            ("ours, refitted, without the error of the fit", scores, {"fit_error": False, "fit_settings": PUBLISHED}),
            ("ours, refitted, with the error of C, D and α", scores, {"fit_settings": PUBLISHED}),
        ]
    runs += [
        ("embedded evidence: published, final", embedded, {"method": "rosetta", "refit": False}),
        ("embedded evidence: published, refitted", embedded, {"method": "rosetta"}),
        ("embedded evidence: ours, refitted", embedded, {}),
    ]
    rows = []
    for name, source, settings in runs:
        final = read_capabilities(stitch(source, parts="largest", **settings.get("fit_settings", {})))
        origins = monthly_origins(final)[:: options.every]
        last = backtest(source, origins=origins, **settings)
        rows.append(show(name, last))
    finish({"backtests": rows})
    record("trends.backtest", f"{last.summary.filter(pl.col('horizon').is_null())['coverage'].item():.0%}")


if __name__ == "__main__":
    run(main)
