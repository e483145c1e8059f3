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

from mensura.core.arrays import Floats, Ints, expit, just_above
from mensura.stitching import ScoreLayout, Solution
from mensura.trends.refits import refit_looks
from mensura.trends.scatter import ScatterPosterior, describe_growth, describe_scatter
from mensura.trends.streams import Stream

LEAST_FREEDOM = 0.2
"""Least degrees of freedom, as a share of the scores, behind the error of a score."""
LEAST_INFORMATION = 1e-12
"""A release whose scores say nothing has a finite error all the same."""
LEAST_STRETCH = 0.1
"""Least unit of a look over that of the fit: refits that have nothing in common with it are not blown up."""


@dataclass(frozen=True)
class NullModel:
    """What the worlds are drawn from: the data's design, its fit, and how its releases scatter about a line."""

    years: Floats
    layout: ScoreLayout
    fit: Solution
    scatter: ScatterPosterior
    residuals: Floats
    """Residuals of the fit, stretched for the parameters it spent."""
    own_error: float
    """Mean variance that its scores leave in a capability; the scatter of fitted capabilities holds it too."""
    departures: Floats
    """How releases depart from their line, with mean 0 and variance 1: what one does alone is drawn from these."""
    growth: tuple[float, float]
    """By how much the scatter grows a year, as a logarithm: mean and standard error."""

    def draw(self, n: int, counts: Ints, rng: np.random.Generator) -> tuple[Floats, int]:
        """Draw the capabilities seen at every look in n worlds, (worlds, looks, releases), and count failed fits."""
        expected = _expected(self.layout, self.fit)
        scores = np.clip(expected + rng.choice(self.residuals, (n, expected.size)), 0.0, 1.0)
        refits = refit_looks(self.layout, scores, counts, start=self.fit)
        errors = _errors(refits.C, self.fit.C[0], counts)
        return self._capabilities(n, rng)[:, None] + errors, int(np.count_nonzero(~refits.converged))

    def _capabilities(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw what is true of the releases of n worlds, (worlds, releases)."""
        drawn = self.scatter.draw(n, rng)
        own = np.maximum((1 - drawn.share) * drawn.spread**2 - self.own_error, 0)
        alone: Floats = np.sqrt(own)[:, None] * rng.choice(self.departures, (n, self.years.size))
        mean, error = self.growth
        yearly = mean + error * rng.standard_normal(n)
        size = np.exp(yearly[:, None] * (self.years - self.years.mean()))
        size /= np.sqrt(np.mean(size**2, axis=1, keepdims=True))
        return np.asarray(drawn.line(self.years) + size * (drawn.shocks(self.years, rng) + alone))


def describe_null(stream: Stream, layout: ScoreLayout, fit: Solution, start: float) -> NullModel:
    """Describe the scores as a stream whose pace does not change, however it may have changed at ``start``."""
    expected = _expected(layout, fit)
    rest = stream.scores - expected
    free = max(rest.size - layout.n_subjects - 2 * layout.n_benchmarks, LEAST_FREEDOM * rest.size)
    residuals = (rest - rest.mean()) * np.sqrt(rest.size / free)
    steep = fit.slope[0][layout.cols] * expected * (1 - expected)
    information = np.bincount(layout.rows, steep**2, layout.n_subjects)
    own_error = np.minimum(residuals.var() / np.maximum(information, LEAST_INFORMATION), fit.C[0].var())
    scatter = describe_scatter(stream.years, fit.C[0], bend=start)
    rest = _departures(stream.years, fit.C[0], start)
    growth = describe_growth(stream.years, rest)
    departures = _unit(rest / np.exp(growth[0] * (stream.years - stream.years.mean())))
    return NullModel(stream.years, layout, fit, scatter, residuals, float(own_error.mean()), departures, growth)


def _errors(seen: Floats, truth: Floats, counts: Ints) -> Floats:
    """Return what ``seen`` (worlds, looks, releases) adds to ``truth`` but for level and unit, 0 where unknown.

    Level and unit of every look are those of the regression seen = a + b · truth over the releases it knows.
    """
    known = np.arange(truth.size) < counts[:, None]
    centred = np.where(known, truth - (known @ truth / counts)[:, None], 0.0)
    square = np.maximum((centred**2).sum(axis=1), np.finfo(float).tiny)
    stretch = np.maximum(np.einsum("wlr,lr->wl", seen, centred) / square, LEAST_STRETCH)
    level = np.where(known, seen, 0.0).sum(axis=2) / counts
    return np.where(known, (seen - level[..., None]) / stretch[..., None] - centred, 0.0)


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
