"""How every number of the pages is written: one rule per unit, in one place.

Percent have at most one decimal, a fraction is shown as percent, Elo and IQ are whole, an index has one decimal,
dollars have cents below 100 and three digits below 1, a capability two decimals. A minus is a minus sign and never
stands before a zero.
"""

import math
import re
from collections.abc import Sequence
from datetime import date

from mensura.scale.ranking import say_chance

WORLD_POPULATION = 8.2e9
"""People alive (United Nations, mid-2025, rounded): a rarity beyond it names nobody."""
NOTHING = "–"
_CENTS_BELOW = 100.0
"""Dollars from which cents say nothing."""
_DAY = re.compile(r"(?<![^ (])\d{4}-\d\d(?:-\d\d)?(?=$|[,;.)<])")
"""A date in words; one in the name of a model stays."""
_DIGITS = {"percent": 1, "fraction": 1, "elo": 0, "index": 1, "composite": 1, "iq": 0, "capability": 2, "seconds": 0}
_SUFFIX = {"percent": "%", "fraction": "%", "elo": " Elo", "seconds": " s"}
_WHOLE = {"percent", "fraction", "index", "composite"}
"""Units whose trailing zero says nothing: 87%, not 87.0%."""


def show(value: float | None, unit: str) -> str:
    """Return a value as people write it in its unit; an unknown unit gets three significant digits."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if unit == "dollars":
        return dollars(value)
    if unit == "chance":
        return chance(value)
    scaled = factor(unit) * value
    if unit not in _DIGITS:
        return _signed(f"{scaled:.3g}")
    text = f"{scaled:,.{_DIGITS[unit]}f}"
    if unit in _WHOLE and "." in text:
        text = text.rstrip("0").rstrip(".")
    return _signed(text) + _SUFFIX.get(unit, "")


def show_range(low: float | None, high: float | None, unit: str) -> str:
    """Return "64% to 77%" for a known interval, nothing for an unknown one."""
    if low is None or high is None:
        return ""
    first, last = show(low, unit), show(high, unit)
    return first if first == last else f"{first} to {last}"


def show_column(values: Sequence[float | None]) -> list[str]:
    """Return the numbers of one column with the decimals that give its largest four digits: 136.9 above 140.0.

    Where that would hide the smallest (a column over many powers of ten), each gets four digits of its own.
    """
    sizes = [abs(value) for value in values if value is not None and math.isfinite(value) and value != 0]
    places = max(0, 3 - math.floor(math.log10(max(sizes)))) if sizes else 0
    form = ".4g" if sizes and min(sizes) < 10.0**-places else f".{places}f"
    return [NOTHING if value is None or not math.isfinite(value) else _signed(format(value, form)) for value in values]


def digits(value: float | None) -> str:
    """Return a number for programs to sort by: six significant digits, which no rounding of the last bits reaches."""
    return "" if value is None or not math.isfinite(value) else f"{value:.6g}"


def dollars(value: float | None) -> str:
    """Return an amount with cents below $100, three digits below $1: $0.435, $28.37, $60, $1,234."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if value == 0:
        return "$0"
    size = abs(value)
    places = max(2, 2 - math.floor(math.log10(size))) if size < _CENTS_BELOW else 0
    text = f"{size:,.{places}f}"
    whole, _, cents = text.partition(".")
    cents = cents.rstrip("0")
    return ("−" if value < 0 else "") + "$" + (f"{whole}.{cents.ljust(2, '0')}" if cents else whole)


def say_day(words: object) -> str:
    """Return words with their dates as people write them: 10 October 2026, October 2026. Impossible dates stay."""
    return _DAY.sub(_spelled, str(words))


def _spelled(day: re.Match[str]) -> str:
    try:
        written = date.fromisoformat(f"{day[0]}-01"[:10])
    except ValueError:
        return day[0]
    return f"{written:%B %Y}" if len(day[0]) < len("2026-10-10") else f"{written.day} {written:%B %Y}"


def chance(value: float | None) -> str:
    """Return a probability as whole percent, its ends as bounds: draws do not reach 0 and 1."""
    if value is None or not math.isfinite(value):
        return NOTHING
    return say_chance(value)


def rarity(one_in: float | None) -> str:
    """Return "1 in 44 people"; what is rarer than anybody alive says so."""
    if one_in is None or not math.isfinite(one_in):
        return NOTHING
    if one_in > WORLD_POPULATION:
        return "rarer than 1 in all people alive"
    digits = max(0, 2 - math.floor(math.log10(max(one_in, 1.0))))
    rounded = round(one_in, 2 - math.floor(math.log10(max(one_in, 1.0)))) if one_in >= 1000 else one_in
    text = f"{rounded:,.{digits if one_in < 10 else 0}f}"
    return f"1 in {text.rstrip('0').rstrip('.') if '.' in text else text} people"


def factor(unit: str) -> float:
    """Return what a value is multiplied by where it is shown: a fraction becomes percent."""
    return 100.0 if unit == "fraction" else 1.0


def unit_name(unit: str) -> str:
    """Return the name of a unit for an axis or a table head."""
    return {"fraction": "percent", "elo": "Elo", "iq": "IQ"}.get(unit, unit)


def _signed(text: str) -> str:
    """Return the number with a minus sign, and a zero without one."""
    if text.startswith("-"):
        return text[1:] if not any(digit in text for digit in "123456789") else "−" + text[1:]
    return text
