"""Worlds without a change of pace, on the design of the data: same release dates, same scores asked for.

Which release was tested on which benchmark, and when it came out, stay as they are. A world draws anew

- the *capabilities*: the line of the releases, the scatter about it and the shocks that releases share, from their
  posterior (:mod:`mensura.trends.scatter`), and every release from those;
- the *errors* with which capabilities are seen at every look: scores are drawn from the fitted positions and the
  residuals of the fit, and refitted as the data are; what the refits differ from the fitted positions is their error,
  with the bend of the scale and everything that benchmarks in common do to it.

A world's path is the sum of the two. Scores are drawn at the fitted positions, not at the drawn capabilities, because
models are mostly given tests that suit them: on the tests of another day a redrawn model would score nothing or all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mensura.arrays import Floats, Ints, expit
from mensura.stitching import ScoreLayout, Solution
from mensura.trends.refits import refit_looks
from mensura.trends.scatter import ScatterPosterior, describe_scatter
from mensura.trends.streams import Stream

LEAST_FREEDOM = 0.2
"""Least degrees of freedom, as a share of the scores, behind the error of a score."""
LEAST_INFORMATION = 1e-12
"""A release whose scores say nothing has a finite error all the same."""


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

    def draw(self, n: int, counts: Ints, rng: np.random.Generator) -> tuple[Floats, int]:
        """Draw the capabilities seen at every look in n worlds, (worlds, looks, releases), and count failed fits."""
        expected = _expected(self.layout, self.fit)
        scores = np.clip(expected + rng.choice(self.residuals, (n, expected.size)), 0.0, 1.0)
        refits = refit_looks(self.layout, scores, counts, start=self.fit)
        errors = np.where(np.arange(self.years.size) < counts[:, None], refits.C - self.fit.C[:, None], 0.0)
        return self._capabilities(n, rng)[:, None] + errors, int(np.count_nonzero(~refits.converged))

    def _capabilities(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw what is true of the releases of n worlds, (worlds, releases)."""
        drawn = self.scatter.draw(n, rng)
        own = np.maximum((1 - drawn.share) * drawn.spread**2 - self.own_error, 0)
        alone = np.sqrt(own)[:, None] * rng.standard_normal((n, self.years.size))
        return drawn.line(self.years) + drawn.shocks(self.years, rng) + alone


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
    return NullModel(stream.years, layout, fit, scatter, residuals, float(own_error.mean()))


def _expected(layout: ScoreLayout, fit: Solution) -> Floats:
    """Expected scores at the fitted positions."""
    return expit(fit.slope[0][layout.cols] * (fit.C[0][layout.rows] - fit.D[0][layout.cols]))
