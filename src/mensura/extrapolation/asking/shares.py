"""Shares in a sentence: percentages, ranges, bounds, decimals, proportions in figures and in words."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from mensura.llm import UnreadableError

WIDEST_RANGE = 0.20
"""A range wider than this is a hedge, not an estimate."""

WIDEST_BOUND = 0.05
"""A bound farther than this from its end of the scale (``<30%``) says too little to stand for a number."""

SAME = 0.006
"""Shares that differ by less say the same: "one in seven (14%)"."""

_WORDS = {
    "no": 0, "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40,
    "fifty": 50, "hundred": 100, "thousand": 1000, "million": 1_000_000,
}  # fmt: skip
_PARTS = {"third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
_NUMBER = r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:[.,][0-9]+)?|\.[0-9]+"
_COUNT = rf"(?:{_NUMBER}|{'|'.join(_WORDS)})"
_PERCENT = r"\s*%"
_UPPER = ("<", "less than", "fewer than", "under", "below", "at most", "up to", "no more than")
_LOWER = (">", "more than", "over", "above", "at least", "greater than")
_BOUND = "|".join(words.replace(" ", r"\s+") for words in (*_UPPER, *_LOWER))
_SHARES = re.compile(
    rf"""
    (?P<bound>{_BOUND})?\s*(?:or\s+equal\s+to\s+)?[~=]?\s*
    (?:
      (?:(?P<between>between)\s+)?(?<![0-9.,/])(?P<minus>-\s*)?(?P<from>{_NUMBER})(?:{_PERCENT})?
      \s*(?:-|to|(?(between)and|-))\s*(?P<to>{_NUMBER}){_PERCENT}
    | (?<![0-9.,/])(?P<negative>-\s*)?(?P<percent>{_NUMBER}){_PERCENT}
    | \b(?P<of>{_COUNT})\s+(?:in|out\s+of|of)\s+(?:every\s+)?(?P<all>{_COUNT}(?:\s+(?:hundred|thousand|million))?)\b
    | (?<![0-9.,/])(?P<top>[0-9]{{1,4}})\s*/\s*(?P<bottom>[0-9]{{1,7}})(?![0-9/])
    | \b(?:(?P<parts>one|two|three|four|five|seven|nine|a|an)[\s-])?(?P<part>half)\b
    | \b(?P<some>one|two|three|four|five|seven|nine|a|an)[\s-](?P<nth>{"|".join(_PARTS)})s?\b
    | (?<![0-9.,/])(?P<zero>-\s*)?(?P<decimal>0?[.,][0-9]+)(?![0-9.,]*[0-9]|\s*%)
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\s*(?:-?\s*points?\b|pp\b|lower|higher|less|more|fewer|greater|reduction|increase|drop)", re.IGNORECASE
)
_BEFORE_CHANGE = re.compile(r"(?:\b(?:by|times)\s*(?:about|around|roughly|~)?|±|\+/-)\s*$", re.IGNORECASE)
_FROM = re.compile(r"\bfrom\s*$", re.IGNORECASE)
_LEVEL = re.compile(r"\s*(?:confidence|credible|prediction|uncertainty|interval|ci\b|range\b)", re.IGNORECASE)
_BARE = re.compile(rf"^\W*(?P<value>{_NUMBER})\W*$")


@dataclass(frozen=True)
class Share:
    """One share found in a text: the range it allows, how it was written, and where it stood."""

    low: float
    high: float
    form: str
    start: int
    end: int

    @property
    def rate(self) -> float:
        """The middle of what the text allows."""
        return (self.low + self.high) / 2


def agreed_share(sentence: str) -> Share | None:
    """Return what all shares of a line say, None where there is none; raise where they differ."""
    shares = find_shares(sentence)
    if not shares:
        return _bare(sentence)
    points = [share for share in shares if share.form not in ("range", "bound")]
    if not points:
        if len({(share.low, share.high) for share in shares}) > 1:
            raise UnreadableError(f"several ranges: {say_shares(shares)}; expected one")
        return _narrow(shares[0])
    if max(share.rate for share in points) - min(share.rate for share in points) > SAME:
        raise UnreadableError(f"several numbers: {say_shares(points)}; expected one")
    point = next((share for share in points if share.form == "percent"), points[0])
    if any(not share.low - SAME <= point.rate <= share.high + SAME for share in shares):
        raise UnreadableError(f"numbers that contradict each other: {say_shares(shares)}; expected one")
    return point


def say_shares(shares: list[Share]) -> str:
    """Return shares in words, for messages."""
    return ", ".join(
        f"{share.rate:.1%}" if share.low == share.high else f"{share.low:.1%} to {share.high:.1%}" for share in shares
    )


def find_shares(sentence: str) -> list[Share]:
    """Return the shares of a sentence in their order; changes and confidence levels are none."""
    found = (_share(match, sentence) for match in _SHARES.finditer(sentence))
    return [share for share in found if share is not None]


def _share(match: re.Match[str], sentence: str) -> Share | None:
    """Turn one match into a share; None for changes ("10 points lower") and levels ("90% interval")."""
    after, before = sentence[match.end() : match.end() + 16], sentence[: match.start()]
    if _CHANGE.match(after) or _BEFORE_CHANGE.search(before[-24:]) or _LEVEL.match(after):
        return None
    if match["minus"] or match["negative"] or match["zero"]:
        raise UnreadableError(f"a negative share: {match[0].strip()!r}; expected 0 to 100%")
    low, high, form = _range_of(match)
    if form == "range" and _FROM.search(before[-8:]):
        raise UnreadableError(f"a change from one share to another: {match[0].strip()!r}; expected one share")
    if not 0 <= low <= high <= 1:
        raise UnreadableError(f"{match[0].strip()!r} is no share; expected 0 to 100%")
    if match["bound"]:
        upper = " ".join(match["bound"].lower().split()) in _UPPER
        low, high, form = (0.0, high, "bound") if upper else (low, 1.0, "bound")
    return Share(low, high, form, match.start(), match.end())


def _range_of(match: re.Match[str]) -> tuple[float, float, str]:
    if match["percent"]:
        value = _value(match["percent"]) / 100
        return value, value, "percent"
    if match["from"]:
        return _value(match["from"]) / 100, _value(match["to"]) / 100, "range"
    if match["decimal"]:
        value = float(match["decimal"].replace(",", "."))
        return value, value, "decimal"
    top, bottom = _proportion(match)
    if not 0 < bottom < math.inf or (match["top"] and top >= bottom):
        raise UnreadableError(f"{match[0].strip()!r} is no proportion; expected one below 1, such as 3 of 10")
    value = top / bottom
    return value, value, "proportion"


def _proportion(match: re.Match[str]) -> tuple[float, float]:
    if match["of"]:
        return _count(match["of"]), _count(match["all"])
    if match["top"]:
        return _count(match["top"]), _count(match["bottom"])
    if match["part"]:
        return _count(match["parts"] or "one"), 2.0
    return _count(match["some"]), float(_PARTS[match["nth"].lower()])


def _count(text: str) -> float:
    """Read "5", "1,000", "five" or "a hundred"."""
    total = 1.0
    for word in text.lower().split():
        total *= _WORDS[word] if word in _WORDS else _value(word)
    return total


def _value(text: str) -> float:
    """Read a number with decimal point or comma; three digits after a comma are thousands."""
    if re.fullmatch(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?", text):
        return float(text.replace(",", ""))
    return float(text.replace(",", "."))


def _bare(sentence: str) -> Share | None:
    """Read a line that is one number and nothing else, as the percentage it was asked for."""
    match = _BARE.match(sentence)
    if match is None:
        return None
    value = _value(match["value"])
    if sentence.strip().startswith("-") or value > 100:
        raise UnreadableError(f"{sentence.strip()!r} is no share; expected 0 to 100%")
    if 0 < value <= 1:
        raise UnreadableError(f"{sentence.strip()!r} may be a percentage or a share; expected a number with %")
    return Share(value / 100, value / 100, "bare", 0, len(sentence))


def _narrow(share: Share) -> Share:
    widest = WIDEST_BOUND if share.form == "bound" else WIDEST_RANGE
    if share.high - share.low > widest + 1e-9:
        kind = "bound" if share.form == "bound" else "range"
        raise UnreadableError(
            f"the {kind} {share.low:.1%} to {share.high:.1%} is too wide to be an estimate; expected at most "
            f"{widest:.0%}"
        )
    return share
