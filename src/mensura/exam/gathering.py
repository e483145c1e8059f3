"""From stored answers to tables: one row per taker, one row per taker and item."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.frames import require_columns
from mensura.exam.file import Exam
from mensura.exam.items import ExamItem
from mensura.exam.scoring import Given, is_blank, score
from mensura.exam.store import AnswerStore
from mensura.intake.tables import read_table

PEOPLE, MODELS = "people", "models"


def count_people(number: int) -> str:
    """Return how many people in words that fit the number."""
    return f"{number} {'person' if number == 1 else 'people'}"


OUTCOMES = {
    "subject": pl.String,
    "kind": pl.String,
    "repeat": pl.Int64,
    "item": pl.String,
    "score": pl.Float64,
    "outcome": pl.String,
    "seconds": pl.Float64,
    "cost": pl.Float64,
    "answer": pl.String,
}
"""Columns of a table of outcomes. ``score``: share of full credit, null where there is none to give."""
TAKERS = {
    "subject": pl.String,
    "items": pl.Int64,
    "answered": pl.Int64,
    "late": pl.Int64,
    "finished": pl.Boolean,
    "seconds": pl.Float64,
    "left": pl.Int64,
    "failed_checks": pl.Int64,
}
SITTINGS = "sittings.csv"
"""The file in which ``mensura exam sit`` keeps a model's sittings."""


def name_outcome(credit: float | None) -> str:
    """Return the word for a share of full credit."""
    if credit is None:
        return "ungraded"
    return "right" if credit >= 1.0 else "partial" if credit > 0.0 else "wrong"


def answer_text(item: ExamItem, given: Given) -> str:
    """Return an answer as it is shown in tables."""
    return given if isinstance(given, str) else " | ".join(item.options[place] for place in given)


def people_outcomes(exam: Exam, store: AnswerStore) -> pl.DataFrame:
    """Return one row per person who started and item of their form, attention checks included.

    A blank or late answer has score 0. Items that the person never saw have no row, nor has the item at which an
    unfinished sitting stopped: they were not reached.
    """
    stored = _by_number(store.rows("answers"))
    seen = _by_number(store.rows("shown"))
    rows: list[tuple[Any, ...]] = []
    for sitting in store.rows("sittings"):
        if sitting["started"] is None:
            continue
        answers, shown = stored.get(sitting["number"], {}), seen.get(sitting["number"], {})
        last = max(shown, key=lambda name: shown[name]["at"], default=None) if sitting["finished"] is None else None
        for name in json.loads(sitting["form"])["items"]:
            if name in answers or (name in shown and name != last):
                rows.append(_row(exam.by_name[name], sitting["person"], answers.get(name)))
    return pl.DataFrame(rows, schema=OUTCOMES, orient="row")


def _row(item: ExamItem, person: str, stored: Mapping[str, Any] | None) -> tuple[Any, ...]:
    given: Given = json.loads(stored["answer"]) if stored else ""
    late = bool(stored and stored["late"])
    credit = 0.0 if late or is_blank(given) else score(item, given)
    outcome = "late" if late else "blank" if is_blank(given) else name_outcome(credit)
    seconds = stored["seconds"] if stored else None
    return (person, PEOPLE, 0, item.item, credit, outcome, seconds, None, answer_text(item, given))


def people_takers(exam: Exam, store: AnswerStore, outcomes: pl.DataFrame) -> pl.DataFrame:
    """Return one row per person who started, with what they told about themselves (null: declined)."""
    left = {
        number: sum(row["left"] for row in rows.values()) for number, rows in _by_number(store.rows("shown")).items()
    }
    checks = {item.item for item in exam.checks}
    found = {key[0]: rows for key, rows in outcomes.partition_by("subject", as_dict=True).items()}
    names = [question.name for question in exam.settings.questions]
    rows = []
    for sitting in store.rows("sittings"):
        if sitting["started"] is None:
            continue
        own = found.get(sitting["person"], pl.DataFrame(schema=OUTCOMES))
        answered = own.filter(~pl.col("outcome").is_in(["blank", "late"]))
        failed = own.filter(pl.col("item").is_in(checks) & (pl.col("outcome") != "right")).height
        about = json.loads(sitting["about"] or "{}")
        rows.append(
            (
                sitting["person"],
                len(json.loads(sitting["form"])["items"]),
                answered.height,
                own.filter(pl.col("outcome") == "late").height,
                sitting["finished"] is not None,
                answered["seconds"].median(),
                left.get(sitting["number"], 0),
                failed,
                *(about.get(name) for name in names),
            )
        )
    return pl.DataFrame(rows, schema=TAKERS | dict.fromkeys(names, pl.String), orient="row")


def _by_number(rows: list[dict[str, Any]]) -> dict[int, dict[str, dict[str, Any]]]:
    found: dict[int, dict[str, dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["number"], {})[row["item"]] = row
    return found


def without_free_text(exam: Exam, outcomes: pl.DataFrame) -> pl.DataFrame:
    """Return outcomes in which no open answer of a person is left: people may write anything there."""
    typed = [item.item for item in exam.items if item.is_open]
    hidden = pl.col("item").is_in(typed) & (pl.col("kind") == PEOPLE)
    return outcomes.with_columns(answer=pl.when(hidden).then(None).otherwise("answer"))


def model_outcomes(exam: Exam, runs: Path) -> pl.DataFrame:
    """Return the outcomes of every model whose sittings lie under a folder; of each model all its repeats."""
    files = [runs] if runs.is_file() else sorted(runs.rglob(SITTINGS))
    if not files:
        raise MensuraError(f"{runs}: no {SITTINGS} in it; run mensura exam sit EXAM --model NAME --out {runs}/NAME")
    found = []
    for file in files:
        frame = read_table(file)
        require_columns(frame, list(OUTCOMES), name=str(file))
        found.append(frame.select(pl.col(name).cast(kind, strict=False) for name, kind in OUTCOMES.items()))
    table = pl.concat(found).unique(["subject", "repeat", "item"], keep="last", maintain_order=True)
    strange = table.filter(~pl.col("item").is_in(list(exam.by_name)))
    if strange.height:
        raise MensuraError(f"{runs}: item {strange['item'][0]!r} is not in the exam; give the sittings of this exam")
    return table
