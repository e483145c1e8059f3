"""Has progress accelerated? A watch with a false-alarm rate that holds over all of its looks together.

A look is taken every month: everything known by then is refitted (:mod:`mensura.trends.nulls`) and the kink statistic
(:mod:`mensura.trends.kinks`) of all releases is taken: of every release, not of the frontier, which keeps a few
points and repeats them. What the statistic does when nothing changes is found from worlds without change on the very
design of the data (:mod:`mensura.trends.nulls`): the same dates, rows and columns; line, scatter and common shocks from
their posterior. Each world goes through every look as the data do. The alarm sounds when
the statistic is more than ``threshold`` standard deviations above the mean of its look, the threshold being passed at
any look by the asked share (5%) of the worlds (:mod:`mensura.trends.kinks`).

So the alarm accounts for looking again and again, for uneven dates and thin evidence, for releases that move together,
for not knowing the line exactly, and for the bend that ridge and overlapping benchmarks put into the scale.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.arguments import check_arguments
from mensura.core.arrays import Floats, Ints
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.evidence import Evidence
from mensura.intake.tables import as_frame
from mensura.stitching import ScoreLayout, Stitch, to_date, to_years
from mensura.stitching.checks import warn_unconverged
from mensura.trends.horizons import DatedLengths, read_lengths
from mensura.trends.kinks import KinkDesign, Plan, Stream, calibrate, first_releases, read_stream
from mensura.trends.nulls import NullLengths, NullModel, describe_lengths, describe_null, refit_looks

FEWEST = 3
"""Releases after the start before the first look."""
BASELINE = 20
"""Releases needed before the start."""
LOOKS_A_YEAR = 12
LOOKS_SHOWN = 5
TOGETHER = 33
"""Worlds refitted at once."""
ROUNDING = 1e-6
"""Share of a month by which a day may miss the end of its own."""


@dataclass(frozen=True, eq=False, repr=False)
class Watch(Result):
    """``looks``: ``date``, ``subject``, ``statistic`` (standardised), ``boundary``, ``alarm``, one row per month.

    ``subject`` is the last release known at the look. ``alarm`` is the date of the first alarm, or None; ``p_value``
    the share of watches without change that come as far as this one did; ``slope_before`` and ``slope_after`` are
    those of all releases, per year on the scale of the last fit; ``converged`` says whether that fit arrived.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("looks",)

    plan: Plan
    looks: pl.DataFrame
    alarm: date | None
    p_value: float
    slope_before: float
    slope_after: float
    converged: bool = True

    @property
    def ratio(self) -> float:
        """Slope of all releases after the start of the watch over their slope before it."""
        return self.slope_after / self.slope_before

    @property
    def heading(self) -> str:
        """The verdict, in one line."""
        verdict = f"acceleration: alarm on {self.alarm}" if self.alarm else "no alarm"
        span = f"all releases watched {to_date(self.plan.start)} to {self.looks['date'][-1]}"
        rate = f"{self.plan.rate:.1%} false alarms over the watch, p = {self.p_value:.3f}"
        return f"{verdict} ({span}; {rate}; slope ×{self.ratio:.2f})"

    @property
    def facts(self) -> dict[str, object]:
        """The verdict as plain values, for programs."""
        return {
            "alarm": self.alarm,
            "p_value": self.p_value,
            "false_alarm_rate": self.plan.rate,
            "slope_ratio": self.ratio,
            "common_share": self.plan.common,
            "verdict": self.heading,
            "warnings": list(self.warnings),
        }

    @property
    def warnings(self) -> tuple[str, ...]:
        """Whether fits, of the data and behind the plan, did not arrive."""
        return warn_unconverged(int(not self.converged), 1, "fits of the scores") + self.plan.warnings

    @property
    def shown(self) -> pl.DataFrame:
        """The last looks."""
        return self.looks.tail(LOOKS_SHOWN)


@check_arguments
def watch_acceleration(
    scores: Any = None,
    *,
    start: date | None = None,
    until: date | None = None,
    rate: float = 0.05,
    streams: int = 199,
    seed: int = 0,
    advance: Callable[[], object] | None = None,
) -> Watch:
    """Watch a stream of releases for an acceleration.

    Parameters
    ----------
    scores : Evidence, fit, table or None
        Evidence (None: the embedded one), a fit, or a table with subject, benchmark, score in [0, 1] and released. Or
        a table of horizons: subject, released, p50, p50_low, p50_high in minutes.
    start : date, optional
        First day watched (default: the middle of the time span).
    until : date, optional
        Planned end (default: the last release). The rate holds for all checks up to then; before, its elapsed share is
        spent.
    rate : float
        Share of false alarms over the whole watch.
    streams : int
        Simulations without a change of pace behind the threshold.
    seed : int
        Seed of the simulations.
    advance : callable, optional
        Called once per simulation.

    Returns
    -------
    Watch
        The monthly checks, the date of the first alarm, the p-value and the slopes.

    Raises
    ------
    MensuraError
        If there are too few releases before or after the start, or too few simulations for the rate.

    Examples
    --------
    >>> import mensura
    >>> watch = mensura.watch_acceleration(mensura.load(), streams=19)
    >>> watch.shown.columns[:2]
    ['date', 'subject']

    """
    given = scores if scores is None or isinstance(scores, Evidence | Stitch) else as_frame(scores, name="scores")
    stream: Stream | DatedLengths
    if isinstance(given, pl.DataFrame) and "p50" in given.columns:
        stream, subjects = read_lengths(given)
    else:
        stream, subjects = read_stream(given)
    begin = float(to_years(pl.Series([start]))[0]) if start else default_start(stream.years)
    end = float(to_years(pl.Series([until]))[0]) if until else float(stream.years[-1])
    _check_span(stream.years, begin, end, rate, streams)
    count = int(np.count_nonzero(stream.years <= end))
    if isinstance(stream, DatedLengths):
        stream = DatedLengths(*(part[:count] for part in stream))
    else:
        stream = first_releases(stream, count)
    spent = rate * min(1.0, float(stream.years[-1] - begin) / (end - begin)) if until else rate
    return watch_stream(stream, begin, rate=spent, streams=streams, seed=seed, subjects=subjects, advance=advance)


def watch_stream(
    stream: Stream | DatedLengths,
    start: float,
    *,
    rate: float = 0.05,
    streams: int = 199,
    seed: int = 0,
    subjects: list[str] | None = None,
    advance: Callable[[], object] | None = None,
) -> Watch:
    """Watch scores or horizons sorted by release.

    Parameters
    ----------
    stream : Stream or DatedLengths
        Scores sorted by release, or log2 minutes with their errors.
    start : float
        First day watched, in years since 1970.
    rate, streams, seed, advance
        As in :func:`watch_acceleration`.
    subjects : list of str, optional
        Names of the releases.

    Returns
    -------
    Watch
        The monthly checks and the verdict.

    Examples
    --------
    >>> import numpy as np
    >>> from mensura.trends import Stream, watch_stream
    >>> years, rows, cols = 54 + np.arange(60) / 10, np.repeat(np.arange(60), 4), np.tile(np.arange(4), 60)
    >>> scores = 1 / (1 + np.exp(cols - 0.5 * (years[rows] - 54)))
    >>> watch_stream(Stream(years, rows, cols, scores), 57.0, streams=19).looks.columns[:2]
    ['date', 'subject']

    """
    names = subjects or [str(i) for i in range(stream.years.size)]
    design = KinkDesign.of(stream.years, start, look_counts(stream.years, start))
    null: NullModel | NullLengths
    converged = True
    if isinstance(stream, DatedLengths):
        null, seen = describe_lengths(stream, start), np.tile(stream.values, (1, design.counts.size, 1))
    else:
        layout = ScoreLayout.of(stream.rows, stream.cols)
        refits = refit_looks(layout, stream.scores, design.counts)
        null, seen = describe_null(stream, layout, refits.whole, start), refits.C
        converged = bool(refits.whole.converged[0])
    paths, unconverged = _simulate(null, design, streams, seed, advance)
    path, years, common = design.statistics(seen)[0], stream.years[design.counts - 1], null.scatter.common
    plan = calibrate(path, paths, years, start, rate, common=common, unconverged=unconverged)
    scaled = plan.standardise(path)
    alarms = np.flatnonzero(scaled > plan.threshold)
    days = [to_date(year) for year in plan.years]
    looks = pl.DataFrame(
        {
            "date": days,
            "subject": [names[n - 1] for n in design.counts],
            "statistic": scaled,
            "boundary": np.full(scaled.size, plan.threshold),
            "alarm": scaled > plan.threshold,
        }
    )
    before, after = _slopes(stream.years - start, seen[0, -1])
    return Watch(
        plan,
        looks,
        days[alarms[0]] if alarms.size else None,
        float((1 + np.count_nonzero(plan.peaks >= scaled.max())) / (1 + plan.peaks.size)),
        before,
        after,
        converged,
    )


def look_counts(years: Floats, start: float) -> Ints:
    """Releases known at the end of every month after ``start`` in which some came out, from the third one on."""
    after = np.flatnonzero(years > start)
    month = np.ceil((years[after] - start) * LOOKS_A_YEAR - ROUNDING)
    last = np.append(month[1:] > month[:-1], True)
    counts: Ints = (after[last] + 1).astype(np.int64)
    return np.asarray(counts[counts >= after[0] + FEWEST])


def _simulate(
    null: NullModel | NullLengths, design: KinkDesign, streams: int, seed: int, advance: Callable[[], object] | None
) -> tuple[Floats, int]:
    """Draw worlds without change, follow each as the data were followed, and count the fits that did not arrive."""
    rng = np.random.default_rng(seed)
    paths, unconverged = [], 0
    for first in range(0, streams, TOGETHER):
        fitted, failed = null.draw(min(TOGETHER, streams - first), design.counts, rng)
        paths.append(design.statistics(fitted))
        unconverged += failed
        if advance is not None:
            for _ in fitted:
                advance()
    return np.concatenate(paths), unconverged


def _slopes(t: Floats, values: Floats) -> tuple[float, float]:
    """Slopes per year before and after t = 0 of the line through all releases that bends there."""
    hinge = np.column_stack([np.ones_like(t), t, np.maximum(t, 0)])
    _, before, more = np.linalg.lstsq(hinge, values, rcond=None)[0]
    return float(before), float(before + more)


def default_start(years: Floats) -> float:
    """Middle of the time span, or when enough releases for a baseline are known, whichever is later."""
    return float(max((years[0] + years[-1]) / 2, years[min(BASELINE, years.size) - 1]))


def _check_span(years: Floats, start: float, until: float, rate: float, streams: int) -> None:
    """Refuse a watch that cannot be planned or followed."""
    before, after = np.count_nonzero(years <= start), np.count_nonzero((years > start) & (years <= until))
    if before < BASELINE or after < FEWEST + 2:
        raise MensuraError(
            f"watch: {before} releases up to {to_date(start)} and {after} after it; "
            f"at least {BASELINE} and {FEWEST + 2} are needed; choose another start"
        )
    if not 0 < rate < 1 or (streams + 1) * rate < 1:
        raise MensuraError(
            f"watch: rate {rate} with {streams} simulated streams; rate × (streams + 1) must be at least 1"
        )
