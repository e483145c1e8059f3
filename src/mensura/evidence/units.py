"""Units of scores, converted once: at the edge where evidence is loaded."""

from __future__ import annotations

from itertools import permutations

import polars as pl

RATE_UNITS = {"percent": 100.0, "fraction": 1.0}
"""Units that say a share, with the score of somebody who gets everything right."""

_FACTORS = {(unit, to): RATE_UNITS[to] / RATE_UNITS[unit] for unit, to in permutations(RATE_UNITS, 2)}


def convertible(unit: str, to: str) -> bool:
    """Say whether a score in ``unit`` can be expressed in ``to``."""
    return unit == to or (unit, to) in _FACTORS


def convert(score: pl.Expr, unit: pl.Expr, to: pl.Expr) -> pl.Expr:
    """Return scores in the unit ``to``; rounding takes away only what the factor 100 adds (12 digits)."""
    converted = score
    for (source, target), factor in _FACTORS.items():
        changed = (score * factor).round(12)
        converted = pl.when((unit == source) & (to == target)).then(changed).otherwise(converted)
    return converted
