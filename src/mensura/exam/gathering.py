"""From stored answers to tables: one row per taker, one per taker and item, and how an exam is going."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.frames import first_row, require_columns
from mensura.exam.file import TAKERS, Exam
from mensura.exam.items import ExamItem
from mensura.exam.scoring import MODELS, PEOPLE, Given, answer_text, is_blank, name_outcome, outcome_of, score
from mensura.exam.store import STALE, AnswerStore
from mensura.exam.weights import LEAST_SHOWN, exclude, hidden_groups
from mensura.intake.samples import read_samples
from mensura.intake.tables import read_table

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
SITTINGS = "sittings.csv"
"""The file in which ``mensura exam sit`` keeps a model's sittings."""


def people_outcomes(exam: Exam, store: AnswerStore) -> pl.DataFrame:
    """Return one row per person who started and item of their form, attention checks included.

    A blank or late answer has score 0. Items that the person never saw have no row, nor has the item at which an
    unfinished sitting stopped: they were not reached.
    """
    stored, shown_items = _by_number(store.rows("answers")), _by_number(store.rows("shown"))
    rows: list[tuple[Any, ...]] = []
    for sitting in store.rows("sittings"):
        if sitting["started"] is None:
            continue
        answers, shown = stored.get(sitting["number"], {}), shown_items.get(sitting["number"], {})
        last = max(shown, key=lambda name: shown[name]["at"], default=None) if sitting["finished"] is None else None
        for name in json.loads(sitting["form"])["items"]:
            if name in answers or (name in shown and name != last):
                rows.append(_row(exam.by_name[name], sitting["person"], answers.get(name)))
    return pl.DataFrame(rows, schema=OUTCOMES, orient="row")


def _row(item: ExamItem, person: str, stored: Mapping[str, Any] | None) -> tuple[Any, ...]:
    given: Given = json.loads(stored["answer"]) if stored else ""
    late = bool(stored and stored["late"])
    credit = None if item.is_rating else 0.0 if late or is_blank(given) else score(item, given)
    outcome = "late" if late else "blank" if is_blank(given) else outcome_of(item, credit)
    seconds = stored["seconds"] if stored else None
    return (person, PEOPLE, 0, item.item, credit, outcome, seconds, None, answer_text(item, given))


def people_takers(exam: Exam, store: AnswerStore, outcomes: pl.DataFrame) -> pl.DataFrame:
    """Return one row per person who started, with their answers about themselves (null: declined)."""
    away: Counter[int] = Counter()
    for row in store.rows("shown"):
        away[row["number"]] += row["left"]
    rows = [
        {
            **json.loads(sitting["about"] or "{}"),
            "subject": sitting["person"],
            "items": len(json.loads(sitting["form"])["items"]),
            "finished": sitting["finished"] is not None,
            "left": away[sitting["number"]],
            "sat_in": sitting["language"] or exam.settings.language,
        }
        for sitting in store.rows("sittings")
        if sitting["started"] is not None
    ]
    return _takers_table(exam, rows, outcomes)


def _takers_table(exam: Exam, rows: list[dict[str, Any]], outcomes: pl.DataFrame) -> pl.DataFrame:
    """Return takers with what their outcomes say of them; a column that a row lacks is null."""
    is_answered = ~pl.col("outcome").is_in(["blank", "late"])
    is_check = pl.col("item").is_in([item.item for item in exam.checks])
    counts = outcomes.group_by("subject").agg(
        answered=is_answered.sum(),
        late=(pl.col("outcome") == "late").sum(),
        seconds=pl.col("seconds").filter(is_answered).median(),
        failed_checks=(is_check & (pl.col("outcome") != "right")).sum(),
    )
    schema = TAKERS | {question.name: pl.String for question in exam.settings.questions}
    own = {name: kind for name, kind in schema.items() if name not in counts.columns or name == "subject"}
    table = pl.DataFrame(rows, schema=own).join(counts, on="subject", how="left", maintain_order="left")
    filled = table.with_columns(pl.col("answered", "late", "failed_checks").fill_null(0))
    return filled.select(*schema).cast(pl.Schema(schema))


def _by_number(rows: list[dict[str, Any]]) -> dict[int, dict[str, dict[str, Any]]]:
    by_number: dict[int, dict[str, dict[str, Any]]] = {}
    for row in rows:
        by_number.setdefault(row["number"], {})[row["item"]] = row
    return by_number


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
    tables = []
    for file in files:
        frame = read_table(file)
        require_columns(frame, list(OUTCOMES), name=str(file))
        tables.append(frame.select(*OUTCOMES).cast(pl.Schema(OUTCOMES), strict=False))
    table = pl.concat(tables).unique(["subject", "repeat", "item"], keep="last", maintain_order=True)
    if row := first_row(table.filter(~pl.col("item").is_in(list(exam.by_name)))):
        raise MensuraError(f"{runs}: item {row['item']!r} is not in the exam; give the sittings of this exam")
    return table


def log_outcomes(exam: Exam, path: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the outcomes of an Inspect log of the exam, and the takers among them who are people."""
    rows: list[tuple[Any, ...]] = []
    repeats: Counter[tuple[str, str]] = Counter()
    for sample in read_samples(path):
        item = sample.item.partition(":")[2]
        if item not in exam.by_name:
            raise MensuraError(f"{path}: item {item!r} is not in the exam; give the logs of this exam")
        kind = PEOPLE if sample.of_person else MODELS
        value = 0.0 if sample.value is None else sample.value
        outcome = "blank" if sample.value is None else name_outcome(value)
        row = (kind, repeats[sample.subject, item], item, value, outcome, sample.seconds, None, None)
        rows.append((sample.subject, *row))
        repeats[sample.subject, item] += 1
    outcomes = pl.DataFrame(rows, schema=OUTCOMES, orient="row")
    people = outcomes.filter(kind=PEOPLE).group_by("subject", maintain_order=True)
    takers = people.agg(items=pl.len(), finished=pl.lit(True), left=pl.lit(0)).to_dicts()
    return outcomes, _takers_table(exam, takers, outcomes)


def count_outcomes(outcomes: pl.DataFrame) -> pl.DataFrame:
    """Return how often each outcome came: for all people together, and for each model."""
    named = outcomes.with_columns(subject=pl.when(pl.col("kind") == PEOPLE).then(pl.lit(PEOPLE)).otherwise("subject"))
    counted = named.group_by("subject", "outcome", maintain_order=True).agg(n=pl.len())
    return counted.with_columns(share=pl.col("n") / pl.col("n").sum().over("subject"))


# From the first page to the analysis: how many people went how far.

ATTRITION = {"step": pl.String, "people": pl.Int64}
"""Columns of the table of attrition, one row per step."""


def count_steps(store: AnswerStore) -> dict[str, int]:
    """Return how many people opened the first page, consented, started, finished and deleted their answers."""
    sittings = store.rows("sittings")
    return {
        "began: opened the first page": store.opened,
        "consented": len(sittings) + store.forgotten,
        "deleted their answers": store.forgotten,
        "started": sum(row["started"] is not None for row in sittings),
        "finished": sum(row["finished"] is not None for row in sittings),
    }


def attrition(exam: Exam, takers: pl.DataFrame, steps: Mapping[str, int]) -> pl.DataFrame:
    """Return every step with its people; a person whom several rules exclude counts at the first of them."""
    out = exclude(takers, exam.settings.exclude).unique("subject", keep="first", maintain_order=True)
    by_rule = {f"excluded: {rule}": n for rule, n in out.group_by("rule", maintain_order=True).agg(n=pl.len()).rows()}
    at_least = {"started": takers.height, "finished": int(takers["finished"].sum())}  # logs have people as well
    rows = {name: max(steps.get(name, 0), at_least.get(name, 0)) for name in dict.fromkeys((*steps, *at_least))}
    return pl.DataFrame(
        list((rows | by_rule | {"analysed": takers.height - out.height}).items()), schema=ATTRITION, orient="row"
    )


# How an exam is going: counts, drop-outs, times and items as the answers come, for the organiser's page.


def summarise(exam: Exam, store: AnswerStore) -> tuple[dict[str, object], dict[str, pl.DataFrame]]:
    """Return how the exam is going: counts, and the tables attrition, items, checks (who failed one) and groups."""
    sittings = store.rows("sittings")
    outcomes = people_outcomes(exam, store)
    takers = people_takers(exam, store, outcomes)
    finished = [row for row in sittings if row["finished"] is not None]
    stopped = [row for row in sittings if row["finished"] is None and store.now() - row["begun"] > STALE]
    spent = [(row["finished"] - row["started"]) / 60.0 for row in finished if row["started"]]
    counts: dict[str, object] = {
        "finished": len(finished),
        "dropped out": len(stopped),
        "still at work": len(sittings) - len(finished) - len(stopped),
        "median minutes": round(median(spent), 1) if spent else None,
    }
    failed = takers.filter(pl.col("failed_checks") > 0).select("subject", "failed_checks", "finished")
    return counts, {
        "attrition": attrition(exam, takers, count_steps(store)),
        "items": _items(exam, store, outcomes, stopped),
        "checks": failed,
        "groups": _groups(exam, takers),
    }


def _items(exam: Exam, store: AnswerStore, outcomes: pl.DataFrame, stopped: list[dict[str, object]]) -> pl.DataFrame:
    """Return given, n, rate, seconds and drop-outs (people whose last item it was) of every item."""
    last: dict[object, tuple[float, str]] = {}
    for row in store.rows("shown"):
        last[row["number"]] = max(last.get(row["number"], (0.0, "")), (row["at"], row["item"]))
    ended = Counter(last[row["number"]][1] for row in stopped if row["number"] in last)
    given: Counter[str] = Counter()
    for row in store.rows("sittings"):
        given.update(json.loads(row["form"])["items"])
    names = pl.DataFrame(
        [(name, given[name], ended[name]) for name in exam.by_name],
        schema={"item": pl.String, "given": pl.Int64, "dropped_out": pl.Int64},
        orient="row",
    )
    rates = outcomes.group_by("item").agg(n=pl.len(), rate=pl.col("score").mean(), seconds=pl.col("seconds").median())
    table = names.join(rates, on="item", how="left", maintain_order="left").with_columns(pl.col("n").fill_null(0))
    shown = pl.col("n") >= LEAST_SHOWN
    return table.select(
        "item", "given", "n", *(pl.when(shown).then(name).alias(name) for name in ("rate", "seconds")), "dropped_out"
    )


def _groups(exam: Exam, takers: pl.DataFrame) -> pl.DataFrame:
    """Return the number of people by their answers to each question about the person; null where it is hidden."""
    rows = []
    for question in exam.settings.questions:
        counts = Counter(takers[question.name].fill_null("declined"))
        hidden = hidden_groups(counts)
        rows += [(question.name, answer, None if answer in hidden else counts[answer]) for answer in sorted(counts)]
    return pl.DataFrame(rows, schema={"question": pl.String, "answer": pl.String, "n": pl.Int64}, orient="row")
