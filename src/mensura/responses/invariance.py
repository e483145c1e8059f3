"""Test whether all items together behave alike for two groups, such as people and models.

Only then has a percentile among people a meaning. Each item's difference between the groups (in logits, at equal
ability) is estimated with an error. The differences themselves are taken as normal with standard deviation τ, found by
likelihood: d_i ~ N(μ, τ² + se_i²). With τ = 0 one scale serves both groups. Difficulties of spread σ then agree between
the groups by √(σ² / (σ² + τ²)).
"""

from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.special import chdtrc, chdtri, ndtr

from mensura.core.arrays import Floats
from mensura.core.errors import counted
from mensura.responses.irt.differences import LARGE

LARGEST_SPREAD = 0.5
"""Spread of the differences, in logits, above which nobody is placed among the other group: one item in five is then
easier or harder by 0.64 logits, which testing services call large."""
FEWEST_ITEMS = 5
LARGEST_ERROR = 1.0
"""Differences with a larger standard error tell nothing: all or none of a group were right."""
SURELY = 0.05
"""Chance of such differences, if items behave alike, below which they count as found."""
ENOUGH_POWER = 0.8
"""Chance to find differences of the largest spread, from which finding none shows that items behave alike."""
_SPREADS = np.linspace(0.0, 5.0, 501)
_CUT = 2.706 / 2
"""Fall of the log-likelihood at the ends of a 90% interval."""


class Invariance(NamedTuple):
    """How far items behave alike for a group and a reference.

    Attributes
    ----------
    group, reference
        Who is compared.
    items
        How many items were compared.
    spread, low, high
        Standard deviation of the items' differences in logits, freed of their errors, with its 90% interval.
    beyond
        Share of items that differ by more than 0.64 logits, if differences are normal.
    agreement
        Correlation of the items' difficulties between the groups, freed of errors. 1: one dimension serves both.
    p
        Chance of differences so large if items behave alike.
    verdict
        ``alike``, ``different`` (beyond the stated size) or ``open``: the answers cannot tell.
    power
        Chance that these answers show differences that spread by 0.5 logits, at a level of 5%.

    """

    group: str
    reference: str
    items: int
    spread: float
    low: float
    high: float
    beyond: float
    agreement: float
    p: float
    verdict: str
    power: float

    @property
    def sentence(self) -> str:
        """The result in words."""
        spread = f"{self.spread:.2f} logits ({self.low:.2f} to {self.high:.2f}, 90%) over {counted(self.items, 'item')}"
        who = f"{self.group} and {self.reference}"
        if np.isnan(self.spread):
            return f"whether items behave alike for {who} is untested: {FEWEST_ITEMS} items with errors are needed"
        if self.verdict == "different":
            return (
                f"items behave differently for {who}: differences spread by {spread}, more than {LARGEST_SPREAD}; "
                f"about {self.beyond:.0%} of items differ by {LARGE} or more. Two dimensions, not one: "
                f"no rarity, percentile or IQ of {self.group} is printed"
            )
        if self.verdict == "alike":
            return f"items behave alike for {who}: differences spread by {spread}, at most {LARGEST_SPREAD}"
        return (
            f"whether items behave alike for {who} cannot be told: differences spread by {spread}, and a spread of "
            f"{LARGEST_SPREAD} would be found with a power of {self.power:.0%}; ask more of them"
        )


def check_invariance(differences: pl.DataFrame, difficulty: Floats | None = None) -> Invariance:
    """Test whether items behave alike for two groups.

    Parameters
    ----------
    differences
        item, difference (logits), se and, where known, group and reference: rows of ``dif`` of a fit, one per item.
    difficulty
        Difficulties of the same items in logits, for the agreement.

    Returns
    -------
    Invariance
        Spread of the differences with its interval, share of large ones, agreement and verdict.

    Examples
    --------
    >>> import polars as pl
    >>> from mensura.responses import check_invariance
    >>> table = pl.DataFrame({"item": list("abcdef"), "difference": [2.0, -2.0, 1.5, -1.5, 1.0, -1.0], "se": [0.1] * 6})
    >>> check_invariance(table).verdict
    'different'

    """
    kept = pl.col("se").is_between(0, LARGEST_ERROR, closed="right").fill_null(value=False)
    table = differences.filter(kept)
    d, variance = table["difference"].to_numpy(), table["se"].to_numpy() ** 2
    who = [str(table[name][0]) if name in table.columns and table.height else name for name in ("group", "reference")]
    if table.height < FEWEST_ITEMS:
        nan = float("nan")
        return Invariance(who[0], who[1], table.height, nan, nan, nan, nan, nan, nan, "open", nan)
    total = variance + _SPREADS[:, None] ** 2
    mean = (d / total).sum(axis=1) / (1.0 / total).sum(axis=1)
    likely = -0.5 * (np.log(total) + (d - mean[:, None]) ** 2 / total).sum(axis=1)
    likely -= 0.5 * np.log((1.0 / total).sum(axis=1))
    best = int(np.argmax(likely))
    inside = _SPREADS[likely >= likely[best] - _CUT]
    spread, low, high = float(_SPREADS[best]), float(inside[0]), float(inside[-1])
    p = float(chdtrc(table.height - 1, ((d - mean[0]) ** 2 / variance).sum()))
    agreement = float("nan")
    if difficulty is not None and spread + difficulty.std() > 0:
        agreement = float(difficulty.std() / np.hypot(difficulty.std(), spread))
    power = _power(variance)
    # p of 1: errors too large
    verdict = "alike" if high <= LARGEST_SPREAD and power >= ENOUGH_POWER and p < 1.0 - SURELY / 100 else "open"
    if spread > LARGEST_SPREAD and p < SURELY:
        verdict = "different"
    beyond = float(2.0 * ndtr(-LARGE / spread)) if spread else 0.0
    return Invariance(who[0], who[1], table.height, spread, low, high, beyond, agreement, p, verdict, power)


def _power(variance: Floats) -> float:
    """Return the chance that differences of the largest spread and such errors are found (moments of Cochran's Q)."""
    free, square = len(variance) - 1, LARGEST_SPREAD**2
    one, two, three = (float(np.sum((1.0 / variance) ** power)) for power in (1, 2, 3))
    mean = free + square * (one - two / one)
    spread = 2.0 * (2.0 * mean - free + square**2 * (two - 2.0 * three / one + (two / one) ** 2))
    return float(chdtrc(2.0 * mean**2 / spread, float(chdtri(free, SURELY)) * 2.0 * mean / spread))
