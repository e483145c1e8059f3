"""Numbers as people write them: 1,234.5 and 0,5 and 3/4 and 50%."""

from __future__ import annotations

import re

_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_COMMA = re.compile(r"[+-]?\d*,\d+")
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", re.IGNORECASE)
_FRACTION = re.compile(r"([+-]?\d{1,15})/(\d{1,15})")
_LONGEST = 60


def read_number(text: str) -> float | None:
    """Return the number that a text is, None where it is none; a percent sign after it does not count."""
    text = text.strip().replace("\u2212", "-").replace("\u00a0", " ")[: _LONGEST + 1]
    text = re.sub(r"(?<=\d) (?=\d{3}\b)", "", text.removesuffix("%").strip())
    if len(text) > _LONGEST:
        return None
    if fraction := _FRACTION.fullmatch(text):
        below = int(fraction[2])
        return int(fraction[1]) / below if below else None
    if _THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    elif _COMMA.fullmatch(text):
        text = text.replace(",", ".")
    return float(text) if _PLAIN.fullmatch(text) else None
