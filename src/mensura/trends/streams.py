"""Synthetic streams of releases, a ladder of benchmarks and the scores between them, with or without a change of pace.

The published set-up (arXiv 2512.00193) is ``PUBLISHED``: releases spread evenly over 2024 to 2030, capability rising
by 3.5 in all with a scatter of 0.2, benchmarks half a unit ahead with slopes from 3 to 10, and a quarter of the pairs
whose expected score lies in [0.05, 0.95] evaluated with an error of 0.025. :func:`fit_stream` describes any table of
scores in the same terms, which is how a watch is calibrated on data at hand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl

from mensura.arrays import Floats, Ints, Mask, expit
from mensura.results import Result
from mensura.stitching import ScoreLayout, Solution, solve_rosetta
from mensura.stitching.convergence import warn_unconverged

RIDGE = 0.1
"""The published penalty, which every look of a watch uses."""
WEAK_RIDGE = 0.01
"""For describing a stream: strong enough to settle the unit, too weak to flatten slopes and bend the scale."""

WHOLE_TOLERANCE, LOOK_TOLERANCE, STREAM_TOLERANCE = 1e-4, 1e-3, 1e-6
"""Gradients at which the fits of everything, of one look and of a baseline end: far below the scatter of releases."""
MOST_ITERATIONS = 500
LADDER_ENDS, SCORE_ENDS = (0.02, 0.98), (0.01, 0.99)
"""Quantiles of difficulties and scores taken for their ends, so that one outlier does not set them."""
LEAST_FREEDOM = 0.2
"""Least degrees of freedom, as a share of the scores, behind the error of a score."""


@dataclass(frozen=True, eq=False, repr=False)
class StreamModel(Result):
    """How releases, benchmarks and scores come about when nothing changes; ``table`` lists its numbers.

    Capability is ``level`` at ``start`` and gains ``pace`` a year, with standard deviation ``scatter`` among releases;
    difficulties spread evenly from ``easiest`` to ``hardest``, with deviation ``jitter``; slopes are drawn from
    ``slopes``; a pair whose expected score lies within ``visible`` is evaluated with probability ``evaluated``.
    ``converged`` says whether the fit behind it arrived.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("table",)

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
    converged: bool = True

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        return f"a stream of {self.models} releases on {self.benchmarks} benchmarks, {self.pace:.3g} a year"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Whether the fit behind it did not arrive."""
        return warn_unconverged(int(not self.converged), 1, "fits behind this description")

    @property
    def table(self) -> pl.DataFrame:
        """One row per number: parameter, value; slopes by their mean."""
        names = (
            "start",
            "until",
            "level",
            "pace",
            "scatter",
            "easiest",
            "hardest",
            "jitter",
            "evaluated",
            "score_error",
        )
        values = {name: float(getattr(self, name)) for name in names} | {"mean_slope": float(np.mean(self.slopes))}
        return pl.DataFrame({"parameter": list(values), "value": list(values.values())})

    def noisier(self, factor: float) -> StreamModel:
        """Multiply the three sources of noise, as the published study does."""
        return replace(
            self,
            scatter=factor * self.scatter,
            jitter=factor * self.jitter,
            score_error=factor * self.score_error,
        )


PUBLISHED = StreamModel(
    start=2024.0,
    until=2030.0,
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


@dataclass(frozen=True, eq=False, repr=False)
class Stream(Result):
    """Scores sorted by release: score i is release ``rows[i]``, of ``years[rows[i]]``, on benchmark ``cols[i]``.

    ``table``: year, release, benchmark, score.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("table",)

    years: Floats
    rows: Ints
    cols: Ints
    scores: Floats

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        span = f"{self.years[0]:.1f} to {self.years[-1]:.1f}"
        return f"a stream of {self.years.size} releases from year {span} with {self.scores.size} scores"

    @property
    def table(self) -> pl.DataFrame:
        """One row per score: year, release, benchmark, score."""
        years = self.years[self.rows]
        return pl.DataFrame({"year": years, "release": self.rows, "benchmark": self.cols, "score": self.scores})


def make_stream(
    model: StreamModel,
    rng: np.random.Generator,
    *,
    change: float | None = None,
    acceleration: float = 1.0,
    share: float = 1.0,
) -> Stream:
    """Draw one stream; from year ``change`` on, a ``share`` of the releases improves ``acceleration`` times as fast."""
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


def refit_by_look(stream: Stream, counts: Ints) -> tuple[Floats, Mask]:
    """Fit the published model to the first ``counts[j]`` releases for every look j: capabilities (looks, releases).

    Also returns which looks' fits arrived. All looks are solved at once, from the fit of everything; releases a look
    does not know yet are left at zero.
    """
    layout = ScoreLayout.of(stream.rows, stream.cols)
    penalty = RIDGE / (counts + 2 * layout.n_benchmarks)
    whole = solve_rosetta(
        layout, stream.scores, penalty=float(penalty[-1]), tolerance=WHOLE_TOLERANCE, max_iterations=MOST_ITERATIONS
    )
    known = (stream.rows < counts[:, None]).astype(float)
    fits = solve_rosetta(layout, stream.scores, weights=known, penalty=penalty, start=whole, tolerance=LOOK_TOLERANCE)
    return fits.C, fits.converged


def fit_stream(stream: Stream, until: float) -> StreamModel:
    """Describe the scores of a baseline as a no-change stream that goes on until ``until`` at the same pace.

    Releases keep their rate, benchmarks their density along the scale. How far benchmarks lead the releases cannot be
    seen at the top, where nobody has been yet; it is taken from the bottom, where the ladder starts above the first
    releases. Only releases with a score are observed, so their number is raised by the share without one.
    """
    layout = ScoreLayout.of(stream.rows, stream.cols)
    penalty = WEAK_RIDGE / (layout.n_subjects + 2 * layout.n_benchmarks)
    fit = solve_rosetta(
        layout, stream.scores, penalty=penalty, tolerance=STREAM_TOLERANCE, max_iterations=MOST_ITERATIONS
    )
    C, D, slope = fit.C[0], fit.D[0], fit.slope[0]
    begin, end = stream.years[0], stream.years[-1]
    pace, level = np.polyfit(stream.years - begin, C, 1)
    scatter = np.sqrt(np.sum((C - level - pace * (stream.years - begin)) ** 2) / (C.size - 2))
    longer = (until - begin) / (end - begin)
    easiest, seen = np.quantile(D, LADDER_ENDS)
    hardest = max(level + pace * (until - begin) + max(easiest - level, 0), seen)
    low, high = np.quantile(stream.scores, SCORE_ENDS)
    expected = expit(slope * (C[:, None] - D))
    candidates = int(np.count_nonzero((expected >= low) & (expected <= high)))
    model = StreamModel(
        start=begin,
        until=until,
        models=round(C.size * longer),
        benchmarks=round(D.size * float(hardest - easiest) / max(float(seen - easiest), 1e-9)),
        level=float(level),
        pace=float(pace),
        scatter=float(scatter),
        easiest=float(easiest),
        hardest=float(hardest),
        jitter=0.0,
        slopes=slope,
        visible=(float(low), float(high)),
        evaluated=min(1.0, stream.scores.size / max(candidates, 1)),
        score_error=_score_error(layout, stream.scores, fit),
        converged=bool(fit.converged[0]),
    )
    scored = make_stream(model, np.random.default_rng(0)).years.size / model.models
    return replace(model, models=round(model.models / scored))


def _score_error(layout: ScoreLayout, scores: Floats, fit: Solution) -> float:
    """Standard deviation of a score about its expectation, with one degree of freedom lost per parameter."""
    eta = fit.slope[0][layout.cols] * (fit.C[0][layout.rows] - fit.D[0][layout.cols])
    squares = float(np.sum((scores - expit(eta)) ** 2))
    free = scores.size - layout.n_subjects - 2 * layout.n_benchmarks
    return float(np.sqrt(squares / max(free, LEAST_FREEDOM * scores.size)))
