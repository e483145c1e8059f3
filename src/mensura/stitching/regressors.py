"""What is known about a subject before its scores: when it was released, and which tests it was given.

Tests are not given at random: old models sit in old leaderboards, new ones in hard new ones. The pattern of tests alone
orders the subjects (reciprocal averaging, that is the first axis of a correspondence analysis), and that order says
something about ability. As a regressor in a prior it informs subjects with few scores and fades with many.
"""

from __future__ import annotations

import numpy as np

from mensura.arrays import Floats
from mensura.stitching.layout import ScoreLayout

SWEEPS = 60
"""Reciprocal averagings; the second axis fades as the ratio of the two correlations to this power."""
FURTHEST = 3.0
"""Subjects with an odd pattern of tests are drawn in to so many standard deviations."""
FEWEST_DATES = 3
SMALLEST_ASSOCIATION = 0.3
"""Below this correlation between subject and benchmark scores the pattern of tests says too little to be used."""


def pattern_axis(layout: ScoreLayout, weights: Floats) -> Floats | None:
    """Return one standardised number per subject from who took which test, or None when the pattern is too plain.

    Reciprocal averaging: a subject's number is the mean of its benchmarks' numbers, a benchmark's the mean of its
    subjects', up to a factor that tends to the correlation of both.
    """
    rows, cols = layout.rows, layout.cols
    n_rows = np.maximum(np.bincount(rows, weights, layout.n_subjects), 1e-9)
    n_cols = np.maximum(np.bincount(cols, weights, layout.n_benchmarks), 1e-9)
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


def regressors(layout: ScoreLayout, weights: Floats, years: Floats, *, informed: bool) -> Floats:
    """Return (subjects, q): a constant, the pattern of tests, the release date (in years; unknown ones at the mean)."""
    columns: list[Floats] = [np.ones(layout.n_subjects)]
    if informed:
        pattern = pattern_axis(layout, weights)
        if pattern is not None:
            columns.append(pattern)
        if np.isfinite(years).sum() >= FEWEST_DATES and np.nanstd(years) > 0:
            dated = (years - np.nanmean(years)) / np.nanstd(years)
            columns.append(np.where(np.isfinite(dated), dated, 0.0))
    return np.stack(columns, axis=1)
