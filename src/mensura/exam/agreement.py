"""Do models fail where people fail? Agreement of right and wrong answers beyond what the two rates alone give."""

from __future__ import annotations

import numpy as np

from mensura.core.arrays import Floats, Mask, just_below

HALF = 0.5


def error_agreement(score: Floats, taken: Mask, people: Floats, given: Mask) -> float:
    """Return Cohen's kappa of one taker with people, over all their common items; not a number without any.

    ``score`` and ``taken`` are over items, ``people`` and ``given`` persons × items. 0: errors fall independently. 1:
    the taker and people err on exactly the same items.
    """
    both = given & taken
    right, own = people >= HALF, score >= HALF
    counts = both.sum(axis=1)
    some = counts > 0
    if not some.any():
        return float("nan")
    same = ((right == own) & both).sum(axis=1)[some] / counts[some]
    theirs = (right & both).sum(axis=1)[some] / counts[some]
    ours = (own & both).sum(axis=1)[some] / counts[some]
    chance = theirs * ours + (1.0 - theirs) * (1.0 - ours)
    weight = counts[some] / counts[some].sum()
    expected = float(weight @ chance)
    return float("nan") if expected >= just_below(1.0) else float((weight @ same - expected) / (1.0 - expected))


def agreement_among(people: Floats, given: Mask) -> float:
    """Return the mean kappa of each person with all others: what a model's agreement is compared with."""
    found = [
        error_agreement(people[row], given[row], np.delete(people, row, axis=0), np.delete(given, row, axis=0))
        for row in range(len(people))
    ]
    known = [value for value in found if np.isfinite(value)]
    return float(np.mean(known)) if known else float("nan")
