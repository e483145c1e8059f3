"""Surprising scores: higher than ordinary noise makes them, such as those on leaked tests.

Every score is ordinary, or, with a probability that is learned for each subject, surprising: then it is off by N(0,
spread) logits more. Only a score above what the others say can be surprising: a leak lifts, and a low score that is
discounted would make way for the high ones that somebody chose. So the half of the normal distribution above 0 counts
twice, and with the ordinary noise it makes a skew normal density, 2 φ(off) Φ(…). Whether it is, shows against what all
*other* scores say of it: the cavity distribution, which is the posterior of η without this score. A surprising score
counts less in the fit and in the overdispersions.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy

from mensura.core.arrays import Floats, Ints, expit, logit
from mensura.stitching.layout import ScoreLayout
from mensura.stitching.posterior import Cells, Expected, Pooled, Surprise, expect
from mensura.stitching.response import by_pieces, variance_shape

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


def unsurprised(layout: ScoreLayout) -> Surprise:
    """Begin with scores that are all ordinary."""
    n = layout.n_scores
    return Surprise(np.zeros(n), np.ones(n), np.full(layout.n_subjects, FIRST_SHARE), FIRST_SPREAD)


def learn_surprise(cells: Cells, fit: Pooled, at: Expected, eta_var: Floats) -> Pooled:
    """One EM step: how probably each score is surprising, then the shares of such scores and their spread."""
    if cells.right_or_wrong:
        return fit
    before, layout = fit.surprise, cells.layout
    few = np.bincount(layout.rows, minlength=layout.n_subjects) < FEWEST_SCORES
    odds, spread = np.where(few, -np.inf, logit(before.share)), before.spread

    def formula(
        y: Floats,
        sampling: Floats,
        trust: Floats,
        rows: Ints,
        cols: Ints,
        f: Floats,
        slope: Floats,
        variance: Floats,
    ) -> tuple[Floats, ...]:
        slope = np.maximum(slope, SMALLEST_SLOPE)
        noise = (sampling + fit.dispersion[cols] * variance_shape(f)) / slope**2
        others = 1 - np.minimum(trust * variance / noise, STRONGEST)
        off = (y - f) / (slope * others)
        plain = noise + variance / others
        wide = plain + spread
        upward = np.log(2) + scipy.special.log_ndtr(off * np.sqrt(spread / (plain * wide)))
        chance = expit(odds[rows] + upward + 0.5 * (np.log(plain / wide) + off**2 * (1 / plain - 1 / wide)))
        chance = np.where(off > 0, chance, 0.0)
        squared = chance * ((off * spread / wide) ** 2 + spread * plain / wide)
        return chance, 1 - chance + chance * noise / (noise + spread), squared

    values = (cells.y, cells.sampling, before.trust, layout.rows, layout.cols, at.f, at.slope, eta_var)
    chance, trust, squared = by_pieces(formula, *values)
    chance, trust = (old + STEP * (new - old) for old, new in ((before.chance, chance), (before.trust, trust)))
    counted = cells.weights * chance
    total = PRIOR_SCORES * FIRST_SHARE + counted.sum()
    common = total / (PRIOR_SCORES + cells.weights.sum())
    own = np.bincount(layout.rows, counted, layout.n_subjects)
    scores = np.bincount(layout.rows, cells.weights, layout.n_subjects)
    share = np.minimum((OWN_SCORES * common + own) / (OWN_SCORES + scores), MOST_SHARE)
    spread = max((PRIOR_SCORES * FIRST_SHARE * FIRST_SPREAD + float(cells.weights @ squared)) / total, SMALLEST_SPREAD)
    return replace(fit, surprise=Surprise(chance, trust, share, spread))


def unsure_which(cells: Cells, fit: Pooled) -> Pooled:
    """Return the fit with the precision of scores that may or may not be surprising lowered for not knowing which.

    The curvature of a mixture is the mean curvature of its parts less the variance of their gradients (Louis 1982).
    """
    if cells.right_or_wrong:
        return fit
    at, found = expect(cells, fit), fit.surprise
    slope = np.maximum(at.slope, SMALLEST_SLOPE)
    noise = (cells.sampling + fit.dispersion[cells.layout.cols] * variance_shape(at.f)) / slope**2
    gap = (cells.y - at.f) / slope * found.spread / (noise + found.spread)
    lost = found.chance * (1 - found.chance) * gap**2 / noise
    return replace(fit, surprise=found._replace(trust=np.maximum(found.trust - lost, LEAST_TRUST * found.trust)))


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
