"""How soon a watch sees an acceleration, and how often it sees one that is not there: the published synthetic set-up.

Streams of releases and scores are simulated (:mod:`mensura.trends.detection`) with a known change of pace, and without
one. Every stream is watched by the procedure that users get, each with a plan of its own, and by the published rule (a
slope ratio of at least 2 in a two-piece line through the running maximum) at the same looks on the same refits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, expit
from mensura.core.errors import MensuraError
from mensura.core.processes import WORKERS, Processes
from mensura.core.ray import RayTasks
from mensura.core.results import Result
from mensura.stitching import ScoreLayout, to_years
from mensura.trends.breaks import rosetta_ratio
from mensura.trends.kinks import Stream
from mensura.trends.nulls import refit_looks
from mensura.trends.watching import look_counts, watch_stream

# Synthetic streams of releases, a ladder of benchmarks and the scores between them, with or without a change of pace.
#
# The published set-up (arXiv 2512.00193) is ``PUBLISHED``: releases spread evenly over 2024 to 2030, capability rising
# by 3.5 in all with a scatter of 0.2, benchmarks half a unit ahead with slopes from 3 to 10, and a quarter of the pairs
# whose expected score lies in [0.05, 0.95] evaluated with an error of 0.025. Years count from 1970, as everywhere.


@dataclass(frozen=True, eq=False)
class StreamModel:
    """Describe how releases, benchmarks and scores come about when nothing changes.

    Capability is ``level`` at ``start`` and gains ``pace`` a year, with standard deviation ``scatter`` among releases;
    difficulties spread evenly from ``easiest`` to ``hardest``, with deviation ``jitter``; slopes are drawn from
    ``slopes``; a pair whose expected score lies within ``visible`` is evaluated with probability ``evaluated``.
    """

    start: float
    until: float
    models: int
    benchmarks: int
    level: float
    pace: float
    scatter: float
    easiest: float
    hardest: float
    jitter: float
    slopes: Floats
    visible: tuple[float, float]
    evaluated: float
    score_error: float

    def noisier(self, factor: float) -> StreamModel:
        """Multiply the three sources of noise, as the published study does."""
        noise = {name: factor * getattr(self, name) for name in ("scatter", "jitter", "score_error")}
        return replace(self, **noise)


PUBLISHED = StreamModel(
    start=54.0,
    until=60.0,
    models=180,
    benchmarks=60,
    level=0.0,
    pace=3.5 / 6,
    scatter=0.2,
    easiest=0.5,
    hardest=4.0,
    jitter=0.2,
    slopes=np.linspace(3, 10, 1001),
    visible=(0.05, 0.95),
    evaluated=0.25,
    score_error=0.025,
)


def make_stream(
    model: StreamModel,
    rng: np.random.Generator,
    *,
    change: float | None = None,
    acceleration: float = 1.0,
    share: float = 1.0,
) -> Stream:
    """Draw one synthetic stream of releases and scores.

    Parameters
    ----------
    model : StreamModel
        How releases, benchmarks and scores come about.
    rng : numpy.random.Generator
        Source of randomness.
    change : float, optional
        Year since 1970 from which releases improve faster.
    acceleration : float
        Factor on the pace from then on.
    share : float
        Share of the releases that accelerate.

    Returns
    -------
    Stream
        Scores sorted by release.

    Examples
    --------
    >>> import numpy as np
    >>> from mensura.trends import PUBLISHED, make_stream
    >>> make_stream(PUBLISHED, np.random.default_rng(0)).years.size
    169

    """
    years = np.sort(rng.uniform(model.start, model.until, model.models))
    since = np.maximum(years - (model.until if change is None else change), 0)
    faster = rng.random(model.models) < share
    trend = model.level + model.pace * (years - model.start + faster * (acceleration - 1) * since)
    capability = trend + rng.normal(0, model.scatter, model.models)
    difficulty = rng.uniform(model.easiest, model.hardest, model.benchmarks)
    difficulty += rng.normal(0, model.jitter, model.benchmarks)
    slope = rng.choice(model.slopes, model.benchmarks)
    expected = expit(slope * (capability[:, None] - difficulty))
    low, high = model.visible
    taken = (expected >= low) & (expected <= high) & (rng.random(expected.shape) < model.evaluated)
    scored, tested = taken.any(axis=1), taken.any(axis=0)
    rows, cols = np.nonzero(taken[scored][:, tested])
    exact = expected[scored][:, tested][rows, cols]
    return Stream(years[scored], rows, cols, np.clip(exact + rng.normal(0, model.score_error, exact.size), 0, high))


CHANGE = 57.0
"""Start of the watch, and of the change, in the published set-up: 2027, in years since 1970."""
LEAST_SHARE = 3
"""Streams that one process must watch: fewer do not pay for its start."""
PUBLISHED_RATIO = 2.0
"""Slope ratio at which the published rule fires."""
SCHEMA = {
    "detector": pl.String,
    "acceleration": pl.Float64,
    "runs": pl.Int64,
    "alarms": pl.Float64,
    "error": pl.Float64,
    "months": pl.Float64,
}


@dataclass(frozen=True, eq=False, repr=False)
class Detection(Result):
    """``table``: ``detector``, ``acceleration`` (1: none), ``runs``, ``alarms`` (share), ``error``, ``months``.

    ``alarms`` at an acceleration of 1 are false, ``error`` is the Monte Carlo error of the share, ``months`` the median
    from the change to the alarm.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("table",)

    table: pl.DataFrame
    noise: float
    streams: int

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        return (
            f"Share of simulated accelerations with an alarm (noise ×{self.noise:g}; {self.streams} simulations "
            "without change behind every watch); error: of that share; months: median from the change to the alarm"
        )


def simulate_detection(
    accelerations: tuple[float, ...] = (1.0, 2.0),
    *,
    noise: float = 1.0,
    runs: int = 20,
    streams: int = 99,
    model: StreamModel = PUBLISHED,
    change: float = CHANGE,
    window: float | None = None,
    seed: int = 0,
    advance: Callable[[], object] | None = None,
    ray: str | None = None,
) -> Detection:
    """Simulate streams with a known acceleration and watch each of them.

    Parameters
    ----------
    accelerations : tuple of float
        Factors on the pace; 1 is none.
    noise : float
        Factor on scatter, jitter of the benchmarks and error of the scores.
    runs : int
        Streams per acceleration.
    streams : int
        Simulations without change behind every watch.
    model : StreamModel
        How streams come about.
    change : float
        Year since 1970 of the change and of the start of the watch.
    window : float, optional
        Years of releases that each monthly check uses (default: all).
    seed : int
        Seed of the streams.
    advance : callable, optional
        Called once per stream.
    ray : str, optional
        "local", or the address of a cluster that runs the streams.

    Returns
    -------
    Detection
        Share of streams with an alarm and months to it, of the watch and of the published rule.

    Raises
    ------
    MensuraError
        If a number is not positive, or the change lies outside the time span.

    Examples
    --------
    >>> from mensura.trends import simulate_detection
    >>> simulate_detection((2.0,), runs=1, streams=19).table["detector"].to_list()
    ['watch', 'published rule']

    """
    if runs < 1 or noise <= 0 or not accelerations or min(accelerations) <= 0:
        raise MensuraError(
            f"runs, noise and accelerations must be positive, got {runs}, {noise:g} and {list(accelerations)}"
        )
    if not model.start < change < model.until:
        raise MensuraError(f"change: a year between {model.start:g} and {model.until:g} is expected, got {change:g}")
    noisy = model.noisier(noise)
    jobs = [
        (noisy, acceleration, run, change, window, streams, seed)
        for acceleration in accelerations
        for run in range(runs)
    ]
    months = _all_months(jobs, advance, ray)
    rows: list[tuple[object, ...]] = []
    for place, acceleration in enumerate(accelerations):
        ours, published = zip(*months[place * runs : (place + 1) * runs], strict=True)
        rows += [_figures("watch", acceleration, ours), _figures("published rule", acceleration, published)]
    return Detection(pl.DataFrame(rows, schema=SCHEMA, orient="row"), noise, streams)


_Job = tuple[StreamModel, float, int, float, float | None, int, int]
"""Model, acceleration, run, change, window, streams and seed."""


def _all_months(jobs: list[_Job], advance: Callable[[], object] | None, ray: str | None) -> list[tuple[float, float]]:
    """Watch every stream; many are spread over the processors, or over a cluster."""
    runner = Processes() if ray is None else RayTasks(ray)
    workers = runner.workers if isinstance(runner, RayTasks) else WORKERS
    share = -(-len(jobs) // (2 * workers))
    if ray is None and (share < LEAST_SHARE or WORKERS == 1):
        return _watch_all(jobs, advance)
    alarms: list[tuple[float, float]] = []
    with runner as processes:
        parts = [processes.submit(_watch_all, jobs[start : start + share]) for start in range(0, len(jobs), share)]
        for part in parts:
            alarms += part.result()
            if advance is not None:
                for _ in part.result():
                    advance()
    return alarms


def _watch_all(jobs: list[_Job], advance: Callable[[], object] | None = None) -> list[tuple[float, float]]:
    """Return months from the change to the alarm, ours and the published rule's, of every stream."""
    delays = []
    for model, acceleration, run, change, window, streams, seed in jobs:
        rng = np.random.default_rng([seed, run])
        stream = make_stream(model, rng, change=change, acceleration=acceleration)
        delays.append((_months_watched(stream, change, window, streams, run), _months_published(stream, change)))
        if advance is not None:
            advance()
    return delays


def _months_watched(stream: Stream, change: float, window: float | None, streams: int, seed: int) -> float:
    """Months from the change to our alarm; NaN without one."""
    watch = watch_stream(stream, change, window=window, streams=streams, seed=seed)
    return float("nan") if watch.alarm is None else _months(to_years(pl.Series([watch.alarm])), change)


def _months_published(stream: Stream, change: float) -> float:
    """Months from the change to the first look at which the published rule fires; NaN without one."""
    counts = look_counts(stream.years, change)
    fits = refit_looks(ScoreLayout.of(stream.rows, stream.cols), stream.scores, counts, ridge=1.0).C[0]
    for n, row in zip(counts, fits, strict=True):
        if rosetta_ratio(stream.years[:n], row[:n], change) >= PUBLISHED_RATIO:
            return _months(stream.years[n - 1 : n], change)
    return float("nan")


def _months(year: Floats, change: float) -> float:
    return 12 * (float(year[0]) - change)


def _figures(detector: str, acceleration: float, months: Sequence[float]) -> tuple[object, ...]:
    """Share of runs with an alarm, its Monte Carlo error, and the median months to it."""
    delays = [value for value in months if not np.isnan(value)]
    share = len(delays) / len(months)
    error = float(np.sqrt(share * (1 - share) / len(months)))
    return detector, acceleration, len(months), share, error, float(np.median(delays)) if delays else None
