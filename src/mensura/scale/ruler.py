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

import math
from typing import Literal, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError, check_choice

Convention: TypeAlias = Literal["adele", "calibrated"]

SMALLEST_RATE = 1e-300
"""Below this a rate is out of range: there is nobody left to compare with, and doubles run out soon after."""

LOWEST_IQ, HIGHEST_IQ = -24.0, 656.0
"""The IQ-equivalents of the largest rate below 1 and of the smallest rate, rounded outwards.

So every IQ in range has a rate below 1, and every rate an IQ in range.
Below about IQ 25 a rate as a double is so near 1 that neighbouring IQs begin to share it.
"""

Z90 = 1.6448536269514722
"""Normal quantile at 0.95: 90% lie between -Z90 and Z90."""
_MEAN_IQ, _SD_IQ = 100.0, 15.0  # by the definition of an IQ
_SMALLEST_LOOSE = SMALLEST_RATE * (1.0 - 1e-9)  # so that the readings of the smallest rate lead back to it
_OFFSETS = {"adele": 0.5, "calibrated": 0.0}  # the level at which everybody succeeds
_HIGHEST_PERCENTILE = float(np.nextafter(100.0, 0.0))  # so that no rate, however small, gives a percentile of 100


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


def _offset(convention: str) -> float:
    check_choice("convention", convention, _OFFSETS)
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
