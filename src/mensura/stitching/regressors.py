"""What is known about a subject before its scores: when it was released, and which tests it was given.

Tests are not given at random: old models sit in old leaderboards, new ones in hard new ones. The pattern of tests alone
orders the subjects (reciprocal averaging, that is the first axis of a correspondence analysis), and that order says
something about ability. As a regressor in a prior it informs subjects with few scores and fades with many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask, just_above
from mensura.stitching.layout import ScoreLayout
from mensura.stitching.scores import ScoreSet

SWEEPS = 60
"""Reciprocal averagings; the second axis fades as the ratio of the two correlations to this power."""
FURTHEST = 3.0
"""Subjects with an odd pattern of tests are drawn in to so many standard deviations."""
FEWEST_DATES = 3
SMALLEST_WEIGHT = 1e-9
"""Divisor where a subject or benchmark has no score."""
SMALLEST_ASSOCIATION = 0.3
"""Below this correlation between subject and benchmark scores the pattern of tests says too little to be used."""


def pattern_axis(layout: ScoreLayout, weights: Floats) -> Floats | None:
    """Return one standardised number per subject from who took which test, or None when the pattern is too plain.

    Reciprocal averaging: a subject's number is the mean of its benchmarks' numbers, a benchmark's the mean of its
    subjects', up to a factor that tends to the correlation of both.
    """
    rows, cols = layout.rows, layout.cols
    n_rows = np.maximum(np.bincount(rows, weights, layout.n_subjects), SMALLEST_WEIGHT)
    n_cols = np.maximum(np.bincount(cols, weights, layout.n_benchmarks), SMALLEST_WEIGHT)
    axis = np.log(n_cols) + np.linspace(0, 1, layout.n_benchmarks)
    association = 0.0
    subject = np.zeros(layout.n_subjects)
    for _ in range(SWEEPS):
        axis = axis - np.average(axis, weights=n_cols)
        size = np.sqrt(np.average(axis**2, weights=n_cols))
        if size < 1e-9:
            return None
        subject = np.bincount(rows, weights * axis[cols] / size, layout.n_subjects) / n_rows
        association = float(np.sqrt(np.average(subject**2, weights=n_rows)))
        axis = np.bincount(cols, weights * subject[rows], layout.n_benchmarks) / n_cols
    spread = subject.std()
    if association < SMALLEST_ASSOCIATION or spread < 1e-9:
        return None
    return np.asarray(np.clip((subject - subject.mean()) / spread, -FURTHEST, FURTHEST))


@dataclass(frozen=True, eq=False)
class Background:
    """The regressors ``x`` (subjects, q) of a fit, a constant first, and how they are read off new subjects.

    The first ``lasting`` of them, all but the date, inform every latent dimension, the date capability alone.

    ``tests`` are the benchmarks' numbers on the pattern axis with the line that leads from their mean over a subject's
    tests to the subject's own number; ``dates`` the mean and spread of the release years. None: not used.
    """

    x: Floats
    lasting: int
    tests: tuple[Floats, Floats] | None
    dates: tuple[float, float] | None

    @classmethod
    def of(cls, layout: ScoreLayout, weights: Floats, years: Floats, *, informed: bool) -> Background:
        """Gather a constant, the pattern of tests and the release date (unknown ones at the mean)."""
        columns: list[Floats] = [np.ones(layout.n_subjects)]
        tests, dates, lasting = None, None, 1
        if informed:
            pattern = pattern_axis(layout, weights)
            if pattern is not None:
                columns.append(pattern)
                axis = _means(layout.cols, weights, pattern[layout.rows], layout.n_benchmarks)
                own = _means(layout.rows, weights, axis[layout.cols], layout.n_subjects)
                tests = (axis, np.polyfit(own, pattern, 1))
            lasting = len(columns)
            if np.isfinite(years).sum() >= FEWEST_DATES and np.nanstd(years) > just_above(0.0):
                dates = (float(np.nanmean(years)), float(np.nanstd(years)))
                dated = (years - dates[0]) / dates[1]
                columns.append(np.where(np.isfinite(dated), dated, 0.0))
        return cls(np.stack(columns, axis=1), lasting, tests, dates)

    def of_new(self, new: ScoreSet) -> tuple[Floats, Mask]:
        """Return the regressors of new subjects on the fit's benchmarks, and of whom all of them are known."""
        layout = new.layout
        columns, known = [np.ones(layout.n_subjects)], np.ones(layout.n_subjects, dtype=bool)
        if self.tests is not None:
            axis, line = self.tests
            own = _means(layout.rows, new.counts, axis[layout.cols], layout.n_subjects)
            columns.append(np.clip(np.polyval(line, own), -FURTHEST, FURTHEST))
        if self.dates is not None:
            known = np.isfinite(new.years)
            columns.append(np.where(known, (new.years - self.dates[0]) / self.dates[1], 0.0))
        return np.stack(columns, axis=1), known


def _means(index: Ints, weights: Floats, values: Floats, n: int) -> Floats:
    total = np.maximum(np.bincount(index, weights, n), SMALLEST_WEIGHT)
    return np.asarray(np.bincount(index, weights * values, n) / total)
