"""Worlds without a change of pace, on the design of the data: same release dates, same scores asked for.

Which release was tested on which benchmark, and when it came out, stay as they are. A world draws anew

- the *capabilities*: the line of the releases, the scatter about it, its growth and the shocks that releases share,
  from their posterior (:mod:`mensura.trends.scatter`), and every release from those;
- the *errors* with which capabilities are seen at every look: scores are drawn from the fitted positions and the
  residuals of the fit, and refitted as the data are; what the refits differ from the fitted positions is their error,
  with the bend of the scale and everything that benchmarks in common do to it.

A world's path is the sum of the two. Scores are drawn at the fitted positions, not at the drawn capabilities, because
models are mostly given tests that suit them: on the tests of another day a redrawn model would score nothing or all.

An early look has a unit of its own: the ridge trades slopes against capabilities, so that of fewer releases the
capabilities come out further apart. That is no error. Taken for
one it would put half of the data's own scatter into every world, whose null mean would then go the way the data go, and
the first looks would see nothing. So refits are told in the unit of the fit before they are compared with it; the
statistic does not mind.

What a release does alone is drawn from how the releases depart from their line, not from a normal: at the first looks
one surprising release moves the statistic most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from mensura.core.arrays import Floats, Ints, expit, just_above
from mensura.core.errors import MensuraError
from mensura.stitching import ScoreLayout, Solution, penalty_weight, solve_rosetta
from mensura.stitching.rosetta import SLOPE_BOUNDS
from mensura.trends.horizons import DatedLengths
from mensura.trends.kinks import Stream
from mensura.trends.scatter import GROWTH_OF_WATCH, ScatterPosterior, describe_growth, describe_scatter

LEAST_FREEDOM = 0.2
"""Least degrees of freedom, as a share of the scores, behind the error of a score."""
LEAST_INFORMATION = 1e-12
"""A release whose scores say nothing has a finite error all the same."""
LEAST_STRETCH = 0.1
"""Least unit of a look over that of the fit: refits that have nothing in common with it are not blown up."""


@dataclass(frozen=True)
class NullTruth:
    """How releases scatter about a line: what is true in worlds without change is drawn from this."""

    years: Floats
    scatter: ScatterPosterior
    own_error: float
    """Mean variance that its scores leave in a capability; the scatter of fitted capabilities holds it too."""
    departures: Floats
    """How releases depart from their line, with mean 0 and variance 1: what one does alone is drawn from these."""
    growth: tuple[float, float]
    """By how much the scatter grows a year, as a logarithm: mean and standard error."""

    def _capabilities(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw what is true of the releases of n worlds, (worlds, releases)."""
        drawn = self.scatter.draw(n, rng)
        own = np.maximum((1 - drawn.share) * drawn.spread**2 - self.own_error, 0)
        own_part: Floats = np.sqrt(own)[:, None] * rng.choice(self.departures, (n, self.years.size))
        mean, error = self.growth
        yearly = mean + error * rng.standard_normal(n)
        size = np.exp(yearly[:, None] * (self.years - self.years.mean()))
        size /= np.sqrt(np.mean(size**2, axis=1, keepdims=True))
        return np.asarray(drawn.line(self.years) + size * (drawn.shocks(self.years, rng) + own_part))


@dataclass(frozen=True)
class NullModel(NullTruth):
    """What the worlds are drawn from: the data's design, its fit, and how its releases scatter about a line."""

    layout: ScoreLayout
    fit: Solution
    residuals: Floats
    """Residuals of the fit, stretched for the parameters it spent."""

    def draw(self, n: int, counts: Ints, rng: np.random.Generator) -> tuple[Floats, int]:
        """Draw the capabilities seen at every look in n worlds, (worlds, looks, releases), and count failed fits."""
        expected = _expected(self.layout, self.fit)
        scores = np.clip(expected + rng.choice(self.residuals, (n, expected.size)), 0.0, 1.0)
        refits = refit_looks(self.layout, scores, counts, start=self.fit)
        errors = _errors(refits.C, self.fit.C[0], counts)
        return self._capabilities(n, rng)[:, None] + errors, int(np.count_nonzero(~refits.whole.converged))


@dataclass(frozen=True)
class NullLengths(NullTruth):
    """Worlds whose releases are measured with known errors, once and for all looks."""

    errors: Floats

    def draw(self, n: int, counts: Ints, rng: np.random.Generator) -> tuple[Floats, int]:
        """Draw the lengths seen at every look in n worlds, (worlds, looks, releases); no fit can fail."""
        seen = self._capabilities(n, rng) + self.errors * rng.standard_normal((n, self.years.size))
        return np.repeat(seen[:, None], counts.size, axis=1), 0


def describe_lengths(lengths: DatedLengths, start: float) -> NullLengths:
    """Describe lengths as a stream whose pace does not change, however it may have changed at ``start``.

    Errors that systems share leave the trend alone, so errors count as no larger than what is left about the line.
    """
    rest = _departures(lengths.years, lengths.values, start)
    share = min(1.0, float(rest.std()) / max(float(np.sqrt(np.mean(lengths.errors**2))), LEAST_INFORMATION))
    errors = share * lengths.errors
    return NullLengths(*_describe_truth(lengths.years, lengths.values, float(np.mean(errors**2)), start), errors)


def describe_null(stream: Stream, layout: ScoreLayout, fit: Solution, start: float) -> NullModel:
    """Describe the scores as a stream whose pace does not change, however it may have changed at ``start``."""
    expected = _expected(layout, fit)
    rest = stream.scores - expected
    free = max(rest.size - layout.n_subjects - 2 * layout.n_benchmarks, LEAST_FREEDOM * rest.size)
    residuals = (rest - rest.mean()) * np.sqrt(rest.size / free)
    steep = fit.slope[0][layout.cols] * expected * (1 - expected)
    information = np.bincount(layout.rows, steep**2, layout.n_subjects)
    own_error = np.minimum(residuals.var() / np.maximum(information, LEAST_INFORMATION), fit.C[0].var())
    return NullModel(*_describe_truth(stream.years, fit.C[0], float(own_error.mean()), start), layout, fit, residuals)


def _describe_truth(
    years: Floats, values: Floats, own_error: float, start: float
) -> tuple[Floats, ScatterPosterior, float, Floats, tuple[float, float]]:
    """Return the fields of :class:`NullTruth` for values seen with a mean variance of error."""
    rest = _departures(years, values, start)
    growth = describe_growth(years, rest, GROWTH_OF_WATCH)
    departures = _unit(rest / np.exp(growth[0] * (years - years.mean())))
    return years, describe_scatter(years, values, bend=start), own_error, departures, growth


def _errors(fitted: Floats, truth: Floats, counts: Ints) -> Floats:
    """Return what ``seen`` (worlds, looks, releases) adds to ``truth`` but for level and unit, 0 where unknown.

    Level and unit of every look are those of the regression seen = a + b · truth over the releases it knows.
    """
    counted = np.arange(truth.size) < counts[:, None]
    centred = np.where(counted, truth - (counted @ truth / counts)[:, None], 0.0)
    square = np.maximum((centred**2).sum(axis=1), np.finfo(float).tiny)
    stretch = np.maximum(np.einsum("wlr,lr->wl", fitted, centred) / square, LEAST_STRETCH)
    level = np.where(counted, fitted, 0.0).sum(axis=2) / counts
    return np.where(counted, (fitted - level[..., None]) / stretch[..., None] - centred, 0.0)


def _departures(years: Floats, values: Floats, bend: float) -> Floats:
    """Return residuals of the line that may bend, freed of what it took from them."""
    hinge = np.column_stack([np.ones_like(years), years - years.mean(), np.maximum(years - bend, 0)])
    directions = np.linalg.qr(hinge)[0]
    rest = values - directions @ (directions.T @ values)
    return np.asarray(rest / np.sqrt(np.maximum(1 - (directions**2).sum(axis=1), LEAST_FREEDOM)))


def _unit(values: Floats) -> Floats:
    """Return the values with mean 0 and variance 1."""
    off = values - values.mean()
    spread = float(off.std())
    return np.asarray(off / spread if spread > just_above(0.0) else off)


def _expected(layout: ScoreLayout, fit: Solution) -> Floats:
    """Expected scores at the fitted positions."""
    return expit(fit.slope[0][layout.cols] * (fit.C[0][layout.rows] - fit.D[0][layout.cols]))


# Refits at every look of a watch, for many simulated worlds on one design at once.
#
# The published model, score = σ(α_b (C_i − D_b)) with a third of its ridge, is solved for all scores of a world.
# Every earlier look then takes one Gauss–Newton step of its own objective, which knows only the releases out by then,
# from that solution. Linearised in one point, the normal equations of a look are a sum over its releases: eliminating
# each release's C leaves a contribution to the benchmark side, and going from look to look only adds the new ones. A
# world costs one fit and one Cholesky factorisation per look, instead of one fit per look. Data and simulated worlds
# go through the same function, so a threshold found on worlds holds for the data whatever the step leaves out.
#
# Why a third: the whole ridge shrinks the slopes of benchmarks that few releases took, mostly the hardest and the
# easiest, and so draws the ends of the scale apart. A watch would take that bend for a change of pace, and worlds
# drawn from slopes already shrunk repeat only a part of it. With too little of it releases of few scores fly off, and
# a real change is lost among them: a tenth halves the bend again, but finds fewer changes where models have several
# dimensions.

WHOLE_TOLERANCE = 1e-3
"""Gradient at which the fit of everything ends: the steps of the looks go on from there."""
MOST_ITERATIONS = 500
LIGHT = 0.3
"""Share of the published ridge that refits keep."""


@dataclass(frozen=True, eq=False, repr=False)
class LookFits:
    """``C`` (worlds, looks, releases), zero where a look does not know a release yet; ``whole`` is the fit of all."""

    C: Floats
    whole: Solution


def refit_looks(
    layout: ScoreLayout, scores: Floats, counts: Ints, *, start: Solution | None = None, ridge: float = LIGHT
) -> LookFits:
    """Fit each look's first ``counts[j]`` releases, for ``scores`` (worlds, scores); the last look knows them all.

    Releases are sorted by date, ``counts`` rises to their number. ``start`` warm-starts the fit of everything;
    ``ridge`` is the share of the published one.
    """
    if counts[-1] != layout.n_subjects:
        raise MensuraError(f"counts: the last look must know all {layout.n_subjects} releases, got {counts[-1]}")
    penalty = ridge * penalty_weight(layout.n_subjects, layout.n_benchmarks, anchored=False)
    whole = solve_rosetta(
        layout, scores, penalty=penalty, start=start, tolerance=WHOLE_TOLERANCE, max_iterations=MOST_ITERATIONS
    )
    return LookFits(_step_by_look(layout, scores, whole, counts, penalty), whole)


def _derivatives(layout: ScoreLayout, scores: Floats, at: Solution) -> tuple[Floats, Floats, Floats]:
    """Return residuals and derivatives by C and α of the expected scores at a solution, (worlds, scores) each.

    The derivative by D is the negative of that by C; that by α is zero where the slope is held at a bound.
    """
    slope = np.take(at.slope, layout.cols, axis=1)
    distance = np.take(at.C, layout.rows, axis=1) - np.take(at.D, layout.cols, axis=1)
    expected = expit(slope * distance)
    steep = expected * (1 - expected)
    low, high = SLOPE_BOUNDS
    free = np.take((at.slope > low) & (at.slope < high), layout.cols, axis=1)
    return expected - scores, steep * slope, steep * distance * free


def _step_by_look(layout: ScoreLayout, scores: Floats, at: Solution, counts: Ints, penalty: float) -> Floats:
    """Take one Gauss–Newton step of every look's objective from ``at``: capabilities (worlds, looks, releases)."""
    rest, by_level, by_slope = _derivatives(layout, np.atleast_2d(scores), at)
    worlds, b = at.D.shape
    entries = _Entries.of(layout, counts)
    pivot = layout.over_subjects(by_level**2) + penalty
    gradient = layout.over_subjects(by_level * rest) + penalty * at.C
    cross_first, cross_second = -(by_level**2), by_level * by_slope
    share = np.take(gradient / pivot, layout.rows, axis=1)
    diagonal = entries.summed(by_level**2, by_slope**2) + penalty
    mixed = -entries.summed(cross_second, None)[:, :, ::2]
    right = entries.summed(by_level * rest + cross_first * share, cross_second * share - by_slope * rest)
    right -= penalty * np.stack([at.D, at.slope], axis=2)[:, entries.order].reshape(worlds, 1, 2 * b)
    capabilities = np.zeros((worlds, counts.size, layout.n_subjects))
    coupling = np.zeros((layout.n_subjects, 2 * b))
    cells = 2 * b * layout.rows + entries.columns
    for world in range(worlds):
        coupling.flat[cells], coupling.flat[cells + 1] = cross_first[world], cross_second[world]
        scaled = coupling / np.sqrt(pivot[world])[:, None]
        steps = _benchmark_steps(scaled, diagonal[world], mixed[world], right[world], counts, entries.sizes)
        capabilities[world] = at.C[world] - (gradient[world] + steps @ coupling.T) / pivot[world]
    return np.where(np.arange(layout.n_subjects) < counts[:, None], capabilities, 0.0)


def _benchmark_steps(
    scaled: Floats, diagonal: Floats, mixed: Floats, right: Floats, counts: Ints, sizes: Ints
) -> Floats:
    """Solve the reduced system of every look for the steps of (D, α) of the benchmarks it knows: the first ones."""
    whole = right.shape[1]
    steps, reduced = np.zeros_like(right), np.zeros((whole, whole), order="F")  # symmetric: its lower half is filled
    done = 0
    for look, (count, size) in enumerate(zip(counts, sizes, strict=True)):
        fresh = scaled[done:count].T
        reduced = scipy.linalg.blas.dsyrk(-1.0, fresh, beta=1.0, c=reduced, lower=True, overwrite_c=True)
        matrix = reduced[:size, :size].copy(order="F")
        cells = matrix.T.reshape(-1)  # column by column, without a copy
        cells[:: size + 1] += diagonal[look, :size]
        cells[1 :: 2 * (size + 1)] += mixed[look, : size // 2]
        _, step, fault = scipy.linalg.lapack.dposv(matrix, right[look, :size], lower=True, overwrite_a=True)
        if not fault:  # else round-off at a benchmark that nothing pins down: it stays where it is
            steps[look, :size] = step
        done = count
    return steps


@dataclass(frozen=True)
class _Entries:
    """In which look and benchmark every score enters, to sum over the scores known at each look.

    Benchmarks are taken in the ``order`` in which looks come to know them, D and α of each side by side. So a look's
    system is a corner of the last one, and early looks cost less.
    """

    order: Ints
    columns: Ints
    """Where the D of every score's benchmark stands; its α follows."""
    sizes: Ints
    """How many columns each look knows."""
    cells: Ints

    @classmethod
    def of(cls, layout: ScoreLayout, counts: Ints) -> _Entries:
        look = np.searchsorted(counts, layout.rows, side="right")
        first = np.full(layout.n_benchmarks, counts.size)
        np.minimum.at(first, layout.cols, look)
        order = np.argsort(first, kind="stable")
        columns = 2 * np.argsort(order)[layout.cols]
        sizes = 2 * np.searchsorted(first[order], np.arange(counts.size), side="right")
        return cls(order, columns, sizes, look * 2 * layout.n_benchmarks + columns)

    def summed(self, first: Floats, second: Floats | None) -> Floats:
        """Sum over the scores known at each look, by benchmark: (worlds, looks, 2 × benchmarks)."""
        shape = self.sizes.size, 2 * self.order.size
        sums = np.stack([np.bincount(self.cells, row, np.prod(shape)) for row in first])
        if second is not None:
            sums += np.stack([np.bincount(self.cells + 1, row, np.prod(shape)) for row in second])
        return np.cumsum(sums.reshape(-1, *shape), axis=1)
