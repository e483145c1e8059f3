"""What a score says: its expectation and its variance, given the position η of subject against benchmark."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mensura.core.arrays import Floats, Ints, expit

SMALLEST_VARIANCE = 0.01
"""Added to f(1 − f): scores near 0 or 1 err too, so that no cell is infinitely sure."""
WIDEST_MOVE = 4.0
"""A working response is at most this far from η, or this many standard deviations: keeps early sweeps stable."""

PIECE = 1 << 14
"""Numbers that are worked on together, few enough for all steps of a formula to stay in the processor's cache."""


def levels(chance: Floats, ceiling: Floats, eta: Floats, step: float = 0.0) -> tuple[Floats, Floats]:
    """Return the expected score chance + (ceiling − chance) σ(η) and its derivative in η.

    With a ``step`` success rises twice, at η = ±step: σ(η) becomes the mean of σ(η − step) and σ(η + step).
    """
    s = expit(eta) if not step else expit(eta - step)
    steep = s * (1 - s)
    if step:
        second = expit(eta + step)
        s, steep = (s + second) / 2, (steep + second * (1 - second)) / 2
    return chance + (ceiling - chance) * s, (ceiling - chance) * steep


def straighten(score: Floats, chance: Floats, ceiling: Floats, step: float) -> Floats:
    """Return the score that the curve of one step has where the curve with this ``step`` has ``score``."""
    if not step:
        return score
    share = np.clip((score - chance) / (ceiling - chance), 0.0, 1.0)
    lean = 2 * (share - 0.5) * np.cosh(step)
    odds = (lean + np.sqrt(lean**2 + 4 * share * (1 - share))) / 2
    return np.asarray(chance + (ceiling - chance) * odds / (odds + 1 - share))


def variance_shape(f: Floats) -> Floats:
    """Shape of the overdispersion: ρ times this is its variance."""
    return np.asarray(f * (1 - f) + SMALLEST_VARIANCE)


def bounded(residual: Floats, slope: Floats, variance: Floats) -> Floats:
    """Return the step in η that would explain a residual, bounded by what its noise makes plausible."""
    widest = WIDEST_MOVE * np.maximum(1, np.sqrt(variance) / slope)
    return np.asarray(np.clip(residual / slope, -widest, widest))


def by_pieces(formula: Callable[..., tuple[Floats, ...]], *values: Floats | Ints) -> tuple[Floats, ...]:
    """Apply a formula, number by number, to arrays of one length, some of each at a time."""
    n = values[0].size
    if n <= PIECE:
        return formula(*values)
    parts = [formula(*(value[start : start + PIECE] for value in values)) for start in range(0, n, PIECE)]
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))
