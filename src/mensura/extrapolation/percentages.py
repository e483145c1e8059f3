"""Shares in a sentence: percentages, ranges, bounds, decimals, proportions in figures and in words.

Reading the final percentage of an answer; what can be read in two ways is refused, never guessed.

What counts, in this order:

1. a JSON object with ``percentage`` or ``rate`` (an answer by schema);
2. the last line that names itself the answer (``Final answer: 19%``, ``Estimate: …``);
3. the last sentence, when it holds a share (the published protocol asks for a percentage at the end), unless another
sentence claims a different one ("I estimate 20%. This assumes 60% literacy." is refused);
4. sentences that claim a share ("The answer is 12%. I hope this helps!"), when the last one holds none.

A share is a percentage (``19,5 %``, ``12–15 %``, ``<1%``), a decimal below 1 (``0.19``) or a proportion (``one in
five``, ``3 out of 4``, ``a third``). All shares of the deciding line or sentence must say the same. A range stands for
its middle and a bound for the middle between it and the end of the scale, where narrow enough to be an estimate.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass

from mensura.llm import AnswerReading, UnreadableError

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


LONGEST = 200_000
"""Characters read of an answer, from its end: an answer that never ends is cut, not searched for hours."""

_SPACES = dict.fromkeys(map(ord, "\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u3000"), " ")
_SIGNS = {
    **_SPACES,
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-"),
    ord("％"): "%",
    ord("﹪"): "%",
    ord("⁄"): "/",
    ord("≤"): "<",
    ord("≥"): ">",
    ord("≈"): "~",
}
_MARKER = re.compile(
    r"^\W*(?:my\s+|the\s+)?(?:final\s+|best\s+|overall\s+)?(?:answer|estimate|percentage|prediction|probability|result)"
    r"(?:\s+\([^)\n]{0,60}\))?\W*[:=]\s*(?P<rest>.+)$|\bfinal\s+(?:answer|estimate)\b(?:\s+is)?\W*(?P<inline>.+)$",
    re.IGNORECASE | re.MULTILINE,
)
_CLAIM = re.compile(
    r"\b(?:I(?:\s+would|'d)?\s+(?:estimate|say|guess|predict|conclude|expect|put)|(?:my|the|best|final)\s+(?:answer|estimate)"
    r"|probability\s+(?:is|of)|would\s+answer\s+correctly)\b",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\b(?:cannot|can't|can not|unable to|won't|will not|not able to|impossible to|decline to|refuse)\b",
    re.IGNORECASE,
)
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.IGNORECASE | re.DOTALL)
_THINKING = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^\d\s])|\n+")


def read_percentage(text: str) -> AnswerReading:
    """Return the success rate an answer ends with, or raise :class:`UnreadableError` with the reason.

    The value holds ``rate``, ``low`` and ``high`` (of a range or bound; else all three alike, between 0 and 1) and
    ``form``: ``percent``, ``range``, ``bound``, ``decimal``, ``proportion``, ``bare`` or ``schema``. The rationale is
    what stood before.
    """
    whole = _plain(text)
    if not whole:
        raise UnreadableError("the answer is empty; expected a percentage")
    if _THINKING.search(whole):
        raise UnreadableError("the answer breaks off while thinking; raise max_tokens (--set max_tokens=N)")
    found = _from_json(whole)
    if found is not None:
        return found
    labelled = _labelled(whole)
    if labelled is not None:
        return _reading(*labelled)
    return _reading(*_concluded(whole))


def _plain(text: str) -> str:
    """Return the answer without thoughts, mark-up and typographic signs."""
    text = _THOUGHTS.sub(" ", text[-LONGEST:].translate(_SIGNS))
    text = re.sub(r"\\boxed\s*\{([^{}]*)\}", r"\1", text).replace("\\%", "%").replace("$", "")
    text = re.sub(r"\s*\b(?:per\s?cent|pct\.?)(?!age)", "%", text, flags=re.IGNORECASE)
    return re.sub(r"[*_`#]+", "", text).strip()


def _from_json(text: str) -> AnswerReading | None:
    """Read an answer that is one JSON object; None where it is none."""
    if not (text.startswith("{") and text.endswith("}")) and not text.startswith("json"):
        return None
    try:
        found = json.loads(text.removeprefix("json").strip())
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    scales = {"percentage": 100.0, "percent": 100.0, "rate": 1.0, "probability": 1.0}
    values = [_number(found[key], scale, key) for key, scale in scales.items() if key in found]
    if not values:
        raise UnreadableError(
            "the JSON answer has no percentage; expected the key percentage, got "
            f"{', '.join(map(str, found)) or 'nothing'}"
        )
    if max(values) - min(values) > SAME:
        raise UnreadableError(
            f"the JSON answer says {' and '.join(f'{value:.1%}' for value in values)}; expected one value"
        )
    why = found.get("rationale") or found.get("why") or ""
    return _reading(Share(values[0], values[0], "schema", 0, 0), str(why))


def _number(value: object, scale: float, key: str) -> float:
    if isinstance(value, str):
        share = agreed_share(_plain(value))
        if share is None:
            raise UnreadableError(f"the JSON answer's {key} is {value[:40]!r}; expected a number")
        return share.rate
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnreadableError(f"the JSON answer's {key} is {value!r}; expected a number")
    if not 0 <= value <= scale:
        raise UnreadableError(f"the JSON answer's {key} is {value}; expected 0 to {scale:g}")
    return float(value) / scale


def _labelled(text: str) -> tuple[Share, str] | None:
    """Return the share on the last line that calls itself the answer, and what stood before that line."""
    found: list[tuple[Share, int]] = []
    for match in _MARKER.finditer(text):
        share = agreed_share((match["rest"] or match["inline"] or "").strip())
        if share is not None:
            found.append((share, match.start()))
    if not found:
        return None
    if max(share.rate for share, _ in found) - min(share.rate for share, _ in found) > SAME:
        said = ", ".join(f"{share.rate:.1%}" for share, _ in found)
        raise UnreadableError(f"several lines call themselves the answer: {said}; expected one")
    share, start = found[-1]
    return share, text[:start]


def _concluded(text: str) -> tuple[Share, str]:
    """Return the share of the last sentence, or the one that sentences claim, and what stood before."""
    starts = [0, *(match.end() for match in _SENTENCE.finditer(text))]
    sentences = [(start, text[start:end]) for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    start, last = sentences[-1]
    share = agreed_share(last)
    if share is not None and _CLAIM.search(last):
        return share, text[:start]
    claims = [(agreed_share(said), at) for at, said in sentences[:-1] if _CLAIM.search(said)]
    claimed = [(claim, at) for claim, at in claims if claim is not None]
    if not claimed:
        if share is None:
            raise UnreadableError(_why_nothing(text))
        return share, text[:start]
    said = [claim for claim, _ in claimed] + ([] if share is None else [share])
    if max(one.rate for one in said) - min(one.rate for one in said) > SAME:
        raise UnreadableError(f"sentences that claim different shares: {say_shares(said)}; expected one share")
    return (share, text[:start]) if share is not None else (claimed[-1][0], text[: claimed[-1][1]])


def _why_nothing(text: str) -> str:
    if _REFUSAL.search(text):
        return "refused: no share in the last sentence, and the answer says it cannot give one"
    if any(_safe(sentence) for sentence in _SENTENCE.split(text)):
        return "the answer does not end with a share, and no line is called the answer"
    return "no share in the answer"


def _safe(sentence: str) -> bool:
    try:
        return bool(find_shares(sentence))
    except UnreadableError:
        return True


def _reading(share: Share, rationale: str) -> AnswerReading:
    value = {"rate": share.rate, "low": share.low, "high": share.high, "form": share.form}
    return AnswerReading(value=value, rationale=rationale.strip())
