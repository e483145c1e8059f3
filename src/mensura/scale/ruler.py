"""The ruler: one success rate, read as level, rarity, percentile or IQ-equivalent, and back.

A rate p is the share of a stated population that succeeds, 0 < p < 1. Every function takes a number or an
array and returns the same shape; each pair is an inverse over the whole open range.

===========  ==============================  =======================
reading      from a rate                     unit
===========  ==============================  =======================
level        log_B(√B / p) or −log_B(p)      steps of a factor B
rarity       1 / p                           people per success
percentile   100 (1 − p)                     percent of people below
IQ           100 + 15 Φ⁻¹(1 − p)             IQ points, sd 15
===========  ==============================  =======================
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike

from mensura.core.arrays import Floats, logit
from mensura.core.errors import MensuraError

Convention: TypeAlias = Literal["adele", "calibrated"]

SMALLEST_RATE = 1e-300
"""Below this a rate is out of range: there is nobody left to compare with, and doubles run out soon after."""

LOWEST_IQ, HIGHEST_IQ = -24.0, 656.0
"""The IQ-equivalents of the largest rate below 1 and of the smallest rate, rounded outwards.

So every IQ in range has a rate below 1, and every rate an IQ in range.
Below about IQ 25 a rate as a double is so near 1 that neighbouring IQs begin to share it.
"""

Side: TypeAlias = Literal["both", "lower", "upper"]
Z90 = 1.6448536269514722
"""Normal quantile at 0.95: 90% lie between -Z90 and Z90."""
_Z90_ONE_SIDE = 1.2815515655446004  # normal quantile at 0.9
_FEWEST = 1e-12  # tries below which nobody tried
_MEAN_IQ, _SD_IQ = 100.0, 15.0  # by the definition of an IQ
_SMALLEST_LOOSE = SMALLEST_RATE * (1.0 - 1e-9)  # so that the readings of the smallest rate lead back to it
_OFFSETS = {"adele": 0.5, "calibrated": 0.0}  # the level at which everybody succeeds
_AT_AN_EDGE = 1e-9  # a rate this near to the lower end of a band is in it
_WHOLE_FROM = 1000.0  # rarities from here are said without a decimal point
_HIGHEST_PERCENTILE = float(np.nextafter(100.0, 0.0))  # so that no rate, however small, gives a percentile of 100


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
    z = Z90 if side == "both" else _Z90_ONE_SIDE
    k, n = np.asarray(right, dtype=float), np.asarray(n, dtype=float)
    with np.errstate(invalid="ignore"):
        half = z * np.sqrt(np.maximum(k * (n - k), 0.0) / np.maximum(n, _FEWEST) + z**2 / 4.0)
    low, high = ((k + z**2 / 2.0 + sign * half) / (n + z**2) for sign in (-1.0, 1.0))
    low = np.where((k <= 0) | (side == "upper"), 0.0, low)
    return low, np.where((k >= n) | (side == "lower"), 1.0, high)


@overload
def rate_to_level(rate: float, base: float = ..., convention: Convention = ...) -> float: ...
@overload
def rate_to_level(rate: ArrayLike, base: float = ..., convention: Convention = ...) -> Floats: ...
def rate_to_level(rate: ArrayLike, base: float = 10.0, convention: Convention = "adele") -> float | Floats:
    """Return the level of a success rate.

    ``adele``: L = log_B(√B / p), so that level 1 is centred on p = 1/√B.
    ``calibrated``: L = −log_B(p), so that level 0 is universal success.
    With base 10 the first is the common empirical level −log10(p / √10).

    Parameters
    ----------
    rate : float or array
        Share of people who succeed, above 0 and at most 1.
    base : float
        Factor by which success falls per level.
    convention : str
        ``adele`` or ``calibrated``.

    Returns
    -------
    float or array
        The level.

    Examples
    --------
    >>> from mensura.scale import rate_to_level
    >>> round(rate_to_level(0.1), 3)
    1.5

    """
    offset, log_base = _offset(convention), np.log(_base(base))
    return _shaped(offset - np.log(_rate(rate)) / log_base)


@overload
def level_to_rate(level: float, base: float = ..., convention: Convention = ...) -> float: ...
@overload
def level_to_rate(level: ArrayLike, base: float = ..., convention: Convention = ...) -> Floats: ...
def level_to_rate(level: ArrayLike, base: float = 10.0, convention: Convention = "adele") -> float | Floats:
    """Return the success rate at a level, the inverse of :func:`rate_to_level`: p = B^(½ − L) or B^(−L).

    Parameters
    ----------
    level : float or array
        The level.
    base : float
        Factor by which success falls per level.
    convention : str
        ``adele`` or ``calibrated``.

    Returns
    -------
    float or array
        The success rate.

    Examples
    --------
    >>> from mensura.scale import level_to_rate
    >>> round(level_to_rate(1.5), 3)
    0.1

    """
    offset, log_base = _offset(convention), float(np.log(_base(base)))
    highest = offset - np.log(_SMALLEST_LOOSE) / log_base
    levels = _within(level, offset, highest, f"level (base {base:g}, {convention})")
    return _shaped(np.exp((offset - levels) * log_base))


@overload
def rate_to_one_in(rate: float) -> float: ...
@overload
def rate_to_one_in(rate: ArrayLike) -> Floats: ...
def rate_to_one_in(rate: ArrayLike) -> float | Floats:
    """Return N of "1 in N people": 1 / p.

    Parameters
    ----------
    rate : float or array
        Share of people who succeed, above 0 and at most 1.

    Returns
    -------
    float or array
        N.

    Examples
    --------
    >>> from mensura.scale import rate_to_one_in
    >>> rate_to_one_in(0.04)
    25.0

    """
    return _shaped(1.0 / _rate(rate))


@overload
def one_in_to_rate(one_in: float) -> float: ...
@overload
def one_in_to_rate(one_in: ArrayLike) -> Floats: ...
def one_in_to_rate(one_in: ArrayLike) -> float | Floats:
    """Return the rate of "1 in N people".

    Parameters
    ----------
    one_in : float or array
        N, at least 1.

    Returns
    -------
    float or array
        The success rate.

    Examples
    --------
    >>> from mensura.scale import one_in_to_rate
    >>> one_in_to_rate(25)
    0.04

    """
    return _shaped(1.0 / _within(one_in, 1.0, 1.0 / _SMALLEST_LOOSE, "one_in"))


@overload
def rate_to_percentile(rate: float) -> float: ...
@overload
def rate_to_percentile(rate: ArrayLike) -> Floats: ...
def rate_to_percentile(rate: ArrayLike) -> float | Floats:
    """Return the percentile: the percent of people who do not succeed, 100 (1 − p).

    A percentile as a double cannot tell rates below about 1e-16 apart; they all read as the number next to 100.

    Parameters
    ----------
    rate : float or array
        Share of people who succeed, above 0 and at most 1.

    Returns
    -------
    float or array
        The percentile, below 100.

    Examples
    --------
    >>> from mensura.scale import rate_to_percentile
    >>> rate_to_percentile(0.25)
    75.0

    """
    return _shaped(np.minimum(100.0 * (1.0 - _rate(rate)), _HIGHEST_PERCENTILE))


@overload
def percentile_to_rate(percentile: float) -> float: ...
@overload
def percentile_to_rate(percentile: ArrayLike) -> Floats: ...
def percentile_to_rate(percentile: ArrayLike) -> float | Floats:
    """Return the success rate at a percentile: 1 − percentile / 100.

    Parameters
    ----------
    percentile : float or array
        From 0 to below 100.

    Returns
    -------
    float or array
        The success rate.

    Examples
    --------
    >>> from mensura.scale import percentile_to_rate
    >>> percentile_to_rate(75)
    0.25

    """
    return _shaped((100.0 - _within(percentile, 0.0, 100.0, "percentile", high_open=True)) / 100.0)


@overload
def rate_to_iq(rate: float) -> float: ...
@overload
def rate_to_iq(rate: ArrayLike) -> Floats: ...
def rate_to_iq(rate: ArrayLike) -> float | Floats:
    """Return the IQ-equivalent 100 + 15 Φ⁻¹(1 − p), computed as 100 − 15 Φ⁻¹(p) to keep small rates exact.

    The standard library computes one rate, because SciPy's functions take a quarter of a second to load.

    Parameters
    ----------
    rate : float or array
        Share of people who succeed, between 0 and 1.

    Returns
    -------
    float or array
        The IQ-equivalent.

    Examples
    --------
    >>> from mensura.scale import rate_to_iq
    >>> round(rate_to_iq(0.0227501), 2)
    130.0

    """
    rates = _rate(rate, one_open=True)
    if np.ndim(rates) == 0:
        from statistics import NormalDist

        return _MEAN_IQ - _SD_IQ * NormalDist().inv_cdf(float(rates))
    from scipy.special import ndtri

    return _shaped(_MEAN_IQ - _SD_IQ * ndtri(rates))


@overload
def iq_to_rate(iq: float) -> float: ...
@overload
def iq_to_rate(iq: ArrayLike) -> Floats: ...
def iq_to_rate(iq: ArrayLike) -> float | Floats:
    """Return the share of people at or above an IQ: Φ((100 − IQ) / 15).

    Of one IQ by the standard library, since loading SciPy's functions takes a quarter of a second.

    Parameters
    ----------
    iq : float or array
        The IQ-equivalent.

    Returns
    -------
    float or array
        The share of people.

    Examples
    --------
    >>> from mensura.scale import iq_to_rate
    >>> round(iq_to_rate(130), 4)
    0.0228

    """
    z = (_MEAN_IQ - _within(iq, LOWEST_IQ, HIGHEST_IQ, "iq")) / _SD_IQ
    if np.ndim(z) == 0:
        return 0.5 * math.erfc(-float(z) / math.sqrt(2))
    from scipy.special import ndtr

    return _shaped(ndtr(z))


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
    _rate(rate)
    step = max(1, math.ceil(-math.log10(rate) - _AT_AN_EDGE))
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
    one_in = rate_to_one_in(rate)
    if tested is not None and one_in > tested:
        return f"at least 1 in {tested:,.0f} tested"
    return f"1 in {one_in:,.3g} people" if one_in < _WHOLE_FROM else f"1 in {one_in:,.0f} people"


def _offset(convention: str) -> float:
    if convention not in _OFFSETS:
        raise MensuraError(f"convention: got {convention!r}; expected one of {', '.join(_OFFSETS)}")
    return _OFFSETS[convention]


def _base(base: float) -> float:
    if not (np.isfinite(base) and base > 1.0):
        raise MensuraError(
            f"base: got {base!r}; expected a number above 1, the factor by which success falls per level"
        )
    return base


def _rate(rate: ArrayLike, *, one_open: bool = False) -> Floats:
    """Check rates; p = 1 (everybody) has a level and a rarity but no IQ-equivalent."""
    return _within(rate, _SMALLEST_LOOSE, 1.0, "rate", high_open=one_open)


def _within(values: ArrayLike, low: float, high: float, name: str, *, high_open: bool = False) -> Floats:
    """Return the values as floats, or name the first one outside low ≤ value ≤ high (< high if open)."""
    array = np.asarray(values, dtype=np.float64)
    good = (array >= low) & (array < high if high_open else array <= high)
    if not np.all(good):
        first = float(np.atleast_1d(array)[~np.atleast_1d(good)][0])
        ends = f"from {low:g} to {'below ' if high_open else ''}{high:g}"
        raise MensuraError(f"{name}: got {first:g}; expected a number {ends}{_hint(name, first)}")
    return array


def _hint(name: str, value: float) -> str:
    if name == "rate" and 1.0 < value <= 100.0:
        return f" (is it a percentage? {value:g}% is {value / 100:g})"
    if name == "rate" and value == 0.0:
        return " (nobody succeeded: give an upper bound such as 3/n instead)"
    return ""


def _shaped(array: Floats) -> float | Floats:
    return float(array) if np.ndim(array) == 0 else array


# From a score to the stitched scale: the capability at which a benchmark's curve gives that score.

EDGE_SHARE = 0.01
"""A score nearer than this share of the range to chance or ceiling only bounds the capability; it is read from here."""


def share_above_chance(score: ArrayLike, chance: ArrayLike = 0.0, ceiling: ArrayLike = 1.0) -> Floats:
    """Return which share of the way from chance to ceiling a score has gone.

    Parameters
    ----------
    score, chance, ceiling : float or array
        The score, that of guessing, and the best one.

    Returns
    -------
    array
        The share; below 0 where guessing does better.

    Examples
    --------
    >>> from mensura.scale import share_above_chance
    >>> float(share_above_chance(0.625, chance=0.25))
    0.5

    """
    low, high = np.asarray(chance, dtype=float), np.asarray(ceiling, dtype=float)
    return np.asarray((np.asarray(score, dtype=float) - low) / (high - low))


def score_to_capability(
    score: ArrayLike, difficulty: ArrayLike, slope: ArrayLike, chance: ArrayLike = 0.0, ceiling: ArrayLike = 1.0
) -> Floats:
    """Return the capability at which a benchmark's curve gives a score.

    Parameters
    ----------
    score : float or array
        Scores; at or below chance, or at the ceiling, they are read at 1% and 99% of the range.
    difficulty, slope, chance, ceiling : float or array
        The curve chance + (ceiling − chance) · σ(slope · (C − difficulty)).

    Returns
    -------
    array
        C.

    Examples
    --------
    >>> from mensura.scale import score_to_capability
    >>> float(score_to_capability(0.5, difficulty=1.2, slope=2.0))
    1.2

    """
    share = np.clip(share_above_chance(score, chance, ceiling), EDGE_SHARE, 1 - EDGE_SHARE)
    return np.asarray(np.asarray(difficulty, dtype=float) + logit(share) / np.asarray(slope, dtype=float))
