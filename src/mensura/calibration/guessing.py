"""Guessing: the level a rate shows when some of those who cannot solve an item tick the right option.

With a floor c the rate is p = c + (1 − c) q, q the share that can solve the item. In depths η = −log10 q (empirical
level less ½) the shown depth is h(η) = −log10(c + (1 − c) 10^−η), with slope h′ = (1 − c) q / p between 0 and 1:
near the floor a rate says little about q.
"""

from __future__ import annotations

import numpy as np

from mensura.core.arrays import Floats


def shown_depth(depth: Floats, floor: Floats) -> tuple[Floats, Floats]:
    """Return h(η) and its slope h′(η)."""
    solved = (1.0 - floor) * np.power(10.0, -depth)
    rate = floor + solved
    return -np.log10(rate), solved / rate


def plain_depth(rate: Floats, floor: Floats) -> Floats:
    """Return η of a rate without error; a rate at or near its floor is read as a tenth above it."""
    above = np.maximum((rate - floor) / (1.0 - floor), 0.1 * rate)
    depth: Floats = -np.log10(above)
    return depth
