"""What may be said of a base: one of the published classes, or that the items do not identify it, and why."""

from __future__ import annotations

import math

from mensura.scale import scaling_of

FEWEST_LEVELS, FEWEST_PER_LEVEL = 3, 3
"""Levels a line needs, and items that make a level count: through two points any line fits."""
FEWEST_ITEMS = 20
"""Items that must differ from the commonest level of a dimension."""
WIDEST = 1.0
"""Widest interval of log10 base: beyond a factor of ten between its ends a base says nothing of use."""
NEGATIVE = "negative slope"
UNKNOWN = "not identified"


def judge_means(slope: float, levels: int) -> str:
    """Return the verdict of the published procedure, which asks for nothing but a rising line."""
    if levels < 2 or math.isnan(slope):
        return f"{UNKNOWN}: one level only" if levels == 1 else f"{UNKNOWN}: no items"
    return NEGATIVE if slope < 0 else scaling_of(10.0**slope)


def judge(base: float, low: float, high: float, levels: int, varied: int) -> str:
    """Return the verdict of a base with its interval; ``varied``: items apart from the commonest level."""
    if levels < FEWEST_LEVELS:
        return f"{UNKNOWN}: {levels} level{'s' if levels != 1 else ''} with {FEWEST_PER_LEVEL} items or more"
    if varied < FEWEST_ITEMS:
        return f"{UNKNOWN}: {varied} items apart from the commonest level"
    if high < 1.0:
        return NEGATIVE
    if low <= 1.0:
        return f"{UNKNOWN}: interval spans 1"
    if math.log10(high / low) > WIDEST:
        return f"{UNKNOWN}: interval wider than a factor of ten"
    return scaling_of(base)
