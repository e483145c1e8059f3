"""The shape of the curve: whether success on the benchmarks rises once, or in two steps with a plateau between them.

A test of easy and hard questions with few between them is passed twice: half of it early, the other half late. Read
with a curve that rises once, the scale bends: subjects on the plateau draw together. So the fit by capability alone is
made with both curves. The one with two steps is taken only where it explains the scores far better.
"""

from __future__ import annotations

from dataclasses import replace

from mensura.core.arrays import Floats, Mask
from mensura.stitching.floors import Asymptotes, estimate_asymptotes
from mensura.stitching.posterior import Cells

STEPS = (2.5, 4.0)
"""Distances of the two steps from the middle of the curve, in logits, that are tried."""
LEAST_GAIN = 10.0
"""Gain in the evidence from which two steps are taken: odds of more than 20,000 to 1."""


def choose_curve(
    cells: Cells, unknown: Mask, unknown_ceiling: Mask, pooling: float, shares: Floats
) -> tuple[float, Asymptotes]:
    """Return the step of the curve that explains the scores best, with the floors and ceilings found for it.

    A curve of two steps that explains less at the start, floors and ceilings not yet settled, is not followed further.
    """
    best, found = 0.0, estimate_asymptotes(cells, unknown, unknown_ceiling, pooling, shares)
    if cells.right_or_wrong:
        return best, found
    first = estimate_asymptotes(cells, unknown, unknown_ceiling, pooling, shares, rounds=1)
    least = found.explained + LEAST_GAIN
    for step in STEPS:
        other = replace(cells, step=step)
        begun = estimate_asymptotes(other, unknown, unknown_ceiling, pooling, shares, rounds=1)
        if begun.explained < first.explained:
            continue
        end = estimate_asymptotes(other, unknown, unknown_ceiling, pooling, shares)
        if end.explained > least:
            best, found, least = step, end, end.explained
    return best, found
