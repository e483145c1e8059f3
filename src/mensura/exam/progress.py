"""How an exam is going: counts, drop-outs, times and items as the answers come, for the organiser's page."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from statistics import median

import polars as pl

from mensura.exam.file import Exam
from mensura.exam.gathering import people_outcomes, people_takers
from mensura.exam.small_groups import LEAST_SHOWN, hidden_groups
from mensura.exam.store import STALE, AnswerStore


@dataclass(frozen=True, eq=False)
class ExamProgress:
    """Counts by name, and the tables ``items``, ``checks`` (persons who failed one) and ``groups``."""

    counts: dict[str, object]
    items: pl.DataFrame
    checks: pl.DataFrame
    groups: pl.DataFrame


def summarise(exam: Exam, store: AnswerStore, now: float) -> ExamProgress:
    """Return how the exam is going at a time in seconds since 1970."""
    sittings = store.rows("sittings")
    outcomes = people_outcomes(exam, store)
    takers = people_takers(exam, store, outcomes)
    finished = [row for row in sittings if row["finished"] is not None]
    stopped = [row for row in sittings if row["finished"] is None and now - row["begun"] > STALE]
    spent = [(row["finished"] - row["started"]) / 60.0 for row in finished if row["started"]]
    counts: dict[str, object] = {
        "began": len(sittings),
        "started": sum(row["started"] is not None for row in sittings),
        "finished": len(finished),
        "dropped out": len(stopped),
        "still at work": len(sittings) - len(finished) - len(stopped),
        "deleted their answers": store.forgotten,
        "median minutes": round(median(spent), 1) if spent else None,
    }
    failed = takers.filter(pl.col("failed_checks") > 0).select("subject", "failed_checks", "finished")
    return ExamProgress(counts, _items(exam, store, outcomes, stopped), failed, hide_small(_groups(exam, takers)))


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
        {
            "item": list(exam.by_name),
            "given": [given[name] for name in exam.by_name],
            "dropped_out": [ended[name] for name in exam.by_name],
        }
    )
    seen = outcomes.group_by("item").agg(n=pl.len(), rate=pl.col("score").mean(), seconds=pl.col("seconds").median())
    table = names.join(seen, on="item", how="left", maintain_order="left").with_columns(pl.col("n").fill_null(0))
    shown = pl.col("n") >= LEAST_SHOWN
    return table.select(
        "item", "given", "n", *(pl.when(shown).then(name).alias(name) for name in ("rate", "seconds")), "dropped_out"
    )


def _groups(exam: Exam, takers: pl.DataFrame) -> pl.DataFrame:
    """Return the number of people by their answers to each question about the person."""
    parts = [
        takers.group_by(pl.col(question.name).fill_null("declined").alias("answer"))
        .agg(n=pl.len())
        .select(pl.lit(question.name).alias("question"), "answer", pl.col("n").cast(pl.Int64))
        .sort("answer")
        for question in exam.settings.questions
    ]
    return (
        pl.concat(parts) if parts else pl.DataFrame(schema={"question": pl.String, "answer": pl.String, "n": pl.Int64})
    )


def hide_small(groups: pl.DataFrame) -> pl.DataFrame:
    """Return groups whose count is null where it is hidden."""
    parts = []
    for part in groups.partition_by("question", maintain_order=True):
        hidden = hidden_groups(dict(part.select("answer", "n").iter_rows()))
        parts.append(part.with_columns(n=pl.when(~pl.col("answer").is_in(list(hidden))).then("n")))
    return pl.concat(parts) if parts else groups
