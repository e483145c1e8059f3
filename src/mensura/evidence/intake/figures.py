"""Figures as people write them: percent signs, decimal commas, errors behind them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_NUMBER = re.compile(
    r"(?P<sign>[-−+]?)(?P<digits>\d[\d ,.']*\d|\d|\.\d+|\d+\.)(?P<exponent>[eE][-+]?\d+)?\s*(?P<percent>%?)"
    r"\s*(?:(?:±|\+/-|\+-)\s*[\d.,]+\s*%?|\(\s*±?\s*[\d.,]+\s*%?\s*\))?"
)
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:([ ,'.])\d{3})(?:\1\d{3})*")


class WrittenFigure(NamedTuple):
    """One figure: its value, and whether it carries a percent sign."""

    value: float
    percent: bool


def read_figure(text: str, *, decimal_comma: bool = False) -> WrittenFigure | None:
    """Return the figure a cell holds, None where it holds none; an error behind it (``70.4 ± 1.2``) is left out."""
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        return None
    digits = _plain_digits(found["digits"], decimal_comma=decimal_comma)
    if digits is None:
        return None
    sign = "-" if found["sign"] in ("-", "−") else ""
    return WrittenFigure(float(f"{sign}{digits}{found['exponent'] or ''}"), bool(found["percent"]))


def _plain_digits(digits: str, *, decimal_comma: bool) -> str | None:
    """Return digits with a decimal point and nothing else, or None where they can be read in two ways."""
    if "," in digits and "." in digits:
        last = max(digits.rfind(","), digits.rfind("."))
        other = "," if digits[last] == "." else "."
        head, tail = digits[:last].replace(other, ""), digits[last + 1 :]
        return f"{head}.{tail}" if head.isdigit() and tail.isdigit() else None
    bare = digits.replace(" ", "").replace("'", "")
    if bare != digits and not _THOUSANDS.fullmatch(re.sub(r"[.,]\d*$", "", digits)):
        return None  # "70 4": two figures, or one with its point lost
    if "," in bare:
        if decimal_comma or not _THOUSANDS.fullmatch(digits):
            return bare.replace(",", ".") if bare.count(",") == 1 else None
        return bare.replace(",", "")
    return bare if bare.count(".") <= 1 else None


def uses_decimal_commas(cells: Iterable[str | None]) -> bool:
    """Return whether figures have decimal commas: some comma cannot part thousands, and no point is written."""
    written = [cell for cell in cells if cell]
    points = any("." in cell for cell in written)
    commas = any(re.fullmatch(r"[-−+]?\d+,(?:\d{1,2}|\d{4,})\s*%?", cell.strip()) for cell in written)
    return commas and not points
