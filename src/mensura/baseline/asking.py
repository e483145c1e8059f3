"""Ask language models what share of described people would answer each item correctly: whole pools, fenced texts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mensura.baseline.estimator import logit_rate
from mensura.baseline.recordings import COLUMNS, SIMULATED
from mensura.core.arrays import Floats, expit
from mensura.core.errors import MensuraError, check_choice, listed_names
from mensura.demands.protocols import closed_object
from mensura.extrapolation.whole_pool import (
    REMEMBERING,
    Matched,
    deal,
    judge_row,
    label_of,
    match,
    read_estimates,
    read_object,
)
from mensura.intake.item_keys import LETTERS
from mensura.llm import AnswerReading, Question, UnreadableError
from mensura.scale import Z90

if TYPE_CHECKING:
    from mensura.baseline.inputs import BaselineItems
    from mensura.llm import Asker
    from mensura.people import Population

SYSTEM = "You estimate how groups of people do on test questions. You answer with one JSON object and nothing else."
REMINDER = " Per cent: write 83 for 83%, not 0.83."
"""Added where a model wrote shares before."""
SHARES = "no number is above 1, so they look like shares; expected per cent"
_ONE_PER_CENT = 0.01
_ORDERS = re.compile(
    r"ignore (?:all|any|the|previous|prior)|disregard (?:all|the|previous)|final answer\s*:\s*\d|"
    r"(?:estimate|answer|rate|percentage)\s*(?:must be|should be|is|=|:)\s*(?:100|0|99)\s*%|system prompt|you are now|"
    r"output (?:only|exactly)",
    re.IGNORECASE,
)
_ROUNDS = 2
_LABEL = re.compile(r"i\d+")
_MEMORY = "\0memory"
_SHOWN = 100
_REPLIED = ("unreadable", "refused", "filtered")
"""Errors of a reply; others mean that none came."""


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


def ask_models(
    items: BaselineItems, populations: Sequence[Population], askers: Sequence[Asker], runs: int, asking: str
) -> tuple[pl.DataFrame, list[str]]:
    """Return the estimates of every model, run and population, and what a reader must know of the answers."""
    rows: list[tuple[object, ...]] = []
    warnings = flag_orders(items)
    for who in populations:
        works = [_Asked(items, who, asker, runs, find_way(asking)) for asker in askers]
        for work in works:
            work.ask()
            rows += work.rows
        failures = [text for work in works for text in work.failures()]
        if not any(work.rows for work in works):
            raise MensuraError(
                f"{'. '.join(failures)}. {works[0].remedy()}. Run the same command as often as you like: the journal "
                "keeps what was paid, and nothing is paid twice"
            )
        warnings += failures
    return pl.DataFrame(rows, schema=COLUMNS, orient="row"), warnings


def plan_questions(
    items: BaselineItems, populations: Sequence[Population], runs: int, asking: str = "direct"
) -> list[Question]:
    """Write the questions of a first round, for an estimate of the cost.

    Parameters
    ----------
    items : BaselineItems
        The items.
    populations : sequence of Population
        The people to judge.
    runs : int
        How often each model is asked.
    asking : str
        direct (rates) or persons (answers of simulated persons).

    Returns
    -------
    list of Question
        The questions to one model.

    Examples
    --------
    >>> from mensura.baseline import find_people, plan_questions, read_items
    >>> from mensura.people import World
    >>> items = read_items({"item": ["sum"], "question": ["2 + 2 = ?"], "answer": ["4"]})
    >>> len(plan_questions(items, [find_people("world", World.load())], runs=2))
    2

    """
    way = find_way(asking)
    places = deal(range(items.table.height), way.chunk)
    return [write_question(items, who, part, run, way) for who in populations for run in range(runs) for part in places]


def flag_orders(items: BaselineItems) -> list[str]:
    """Warn of items that try to give orders to their reader."""
    rows = items.table.select("item", "text", "answer", "options").iter_rows()
    suspects = [item for item, text, key, options in rows if _ORDERS.search(" ".join([text, key, *options]))]
    if not suspects:
        return []
    return [f"{len(suspects)} items contain orders to the reader ({listed_names(suspects)}); check their estimates"]


def write_question(
    items: BaselineItems, who: Population, places: Sequence[int], repeat: int, way: Way, reminder: str = ""
) -> Question:
    """Return the question about some items: texts fenced, labels of our own instead of their ids."""
    rows = items.table.select("text", "options", "right", "answer").rows()
    blocks = [_fenced(label_of(at), *rows[place]) for at, place in enumerate(places)]
    prompt = way.prompt.format(
        people=who.prose,
        persons=PERSONS,
        count=len(places),
        items="\n\n".join(blocks),
        first=label_of(0),
        last=label_of(len(places) - 1),
    )
    about = {"task": "baseline", "population": who.name, "first": str(items.table["item"][places[0]])}
    return Question(prompt=prompt + reminder, system=SYSTEM, schema=way.schema, repeat=repeat, about=about)


def _fenced(label: str, text: str, options: Sequence[str], right: Sequence[int], answer: str) -> str:
    shown = [f"({LETTERS[at]}) {option}" for at, option in enumerate(options)]
    key = " or ".join(shown[at] for at in right) or answer
    inside = "\n".join([text, *shown, f"Key: {key}"]).replace("<<<", "< < <").replace(">>>", "> > >")
    return f"<<<{label}\n{inside}\n{label}>>>"


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
    persons = whole.get("persons")
    answers = (
        [one["answers"] for one in persons if isinstance(one, dict) and isinstance(one.get("answers"), dict)]
        if isinstance(persons, list)
        else []
    )
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
    memory = {"item": _MEMORY, "benchmark": str(name or "").strip()[:_SHOWN], "mean": share}
    return AnswerReading([*_rows(reading.value), memory], reading.rationale)


def _rows(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


PERSONS = 20
"""Persons whom a model imagines in one answer."""
_FEWEST = 5  # persons without whose answers an item has no estimate
_LEAST = 0.05  # variance between items in logits, where the answers of so few persons show none
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


def _published(rows: object) -> tuple[str | None, float | None]:
    """Return the benchmark that a reply recognises, and the mean that it remembers."""
    memory: Mapping[str, Any] = next((row for row in _rows(rows) if row["item"] == _MEMORY), {})
    return memory.get("benchmark") or None, memory.get("mean")


@dataclass(eq=False)
class _Asked:
    """The questions about one population to one model: asked in chunks, and once more for items without an answer."""

    items: BaselineItems
    who: Population
    asker: Asker
    runs: int
    way: Way
    rows: list[tuple[object, ...]] = field(default_factory=list)
    without: int = 0
    replies: int = 0
    reasons: list[str] = field(default_factory=list)
    came: str = ""
    """The beginning of the first reply that could not be used."""

    def ask(self) -> None:
        """Ask every run."""
        for run in range(self.runs):
            left = list(range(self.items.table.height))
            for attempt in range(_ROUNDS):
                left = self._round(left, run, attempt) if left else []
            self.without += len(left)

    def _round(self, places: list[int], run: int, attempt: int) -> list[int]:
        chunks = deal(places, self.way.chunk)
        repeat = run + attempt * self.runs
        reminder = REMINDER if SHARES in self.reasons else ""
        questions = [write_question(self.items, self.who, part, repeat, self.way, reminder) for part in chunks]
        answers = self.asker.ask(questions, self.way.read)
        made = str(date.today()), self.way.hash
        options = [count or 0 for count in self.items.n_options]
        left: list[int] = []
        for part, answer in zip(chunks, answers, strict=True):
            matched = match(answer.value, len(part))
            if self._are_shares(matched, part, attempt):
                matched = replace(matched, estimates={}, faults=dict.fromkeys(range(len(part)), SHARES))
            # even the upper end of an interval is far below what guessing gives
            shares = [
                at for at, one in matched.estimates.items() if one.high <= _ONE_PER_CENT and options[part[at]] > 1
            ]
            kept = {at: one for at, one in matched.estimates.items() if at not in shares}
            matched = replace(matched, estimates=kept, faults={**matched.faults, **dict.fromkeys(shares, SHARES)})
            self.replies += answer.value is not None or answer.error.startswith(_REPLIED)
            if matched.faults:
                left += [part[at] for at in matched.faults]
                self.reasons.append(answer.error or next(iter(matched.faults.values())))
                self.came = self.came or " ".join(answer.text.split())[:_SHOWN]
            published = _published(answer.value)
            for at, one in matched.estimates.items():
                item = self.items.table["item"][part[at]]
                model = self.asker.model + self.way.suffix
                origin = (model, str(run + 1), one.remembered, self.who.name, *made, *published)
                self.rows.append((item, one.rate, one.low, one.high, *origin))
        return sorted(left)

    def _are_shares(self, matched: Matched, part: Sequence[int], attempt: int) -> bool:
        """Return whether a reply wrote 0.83 for 83%: no number above 1, and a mean below that of guessing.

        Where nothing can be guessed, the ends of the intervals are 1 or less, too; the reminder settles such a case.
        """
        estimates, options = list(matched.estimates.values()), self.items.n_options
        rates = [one.rate for one in estimates]
        if any(rate > _ONE_PER_CENT for rate in rates) or not any(rates):
            return False
        chance = float(np.mean([1.0 / count if count and count > 1 else 0.0 for count in (options[at] for at in part)]))
        if chance:
            return sum(rates) / len(rates) < chance
        return attempt == 0 and all(one.high <= _ONE_PER_CENT for one in estimates)

    def failures(self) -> list[str]:
        """Return a sentence about the items without an answer: how many, how often asked, why, and what came."""
        if not self.without:
            return []
        came = f"; the reply began with {self.came!r}" if self.came else ""
        return [
            f"{self.asker.model} gave no usable answer for {self.without} of {self.items.table.height * self.runs} "
            f"items of {self.who.name} in {self.replies} replies ({self.reasons[0][:_SHOWN]}{came})"
        ]

    def remedy(self) -> str:
        """Return what a user can do where no item got an answer."""
        reason = self.reasons[0]
        if not self.replies:
            return "Mend this, because no reply came"
        if SHARES in self.reasons:
            return "Ask another model, or give its estimates as a table of shares"
        again = "refused" if reason.startswith("refused") else "unreadable"
        longer = " with a larger --set max_tokens," if "max_tokens" in reason else ""
        return f"Ask another model, or again{longer} with --set retry={again}"
