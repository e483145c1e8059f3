"""What annotating a pool will ask, before anything is asked: the questions, and the tokens their answers take.

One model's answers to a plan, taken apart into cells: every cell asked for is a reading or is listed as unparsed.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError
from mensura.demands.protocols import ITEMS_PER_CALL, AnnotationProtocol, Packet
from mensura.demands.rubrics import Rubric, load_rubrics
from mensura.demands.views import ItemView, item_table, unguessability, view_items
from mensura.llm import Answer, Asker, Question

PROTOCOL = "bundle"
MOST_REPEATS = 100
_REASONING_TOKENS = 1000
"""The published limit of an answer that reasons about one dimension."""
_USUAL_REASONING, _USUAL_WHY, _LONGEST_WHY = 250, 40, 200
_TOKENS_PER_LEVEL = 6
"""Of an entry such as ``"MCr": 2,`` in an object."""
_ROOM = 500
"""Tokens left free around the objects of an answer: fences, a sentence before them."""
_EXCERPT = 160
_CELL = {"item": pl.String, "dimension": pl.String, "annotator": pl.String, "repeat": pl.Int64}
_READINGS = {**_CELL, "level": pl.Int64, "why": pl.String}
_UNPARSED = {**_CELL, "reason": pl.String, "answer": pl.String}


@dataclass(frozen=True, eq=False)
class AnnotationPlan:
    """What will be asked: the questions of every repeat, the items they are about, and those that are left out."""

    protocol: AnnotationProtocol
    rubrics: dict[str, Rubric]
    views: tuple[ItemView, ...]
    skipped: pl.DataFrame
    guessing: pl.DataFrame
    packets: tuple[Packet, ...]
    repeats: int

    @property
    def max_tokens(self) -> int:
        """Room an answer needs: the published 1,000 for free reasoning, else what objects of this size take."""
        most_items = max(len(packet.items) for packet in self.packets)
        objects = _ROOM + most_items * (_LONGEST_WHY + 2 * _TOKENS_PER_LEVEL * len(self.rubrics))
        return _REASONING_TOKENS if self.protocol.name == "cell" else objects

    @property
    def usual_tokens(self) -> int:
        """Tokens an answer usually has, for an estimate beforehand: reasoning, or an object per item."""
        if self.protocol.name == "cell":
            return _USUAL_REASONING
        per_item = _USUAL_WHY + _TOKENS_PER_LEVEL * len(self.rubrics)
        return per_item * sum(len(packet.items) for packet in self.packets) // len(self.packets)

    @property
    def questions(self) -> list[Question]:
        """The questions of every repeat, in order."""
        return [packet.question for packet in self.packets]


def plan_annotation(
    pool: Any,
    *,
    protocol: str = PROTOCOL,
    repeats: int = 1,
    items_per_call: int = ITEMS_PER_CALL,
    rubrics: str | Path | None = None,
    dimensions: Iterable[str] | None = None,
) -> AnnotationPlan:
    """Plan the questions that annotate a pool, without asking them.

    Parameters
    ----------
    pool, protocol, repeats, items_per_call, rubrics, dimensions
        As :func:`mensura.annotate` takes them.

    Returns
    -------
    AnnotationPlan
        The questions, the items they are about, and those that are left out.

    Raises
    ------
    MensuraError
        If an argument is impossible, or no item can be annotated.

    Examples
    --------
    >>> from mensura.demands import plan_annotation
    >>> len(plan_annotation("example", dimensions=["KNc"]).questions)
    1

    """
    if not 1 <= repeats <= MOST_REPEATS:
        raise MensuraError(f"repeats: expected 1 to {MOST_REPEATS}, got {repeats}")
    chosen = load_rubrics(rubrics, dimensions)
    items = item_table(pool)
    views, skipped = view_items(items)
    way = AnnotationProtocol(protocol, items_per_call)
    packets = tuple(packet for repeat in range(repeats) for packet in way.ask(views, chosen, repeat))
    return AnnotationPlan(way, chosen, tuple(views), skipped, unguessability(items), packets, repeats)


@dataclass(frozen=True, eq=False)
class Asked:
    """What one model's answers to a plan gave: readings, unparsed cells, and what was paid now.

    ``cost``: US dollars, None where no price is known.
    """

    readings: pl.DataFrame
    unparsed: pl.DataFrame
    calls: int
    stored: int
    cost: float | None


def ask_plan(plan: AnnotationPlan, model: str | Asker, **settings: Any) -> Asked:
    """Ask one model everything a plan holds."""
    with opened(model, plan.max_tokens, settings) as asker:
        return _sorted_out(plan, asker.ask(plan.questions, plan.protocol.read), asker.model)


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
    costs = [answer.cost for answer in fresh if answer.text]
    return Asked(
        read,
        missed,
        calls=sum(max(answer.attempts, bool(answer.text)) for answer in fresh),
        stored=len(answers) - len(fresh),
        cost=None if None in costs else float(sum(cost for cost in costs if cost is not None)),
    )
