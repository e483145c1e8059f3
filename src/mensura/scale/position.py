"""A position on the ruler: a success rate with its interval, read in any unit, and the one interval of a rate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.scale import ruler
from mensura.scale.calibration import LevelLine

_AT_AN_EDGE = 1e-9  # a rate this near to the lower end of a band is in it
_WHOLE_FROM = 1000.0  # rarities from here are said without a decimal point

Side: TypeAlias = Literal["both", "lower", "upper"]
_Z90_ONE_SIDE = 1.2815515655446004  # normal quantile at 0.9
_FEWEST = 1e-12  # tries below which nobody tried


class Reading(NamedTuple):
    """A value with its interval; ``low`` and ``high`` are None where no interval was given."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Position:
    """A place on the human ruler: the share of the population that succeeds, with an optional interval.

    >>> Position(0.038).one_in.value
    26.31578947368421
    >>> Position.from_iq(130, low=125, high=135).rate.high  # an IQ of 125 is the larger rate
    0.04779035227281475
    """

    p: float
    p_low: float | None = None
    p_high: float | None = None

    def __post_init__(self) -> None:
        for rate in (self.p, self.p_low, self.p_high):
            if rate is not None:
                ruler.rate_to_one_in(rate)
        if (self.p_low is None) != (self.p_high is None):
            raise MensuraError("interval: got one end only; give both low and high, or neither")
        if self.p_low is not None and self.p_high is not None and not self.p_low <= self.p <= self.p_high:
            raise MensuraError(
                f"interval: rate {self.p:g} lies outside {self.p_low:g} to {self.p_high:g}; expected low ≤ rate ≤ high"
            )

    @classmethod
    def _from(cls, to_rate: Callable[[float], float], value: float, low: float | None, high: float | None) -> Position:
        """Read rates off another unit, in which larger means rarer: the ends change places."""
        if low is not None and high is not None and low > high:
            raise MensuraError(f"interval: low {low:g} is above high {high:g}; expected low ≤ high")
        return cls(to_rate(value), None if high is None else to_rate(high), None if low is None else to_rate(low))

    @classmethod
    def from_level(
        cls,
        level: float,
        low: float | None = None,
        high: float | None = None,
        *,
        base: float = 10.0,
        convention: ruler.Convention = "adele",
    ) -> Position:
        """Read a position off a level of a scale with the given base."""
        return cls._from(lambda value: ruler.level_to_rate(value, base, convention), level, low, high)

    @classmethod
    def from_dimension(
        cls, line: LevelLine, level: float, low: float | None = None, high: float | None = None
    ) -> Position:
        """Read a position off an annotated level of a calibrated dimension."""
        return cls._from(lambda value: float(line.rate(value)), level, low, high)

    @classmethod
    def from_one_in(cls, one_in: float, low: float | None = None, high: float | None = None) -> Position:
        """Read a position off a rarity, "1 in N people"."""
        return cls._from(ruler.one_in_to_rate, one_in, low, high)

    @classmethod
    def from_percentile(cls, percentile: float, low: float | None = None, high: float | None = None) -> Position:
        """Read a position off a percentile."""
        return cls._from(ruler.percentile_to_rate, percentile, low, high)

    @classmethod
    def from_iq(cls, iq: float, low: float | None = None, high: float | None = None) -> Position:
        """Read a position off an IQ-equivalent."""
        return cls._from(ruler.iq_to_rate, iq, low, high)

    def _read(self, from_rate: Callable[[float], float]) -> Reading:
        if self.p_low is None or self.p_high is None:
            return Reading(from_rate(self.p))
        return Reading(from_rate(self.p), from_rate(self.p_high), from_rate(self.p_low))

    @property
    def rate(self) -> Reading:
        """The success rate itself."""
        return Reading(self.p, self.p_low, self.p_high)

    @property
    def one_in(self) -> Reading:
        """Rarity: one in so many people succeeds."""
        return self._read(ruler.rate_to_one_in)

    @property
    def percentile(self) -> Reading:
        """Percent of people who do not succeed."""
        return self._read(ruler.rate_to_percentile)

    @property
    def iq(self) -> Reading:
        """IQ-equivalent, mean 100 and standard deviation 15 in the stated population."""
        return self._read(ruler.rate_to_iq)

    def level(self, base: float = 10.0, convention: ruler.Convention = "adele") -> Reading:
        """Level on a scale with the given base."""
        return self._read(lambda rate: ruler.rate_to_level(rate, base, convention))

    def annotated_level(self, line: LevelLine) -> Reading:
        """Annotated level of a calibrated dimension that a person in this position just meets."""
        return self._read(lambda rate: float(line.level(rate)))


def rate_interval(right: ArrayLike, n: ArrayLike, side: Side = "both") -> tuple[Floats, Floats]:
    """Return the 90% interval of a rate (Wilson's), also where all tries or none succeeded.

    Every interval of a rate in Mensura comes from here. An end is the rate from which the observed share lies 1.645
    standard errors away.

    Parameters
    ----------
    right, n : float or array
        Successes and tries; they need not be whole, as with weighted answers.
    side : {"both", "lower", "upper"}
        "lower" and "upper" bound the rate from one side only, with the same 90%; the other end is then 1 or 0.

    Returns
    -------
    tuple of arrays
        Ends of the interval, 0 and 1 where nobody tried.

    References
    ----------
    L. D. Brown, T. T. Cai and A. DasGupta, Interval estimation for a binomial proportion, Statistical Science 16
    (2001) 101-133.

    Examples
    --------
    >>> from mensura.scale import rate_interval
    >>> [round(float(end), 2) for end in rate_interval(7, 10)]
    [0.44, 0.87]
    >>> [round(float(end), 3) for end in rate_interval(70, 70)]
    [0.963, 1.0]

    """
    z = ruler.Z90 if side == "both" else _Z90_ONE_SIDE
    k, n = np.asarray(right, dtype=float), np.asarray(n, dtype=float)
    with np.errstate(invalid="ignore"):
        half = z * np.sqrt(np.maximum(k * (n - k), 0.0) / np.maximum(n, _FEWEST) + z**2 / 4.0)
    low, high = ((k + z**2 / 2.0 + sign * half) / (n + z**2) for sign in (-1.0, 1.0))
    low = np.where((k <= 0) | (side == "upper"), 0.0, low)
    return low, np.where((k >= n) | (side == "lower"), 1.0, high)


def band_of(rate: float) -> str:
    """Return the band of the common base-10 scale that a rate is in: level 1 is 10–100% of people, and so on.

    Parameters
    ----------
    rate : float
        Success rate.

    Returns
    -------
    str
        The band, in percent of people.

    Examples
    --------
    >>> from mensura.scale import band_of
    >>> band_of(0.038)
    '1–10%'

    """
    step = max(1, math.ceil(math.log10(ruler.rate_to_one_in(rate)) - _AT_AN_EDGE))
    low, high = (f"{100 * 10.0**-power:.12g}" for power in (step, step - 1))
    return f"{low}–{high}%"


def say_rarity(rate: float, tested: float | None = None) -> str:
    """Say a rarity in words, cut at what the data can tell.

    Parameters
    ----------
    rate : float
        Success rate.
    tested : float, optional
        People that the rate rests on. Where fewer than one of them would succeed, nobody can know how rare it is, only
        that it is at least so rare.

    Returns
    -------
    str
        The rarity.

    Examples
    --------
    >>> from mensura.scale import say_rarity
    >>> say_rarity(0.04)
    '1 in 25 people'
    >>> say_rarity(1.5e-7, tested=142)
    'at least 1 in 142 tested'

    """
    one_in = ruler.rate_to_one_in(rate)
    if tested is not None and one_in > tested:
        return f"at least 1 in {tested:,.0f} tested"
    return f"1 in {one_in:,.3g} people" if one_in < _WHOLE_FROM else f"1 in {one_in:,.0f} people"
