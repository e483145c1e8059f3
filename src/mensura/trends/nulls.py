"""Worlds without a change of pace, on the design of the data: same release dates, same scores asked for.

Which release was tested on which benchmark, and when it came out, stay as they are. What a world draws anew:

- the line of the releases, the scatter about it and the shocks that releases share, from their posterior given the
  releases known at the start of the watch (:mod:`mensura.trends.scatter`);
- the capability of every release, from those;
- its scores, from the fitted slopes and the residuals of the fit, on benchmarks as hard for those who take them as
  they were: D_b moves with the mean of its takers, so that scores keep their height in a world that moves otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mensura.arrays import Floats, expit
from mensura.stitching import ScoreLayout, Solution
from mensura.trends.scatter import ScatterPosterior, describe_scatter
from mensura.trends.streams import Stream

LEAST_FREEDOM = 0.2
"""Least degrees of freedom, as a share of the scores, behind the error of a score."""


@dataclass(frozen=True)
class NullModel:
    """What the worlds are drawn from: the data's design, its fit, and the scatter of the releases of the baseline."""

    stream: Stream
    layout: ScoreLayout
    fit: Solution
    scatter: ScatterPosterior
    residuals: Floats
    """Residuals of the fit, stretched for the parameters it spent."""
    own_error: Floats
    """Variance of every release's capability that its scores leave."""

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Floats, Solution]:
        """Draw scores of n worlds (worlds, scores), and the positions that made them."""
        years, rows, cols = self.stream.years, self.layout.rows, self.layout.cols
        drawn = self.scatter.draw(n, rng)
        line = drawn.line(years)
        own = (1 - drawn.share[:, None]) * drawn.spread[:, None] ** 2 - self.own_error.mean()
        C = line + drawn.shocks(years, rng) + np.sqrt(np.maximum(own, 0)) * rng.standard_normal(line.shape)
        takers = np.bincount(cols, minlength=self.layout.n_benchmarks)
        moved = self.layout.over_benchmarks(np.take(C - self.fit.C, rows, axis=1)) / takers
        D, slope = self.fit.D + moved, np.broadcast_to(self.fit.slope, (n, self.layout.n_benchmarks))
        expected = expit(np.take(slope, cols, axis=1) * (np.take(C, rows, axis=1) - np.take(D, cols, axis=1)))
        scores = np.clip(expected + rng.choice(self.residuals, expected.shape), 0.0, 1.0)
        return scores, Solution(C, D, slope, np.zeros(n), np.zeros(n), 0, self.fit.tolerance)


def describe_null(stream: Stream, layout: ScoreLayout, fit: Solution, start: float) -> NullModel:
    """Describe the scores as a stream whose pace does not change, however it may have changed at ``start``."""
    rows, cols = layout.rows, layout.cols
    slope = fit.slope[0][cols]
    expected = expit(slope * (fit.C[0][rows] - fit.D[0][cols]))
    rest = stream.scores - expected
    free = max(rest.size - layout.n_subjects - 2 * layout.n_benchmarks, LEAST_FREEDOM * rest.size)
    residuals = (rest - rest.mean()) * np.sqrt(rest.size / free)
    information = np.bincount(rows, (slope * expected * (1 - expected)) ** 2, layout.n_subjects)
    known = stream.years <= start
    scatter = describe_scatter(stream.years, fit.C[0], bend=start)
    own_error = np.minimum(residuals.var() / np.maximum(information, 1e-12), fit.C[0].var())
    return NullModel(stream, layout, fit, scatter, residuals, own_error[known])
