"""Models sit the exam: the same items, instructions, shuffles and scorer as people, through the journal of ``llm``."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from mensura.core.results import Result
from mensura.exam.file import Exam
from mensura.exam.forms import ExamForm, full_form
from mensura.exam.gathering import MODELS, OUTCOMES, answer_text, name_outcome
from mensura.exam.items import ExamItem
from mensura.exam.pictures import media_of
from mensura.exam.replies import MARK, failure_of, read_reply, understand
from mensura.exam.scoring import score
from mensura.exam.timing import rules_text
from mensura.intake.item_keys import LETTERS
from mensura.llm import Answer, Asker, Question

NO_ANSWER = ("refused", "empty", "cut", "unreadable")
"""Outcomes of a model's reply without an answer; they earn no credit and are counted apart."""
_HOW = {
    "choice": "the letter of the one right option",
    "several": "the letters of all right options, separated by commas",
    "number": "a number",
    "text": "one word or a few words",
    "rubric": "your whole answer, on one line",
}
_MORE = {
    "reasoning": pl.String,
    "position": pl.Int64,
    "options": pl.String,
    "tokens_in": pl.Int64,
    "tokens_out": pl.Int64,
}


@dataclass(frozen=True, eq=False, repr=False)
class ModelSittings(Result):
    """Sittings of one model. ``sittings``: one row per repeat and item; ``outcomes``: how often each outcome came."""

    TABLES: ClassVar[tuple[str, ...]] = ("sittings", "outcomes")

    model: str
    sittings: pl.DataFrame
    warnings: tuple[str, ...] = ()

    @property
    def outcomes(self) -> pl.DataFrame:
        """Counts of each outcome."""
        found = self.sittings.group_by("subject", "outcome").agg(n=pl.len())
        shares = found.with_columns(share=pl.col("n") / pl.col("n").sum())
        return shares.sort("n", "subject", "outcome", descending=[True, False, False])

    @property
    def heading(self) -> str:
        """Who sat, how often, and how much was right."""
        counted = self.sittings["score"].drop_nulls()
        rate = f"{float(counted.sum()) / counted.len():.2f}" if counted.len() else "none"
        return (
            f"{self.model}: sittings {self.sittings['repeat'].n_unique()}, scored answers {counted.len()}, rate {rate}"
        )

    @property
    def shown(self) -> pl.DataFrame:
        """The outcomes."""
        return self.outcomes


def sit_exam(exam: Exam, asker: Asker, *, repeats: int = 1, pictures: bool = False) -> ModelSittings:
    """Let a model sit the exam ``repeats`` times, each with its own order of items and options.

    ``pictures``: the model takes pictures; otherwise items with one are skipped, and the outcome says so.
    """
    asked = list(questions_of(exam, repeats, pictures=pictures))
    answers = iter(asker.ask([question for _, _, question in asked if question is not None], read_reply))
    rows = []
    for form, name, question in asked:
        item, order = exam.by_name[name], form.options[name]
        shared = (asker.model, MODELS, form.seed[1], name)
        place = form.items.index(name) + 1
        shown = " | ".join(item.options[option] for option in order)
        if question is None:
            rows.append((*shared, None, "skipped", None, None, None, None, place, shown, None, None))
        else:
            answer = next(answers)
            rows.append((*shared, *_judged(item, order, answer), place, shown, answer.tokens_in, answer.tokens_out))
    table = pl.DataFrame(rows, schema=OUTCOMES | _MORE, orient="row")
    skipped = table.filter(pl.col("outcome") == "skipped")["item"].n_unique()
    said = f"{skipped} items with a picture were skipped; give --pictures if the model takes them"
    failed = table.filter(pl.col("outcome") == "failed").height
    lost = f"{failed} questions got no answer; run the command again to ask them"
    return ModelSittings(asker.model, table, tuple([said] * bool(skipped) + [lost] * bool(failed)))


def _judged(item: ExamItem, order: list[int], answer: Answer) -> tuple[Any, ...]:
    """Return score, outcome, seconds, cost, answer and reasoning of one reply."""
    spent = (answer.seconds, answer.cost)
    if answer.error:
        outcome = failure_of(answer.error)
        return (None if outcome == "failed" else 0.0, outcome, *spent, None, answer.text or None)
    given = understand(item, order, str(answer.value))
    if given is None:
        return (0.0, "unreadable", *spent, str(answer.value), answer.rationale or None)
    credit = score(item, given)
    return (credit, name_outcome(credit), *spent, answer_text(item, given), answer.rationale or None)


def questions_of(exam: Exam, repeats: int, *, pictures: bool) -> Iterator[tuple[ExamForm, str, Question | None]]:
    """Yield form, item and question in the order of the sittings; no question for a picture that cannot be sent."""
    system = instructions_of(exam)
    for repeat in range(repeats):
        form = full_form(exam, repeat)
        for name in form.items:
            item = exam.by_name[name]
            if item.picture and not pictures:
                yield form, name, None
                continue
            prompt, shown = prompt_of(item, form.options[name]), _pictures(exam, item)
            prompt = "".join([*(f"[picture {digest}]\n" for digest, _ in shown), prompt])
            about = {"task": "exam", "item": name}
            yield form, name, Question(prompt, system, None, repeat, about, tuple(address for _, address in shown))


def instructions_of(exam: Exam) -> str:
    """Return what people read before they start, and how a model marks its answer."""
    return (
        f"{exam.settings.instructions.strip()}\n\n{rules_text(exam)} Allowed tools: {exam.settings.tools}.\n\n"
        f"You may think before you answer. End with one line that begins with {MARK}"
    )


def prompt_of(item: ExamItem, order: list[int]) -> str:
    """Return an item as a model reads it: its text, the options in their shown order, and the form of the answer."""
    options = [f"{LETTERS[place]}) {item.options[option]}" for place, option in enumerate(order)]
    return "\n".join([item.text, *options, "", f"Give {_HOW[item.scoring]}, as the last line: {MARK} …"])


def _pictures(exam: Exam, item: ExamItem) -> list[tuple[str, str]]:
    """Return the digest of an item's picture, which makes the question's key, and the picture as a data address."""
    if not item.picture:
        return []
    data = (exam.folder / item.picture).read_bytes()
    address = f"data:{media_of(item.picture)};base64,{base64.b64encode(data).decode('ascii')}"
    return [(hashlib.sha256(data).hexdigest()[:16], address)]
