"""The published trend analyses in one go, as printed: selection, fit, frontier, forecast, break, compute, horizons.

Everything here follows the notebooks of "A Rosetta Stone for AI Benchmarks" (``method="rosetta"`` of each analysis);
the other functions of this room are what we would rather have. The published fit stops a little before its optimum, so
figures of the converged one differ by up to a unit of the last digit printed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

import numpy as np
import polars as pl
import scipy

from mensura.core.results import Result
from mensura.stitching import Stitch, stitch, to_years
from mensura.trends.breaks import find_break
from mensura.trends.capabilities import select_scores
from mensura.trends.horizons import Horizons, read_minutes, relate_horizons
from mensura.trends.lines import TrendLine, fit_line, frontier_line
from mensura.trends.pace import forecast
from mensura.trends.progress import measure_progress, read_compute

SINCE = date(2022, 11, 1)
"""First release that counts: the month of ChatGPT."""
FEWEST_BENCHMARKS = 4
"""Benchmarks a subject needs, counted before the filter of dates."""
LEVEL = 0.95
RIDGES = (0.0001, 0.001, 0.01, 0.1, 0.5)
"""Weights of the penalty under which the slopes are compared; 0.1 is the published one."""
FAMILY_LEVEL = 0.9
"""Level of the printed interval around the main estimate of algorithmic progress."""
HELD_OUT = (
    *("gpt-5-2025-08-07_medium", "o1-2024-12-17_medium", "claude-opus-4-20250514_16K", "DeepSeek-R1-0528"),
    *("claude-3-7-sonnet-20250219_16K", "claude-3-5-sonnet-20241022", "DeepSeek-V3", "claude-3-5-sonnet-20240620"),
    *("gpt-4-turbo-2024-04-09", "gpt-4-0314"),
)
"""Subjects that the published split of the time horizons set aside: the one split that gives its printed figures."""
FIRST_OF_THE_DAY = ("gpt-5-2025-08-07_medium", "LLaMA-65B", "LLaMA-33B", "Llama-2-13b", "Qwen-7B")
"""Of subjects released on one day, those that the published unstable sort put first: it decides on the records."""
_MONTHS = 12.0


@dataclass(frozen=True, eq=False, repr=False)
class PublishedTrends(Result):
    """The published figures; a table that its data were not given for is empty.

    ``trend``: ``line``, ``n``, ``slope`` (capability a year), ``low``, ``high``, ``r_squared``. ``forecast``: the
    frontier on given days. ``breaks``: the one break. ``progress``, ``families``, ``joint``, ``constancy``,
    ``fixed_capability``: algorithmic progress. ``horizons``: the line of ln(minutes). ``doubling``: what doubles
    or halves, in months. ``sensitivity``: slopes under five weights of the penalty.
    """

    TABLES: ClassVar[tuple[str, ...]] = (
        *("trend", "forecast", "breaks", "progress", "families", "joint", "constancy", "fixed_capability"),
        *("horizons", "doubling", "sensitivity"),
    )

    fit: Stitch
    trend: pl.DataFrame
    forecast: pl.DataFrame
    breaks: pl.DataFrame
    progress: pl.DataFrame
    families: pl.DataFrame
    joint: pl.DataFrame
    constancy: pl.DataFrame
    fixed_capability: pl.DataFrame
    horizons: pl.DataFrame
    doubling: pl.DataFrame
    sensitivity: pl.DataFrame

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        subjects, benchmarks = len(self.fit.data.subjects), len(self.fit.data.benchmarks)
        return (
            f"published trends: {subjects} subjects, {benchmarks} benchmarks, {self.fit.data.layout.rows.size} scores"
        )


def follow_published(
    scores: Any,
    *,
    compute: Any = None,
    horizons: Any = None,
    to: Sequence[date] = (),
    since: date | None = SINCE,
    fewest: int = FEWEST_BENCHMARKS,
    distilled: bool = False,
    anchor_benchmark: str | None = None,
) -> PublishedTrends:
    """Run the published analyses on scores with release dates.

    ``compute``: ``subject``, ``training_compute_flop``, ``compute_family`` (or ``family``) and, where known,
    ``distilled``; subjects marked so are left out of the progress unless ``distilled``. ``horizons``: ``subject``,
    ``minutes``. ``to``: days to forecast. ``since`` and ``fewest`` select subjects, as published by default.
    """
    chosen = select_scores(scores, since=since, fewest=fewest)
    fit = stitch(chosen, method="rosetta", anchor_benchmark=anchor_benchmark)
    points = fit.dated
    frontier, every = frontier_line(points), fit_line(to_years(points["released"]), points["capability"].to_numpy())
    lines = pl.DataFrame([_line_row("records at release", frontier), _line_row("all releases", every)])
    tables = dict.fromkeys(PublishedTrends.TABLES, pl.DataFrame())
    tables |= {"trend": lines, "forecast": forecast(points, to=list(to) or None, method="rosetta", level=LEVEL).table}
    tables["breaks"] = find_break(points).table
    related = None
    if compute is not None:
        tables |= _progress(points, read_compute(compute, distilled=distilled))
    if horizons is not None:
        related = relate_horizons(points, horizons, held_out=_split(points, horizons), level=LEVEL)
        line = {"slope": pl.lit(related.line.slope), "intercept": pl.lit(related.line.intercept)}
        tables["horizons"] = related.checks.with_columns(**line)
    tables["doubling"] = _doubling(frontier.slope, related, tables["progress"])
    tables["sensitivity"] = _sensitivity(chosen, anchor_benchmark)
    return PublishedTrends(fit=fit, **tables)


def _line_row(name: str, line: TrendLine) -> dict[str, object]:
    normal = float(scipy.special.ndtri(0.5 + LEVEL / 2))  # as published: the normal's quantile, not Student's
    half = normal * line.slope_error
    low, high = line.slope - half, line.slope + half
    return {"line": name, "n": line.n, "slope": line.slope, "low": low, "high": high, "r_squared": line.r_squared}


def _progress(points: pl.DataFrame, estimates: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Algorithmic progress by every published way."""
    joined = points.join(estimates, on="subject", maintain_order="left")
    first = pl.col("subject").is_in(FIRST_OF_THE_DAY)
    listed = joined.drop_nulls("training_compute_flop").sort(first, "capability", descending=True)
    wide, main = (measure_progress(listed, method="rosetta", level=level) for level in (LEVEL, FAMILY_LEVEL))
    own = pl.col("analysis") == "families", pl.col("selection") == "all"
    estimates = pl.concat([main.estimates.filter(*own), wide.estimates.filter(~(own[0] & own[1]))])
    levels = pl.when(own[0] & own[1]).then(FAMILY_LEVEL).otherwise(LEVEL).alias("level")
    return {
        "progress": estimates.with_columns(levels),
        "families": wide.families,
        "joint": wide.joint,
        "constancy": wide.constancy,
        "fixed_capability": wide.buckets,
    }


def _split(points: pl.DataFrame, horizons: Any) -> tuple[str, ...]:
    """Return the published split where its subjects are all there, else none."""
    measured = set(read_minutes(horizons)["subject"]) & set(points["subject"])
    return HELD_OUT if set(HELD_OUT) <= measured else ()


def _doubling(slope: float, related: Horizons | None, progress: pl.DataFrame) -> pl.DataFrame:
    """Months in which the time horizon of the frontier doubles, and in which the compute of a capability halves."""
    rows = []
    if related is not None:
        rows.append(("time horizon of the frontier doubles", _MONTHS * related.doubling / slope))
    for row in progress.iter_rows(named=True):
        if row["factor"] > 1:
            what = f"compute of a capability halves ({row['analysis']}, {row['selection']})"
            rows.append((what, float(_MONTHS * np.log(2) / np.log(row["factor"]))))
    return pl.DataFrame(rows, schema={"what": pl.String, "months": pl.Float64}, orient="row")


def _sensitivity(scores: pl.DataFrame, anchor_benchmark: str | None) -> pl.DataFrame:
    """Slopes under five weights of the penalty, which sets the unit of capability more than anything else."""
    rows = []
    for ridge in RIDGES:
        points = stitch(scores, method="rosetta", anchor_benchmark=anchor_benchmark, ridge=ridge).dated
        every = fit_line(to_years(points["released"]), points["capability"].to_numpy())
        rows.append((ridge, frontier_line(points).slope, every.slope))
    return pl.DataFrame(rows, schema=["ridge", "record_slope", "release_slope"], orient="row")
