"""From a score to the stitched scale: the capability at which a benchmark's curve gives that score."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mensura.core.arrays import Floats, logit

EDGE_SHARE = 0.01
"""A score nearer than this share of the range to chance or ceiling only bounds the capability; it is read from here."""


def share_above_chance(score: ArrayLike, chance: ArrayLike = 0.0, ceiling: ArrayLike = 1.0) -> Floats:
    """Return which share of the way from chance to ceiling a score has gone; below 0 where guessing does better."""
    low, high = np.asarray(chance, dtype=float), np.asarray(ceiling, dtype=float)
    return np.asarray((np.asarray(score, dtype=float) - low) / (high - low))


def score_to_capability(
    score: ArrayLike, difficulty: ArrayLike, slope: ArrayLike, chance: ArrayLike = 0.0, ceiling: ArrayLike = 1.0
) -> Floats:
    """Return C with chance + (ceiling − chance) · σ(slope · (C − difficulty)) = score.

    Every page and command that puts a score of people on a benchmark's curve reads it here. Scores at or below chance,
    or at the ceiling, are read at 1% and 99% of the range.
    """
    share = np.clip(share_above_chance(score, chance, ceiling), EDGE_SHARE, 1 - EDGE_SHARE)
    return np.asarray(np.asarray(difficulty, dtype=float) + logit(share) / np.asarray(slope, dtype=float))
