"""Time horizons: how fast they grow by domain, and which one a capability suggests."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.core.frames import first_row, require_columns
from mensura.core.results import Result
from mensura.intake.tables import as_frame
from mensura.scale import Z90
from mensura.stitching import Stitch, to_years
from mensura.trends.capabilities import hand_over, read_dates
from mensura.trends.lines import TrendLine, fit_line

FEWEST, DRAWS = 5, 1000
RECENT = "2024-01-01"
"""From here on the second line of each domain runs."""
TREND = {"domain": pl.String, "since": pl.String, "systems": pl.Int64, "first": pl.String, "last": pl.String} | (
    dict.fromkeys(("doubling_months", "low", "high", "ratio", "ratio_low", "ratio_high"), pl.Float64)
)


def follow_horizons(horizons: Any, systems: Any, *, seed: int = 0) -> pl.DataFrame:
    """Fit a straight line to log2 minutes by release date in each domain.

    Parameters
    ----------
    horizons : table
        subject, suite (the domain), p50, p50_low, p50_high; rows without p50 take no part.
    systems : table
        subject and released; a system without a date takes no part.
    seed : int
        Seed of the draws: systems are drawn again, and each horizon within its interval.

    Returns
    -------
    DataFrame
        One row per domain and start: doubling time in months with a 90% interval, empty where growth is not sure. The
        row since 2024 has the ratio of its pace to the pace before; above 1 is an acceleration.

    Raises
    ------
    MensuraError
        If a column is missing.

    Examples
    --------
    >>> from mensura.trends import follow_horizons
    >>> names = list("abcdef")
    >>> systems = {"subject": names, "released": [f"202{i}-01-01" for i in range(6)]}
    >>> rows = {"subject": names, "suite": ["x"] * 6, "p50": [2.0**i for i in range(6)]}
    >>> rows |= {"p50_low": rows["p50"], "p50_high": rows["p50"]}
    >>> round(follow_horizons(rows, systems)["doubling_months"][0])
    12

    """
    table, dated = as_frame(horizons, name="horizons"), as_frame(systems, name="systems")
    require_columns(table, ["subject", "suite", "p50", "p50_low", "p50_high"], name="horizons")
    require_columns(dated, ["subject", "released"], name="systems")
    days = dated.select("subject", pl.col("released").cast(pl.String).str.slice(0, 10)).drop_nulls()
    joined = table.join(days, on="subject").drop_nulls("p50").sort("released", "subject")
    rows: list[tuple[object, ...]] = []
    for (domain,), part in joined.group_by("suite", maintain_order=True):
        rng = np.random.default_rng(seed)
        for since in ("", RECENT):
            own = part.filter(pl.col("released") >= since)
            if own.height >= FEWEST and (not since or own.height < part.height):
                ratio = _ratio(part, since, rng) if since else (None, None, None)
                ends = own["released"][0], own["released"][-1]
                rows.append((domain, since or "all", own.height, *ends, *_doubling(own, rng), *ratio))
    return pl.DataFrame(rows, schema=TREND, orient="row")


class DatedLengths(NamedTuple):
    """Log2 minutes of horizons by release: years since 1970, sorted, values and their standard errors."""

    years: Floats
    values: Floats
    errors: Floats


def dated_lengths(part: pl.DataFrame) -> DatedLengths:
    """Return the lengths of a table of horizons; an open end counts as two doublings away."""
    low, high = (
        np.log2(part[f"p50_{end}"].fill_null(part["p50"] * factor).to_numpy())
        for end, factor in (("low", 0.25), ("high", 4.0))
    )
    years = to_years(part["released"].cast(pl.String).str.to_date())
    return DatedLengths(years, np.log2(part["p50"].to_numpy()), (high - low) / (2 * Z90))


def read_lengths(horizons: pl.DataFrame) -> tuple[DatedLengths, list[str]]:
    """Return lengths sorted by release, and the subjects: one row each, that over all suites where there are more."""
    require_columns(horizons, ["subject", "p50", "p50_low", "p50_high"], name="horizons")
    table = horizons.with_columns(pl.col("^p50(_low|_high)?$").cast(pl.Float64)).drop_nulls("p50")
    if table["subject"].is_duplicated().any() and "suite" in table.columns:
        table = table.filter(suite="all")
    if table["subject"].is_duplicated().any() or not table.height:
        raise MensuraError("horizons: expected one row per subject. Keep the rows of one suite")
    table = read_dates(table, name="horizons").sort("released", "subject")
    return dated_lengths(table), table["subject"].to_list()


def _slopes(part: pl.DataFrame, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Return slopes in doublings a year, the plain one first, then those of draws."""
    years, value, error = dated_lengths(part)
    places = np.vstack([np.arange(value.size), rng.integers(value.size, size=(DRAWS, value.size))])
    drawn = value[places]
    drawn[1:] += (error * rng.standard_normal((DRAWS, value.size)))[np.arange(DRAWS)[:, None], places[1:]] / np.sqrt(2)
    x = years[places] - years[places].mean(1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((x * drawn).sum(1) / (x**2).sum(1))


def _doubling(part: pl.DataFrame, rng: np.random.Generator) -> tuple[float | None, float | None, float | None]:
    """Return months per doubling with ends; an end is empty where the slope may be zero."""
    slopes = _slopes(part, rng)
    low, high = np.nanquantile(slopes[1:], (0.05, 0.95))
    months = [12 / slope if slope > 0 else None for slope in (slopes[0], high, low)]
    return float(months[0]) if months[0] else None, months[1], months[2]


def _ratio(part: pl.DataFrame, since: str, rng: np.random.Generator) -> tuple[float | None, ...]:
    """Return the pace since a day over the pace before it, with its interval."""
    before, after = (part.filter(rule) for rule in (pl.col("released") < since, pl.col("released") >= since))
    if before.height < 3:
        return None, None, None
    early, late = _slopes(before, rng), _slopes(after, rng)
    if not early[0] > 0:
        return None, None, None
    ratios = late / np.where(early > 0, early, np.nan)
    low, high = np.nanquantile(ratios[1:], (0.05, 0.95))
    return float(ratios[0]), float(low), float(high)


# Horizons by capability: ln(minutes) = intercept + slope · capability.


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
    capabilities: Any, horizons: Any, *, held_out: Collection[str] = (), level: float = 0.9
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


def read_minutes(horizons: Any) -> pl.DataFrame:
    """Return ``subject`` and ``minutes`` of those that were measured."""
    frame = as_frame(horizons, name="horizons")
    for old, new in {"model": "subject", "p50_horizon_minutes": "minutes"}.items():
        if new not in frame.columns and old in frame.columns:
            frame = frame.rename({old: new})
    require_columns(frame, ["subject", "minutes"], name="horizons")
    frame = frame.select("subject", pl.col("minutes").cast(pl.Float64)).drop_nulls()
    if row := first_row(frame.filter(pl.col("minutes") <= 0)):
        raise MensuraError(f"horizons: {row['subject']!r} has {row['minutes']:g} minutes; a time above 0 is expected")
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
