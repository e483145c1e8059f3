"""When the frontier passed a level, such as the capability of a group of people."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

import numpy as np
import polars as pl
import scipy

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.core.results import Result
from mensura.intake.tables import as_frame
from mensura.stitching import People, Stitch, to_date, to_years
from mensura.trends.capabilities import hand_over, read_capabilities, read_draws, read_with_draws
from mensura.trends.lines import TrendLine, fit_line

DRAWS = 2000
"""Draws of a level known by its interval only."""
SCHEMA = {
    "group": pl.String,
    "capability": pl.Float64,
    "probability": pl.Float64,
    "subject": pl.String,
    "passed": pl.Date,
    "passed_low": pl.Date,
    "passed_high": pl.Date,
}


def find_crossings(
    capabilities: Any,  # noqa: ANN401
    levels: Any,  # noqa: ANN401
    *,
    draws: Any = None,  # noqa: ANN401
    level: float = 0.9,
    seed: int = 0,
) -> pl.DataFrame:
    """Find when the frontier first reached each level.

    Parameters
    ----------
    capabilities : fit, Evidence, table or None
        A fit, evidence (None: the embedded one), a table of scores, or one with subject, released, capability.
    levels : table or People
        group (or subject), capability and, where known, low and high, the ends of an interval of this ``level``; or
        people placed on the fit, whose draws contain models and groups together.
    draws : PositionDraws or table, optional
        Error of the capabilities: draws of the fit (a fit brings its own), or a table subject, draw, capability.
    level : float
        Probability of the intervals.
    seed : int
        Seed of the draws.

    Returns
    -------
    table
        group, capability, probability (share of draws past the level by the last release), subject (who passed by the
        estimates), passed (median date), passed_low, passed_high; dates are empty while too few draws have passed.

    Examples
    --------
    >>> from datetime import date
    >>> days = [date(2024 + month // 12, month % 12 + 1, 1) for month in range(24)]
    >>> models = {"subject": [f"m{at}" for at in range(24)], "released": days}
    >>> models |= {"capability": [at / 12 for at in range(24)]}
    >>> from mensura.trends import find_crossings
    >>> find_crossings(models, {"group": ["people"], "capability": [0.95]})["subject"].to_list()
    ['m12']

    """
    if isinstance(levels, People):
        frame = read_capabilities(capabilities)
        matrix = read_draws(levels.draws if draws is None else draws, frame["subject"])
        groups = pl.Series(levels.groups)
        heights = read_draws(levels.draws, groups)
        table = pl.DataFrame({"group": groups}).join(levels.table, on="group", maintain_order="left")
    else:
        frame, known = read_with_draws(capabilities, draws)
        table = _read_levels(levels)
        rng = np.random.default_rng(seed)
        matrix = frame["capability"].to_numpy()[None] if known is None else known
        matrix = matrix[rng.integers(0, matrix.shape[0], DRAWS)]
        heights = _draw_heights(table, level, rng)
    years = to_years(frame["released"])
    when = first_passages(years, matrix, heights)
    best = np.maximum.accumulate(frame["capability"].to_numpy())
    rows = []
    for i, (group, height) in enumerate(table.select("group", "capability").iter_rows()):
        first = int(np.searchsorted(best, height))
        subject = frame["subject"][first] if first < best.size else None
        dates = [_date(when[:, i], share) for share in (0.5, 0.5 - level / 2, 0.5 + level / 2)]
        rows.append((group, height, float(np.isfinite(when[:, i]).mean()), subject, *dates))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def first_passages(years: Floats, draws: Floats, heights: Floats) -> Floats:
    """Return the year in which each draw's running maximum first reached each height, infinite where it has not.

    ``draws`` is (draws, releases) in the order of ``years``, ``heights`` (draws, levels); the result is (draws,
    levels).
    """
    frontier = np.maximum.accumulate(draws, axis=1)
    first = np.stack([np.count_nonzero(frontier < column[:, None], axis=1) for column in heights.T], axis=1)
    return np.asarray(np.append(years, np.inf)[first])


def _read_levels(levels: Any) -> pl.DataFrame:  # noqa: ANN401
    table = as_frame(levels, name="levels")
    if "group" not in table.columns and "subject" in table.columns:
        table = table.rename({"subject": "group"})
    require_columns(table, ["group", "capability"], name="levels")
    return table.with_columns(pl.col("group").cast(pl.String), pl.col("capability").cast(pl.Float64))


def _draw_heights(table: pl.DataFrame, level: float, rng: np.random.Generator) -> Floats:
    """Draw every level from its interval, read as normal; exact ones stay (draws, levels)."""
    heights = np.tile(table["capability"].to_numpy(), (DRAWS, 1))
    if "low" in table.columns and "high" in table.columns:
        ends = table.select(pl.col("high") - pl.col("low")).to_series().cast(pl.Float64).fill_null(0.0).to_numpy()
        heights = heights + ends / (2 * scipy.special.ndtri(0.5 + level / 2)) * rng.standard_normal(heights.shape)
    return heights


def _date(when: Floats, share: float) -> date | None:
    """Return the date by which this share of the draws has passed, or none."""
    at = float(np.sort(when)[max(int(np.ceil(share * when.size)), 1) - 1])
    return to_date(at) if np.isfinite(at) else None


# How long a task a subject can do, read from its capability: ln(minutes) = intercept + slope · capability.


@dataclass(frozen=True, eq=False, repr=False)
class Horizons(Result):
    """The line, and what it expects of every subject with a capability.

    ``table``: ``subject``, ``capability``, ``minutes`` (measured, empty if not), ``expected``, ``low``, ``high``.
    ``checks``: fit on the subjects used and, where some were held out, on those: ``part``, ``n``, ``r_squared``,
    ``correlation``.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("table", "checks")

    line: TrendLine
    level: float
    table: pl.DataFrame
    checks: pl.DataFrame

    @property
    def doubling(self) -> float:
        """Capability that doubles the time horizon."""
        return float(np.log(2) / self.line.slope)

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        half = self.line.quantile(self.level) * self.line.slope_error
        slope = f"{self.line.slope:.3f} (± {half:.3f}, {self.level:.0%})"
        head = f"ln(minutes) = {self.line.intercept:.3f} + {slope} · capability, {self.line.n} subjects"
        return f"{head}; the horizon doubles every {self.doubling:.3f} of capability"


def relate_horizons(
    capabilities: Any,  # noqa: ANN401
    horizons: Any,  # noqa: ANN401
    *,
    held_out: Collection[str] = (),
    level: float = 0.9,
) -> Horizons:
    """Regress ln(minutes) on capability, and expect a time horizon for every subject.

    Parameters
    ----------
    capabilities : fit, Evidence or table
        A fit, evidence, a table of scores or one of capabilities; no dates are needed.
    horizons : table
        subject (or model) and minutes (or p50_horizon_minutes).
    held_out : collection of str
        Subjects that are checked against the line instead of used for it.
    level : float
        Probability of the intervals, which are those of one more measured subject.

    Returns
    -------
    Horizons
        The line, the expected minutes of every subject, and how well the line fits.

    Raises
    ------
    MensuraError
        If a subject held out has no measure, or minutes are not above 0.

    Examples
    --------
    >>> from mensura.trends import relate_horizons
    >>> places = {"subject": ["a", "b", "c", "d"], "capability": [0.0, 1.0, 2.0, 3.0]}
    >>> round(relate_horizons(places, {"subject": ["a", "b", "c"], "minutes": [1.0, 2.0, 4.0]}).doubling, 6)
    1.0

    """
    given = hand_over(capabilities)
    points = given.dated if isinstance(given, Stitch) else given
    require_columns(points, ["subject", "capability"], name="capabilities")
    measured = read_minutes(horizons)
    joined = points.select("subject", "capability").join(measured, on="subject", how="left", maintain_order="left")
    both = joined.filter(pl.col("minutes").is_not_null())
    unknown = sorted(set(held_out) - set(both["subject"]))
    if unknown:
        raise MensuraError(
            f"held_out: {unknown[0]!r} is not among the {both.height} subjects with both measures; choose one of them"
        )
    set_aside = pl.col("subject").is_in(list(held_out))
    line = fit_line(*_points(both.filter(~set_aside)))
    expected = line.at(joined["capability"].to_numpy())
    half = line.quantile(level) * line.error_at(joined["capability"].to_numpy(), new=True)
    table = joined.with_columns(
        expected=pl.Series(np.exp(expected)),
        low=pl.Series(np.exp(expected - half)),
        high=pl.Series(np.exp(expected + half)),
    )
    checks = [_check("used", line, both.filter(~set_aside))]
    if held_out:
        checks.append(_check("held out", line, both.filter(set_aside)))
    return Horizons(line, level, table, pl.DataFrame(checks))


def read_minutes(horizons: Any) -> pl.DataFrame:  # noqa: ANN401
    """Return ``subject`` and ``minutes`` of those that were measured."""
    frame = as_frame(horizons, name="horizons")
    for old, new in {"model": "subject", "p50_horizon_minutes": "minutes"}.items():
        if new not in frame.columns and old in frame.columns:
            frame = frame.rename({old: new})
    require_columns(frame, ["subject", "minutes"], name="horizons")
    frame = frame.select("subject", pl.col("minutes").cast(pl.Float64)).drop_nulls()
    bad = frame.filter(pl.col("minutes") <= 0)
    if bad.height:
        raise MensuraError(
            f"horizons: {bad['subject'][0]!r} has {bad['minutes'][0]:g} minutes; a time above 0 is expected"
        )
    return frame


def _points(frame: pl.DataFrame) -> tuple[Floats, Floats]:
    return frame["capability"].to_numpy(), np.log(frame["minutes"].to_numpy())


def _check(part: str, line: TrendLine, frame: pl.DataFrame) -> dict[str, object]:
    """R² and correlation of observed and expected ln(minutes)."""
    x, y = _points(frame)
    expected = line.at(x)
    total = float(np.sum((y - y.mean()) ** 2))
    enough = y.size > 1 and total > 0
    return {
        "part": part,
        "n": y.size,
        "r_squared": 1 - float(np.sum((y - expected) ** 2)) / total if enough else None,
        "correlation": float(np.corrcoef(y, expected)[0, 1]) if enough else None,
    }
