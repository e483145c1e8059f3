"""The published trend analyses in one go, as printed: selection, fit, frontier, forecast, break, compute, horizons.

Everything here follows the notebooks of "A Rosetta Stone for AI Benchmarks" (``method="rosetta"`` of each analysis);
the other functions of this room are what we would rather have. The published fit stops a little before its optimum, so
figures of the converged one differ by up to a unit of the last digit printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats, Ints, Mask
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.stitching import (
    ScoreSet,
    Stitch,
    encode,
    penalty_weight,
    published_anchor,
    read_any,
    shift_to_anchor,
    solve_rosetta,
    stitch,
    to_years,
)
from mensura.stitching.checks import warn_unconverged
from mensura.trends.breaks import find_break
from mensura.trends.capabilities import FEWEST_SUBJECTS, select_scores
from mensura.trends.crossings import Horizons, read_minutes, relate_horizons
from mensura.trends.lines import TrendLine, fit_line, frontier_line, frontier_slopes
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
    scores: Any,  # noqa: ANN401
    *,
    compute: Any = None,  # noqa: ANN401
    horizons: Any = None,  # noqa: ANN401
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
        tables["horizons"] = _horizon_table(related)
    tables["doubling"] = _doubling(frontier.slope, related, tables["progress"])
    tables["sensitivity"] = _sensitivity(chosen, anchor_benchmark)
    return PublishedTrends(fit=fit, **tables)


def _line_row(name: str, line: TrendLine) -> dict[str, object]:
    normal = float(scipy.special.ndtri(0.5 + LEVEL / 2))  # as published: the normal's quantile, not Student's
    half = normal * line.slope_error
    low, high = line.slope - half, line.slope + half
    return {"line": name, "n": line.n, "slope": line.slope, "low": low, "high": high, "r_squared": line.r_squared}


def _progress(points: pl.DataFrame, known: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Algorithmic progress by every published way."""
    joined = points.join(
        known.select("subject", "training_compute_flop", "family"), on="subject", maintain_order="left"
    )
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


def _split(points: pl.DataFrame, horizons: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Return the published split where its subjects are all there, else none."""
    measured = set(read_minutes(horizons)["subject"]) & set(points["subject"])
    return HELD_OUT if set(HELD_OUT) <= measured else ()


def _horizon_table(related: Horizons) -> pl.DataFrame:
    line = related.line
    return related.checks.with_columns(slope=pl.lit(line.slope), intercept=pl.lit(line.intercept))


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


# Does the pace of the frontier hang on which benchmarks are included? Some dropped at random, optimised ones apart.

DROPPED = 0.3
"""Share of the benchmarks left out, as published."""
DRAWS = 100
"""Random choices of benchmarks."""
QUANTILES = (0.025, 0.5, 0.975)


@dataclass(frozen=True, eq=False, repr=False)
class Inclusion(Result):
    """The frontier's slope per year under other choices of benchmarks (published method).

    ``benchmark_inclusion``: quantile, slope_per_year, when 30% of the benchmarks are dropped. ``optimised_benchmarks``:
    side, benchmarks, slope_per_year, where the scores say which benchmarks labs optimise for. ``unconverged`` of
    ``refits`` did not arrive.
    """

    benchmark_inclusion: pl.DataFrame
    optimised_benchmarks: pl.DataFrame | None
    refits: int
    unconverged: int

    TABLES: ClassVar[tuple[str, ...]] = ("benchmark_inclusion", "optimised_benchmarks")

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        low, middle, high = self.benchmark_inclusion["slope_per_year"]
        return f"frontier {middle:.3f} a year with {DROPPED:.0%} of the benchmarks dropped ({low:.3f} to {high:.3f})"

    @property
    def warnings(self) -> tuple[str, ...]:
        """How many refits did not arrive."""
        return warn_unconverged(self.unconverged, self.refits, "fits to chosen benchmarks")

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the tables there are, by name."""
        return {name: table for name, table in super().tables().items() if table is not None}


def check_inclusion(
    scores: Any = None,  # noqa: ANN401
    *,
    anchor_benchmark: str | None = None,
    seed: int = 0,
) -> Inclusion:
    """Refit the published method to chosen benchmarks and take the slope of the frontier each time.

    Parameters
    ----------
    scores : table, file, Evidence or None
        What :func:`mensura.stitch` takes, with release dates. With a column ``optimised`` (whether labs optimise for
        the benchmark) the two kinds of benchmark are compared.
    anchor_benchmark : str, optional
        Benchmark that sets the scale and is never dropped (default: the one with most scores).
    seed : int
        Seed of the random choices.

    Returns
    -------
    Inclusion
        Slopes per year with 30% of the benchmarks dropped, and of both kinds.

    Raises
    ------
    MensuraError
        If fewer than three subjects have a release date.

    Examples
    --------
    >>> from mensura.trends import check_inclusion
    >>> check_inclusion().benchmark_inclusion.height
    3

    """
    frame, _ = read_any(scores)
    data = encode(frame, "max")
    dated = int(np.isfinite(data.years).sum())
    if dated < FEWEST_SUBJECTS:
        raise MensuraError(f"scores: {dated} subjects have a release date; a frontier needs at least {FEWEST_SUBJECTS}")
    table, refits, lost = _dropping(data, published_anchor(data, anchor_benchmark), seed)
    optimised = None
    if "optimised" in frame.columns:
        optimised, more, also_lost = _optimised_apart(data, _optimised(frame, data), seed)
        refits, lost = refits + more, lost + also_lost
    return Inclusion(table, optimised, refits, lost)


def _dropping(data: ScoreSet, anchor: int, seed: int) -> tuple[pl.DataFrame, int, int]:
    """Quantiles of the slope when some benchmarks, never the anchor, are dropped at random; refits, unconverged."""
    rng = np.random.default_rng(seed)
    others = np.array([b for b in range(len(data.benchmarks)) if b != anchor])
    kept = np.ones((DRAWS, len(data.benchmarks)), dtype=bool)
    for row in kept:
        row[rng.choice(others, int(DROPPED * len(data.benchmarks)), replace=False)] = False
    slopes, lost = _slopes(data, kept, anchor)
    return pl.DataFrame({"quantile": QUANTILES, "slope_per_year": np.quantile(slopes, QUANTILES)}), DRAWS, lost


def _optimised_apart(data: ScoreSet, optimised: Mask, seed: int) -> tuple[pl.DataFrame, int, int]:
    """Slope on benchmarks labs optimise for and on the others, beside random splits of the same sizes.

    Slopes are in standard deviations of all subjects' capabilities per year; the last row is the share of random splits
    whose two sides are at least as far apart.
    """
    if optimised.all() or not optimised.any():
        raise MensuraError(
            "optimised: must be true for some benchmarks and false for others; drop the column otherwise"
        )
    rng = np.random.default_rng(seed)
    splits = np.stack([optimised, *(rng.permutation(optimised) for _ in range(DRAWS))])
    (ours, lost), (others, also_lost) = (_slopes(data, side, None) for side in (splits, ~splits))
    gap = np.abs(ours - others)
    table = pl.DataFrame(
        {
            "side": ["optimised for", "not optimised for", "random splits at least as far apart"],
            "benchmarks": [int(optimised.sum()), int((~optimised).sum()), None],
            "slope_per_year": [ours[0], others[0], float((gap[1:] >= gap[0]).mean())],
        }
    )
    return table, 2 * len(splits), lost + also_lost


def _slopes(data: ScoreSet, kept: Mask, anchor: int | None) -> tuple[Floats, int]:
    """Frontier slope of every set of kept benchmarks, on the anchor's scale or in standard deviations; unconverged."""
    layout = data.layout
    weights = np.take(kept.astype(float), layout.cols, axis=1)
    scored = layout.over_subjects(weights) > 0
    penalty = np.array(
        [
            penalty_weight(int(s.sum()), int(k.sum()), anchored=anchor is not None)
            for s, k in zip(scored, kept, strict=True)
        ]
    )
    fits = solve_rosetta(layout, data.y, anchor=anchor, weights=weights, penalty=penalty)
    lost = int(np.count_nonzero(~fits.converged))
    if anchor is not None:
        fits = shift_to_anchor(fits, anchor)
    dated = np.flatnonzero(np.isfinite(data.years))
    order: Ints = dated[np.argsort(data.years[dated], kind="stable")]
    capability = np.where(scored, fits.C, np.nan)[:, order]
    slopes = frontier_slopes(data.years[order], capability)
    return (slopes if anchor is not None else slopes / np.nanstd(capability, axis=1)), lost


def _optimised(frame: pl.DataFrame, data: ScoreSet) -> Mask:
    by_benchmark = frame.group_by("benchmark").agg(pl.col("optimised").cast(pl.Boolean).any())
    flags = dict(by_benchmark.iter_rows())
    return np.array([bool(flags[name]) for name in data.benchmarks])
