"""The metric in which gaps are filled: scores as log odds, where equal steps mean about the same at any height.

A score becomes a success rate (percent and fraction as they are; an index from −100 to 100 by its position in that
range; Elo as the expected win rate against the median model), the rate is moved a little inwards, as by half an answer
in a hundred, and log odds are taken. The way back is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mensura.core.arrays import Floats, expit, logit
from mensura.core.errors import MensuraError

_ELO_UNIT = 400 / np.log(10)  # Elo points per logit of the expected win rate
_ANSWERS = 100.0  # the size of test on which half an answer is added on either side
_SIZES = {"percent": (0.0, 100.0), "fraction": (0.0, 1.0), "index": (-100.0, 100.0)}
UNITS = ("elo", *_SIZES)
"""Units of which log odds can be taken."""


@dataclass(frozen=True)
class Metric:
    """One benchmark's way from score to log odds and back; ``middle`` is the Elo of the fixed opponent."""

    unit: str
    middle: float = 0.0

    @classmethod
    def of(cls, unit: str, scores: Floats, middle: float = 0.0) -> Metric:
        """Return the metric of a benchmark in this unit; for Elo the median score, else ``middle``."""
        if unit == "elo":
            return cls(unit, float(np.nanmedian(scores)) if np.isfinite(scores).any() else middle)
        if unit not in _SIZES:
            raise MensuraError(f"unit: no log odds of scores in {unit!r}; expected elo, {', '.join(_SIZES)}")
        return cls(unit)

    def log_odds(self, score: Floats) -> Floats:
        """Return scores as log odds; NaN stays NaN."""
        if self.unit == "elo":
            return np.asarray((score - self.middle) / _ELO_UNIT)
        return logit((_ANSWERS * self.rate(score) + 0.5) / (_ANSWERS + 1))

    def rate(self, score: Floats) -> Floats:
        """Return scores as success rates; NaN stays NaN."""
        if self.unit == "elo":
            return expit(self.log_odds(score))
        low, high = _SIZES[self.unit]
        return np.asarray(np.clip((score - low) / (high - low), 0.0, 1.0))

    def score_of_rate(self, rate: Floats) -> Floats:
        """Return success rates as scores; of Elo, which has no ends, the rates 0 and 1 are infinite."""
        if self.unit == "elo":
            return np.asarray(np.where(rate > 0, np.inf, -np.inf))
        low, high = _SIZES[self.unit]
        return np.asarray(low + (high - low) * rate)

    def score(self, log_odds: Floats) -> Floats:
        """Return log odds as scores, within the unit's range."""
        if self.unit == "elo":
            return np.asarray(self.middle + _ELO_UNIT * log_odds)
        low, high = _SIZES[self.unit]
        rate = ((_ANSWERS + 1) * expit(log_odds) - 0.5) / _ANSWERS
        return np.asarray(low + (high - low) * np.clip(rate, 0.0, 1.0))
