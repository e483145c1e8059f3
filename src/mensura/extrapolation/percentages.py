"""Reading the final percentage of an answer; what can be read in two ways is refused, never guessed.

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
from collections.abc import Sequence
from dataclasses import dataclass

from mensura.llm import AnswerReading, UnreadableError

WIDEST_RANGE, WIDEST_BOUND = 0.20, 0.05
"""A wider range, and a bound farther from its end of the scale (``<30%``), is a hedge, not an estimate."""
SAME = 0.006
"""Shares that differ by less say the same: "one in seven (14%)"."""
LONGEST = 200_000
"""Characters read of an answer, from its end: an answer that never ends is cut, not searched for hours."""

_WORDS = {
    "no": 0, "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40,
    "fifty": 50, "hundred": 100, "thousand": 1000, "million": 1_000_000,
}  # fmt: skip
_PARTS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
_NUMBER = r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:[.,][0-9]+)?|\.[0-9]+"
_COUNT = rf"(?:{_NUMBER}|{'|'.join(_WORDS)})"
_UPPER = ("<", "less than", "fewer than", "under", "below", "at most", "up to", "no more than")
_LOWER = (">", "more than", "over", "above", "at least", "greater than")
_BOUND = "|".join((*_UPPER, *_LOWER)).replace(" ", r"\s+")
_SHARES = re.compile(
    rf"""
    (?P<bound>{_BOUND})?\s*(?:or\s+equal\s+to\s+)?[~=]?\s*
    (?:
      (?:(?P<between>between)\s+)?(?<![0-9.,/])(?P<minus>-\s*)?(?P<from>{_NUMBER})(?:\s*%)?
      \s*(?:-|to|(?(between)and|-))\s*(?P<to>{_NUMBER})\s*%
    | (?<![0-9.,/])(?P<negative>-\s*)?(?P<percent>{_NUMBER})\s*%
    | \b(?P<of>{_COUNT})\s+(?:in|out\s+of|of)\s+(?:every\s+)?(?P<all>{_COUNT}(?:\s+(?:hundred|thousand|million))?)\b
    | (?<![0-9.,/])(?P<top>[0-9]{{1,4}})\s*/\s*(?P<bottom>[0-9]{{1,7}})(?![0-9/])
    | \b(?P<some>one|two|three|four|five|seven|nine|a|an)[\s-](?P<nth>{"|".join(_PARTS)})s?\b
    | \b(?P<half>half)\b
    | (?<![0-9.,/])(?P<zero>-\s*)?(?P<decimal>0?[.,][0-9]+)(?![0-9.,]*[0-9]|\s*%)
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NO_SHARE_AFTER = re.compile(
    r"\s*(?:-?\s*points?\b|pp\b|lower|higher|less|more|fewer|greater|reduction|increase|drop"
    r"|confidence|credible|prediction|uncertainty|interval|ci\b|range\b)",
    re.IGNORECASE,
)
_NO_SHARE_BEFORE = re.compile(r"(?:\b(?:by|times)\s*(?:about|around|roughly|~)?|±|\+/-)\s*$", re.IGNORECASE)
"""Words that turn a share into a change ("10 points lower") or a level ("90% interval")."""
_FROM = re.compile(r"\bfrom\s*$", re.IGNORECASE)
_BARE = re.compile(rf"^\W*(?P<value>{_NUMBER})\W*$")
_SIGNS = {
    **dict.fromkeys(map(ord, "\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u3000"), " "),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-"),
    **dict(zip(map(ord, "％﹪⁄≤≥≈"), "%%/<>~", strict=True)),
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
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^\d\s])|\n+")
_JSON_SCALES = {"percentage": 100.0, "percent": 100.0, "rate": 1.0, "probability": 1.0}


@dataclass(frozen=True)
class Share:
    """One share of a text: the range it allows, and how it was written."""

    low: float
    high: float
    form: str

    @property
    def rate(self) -> float:
        """The middle of what the text allows."""
        return (self.low + self.high) / 2

    def __str__(self) -> str:
        return f"{self.rate:.1%}" if self.low == self.high else f"{self.low:.1%} to {self.high:.1%}"


Candidate = tuple[Share, str]
"""A share that may be the answer, and the text before it."""


def read_percentage(text: str) -> AnswerReading:
    """Read the success rate that an answer ends with.

    Parameters
    ----------
    text : str
        The answer of a language model, in free text or as JSON.

    Returns
    -------
    AnswerReading
        Its value holds ``rate``, ``low`` and ``high`` (of a range or bound; else all three alike, between 0 and 1) and
        ``form``: ``percent``, ``range``, ``bound``, ``decimal``, ``proportion``, ``bare`` or ``schema``. Its rationale
        is the text before the share.

    Raises
    ------
    UnreadableError
        If the answer has no share, or several that differ.

    Examples
    --------
    >>> read_percentage("Few remember this. Final answer: 12–15 %").value["form"]
    'range'

    """
    whole = _plain(text)
    if not whole:
        raise UnreadableError("the answer is empty; expected a percentage")
    if re.search(r"<think(?:ing)?>", whole, re.IGNORECASE):
        raise UnreadableError("the answer breaks off while thinking; raise max_tokens (--set max_tokens=N)")
    share, rationale = _from_json(whole) or _from_line(whole) or _from_sentence(whole)
    value = {"rate": share.rate, "low": share.low, "high": share.high, "form": share.form}
    return AnswerReading(value=value, rationale=rationale.strip())


def _plain(text: str) -> str:
    """Return the answer without thoughts, mark-up and typographic signs."""
    text = text[-LONGEST:].translate(_SIGNS)
    text = re.sub(r"<think(?:ing)?>.*?</think(?:ing)?>", " ", text, flags=re.IGNORECASE | re.DOTALL)
    text = re.sub(r"\\boxed\s*\{([^{}]*)\}", r"\1", text).replace("\\%", "%").replace("$", "")
    text = re.sub(r"\s*\b(?:per\s?cent|pct\.?)(?!age)", "%", text, flags=re.IGNORECASE)
    return re.sub(r"[*_`#]+", "", text).strip()


def _from_json(text: str) -> Candidate | None:
    """Read an answer that is one JSON object; None where it is none."""
    try:
        answer = json.loads(text.removeprefix("json").strip())
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict):
        return None
    shares = [_json_share(answer[key], scale, key) for key, scale in _JSON_SCALES.items() if key in answer]
    if not shares:
        keys = ", ".join(map(str, answer)) or "nothing"
        raise UnreadableError(f"the JSON answer has no percentage; expected the key percentage, got {keys}")
    if _differ(shares):
        raise UnreadableError(f"the JSON answer says {' and '.join(map(str, shares))}; expected one value")
    return shares[0], str(answer.get("rationale") or answer.get("why") or "")


def _json_share(value: object, scale: float, key: str) -> Share:
    read = _agreed(_plain(value)) if isinstance(value, str) else None
    if read is not None:
        return Share(read.rate, read.rate, "schema")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnreadableError(f"the JSON answer's {key} is {value!r:.40}; expected a number")
    if not 0 <= value <= scale:
        raise UnreadableError(f"the JSON answer's {key} is {value}; expected 0 to {scale:g}")
    return Share(value / scale, value / scale, "schema")


def _from_line(text: str) -> Candidate | None:
    """Return the share on the last line that calls itself the answer."""
    lines = [(_agreed((match["rest"] or match["inline"]).strip()), match.start()) for match in _MARKER.finditer(text)]
    candidates = [(share, text[:start]) for share, start in lines if share is not None]
    return _last(candidates, "several lines call themselves the answer") if candidates else None


def _from_sentence(text: str) -> Candidate:
    """Return the share of the last sentence, or the one that sentences claim."""
    starts = [0, *(match.end() for match in _SENTENCE.finditer(text))]
    sentences = [(text[start:end], start) for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    last = _agreed(sentences[-1][0])
    ending = [] if last is None else [(last, text[: starts[-1]])]
    if ending and _CLAIM.search(sentences[-1][0]):
        return ending[0]
    claims = [(_agreed(sentence), start) for sentence, start in sentences[:-1] if _CLAIM.search(sentence)]
    candidates = [*((share, text[:start]) for share, start in claims if share is not None), *ending]
    if not candidates:
        refused = "refused: the answer says it cannot give a share; " if _REFUSAL.search(text) else ""
        raise UnreadableError(
            f"{refused}the last sentence has no share; expected one there, or on a line that begins with Answer"
        )
    return _last(candidates, "sentences that claim different shares")


def _last(candidates: Sequence[Candidate], fault: str) -> Candidate:
    """Return the last candidate; refuse candidates that differ."""
    shares = [share for share, _ in candidates]
    if _differ(shares):
        raise UnreadableError(f"{fault}: {', '.join(map(str, shares))}; expected one")
    return candidates[-1]


def _differ(shares: Sequence[Share]) -> bool:
    return max(share.rate for share in shares) - min(share.rate for share in shares) > SAME


def _agreed(sentence: str) -> Share | None:
    """Return what all shares of a line say, None where there is none; raise where they differ."""
    shares = [share for match in _SHARES.finditer(sentence) if (share := _share(match, sentence)) is not None]
    if not shares:
        return _bare(sentence)
    shown = ", ".join(map(str, shares))
    points = [share for share in shares if share.form not in ("range", "bound")]
    if not points:
        if len(set(shares)) > 1:
            raise UnreadableError(f"several ranges: {shown}; expected one")
        widest = WIDEST_BOUND if shares[0].form == "bound" else WIDEST_RANGE
        if shares[0].high - shares[0].low > widest + 1e-9:
            raise UnreadableError(
                f"the {shares[0].form} {shown} is too wide to be an estimate; expected at most {widest:.0%}"
            )
        return shares[0]
    point = next((share for share in points if share.form == "percent"), points[0])
    if _differ(points) or any(not share.low - SAME <= point.rate <= share.high + SAME for share in shares):
        raise UnreadableError(f"several numbers: {shown}; expected one")
    return point


def _share(match: re.Match[str], sentence: str) -> Share | None:
    """Turn one match into a share; None for changes ("10 points lower") and levels ("90% interval")."""
    before, shown = sentence[: match.start()], repr(match[0].strip())
    if _NO_SHARE_AFTER.match(sentence[match.end() :][:16]) or _NO_SHARE_BEFORE.search(before[-24:]):
        return None
    if match["minus"] or match["negative"] or match["zero"]:
        raise UnreadableError(f"a negative share: {shown}; expected 0 to 100%")
    low, high, form = _range_of(match)
    if form == "range" and _FROM.search(before[-8:]):
        raise UnreadableError(f"a change from one share to another: {shown}; expected one share")
    if not 0 <= low <= high <= 1:
        raise UnreadableError(f"{shown} is no share; expected 0 to 100%")
    if match["bound"]:
        upper = " ".join(match["bound"].lower().split()) in _UPPER
        return Share(0.0, high, "bound") if upper else Share(low, 1.0, "bound")
    return Share(low, high, form)


def _range_of(match: re.Match[str]) -> tuple[float, float, str]:
    if match["from"]:
        return _number(match["from"]) / 100, _number(match["to"]) / 100, "range"
    if match["percent"] or match["decimal"]:
        value = _number(match["percent"]) / 100 if match["percent"] else float(match["decimal"].replace(",", "."))
        return value, value, "percent" if match["percent"] else "decimal"
    top = _number(match["of"] or match["top"] or match["some"] or "one")
    bottom = float(_PARTS[(match["nth"] or "half").lower()])
    if match["of"] or match["top"]:
        bottom = _number(match["all"] or match["bottom"])
    if not 0 < bottom < math.inf or (match["top"] and top >= bottom):
        raise UnreadableError(f"{match[0].strip()!r} is no proportion; expected one below 1, such as 3 of 10")
    return top / bottom, top / bottom, "proportion"


def _number(text: str) -> float:
    """Read "5", "1,000", "19,5", "five" or "a hundred"; three digits after a comma are thousands."""
    total = 1.0
    for word in text.lower().split():
        thousands = re.fullmatch(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?", word)
        total *= _WORDS[word] if word in _WORDS else float(word.replace(",", "" if thousands else "."))
    return total


def _bare(sentence: str) -> Share | None:
    """Read a line that is one number and nothing else, as the percentage it was asked for."""
    match = _BARE.match(sentence)
    if match is None:
        return None
    value = _number(match["value"])
    if sentence.strip().startswith("-") or value > 100:
        raise UnreadableError(f"{sentence.strip()!r} is no share; expected 0 to 100%")
    if 0 < value <= 1:
        raise UnreadableError(f"{sentence.strip()!r} may be a percentage or a share; expected a number with %")
    return Share(value / 100, value / 100, "bare")
