"""Surprising scores: higher than ordinary noise makes them, such as those on leaked tests.

Every score is ordinary, or, with a probability that is learned for each subject, surprising: then it is off by N(0,
spread) logits more. Only a score above what the others say can be surprising: a leak lifts, and a low score that is
discounted would make way for the high ones that somebody chose. So the half of the normal distribution above 0 counts
twice, and with the ordinary noise it makes a skew normal density, 2 φ(off) Φ(…). Whether it is, shows against what all
*other* scores say of it: the cavity distribution, which is the posterior of η without this score. A surprising score
counts less in the fit and in the overdispersions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy

from mensura.core.arrays import Floats, Ints, Mask, expit, just_above, logit
from mensura.stitching.layout import ScoreLayout, variance_shape
from mensura.stitching.scores import ScoreSet
from mensura.stitching.sweeps import Cells, Expected, Pooled, Surprise, expect

FIRST_SHARE, FIRST_SPREAD = 0.02, 2.0
"""Share and variance, in logits, of surprising scores before any is seen."""
PRIOR_SCORES, OWN_SCORES = 200.0, 4.0
"""Scores that stand behind these for all subjects together, and behind the common share for each subject."""
SMALLEST_SPREAD = 0.5
MOST_SHARE = 0.5
FEWEST_SCORES = 3
"""Scores of a subject from which one of them can be surprising: of two that disagree nobody knows which is wrong."""
STRONGEST = 0.9
"""Largest part of what is known of a score that comes from itself, when what the others say is taken apart."""
SMALLEST_SLOPE = 1e-3
LEAST_TRUST = 0.1
"""Part of its precision that a score keeps however unclear it is whether it is surprising."""
NEWTON_STEPS = 8
STEP = 0.5
"""Part of the way that each update goes, so that scores that change sides do not swing."""
SHORTENED, PATIENCE = 0.7, 8
"""Factor on the step of a score at each change of direction, and how many changes leave its step as it is."""


def unsurprised(layout: ScoreLayout) -> Surprise:
    """Begin with scores that are all ordinary."""
    none, share = np.zeros(layout.n_scores), np.full(layout.n_subjects, FIRST_SHARE)
    return Surprise(none, none + 1.0, share, FIRST_SPREAD, none, none)


def learn_surprise(cells: Cells, fit: Pooled, at: Expected, eta_var: Floats) -> Pooled:
    """One EM step: how probably each score is surprising, then the shares of such scores and their spread."""
    if cells.right_or_wrong:
        return fit
    before, layout = fit.surprise, cells.layout
    few = np.bincount(layout.rows, minlength=layout.n_subjects) < FEWEST_SCORES
    odds, spread = np.where(few, -np.inf, logit(before.share)), before.spread
    slope = np.maximum(at.slope, SMALLEST_SLOPE)
    noise = (cells.sampling + fit.dispersion[layout.cols] * variance_shape(at.f)) / slope**2
    others = 1 - np.minimum(before.trust * eta_var / noise, STRONGEST)
    off = (cells.y - at.f) / (slope * others)
    plain = noise + eta_var / others
    wide = plain + spread
    upward = np.log(2) + scipy.special.log_ndtr(off * np.sqrt(spread / (plain * wide)))
    chance = expit(odds[layout.rows] + upward + 0.5 * (np.log(plain / wide) + off**2 * (1 / plain - 1 / wide)))
    chance = np.where(off > 0, chance, 0.0)
    squared = chance * ((off * spread / wide) ** 2 + spread * plain / wide)
    trust = 1 - chance + chance * noise / (noise + spread)
    change = trust - before.trust
    turns = before.turns + (change * before.change < 0)
    step = STEP * SHORTENED ** np.maximum(turns - PATIENCE, 0)
    chance, trust = before.chance + step * (chance - before.chance), before.trust + step * change
    counted = cells.weights * chance
    total = PRIOR_SCORES * FIRST_SHARE + counted.sum()
    common = total / (PRIOR_SCORES + cells.weights.sum())
    own = np.bincount(layout.rows, counted, layout.n_subjects)
    scores = np.bincount(layout.rows, cells.weights, layout.n_subjects)
    share = np.minimum((OWN_SCORES * common + own) / (OWN_SCORES + scores), MOST_SHARE)
    spread = max((PRIOR_SCORES * FIRST_SHARE * FIRST_SPREAD + float(cells.weights @ squared)) / total, SMALLEST_SPREAD)
    return replace(fit, surprise=Surprise(chance, trust, share, spread, change, turns))


def unsure_which(cells: Cells, fit: Pooled) -> Pooled:
    """Return the fit with the precision of scores that may or may not be surprising lowered for not knowing which.

    The curvature of a mixture is the mean curvature of its parts less the variance of their gradients (Louis 1982).
    """
    if cells.right_or_wrong:
        return fit
    at, surprise = expect(cells, fit), fit.surprise
    slope = np.maximum(at.slope, SMALLEST_SLOPE)
    noise = (cells.sampling + fit.dispersion[cells.layout.cols] * variance_shape(at.f)) / slope**2
    gap = (cells.y - at.f) / slope * surprise.spread / (noise + surprise.spread)
    lost = surprise.chance * (1 - surprise.chance) * gap**2 / noise
    trust = np.maximum(surprise.trust - lost, LEAST_TRUST * surprise.trust)
    return replace(fit, surprise=surprise._replace(trust=trust))


def mixed_variance(plain: Floats, share: float, more: Floats, level: float) -> Floats:
    """Variance of the normal distribution with the central interval of a mixture: ``plain``, and ``more`` in a share.

    The half-width solves (1 − share) P(|plain| > x) + share P(|wide| > x) = 1 − level (Newton's method).
    """
    wanted, small, large = (1 - level) / 2, np.sqrt(plain), np.sqrt(plain + more)
    reach = -float(scipy.special.ndtri(wanted))
    x = reach * small
    for _ in range(NEWTON_STEPS):
        outside = (1 - share) * scipy.special.ndtr(-x / small) + share * scipy.special.ndtr(-x / large)
        density = (1 - share) * _density(x / small) / small + share * _density(x / large) / large
        x = x + (outside - wanted) / density
    return np.asarray((x / reach) ** 2)


def _density(z: Floats) -> Floats:
    return np.asarray(np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi))


# Near-duplicates among benchmarks, and how much each benchmark adds.
#
# Two benchmarks that err together say one thing twice: entering a benchmark a second time must not move anybody. With
# r the correlation of the errors that a fit leaves to two benchmarks, over the subjects that took both (its lower
# confidence limit, so that few common subjects prove nothing), a benchmark's weight is
#
#     w_b = 1 / (1 + Σ over the others of max(0, (r² − r₀²) / (1 − r₀²)))
#
# with r₀ what two tests may share beyond all latent dimensions: k copies weigh 1/k each, tests of one domain keep 1.

FEWEST_COMMON = 8
"""Subjects that two benchmarks need in common before they can be called duplicates."""
SHARED_CORRELATION = 0.7
"""r₀: correlation up to which two benchmarks count as two; beyond it the shared part is counted once."""
LIMIT_ERRORS = 1.645
"""Standard errors, on Fisher's scale, from a correlation down to its lower limit."""
NEARLY_ONE = 1 - 1e-9


def benchmark_weights(cells: Cells, fit: Pooled) -> Floats:
    """Return one weight in (0, 1] per benchmark: 1 unless others say the same, by the errors that a fit leaves."""
    layout = cells.layout
    error, taken = np.zeros((2, layout.n_subjects, layout.n_benchmarks))
    error[layout.rows, layout.cols] = cells.y - expect(cells, fit).f
    taken[layout.rows, layout.cols] = 1.0
    common = taken.T @ taken
    squares = (error**2).T @ taken
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.clip(error.T @ error / np.sqrt(squares * squares.T), -NEARLY_ONE, NEARLY_ONE)
        limit = np.tanh(np.arctanh(r) - LIMIT_ERRORS / np.sqrt(np.maximum(common - 3, 1)))
    limit = np.where((common >= FEWEST_COMMON) & np.isfinite(limit), np.maximum(limit, 0), 0)
    np.fill_diagonal(limit, 0)
    shared = np.maximum(limit**2 - SHARED_CORRELATION**2, 0) / (1 - SHARED_CORRELATION**2)
    return np.asarray(1 / (1 + shared.sum(axis=1)))


# What is known about a subject before its scores: when it was released, and which tests it was given.
#
# Tests are not given at random: old models sit in old leaderboards, new ones in hard new ones. The pattern of tests
# alone orders the subjects (reciprocal averaging, that is the first axis of a correspondence analysis), and that order
# says something about ability. As a regressor in a prior it informs subjects with few scores and fades with many.

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
        columns, dated = [np.ones(layout.n_subjects)], np.ones(layout.n_subjects, dtype=bool)
        if self.tests is not None:
            axis, line = self.tests
            own = _means(layout.rows, new.counts, axis[layout.cols], layout.n_subjects)
            columns.append(np.clip(np.polyval(line, own), -FURTHEST, FURTHEST))
        if self.dates is not None:
            dated = np.isfinite(new.years)
            columns.append(np.where(dated, (new.years - self.dates[0]) / self.dates[1], 0.0))
        return np.stack(columns, axis=1), dated


def _means(index: Ints, weights: Floats, values: Floats, n: int) -> Floats:
    total = np.maximum(np.bincount(index, weights, n), SMALLEST_WEIGHT)
    return np.asarray(np.bincount(index, weights * values, n) / total)
