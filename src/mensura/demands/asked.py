"""One model's answers to a plan, taken apart into cells: every cell asked for is a reading or is listed as unparsed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError
from mensura.demands.plan import AnnotationPlan
from mensura.llm import Answer, Asker

_EXCERPT = 160
_READINGS = {
    "item": pl.String,
    "dimension": pl.String,
    "annotator": pl.String,
    "repeat": pl.Int64,
    "level": pl.Int64,
    "why": pl.String,
}
_UNPARSED = {
    "item": pl.String,
    "dimension": pl.String,
    "annotator": pl.String,
    "repeat": pl.Int64,
    "reason": pl.String,
    "answer": pl.String,
}


@dataclass(frozen=True, eq=False)
class Asked:
    """What one model's answers to a plan gave: readings, unparsed cells, and what they cost.

    ``cost`` was paid now, ``price`` is the cost of all answers, those from the journal included; US dollars, None where
    no price is known.
    """

    readings: pl.DataFrame
    unparsed: pl.DataFrame
    calls: int
    stored: int
    tokens: int
    cost: float | None
    price: float | None


def ask_plan(plan: AnnotationPlan, model: str | Asker, **settings: Any) -> Asked:  # noqa: ANN401
    """Ask one model everything a plan holds."""
    with opened(model, plan.max_tokens, settings) as asker:
        answers = asker.ask(plan.questions, plan.protocol.read)
        return _sorted_out(plan, answers, asker.model)


@contextmanager
def opened(model: str | Asker, max_tokens: int, settings: dict[str, Any]) -> Iterator[Asker]:
    """Yield an asker: the one given, or the one behind a model's name, closed afterwards."""
    if not isinstance(model, str):
        if settings:
            raise MensuraError(
                f"annotate: unknown setting {', '.join(map(repr, settings))} for a model that is open already; pass "
                "settings when you open it"
            )
        yield model
        return
    from mensura.llm import open_asker

    with open_asker(model, **{"max_tokens": max_tokens, "journal": None, **settings}) as asker:
        yield asker


def _sorted_out(plan: AnnotationPlan, answers: Sequence[Answer], annotator: str) -> Asked:
    """Take every cell from the answers; each cell that was asked for ends as a reading or as unparsed."""
    readings, unparsed = [], []
    for packet, answer in zip(plan.packets, answers, strict=True):
        repeat = packet.question.repeat
        if answer.value is None:
            reason = answer.error or "no answer"
            unparsed += [(*cell, annotator, repeat, reason, answer.text[:_EXCERPT]) for cell in packet.cells]
            continue
        cells = plan.protocol.cells(packet, answer.value, answer.rationale)
        for item, code in packet.cells:
            if (item, code) in cells.levels:
                readings.append((item, code, annotator, repeat, cells.levels[item, code], cells.why.get(item, "")))
            else:
                unparsed.append((item, code, annotator, repeat, cells.faults[item, code], answer.text[:_EXCERPT]))
    order = {view.item: place for place, view in enumerate(plan.views)}
    by_item = pl.col("item").replace_strict(order, return_dtype=pl.Int64)
    read, missed = (
        pl.DataFrame(rows, schema=schema, orient="row").sort("repeat", by_item, maintain_order=True)
        for rows, schema in ((readings, _READINGS), (unparsed, _UNPARSED))
    )
    fresh = [answer for answer in answers if not answer.stored]
    return Asked(
        read,
        missed,
        calls=sum(max(answer.attempts, bool(answer.text)) for answer in fresh),
        stored=len(answers) - len(fresh),
        tokens=sum(answer.tokens_in + answer.tokens_out for answer in answers),
        cost=_total_cost(fresh),
        price=_total_cost(answers),
    )


def _total_cost(answers: Sequence[Answer]) -> float | None:
    """Return the cost of answers in US dollars, None where the price of one is not known."""
    costs = [answer.cost for answer in answers if answer.text]
    return None if None in costs else float(sum(cost for cost in costs if cost is not None))
