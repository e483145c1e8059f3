"""Has progress accelerated? A watch with a false-alarm rate that holds over all of its looks together.

Before the watch starts it is planned: the scores known by then are described as a stream without change
(:func:`mensura.trends.streams.fit_stream`), many such streams are simulated to the end of the watch, and each goes
through what the data will go through: at every release everything is refitted and the kink statistic
(:mod:`mensura.trends.kinks`) of all releases is taken. Along the elapsed time these null paths have a mean and a
standard deviation; the alarm sounds when the observed path is more than ``threshold`` standard deviations above the
mean, the threshold being passed at any look by the asked share (5%) of the simulated watches.

So the alarm accounts for looking again and again, for the scatter of releases and for the error of the fit, including
the bend that the ridge and the chain of overlapping benchmarks put into the scale. It looks at all releases rather
than at the running maximum, which keeps a few points and repeats them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.arrays import Floats, Ints
from mensura.errors import MensuraError
from mensura.frames import as_frame
from mensura.results import Result
from mensura.stitching import Stitch, encode, read_any, to_date, to_years
from mensura.stitching.convergence import warn_unconverged
from mensura.trends.capabilities import read_dates
from mensura.trends.kinks import KinkDesign
from mensura.trends.streams import Stream, StreamModel, fit_stream, make_stream, refit_by_look

FEWEST = 3
"""Releases after the start before the first look."""
BASELINE = 20
"""Releases needed before the start."""
LOOKS_SHOWN = 5
KNOTS = 31
"""Points in the elapsed time, dense at the start, at which the null mean and spread are kept."""
SMALLEST_SPREAD = 1e-9
"""Least null spread, so that a statistic can be standardised."""
MOST_DRAWN = 100
"""Simulated streams drawn anew until one has enough releases on both sides of the start."""


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """When to sound the alarm: null mean and spread of the statistic along the elapsed time, and the threshold.

    ``peaks`` are the largest standardised values of the simulated watches, for other rates and for p-values.
    ``converged`` says whether the fit of the releases known at the start arrived. ``table``: date, mean, spread,
    boundary (the statistic at which the alarm sounds).
    """

    TABLES: ClassVar[tuple[str, ...]] = ("table",)

    start: float
    until: float
    rate: float
    threshold: float
    knots: Floats
    mean: Floats
    spread: Floats
    peaks: Floats
    converged: bool = True

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        span = f"{to_date(self.start)} to {to_date(self.until)}"
        return f"watch planned from {span}: {self.rate:.0%} false alarms, from {self.peaks.size} simulated streams"

    @property
    def table(self) -> pl.DataFrame:
        """The boundary along the time: date, mean, spread, boundary."""
        boundary = self.mean + self.threshold * self.spread
        days = [to_date(self.start + knot) for knot in self.knots]
        return pl.DataFrame({"date": days, "mean": self.mean, "spread": self.spread, "boundary": boundary})

    def standardise(self, years: Floats, statistics: Floats) -> Floats:
        """Express statistics taken at ``years`` in null standard deviations above the null mean."""
        elapsed = years - self.start
        return (statistics - np.interp(elapsed, self.knots, self.mean)) / np.interp(elapsed, self.knots, self.spread)


@dataclass(frozen=True, eq=False, repr=False)
class Watch(Result):
    """``looks``: ``date``, ``subject``, ``statistic`` (standardised), ``boundary``, ``alarm``, one row per release.

    ``alarm`` is the date of the first alarm, or None; ``p_value`` the share of watches without change that come as
    far as this one did; ``slope_before`` and ``slope_after`` are per year on the scale of the last fit; ``unconverged``
    counts the looks whose refit did not arrive.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("looks",)

    plan: Plan
    looks: pl.DataFrame
    alarm: date | None
    p_value: float
    slope_before: float
    slope_after: float
    unconverged: int = 0

    @property
    def ratio(self) -> float:
        """Slope after the start of the watch over slope before it."""
        return self.slope_after / self.slope_before

    @property
    def heading(self) -> str:
        """The verdict, in one line."""
        verdict = f"acceleration: alarm on {self.alarm}" if self.alarm else "no alarm"
        span = f"watched {to_date(self.plan.start)} to {to_date(self.plan.until)}"
        rate = f"{self.plan.rate:.0%} false alarms over the watch, p = {self.p_value:.3f}"
        return f"{verdict} ({span}; {rate}; slope ×{self.ratio:.2f})"

    @property
    def warnings(self) -> tuple[str, ...]:
        """How many refits, of the looks and behind the plan, did not arrive."""
        of_plan = ("the fit of the releases known at the start did not converge",) if not self.plan.converged else ()
        return of_plan + warn_unconverged(self.unconverged, self.looks.height, "refits of the looks")

    @property
    def shown(self) -> pl.DataFrame:
        """The last looks."""
        return self.looks.tail(LOOKS_SHOWN)


def watch_acceleration(
    scores: Any = None,  # noqa: ANN401
    *,
    dates: Any = None,  # noqa: ANN401
    start: date | None = None,
    until: date | None = None,
    rate: float = 0.05,
    streams: int = 199,
    seed: int = 0,
    advance: Callable[[], object] | None = None,
) -> Watch:
    """Watch a stream of releases for an acceleration from ``start`` (default: the middle of the time span) on.

    ``scores`` is evidence (none: the embedded one), a fit, or a table with ``subject``, ``benchmark``, ``score`` in [0,
    1]; release dates are in it (``released`` or ``release_date``) or in ``dates``. ``until`` is the planned end
    (default: the last release); the false-alarm ``rate`` holds for all looks up to then, so the same plan serves as
    data come in. ``advance`` is called once per simulated stream.
    """
    stream, subjects = read_stream(scores, dates)
    last = stream.years[-1]
    begin = float(to_years(pl.Series([start]))[0]) if start else _default_start(stream.years)
    end = float(to_years(pl.Series([until]))[0]) if until else last
    _check_span(stream.years, begin, end, rate, streams)
    plan = plan_watch(stream, begin, end, rate=rate, streams=streams, seed=seed, advance=advance)
    inside = stream.years <= end
    stream = first_releases(stream, int(np.count_nonzero(inside)))
    path = follow(stream, begin)
    scaled = plan.standardise(path.years, path.statistics)
    alarms = np.flatnonzero(scaled > plan.threshold)
    looks = pl.DataFrame(
        {
            "date": [to_date(year) for year in path.years],
            "subject": [subjects[n - 1] for n in path.counts],
            "statistic": scaled,
            "boundary": np.full(scaled.size, plan.threshold),
            "alarm": scaled > plan.threshold,
        }
    )
    peak = float(scaled.max())
    before, after = path.slopes
    return Watch(
        plan,
        looks,
        to_date(path.years[alarms[0]]) if alarms.size else None,
        float((1 + np.count_nonzero(plan.peaks >= peak)) / (1 + plan.peaks.size)),
        before,
        after,
        path.unconverged,
    )


@dataclass(frozen=True, eq=False, repr=False)
class WatchPath:
    """The statistic as it evolves: years and counts of the looks, and the slopes of the last fit about the start.

    ``unconverged`` counts the looks whose refit did not arrive.
    """

    years: Floats
    counts: Ints
    statistics: Floats
    slopes: tuple[float, float]
    unconverged: int = 0


def follow(stream: Stream, start: float) -> WatchPath:
    """Refit at every release after ``start`` and take the statistic, from the third such release on."""
    design = KinkDesign.of(stream.years, start)
    fits, converged = refit_by_look(stream, design.counts)
    t, last = stream.years - start, fits[-1]
    hinge = np.column_stack([np.ones_like(t), t, np.maximum(t, 0)])
    _, before, more = np.linalg.lstsq(hinge, last, rcond=None)[0]
    statistics = design.statistics_by_look(fits)[FEWEST - 1 :]
    counts = design.counts[FEWEST - 1 :]
    slopes = (float(before), float(before + more))
    return WatchPath(stream.years[counts - 1], counts, statistics, slopes, int(np.count_nonzero(~converged)))


def plan_watch(
    stream: Stream,
    start: float,
    until: float,
    *,
    rate: float = 0.05,
    streams: int = 199,
    seed: int = 0,
    advance: Callable[[], object] | None = None,
) -> Plan:
    """Plan a watch from what is known at its start: fit a stream without change and simulate watches of it."""
    baseline = first_releases(stream, int(np.searchsorted(stream.years, start, side="right")))
    model = fit_stream(baseline, until)
    rng = np.random.default_rng(seed)
    paths = []
    for _ in range(streams):
        paths.append(_null_path(model, rng, start))
        if advance is not None:
            advance()
    return replace(calibrate(paths, start, until, rate=rate), converged=model.converged)


def calibrate(paths: list[WatchPath], start: float, until: float, *, rate: float = 0.05) -> Plan:
    """Turn null paths into a plan: their mean and spread on knots dense at the start, and the threshold on the peaks.

    With n paths the threshold is the ⌊rate (n + 1)⌋-th highest peak: one more path without change, as likely as any to
    be the highest, passes it at no more than the rate asked.
    """
    knots = (until - start) * np.linspace(0, 1, KNOTS) ** 2
    curves = np.array([np.interp(knots, path.years - start, path.statistics) for path in paths])
    spread = np.maximum(curves.std(axis=0, ddof=1), SMALLEST_SPREAD)
    plan = Plan(start, until, rate, np.inf, knots, curves.mean(axis=0), spread, np.zeros(0))
    peaks = np.sort([plan.standardise(path.years, path.statistics).max() for path in paths])
    allowed = max(int(rate * (peaks.size + 1)), 1)
    return Plan(start, until, rate, float(peaks[-allowed]), knots, plan.mean, spread, peaks)


def first_releases(stream: Stream, count: int) -> Stream:
    """Keep the first ``count`` releases and the benchmarks they were tested on."""
    kept = stream.rows < count
    _, cols = np.unique(stream.cols[kept], return_inverse=True)
    return Stream(stream.years[:count], stream.rows[kept], cols.astype(np.int64), stream.scores[kept])


def _null_path(model: StreamModel, rng: np.random.Generator, start: float) -> WatchPath:
    """Follow a simulated stream; one with too few releases after the start is drawn anew."""
    for _ in range(MOST_DRAWN):
        stream = make_stream(model, rng)
        if (
            np.count_nonzero(stream.years > start) >= FEWEST + 2
            and np.count_nonzero(stream.years <= start) >= FEWEST + 2
        ):
            return follow(stream, start)
    raise MensuraError("watch: the releases known at the start are too few to simulate the watch; start it later")


def read_stream(scores: Any, dates: Any) -> tuple[Stream, list[str]]:  # noqa: ANN401
    """Turn a table of scores into arrays sorted by release, the best score of a pair counting once."""
    frame = _scores_of(scores) if isinstance(scores, Stitch) else read_any(scores)[0]
    if dates is not None:
        known = read_dates(as_frame(dates, name="dates"), name="dates")
        frame = frame.drop("released", strict=False).join(known.select("subject", "released"), on="subject", how="left")
    frame = read_dates(frame, name="scores")
    data = encode(frame, "max")
    released = dict(frame.select("subject", "released").iter_rows())
    years = to_years(pl.Series([released[name] for name in data.subjects], dtype=pl.Date))
    order = np.lexsort((np.arange(years.size), years))
    rank = np.argsort(order)
    rows = rank[data.layout.rows]
    by_release = np.argsort(rows, kind="stable")
    subjects = [data.subjects[i] for i in order]
    return Stream(
        years[order], rows[by_release], data.layout.cols[by_release], data.y[by_release].astype(float)
    ), subjects


def _scores_of(fit: Stitch) -> pl.DataFrame:
    """Scores of a fit as a table, with the dates it knows."""
    return fit.data.table.join(fit.dated.select("subject", "released"), on="subject", how="left", maintain_order="left")


def _default_start(years: Floats) -> float:
    """Middle of the time span, or when enough releases for a baseline are known, whichever is later."""
    middle = (years[0] + years[-1]) / 2
    return float(max(middle, years[min(BASELINE, years.size) - 1]))


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
