"""Each method's 90% intervals contain 90% of simulated truths, and wider, narrower or foreign intervals do not.

Every method predicts twice: in a world drawn from its own assumptions, and in one where items and groups differ more
than it assumes.
"""

import numpy as np
import pytest

from mensura.core.arrays import logit
from mensura.extrapolation import METHODS, make_method
from tests.extrapolation.simulations import KNOWN, RIVALS, SIMULATIONS, rival_settings

pytestmark = pytest.mark.slow

RIGHT, TOLERABLE = (0.84, 0.96), (0.80, 0.97)
"""Shares of truths that 90% intervals may contain: under the method's own assumptions, and in the other world."""
MORE = 1.15
"""Factor by which standard deviations exceed the method's assumptions in the other world."""


def reaches(group, method):
    """Return a method's rates in logits, and how far its intervals go down and up from them."""
    found = method.predict(group.task)
    low, rate, high = (logit(np.clip(part[0], 1e-6, 1 - 1e-6)) for part in (found.low, found.rate, found.high))
    return rate, low - rate, high - rate


def coverage(groups, predicted, reached, width=1.0):
    """Return the share of hidden truths within ``reached`` of the ``predicted`` rates, the groups counting alike."""
    inside = []
    for group, (rate, _, _), (_, down, up) in zip(groups, predicted, reached, strict=True):
        truth = logit(group.truth)
        contained = (rate + width * down <= truth) & (truth <= rate + width * up)
        inside.append(contained[group.hidden].mean())
    return float(np.mean(inside))


@pytest.mark.parametrize("name", METHODS)
def test_intervals_contain_the_truth_as_often_as_they_say(name):
    own, spread = (list(SIMULATIONS[name](factor)) for factor in (1.0, MORE))

    def predicted(groups, method, settings):
        return [reaches(group, make_method(method, **group.settings, **settings)) for group in groups]

    found = predicted(own, name, KNOWN.get(name, {}))
    assert RIGHT[0] < coverage(own, found, found) < RIGHT[1]
    for width in (0.5, 2.0):
        assert not RIGHT[0] < coverage(own, found, found, width) < RIGHT[1], f"intervals of {width} times the width"
    for rival in RIVALS[name]:
        foreign = predicted(own, rival, rival_settings(name, rival))
        assert not RIGHT[0] < coverage(own, found, foreign) < RIGHT[1], f"intervals of {rival}"
    other = predicted(spread, name, KNOWN.get(name, {}))
    assert TOLERABLE[0] < coverage(spread, other, other) < TOLERABLE[1]
