"""Watch and published rule on the published simulation: python -m benchmarks.published_streams 1 2 [--runs 8].

Streams of releases and scores are simulated with a known change of pace (a factor; 1 is none). Every stream is watched
by the procedure that users get, each with a plan of its own, and by the published rule at the same monthly checks on
the same refits. That rule fires at a slope ratio of at least 2 in a two-piece line through the running maximum.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from benchmarks import run
from mensura.core.arrays import Floats, Ints, expit, just_above
from mensura.stitching import ScoreLayout, to_years
from mensura.trends import Stream, watch_stream
from mensura.trends.nulls import refit_looks
from mensura.trends.watching import look_counts

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
    """Draw one stream, sorted by release; from year ``change`` on, a ``share`` of the releases improves faster."""
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
PUBLISHED_RATIO = 2.0
"""Slope ratio at which the published rule fires."""
CANDIDATES = 50
"""Split times of the published rule."""
FEWEST_BEFORE, FEWEST_AFTER = 2, 3
LEAST_R_SQUARED = 0.6
"""Points on both sides and fit that the published rule asks for."""
SAME = 1e-14
"""Variance of x below which points share one x."""
SCHEMA = {
    "detector": pl.String,
    "acceleration": pl.Float64,
    "runs": pl.Int64,
    "alarms": pl.Float64,
    "error": pl.Float64,
    "months": pl.Float64,
}


def simulate_detection(
    factors: Sequence[float], runs: int = 20, streams: int = 99, model: StreamModel = PUBLISHED
) -> pl.DataFrame:
    """Watch ``runs`` streams for each factor on the pace: detector, acceleration, runs, alarms, error, months.

    ``alarms`` (a share) at a factor of 1 are false, ``error`` is the Monte Carlo error of the share, ``months`` the
    median from the change to the alarm. ``streams``: simulations without change behind every watch.
    """
    rows: list[tuple[object, ...]] = []
    for factor in factors:
        watched, published = zip(*(_delays(model, factor, number, streams) for number in range(runs)), strict=True)
        rows += [_figures("watch", factor, watched), _figures("published rule", factor, published)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _delays(model: StreamModel, acceleration: float, number: int, streams: int) -> tuple[float, float]:
    """Return months from the change to the alarm of the watch and of the published rule; NaN without one."""
    stream = make_stream(model, np.random.default_rng([0, number]), change=CHANGE, acceleration=acceleration)
    watch = watch_stream(stream, CHANGE, streams=streams, seed=number)
    delay = float("nan") if watch.alarm is None else _months(to_years(pl.Series([watch.alarm])))
    return delay, _months_published(stream)


def _months_published(stream: Stream) -> float:
    """Months from the change to the first look at which the published rule fires; NaN without one."""
    counts = look_counts(stream.years, CHANGE)
    fits = refit_looks(ScoreLayout.of(stream.rows, stream.cols), stream.scores, counts, ridge=1.0).C[0]
    for n, row in zip(counts, fits, strict=True):
        if rosetta_ratio(stream.years[:n], row[:n], CHANGE) >= PUBLISHED_RATIO:
            return _months(stream.years[n - 1 : n])
    return float("nan")


def _months(year: Floats) -> float:
    return 12 * (float(year[0]) - CHANGE)


def rosetta_ratio(years: Floats, capabilities: Floats, start: float) -> float:
    """Return the largest slope ratio that the published rule sees at one check, from sorted ``years``.

    The running maximum is split at 50 times from ``start`` to the last release. Each side has its own line, the right
    one moved so that they meet at the split. −∞: no split has a positive slope before it, 3 points after it and R² of
    at least 0.6.
    """
    x, y = years - start, np.maximum.accumulate(capabilities)
    if x[-1] <= 0:
        return float("-inf")
    n, total_squares = x.size, float(np.sum((y - y.mean()) ** 2))
    splits = np.linspace(0, x[-1], CANDIDATES)
    left = np.searchsorted(x, splits, side="right")
    allowed = (left >= FEWEST_BEFORE) & (n - left >= FEWEST_AFTER)
    if not allowed.any() or total_squares <= just_above(0.0):
        return float("-inf")
    splits, left = splits[allowed], left[allowed]
    slope, intercept = _prefix_lines(x, y, left)
    reverse_slope, _ = _prefix_lines(x[::-1], y[::-1], n - left)
    before = np.where(x <= splits[:, None], x, splits[:, None])
    fitted = intercept[:, None] + slope[:, None] * before + reverse_slope[:, None] * np.maximum(x - splits[:, None], 0)
    r_squared = 1 - np.sum((y - fitted) ** 2, axis=1) / total_squares
    counted = (slope > 0) & (r_squared >= LEAST_R_SQUARED)
    return float(np.max(reverse_slope[counted] / slope[counted], initial=float("-inf")))


def _prefix_lines(x: Floats, y: Floats, counts: Ints) -> tuple[Floats, Floats]:
    """Slope and intercept of the line through the first ``counts`` points, for several counts at once."""
    k = counts - 1
    mean_x, mean_y = np.cumsum(x)[k] / counts, np.cumsum(y)[k] / counts
    xx, xy = np.cumsum(x * x)[k] / counts - mean_x**2, np.cumsum(x * y)[k] / counts - mean_x * mean_y
    slope = np.divide(xy, xx, out=np.zeros_like(xx), where=xx > SAME)
    return slope, mean_y - slope * mean_x


def _figures(detector: str, acceleration: float, months: Sequence[float]) -> tuple[object, ...]:
    """Share of runs with an alarm, its Monte Carlo error, and the median months to it."""
    delays = [value for value in months if not np.isnan(value)]
    share = len(delays) / len(months)
    error = float(np.sqrt(share * (1 - share) / len(months)))
    return detector, acceleration, len(months), share, error, float(np.median(delays)) if delays else None


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("factors", type=float, nargs="+", help="factors on the pace; 1 is no change")
    arguments.add_argument("--runs", type=int, default=8, help="streams per factor")
    arguments.add_argument("--streams", type=int, default=39, help="simulations without change behind every watch")
    arguments.add_argument("--noise", type=float, default=1.0, help="factor on the three sources of noise")
    given = arguments.parse_args()
    with pl.Config(tbl_rows=-1, tbl_hide_dataframe_shape=True):
        print(simulate_detection(given.factors, given.runs, given.streams, PUBLISHED.noisier(given.noise)))


if __name__ == "__main__":
    run(main)
