"""Ask language models what share of described people would answer each item correctly: whole pools, fenced texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.baseline.recordings import COLUMNS
from mensura.baseline.ways import PERSONS, SHOWN, SYSTEM, Way, find_way, published
from mensura.core.errors import MensuraError, listed_names
from mensura.extrapolation.whole_pool import Matched, deal, label_of, match
from mensura.intake.item_keys import LETTERS
from mensura.llm import Question

if TYPE_CHECKING:
    from mensura.baseline.inputs import BaselineItems
    from mensura.llm import Asker
    from mensura.people import Population

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
_REPLIED = ("unreadable", "refused", "filtered")
"""Errors of a reply; others mean that none came."""


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
                self.came = self.came or " ".join(answer.text.split())[:SHOWN]
            memory = published(answer.value)
            for at, one in matched.estimates.items():
                item = self.items.table["item"][part[at]]
                model = self.asker.model + self.way.suffix
                origin = (model, str(run + 1), one.remembered, self.who.name, *made, *memory)
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
            f"items of {self.who.name} in {self.replies} replies ({self.reasons[0][:SHOWN]}{came})"
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
