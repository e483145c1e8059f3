"""Ways to ask language models about people: the prompt, the schema of answers, and how a reply becomes estimates."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mensura.baseline.estimator import logit_rate
from mensura.baseline.recordings import SIMULATED
from mensura.core.arrays import Floats, expit
from mensura.core.errors import check_choice
from mensura.demands.protocols import closed_object
from mensura.extrapolation.whole_pool import REMEMBERING, judge_row, read_estimates, read_object
from mensura.llm import AnswerReading, UnreadableError
from mensura.scale import Z90

SYSTEM = "You estimate how groups of people do on test questions. You answer with one JSON object and nothing else."
PERSONS = 20
"""Persons whom a model imagines in one answer."""
_FEWEST = 5  # persons without whose answers an item has no estimate
_LEAST = 0.05  # variance between items in logits, where the answers of so few persons show none
_LABEL = re.compile(r"i\d+")
_MEMORY = "\0memory"
SHOWN = 100
"""Signs of a reply that a message shows."""


@dataclass(frozen=True)
class Way:
    """One way to ask: its prompt, the schema and the reader of answers, and the items of one prompt.

    ``suffix``: of the model's name among the estimators.
    """

    prompt: str
    schema: Mapping[str, object]
    read: Callable[[str], AnswerReading]
    chunk: int
    suffix: str = ""

    @property
    def hash(self) -> str:
        """What the card names the prompt by."""
        return hashlib.sha256((SYSTEM + self.prompt).encode()).hexdigest()[:12]


def read_reply(text: str) -> AnswerReading:
    """Take the rows of an answer, and one more row: the benchmark that the model recognises, and its published mean."""
    reading = read_estimates(text)
    verdicts = [judge_row(row) if _LABEL.fullmatch(row["item"]) else "missing" for row in _rows(reading.value)]
    if all(isinstance(verdict, str) for verdict in verdicts):  # so that --set retry=unreadable asks again
        raise UnreadableError(str(verdicts[0]))
    return _with_memory(reading, read_object(text))


def read_persons(text: str) -> AnswerReading:
    """Take the answers of simulated persons as one estimate per item, and the memory as :func:`read_reply` does."""
    whole = read_object(text)
    persons = [one for one in _rows(whole.get("persons")) if isinstance(one, dict)]
    answers = [one["answers"] for one in persons if isinstance(one.get("answers"), dict)]
    if len(answers) < _FEWEST:
        raise UnreadableError(
            f"the JSON answer has {len(answers)} persons with answers; expected {PERSONS} in a list 'persons'"
        )
    labels = dict.fromkeys(label for one in answers for label in one)
    marks = [[float(one[label]) for one in answers if one.get(label) in (0, 1, "0", "1")] for label in labels]
    if all(one == answers[0] for one in answers) and {sum(given) / len(given) for given in marks if given} == {0, 1}:
        raise UnreadableError(f"all {len(answers)} persons give the same answers; expected persons who differ")
    full = [(label, given) for label, given in zip(labels, marks, strict=True) if len(given) >= _FEWEST]
    if not full:
        raise UnreadableError("no item has answers of 0 or 1; expected one for each item and person")
    rates, low, high = fit_rates(
        np.array([sum(given) for _, given in full]), np.array([len(given) for _, given in full])
    )
    rows = [
        {"item": label, "estimate": 100 * rate, "low": 100 * least, "high": 100 * most}
        for (label, _), rate, least, most in zip(full, rates, low, high, strict=True)
    ]
    return _with_memory(AnswerReading(rows, str(whole.get("rationale") or "")), whole)


def fit_rates(right: Floats, n: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the rates of items with 90% intervals from right answers of n simulated persons each.

    The model is that of Rasch with random items: their logits are normal around the pool's mean. The persons of one
    prompt answer all items, so that the share of right answers is sufficient. The variance between items is what the
    shares differ by beyond sampling.
    """
    logits, noise = logit_rate(right / n, n.astype(np.float64))
    between = max(float(logits.var() - noise.mean()), _LEAST)
    mean = np.average(logits, weights=1 / (between + noise))
    kept = between / (between + noise)
    centre, half = mean + kept * (logits - mean), Z90 * np.sqrt(kept * noise)
    return expit(centre), expit(centre - half), expit(centre + half)


def _with_memory(reading: AnswerReading, whole: Mapping[str, Any]) -> AnswerReading:
    mean, name = whole.get("published_mean"), whole.get("benchmark")
    share = None
    if isinstance(mean, int | float) and not isinstance(mean, bool) and 0 <= mean <= 100:
        share = mean / 100 if mean > 1 else mean  # nobody publishes a mean of 1% or less
    memory = {"item": _MEMORY, "benchmark": str(name or "").strip()[:SHOWN], "mean": share}
    return AnswerReading([*_rows(reading.value), memory], reading.rationale)


def _rows(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


_FOLDER = Path(__file__).parent / "data"
_PERSON = closed_object({"person": {"type": "string"}, "answers": {"type": "object"}})
_MEMORY_FIELDS = {name: REMEMBERING["properties"][name] for name in ("rationale", "benchmark", "published_mean")}
WAYS = {
    "direct": Way((_FOLDER / "prompt.txt").read_text(encoding="utf-8"), REMEMBERING, read_reply, chunk=75),
    "persons": Way(
        (_FOLDER / "prompt_persons.txt").read_text(encoding="utf-8"),
        closed_object({**_MEMORY_FIELDS, "persons": {"type": "array", "items": _PERSON}}),
        read_persons,
        chunk=25,
        suffix=SIMULATED,
    ),
}
"""Ways to ask by their names; 75 items per direct prompt, as in the recordings that the errors were learned on."""


def find_way(asking: str) -> Way:
    """Return a way to ask; an unknown one is refused."""
    check_choice("asking", asking, tuple(WAYS))
    return WAYS[asking]


def published(rows: object) -> tuple[str | None, float | None]:
    """Return the benchmark that a reply recognises, and the mean that it remembers."""
    memory: Mapping[str, Any] = next((row for row in _rows(rows) if row["item"] == _MEMORY), {})
    return memory.get("benchmark") or None, memory.get("mean")
