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
import re

from mensura.extrapolation.asking.shares import SAME, Share, agreed_share, find_shares, say_shares
from mensura.llm import AnswerReading, UnreadableError

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
        raise UnreadableError("the answer breaks off while thinking; raise max_tokens (in a file for --settings)")
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
