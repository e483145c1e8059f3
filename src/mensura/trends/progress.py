"""Algorithmic progress: how much less training compute a given capability takes each year.

With C = k·ln(compute) + b, k is measured within families trained alike and b is the quality of the recipe. For any
selection of subjects, c and f being the yearly gains of C and of ln(compute) along it, quality gains ḃ = c − k f a
year, and a capability costs exp(ḃ / k) = exp(c / k − f) times less each year.

Defaults: a record is the best of its day; years are days / 365.25; the error of k (from the spread of the families)
and that of ḃ are combined with Satterthwaite's degrees of freedom; the ratio of the joint regression gets Fieller's
interval. ``method="rosetta"`` follows the published notebook: the calendar year plus day of the year /
365.25, records in the order the table lists the subjects of a day, the error of k left out (or put in with the
degrees of freedom of the wrong regression), the covariance in the joint regression left out.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
import scipy

from mensura.core.arguments import check_arguments
from mensura.core.arrays import Floats, Mask, just_below
from mensura.core.errors import MensuraError, check_choice
from mensura.core.frames import require_columns, says_yes
from mensura.core.results import Result
from mensura.intake.tables import as_frame
from mensura.stitching import DAYS_PER_YEAR, Stitch, to_years
from mensura.trends.capabilities import hand_over, read_capabilities
from mensura.trends.lines import FEWEST_POINTS, TrendLine, constancy_table, fit_line, is_record, joint_table

METHODS = ("releases", "rosetta")
FAMILY_SIZE = 3
"""Subjects a family needs for a slope with an error."""
SAME_COMPUTE = 1e-9
"""Range of ln(compute) below which a family was trained with one compute."""
LARGEST_LOG = 700.0
"""Beyond, an exponential is infinite in double precision."""


@dataclass(frozen=True, eq=False, repr=False)
class Progress(Result):
    """What compute buys and how that changes.

    ``families``: ``family``, ``n``, ``k``, ``error``, ``r_squared``. ``estimates``: one row per way to measure:
    ``analysis``, ``selection``, ``n``, ``k``, ``quality_per_year`` (ḃ), ``factor`` (compute saved per year at equal
    capability, as a multiple), ``low``, ``high``. ``joint``: the regression of C on log10(compute) and year.
    ``buckets``: decades of compute saved per year at fixed capability, per range of capability. ``constancy``: the
    change of k per decade of compute and per year: ``over``, ``n``, ``k``, ``change``, ``low``, ``high``, ``p``.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("estimates", "families", "joint", "constancy", "buckets")

    method: str
    level: float
    families: pl.DataFrame
    estimates: pl.DataFrame
    joint: pl.DataFrame
    constancy: pl.DataFrame
    buckets: pl.DataFrame

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        return f"compute for a given capability, factor saved per year ({self.level:.0%})"


@dataclass(frozen=True)
class _Slope:
    """A capability gain per unit of ln(compute) with its error and degrees of freedom."""

    k: float
    error: float
    freedom: float


@check_arguments
def measure_progress(models: Any, compute: Any = None, *, method: str = "releases", level: float = 0.9) -> Progress:
    """Measure how much less training compute a given capability takes each year.

    Parameters
    ----------
    models : table, fit or Evidence
        A table with subject, capability, released, training_compute_flop and family; or a fit, evidence or scores.
    compute : table, optional
        Beside a fit, evidence or scores: subject (or model), training_compute_flop and family. Subjects without compute
        are left out; those without a family count in the trends but not for k.
    method : {"releases", "rosetta"}
        With the errors of all parts, or as in the published notebook.
    level : float
        Probability of the intervals.

    Returns
    -------
    Progress
        Estimates by every way to measure, families, joint regression, constancy of k, and ranges of capability.

    Raises
    ------
    MensuraError
        If no family has 3 subjects with different compute.

    Examples
    --------
    >>> import mensura
    >>> from datetime import date
    >>> models = {"subject": ["a1", "a2", "a3", "b1"], "family": ["a", "a", "a", "b"]}
    >>> models |= {"capability": [0.0, 0.8, 1.5, 1.4]}
    >>> models |= {"date": [date(year, 1, 1) for year in (2023, 2024, 2025, 2026)]}
    >>> models |= {"training_compute_flop": [1e23, 1e24, 1e25, 3e24]}
    >>> progress = mensura.measure_progress(models)
    >>> progress.families["family"].to_list()
    ['a']

    """
    check_choice("method", method, METHODS)
    if not 0 < level < 1:
        raise MensuraError(f"level: must be between 0 and 1 (exclusive), got {level}")
    table = _with_compute(models, compute)
    listed = read_capabilities(table.filter(pl.col("training_compute_flop") > 0), name="models")
    if method == "rosetta":
        names = table["subject" if "subject" in table.columns else "model"].cast(pl.String)
        order = {name: i for i, name in enumerate(names)}
        listed = listed.sort("released", pl.col("subject").replace_strict(order))
    C, spent = listed["capability"].to_numpy(), np.log(listed["training_compute_flop"].to_numpy())
    years, days = to_years(listed["released"]), listed["released"].dt
    if method == "rosetta":  # the calendar year plus day of the year / 365.25: a boundary may lose or gain a day
        years = days.year().to_numpy() + days.ordinal_day().to_numpy() / DAYS_PER_YEAR
    families = _family_table(listed, spent)
    pooled = fit_line(spent, C)
    return Progress(
        method,
        level,
        families,
        pl.DataFrame(_estimates(method, level, families, pooled, years, C, spent), infer_schema_length=None),
        joint_table(years, C, spent, level=level, published=method == "rosetta"),
        constancy_table(years, C, spent, level=level),
        bucket_table(to_years(listed["released"]), C, spent / np.log(10)),
    )


def _with_compute(models: Any, compute: Any) -> pl.DataFrame:
    """Return capabilities, dates, compute and family in one table."""
    needed = ["training_compute_flop", "family"]
    if compute is None:
        table = as_frame(models, name="models")
        require_columns(table, needed, name="models")
        return table
    given = hand_over(models)
    capabilities = given.dated if isinstance(given, Stitch) else given
    return capabilities.join(read_compute(compute, distilled=True), on="subject", maintain_order="left")


def read_compute(compute: Any, *, distilled: bool = False) -> pl.DataFrame:
    """Return subject, training_compute_flop and family; subjects marked as distilled stay out unless asked for.

    ``model`` is read as ``subject``. ``compute_family``, where a table has it, is the family trained alike and goes
    before ``family``.
    """
    table = as_frame(compute, name="compute")
    table = table.rename({"model": "subject"}) if "subject" not in table.columns and "model" in table.columns else table
    if "compute_family" in table.columns:
        table = table.drop("family", strict=False).rename({"compute_family": "family"})
    require_columns(table, ["subject", "training_compute_flop", "family"], name="compute")
    if "distilled" in table.columns and not distilled:
        table = table.filter(~says_yes("distilled"))
    return table.select("subject", "training_compute_flop", "family")


def _family_table(frame: pl.DataFrame, compute: Floats) -> pl.DataFrame:
    """Gain per unit of ln(compute) within every family of at least three."""
    rows = []
    for family in frame["family"].drop_nulls().unique().sort():
        members = (frame["family"] == family).fill_null(value=False).to_numpy()
        x = compute[members]
        if x.size < FAMILY_SIZE or np.ptp(x) < SAME_COMPUTE:
            continue
        line = fit_line(x, frame["capability"].to_numpy()[members])
        rows.append((family, line.n, line.slope, line.slope_error, line.r_squared))
    if not rows:
        raise MensuraError(
            f"compute: no family has {FAMILY_SIZE} subjects with a capability and different compute; name families that"
            " were trained alike in the column family (the published fit has three: mensura trends --compute embedded)"
        )
    return pl.DataFrame(rows, schema=["family", "n", "k", "error", "r_squared"], orient="row")


def _records(method: str, years: Floats, values: Floats) -> Mask:
    """Records by day, or as published one by one in the order of the table."""
    if method == "rosetta":
        return np.asarray(values >= np.maximum.accumulate(values))
    return is_record(years, values)


_SWAPPED = "pooled, error of k with swapped degrees of freedom"


def _estimates(
    method: str, level: float, families: pl.DataFrame, pooled: TrendLine, years: Floats, C: Floats, compute: Floats
) -> list[dict[str, object]]:
    """Every way to choose k crossed with every way to choose subjects that the sources report."""
    every = np.ones(C.size, dtype=bool)
    frontier = _records(method, years, C)
    whole = _Slope(pooled.slope, pooled.slope_error, pooled.freedom)
    mean = mean_slope(families)
    quality = _records(method, years, C - mean.k * compute)
    chosen = {"all": every, "capability frontier": frontier, "quality frontier": quality}
    plans = [("families", selection, mean, mask) for selection, mask in chosen.items()]
    plans += [
        (f"family {row['family']}", "capability frontier", _own_slope(row), frontier) for row in families.to_dicts()
    ]
    plans += [("pooled", "all", whole, every), ("pooled", "capability frontier", whole, frontier)]
    if method == "rosetta":
        plans.append((_SWAPPED, "capability frontier", whole, frontier))
    return [
        {"analysis": analysis, "selection": selection}
        | _estimate(method, level, slope, years[mask], C[mask], compute[mask], swapped=analysis == _SWAPPED)
        for analysis, selection, slope, mask in plans
    ]


def mean_slope(families: pl.DataFrame) -> _Slope:
    """Mean of the families weighted by their size; its error from their spread (one family: its own error)."""
    k, n = families["k"].to_numpy(), families["n"].to_numpy()
    mean = float(np.average(k, weights=n))
    if k.size == 1:
        return _own_slope(families.row(0, named=True))
    share = n / n.sum()
    spread = float(np.sum(share * (k - mean) ** 2)) / (1 - float(np.sum(share**2)))
    return _Slope(mean, float(np.sqrt(spread * np.sum(share**2))), k.size - 1)


def _own_slope(row: dict[str, Any]) -> _Slope:
    return _Slope(row["k"], row["error"], row["n"] - 2)


def _estimate(
    method: str, level: float, slope: _Slope, years: Floats, C: Floats, compute: Floats, *, swapped: bool
) -> dict[str, object]:
    """Yearly gain of quality along the selected subjects and the factor of compute it saves, with its interval.

    A selection of fewer than three subjects, or of one day, has no slope with an error: its figures are empty.
    """
    k = slope.k
    row: dict[str, object] = {"n": years.size, "k": k}
    if years.size < FEWEST_POINTS or np.ptp(years) == 0:
        return row | dict.fromkeys(("quality_per_year", "factor", "low", "high"))
    line = fit_line(years, C - k * compute)
    own = (line.slope_error / k) ** 2
    gain = float(fit_line(years, C).slope)
    if method == "rosetta":
        of_k = (line.slope / k**2 * slope.error) ** 2 if swapped else 0.0
        freedom = slope.freedom if swapped else line.freedom
    else:
        of_k = (gain / k**2 * slope.error) ** 2
        spread = own**2 / line.freedom + of_k**2 / slope.freedom
        freedom = (own + of_k) ** 2 / spread if spread > 0 else line.freedom  # 0: all points lie on the lines
    half = float(scipy.special.stdtrit(freedom, 0.5 + level / 2) * np.sqrt(own + of_k))
    return row | {
        "quality_per_year": line.slope,
        "factor": _factor(line.slope / k),
        "low": _factor(line.slope / k - half),
        "high": _factor(line.slope / k + half),
    }


def _factor(log: float) -> float:
    """Exponential that ends at infinity: with k hardly known, anything may be saved."""
    return float(np.exp(log)) if log < LARGEST_LOG else float("inf")


# Compute at fixed capability: the running minimum of compute within ranges of capability.

WIDTH, STRIDE = 0.3, 0.1
"""Width of a range of capability, and the distance of one from the next, as published."""
RECORDS, SPAN = 3, 0.25
"""Records a range must have, and the years they must span."""


def bucket_table(years: Floats, capability: Floats, decades: Floats) -> pl.DataFrame:
    """Return ``from``, ``to``, ``n``, ``records``, ``years``, ``decades_saved`` for every range with enough records.

    ``decades`` is log10 of compute. Ranges are 0.3 wide and start at every multiple of 0.1. Within one, a record took
    no more compute than any subject before it or on its day; decades saved per year is minus the slope of their line.
    At least 3 records over a quarter of a year are asked for. Ranges overlap, so rows are not independent.
    """
    rows = []
    first, last = np.floor(capability.min() / STRIDE), np.floor(capability.max() / STRIDE)
    for step in np.arange(first, last + 1):
        low = step * STRIDE
        inside = (capability >= just_below(low)) & (capability < just_below(low + WIDTH))
        records = np.zeros_like(inside)
        records[inside] = is_record(years[inside], -decades[inside])
        if np.count_nonzero(records) < RECORDS or np.ptp(years[records]) < SPAN:
            continue
        line = fit_line(years[records], decades[records])
        ends, span = (round(low, 6), round(low + WIDTH, 6)), float(np.ptp(years[records]))
        rows.append((*ends, int(np.count_nonzero(inside)), line.n, span, -line.slope))
    schema = {"from": pl.Float64, "to": pl.Float64, "n": pl.Int64, "records": pl.Int64}
    return pl.DataFrame(rows, schema={**schema, "years": pl.Float64, "decades_saved": pl.Float64}, orient="row")
