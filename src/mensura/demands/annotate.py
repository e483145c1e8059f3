"""Annotating a pool: its items' demand levels, asked of one or several language models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from mensura.demands.aggregation import AGGREGATIONS, pool_readings
from mensura.demands.agreement import Agreement, measure_agreement
from mensura.demands.protocols import ITEMS_PER_CALL, AnnotationProtocol, Packet, make_protocol
from mensura.demands.rubrics import Rubric, load_rubrics
from mensura.demands.views import ItemView, item_table, unguessability, view_items
from mensura.errors import MensuraError
from mensura.llm import Answer, Asker, Question
from mensura.results import Result

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


@dataclass(frozen=True, eq=False, repr=False)
class Annotation(Result):
    """Demand levels of a pool.

    ``demands``: item, dimension, level, spread, annotator; one row per item and dimension. ``readings``: every level
    that was read, with annotator, repeat and reasons. ``unparsed``: the cells without a level, with the reason.
    ``skipped``: items that cannot be annotated. ``guessing``: Unguessability, computed. ``agreement``: of the raters,
    where there are two or more (see :class:`Agreement`). ``annotators``: leaning and error under ``ordinal``.
    """

    TABLES: ClassVar[tuple[str, ...]] = (
        "demands",
        "readings",
        "unparsed",
        "skipped",
        "guessing",
        "agreement",
        "annotators",
    )

    demands: pl.DataFrame
    readings: pl.DataFrame
    unparsed: pl.DataFrame
    skipped: pl.DataFrame
    guessing: pl.DataFrame
    annotators: pl.DataFrame
    agreed: Agreement | None
    protocol: str
    repeats: int
    calls: int
    stored: int
    cost: float
    warnings: tuple[str, ...] = ()

    @property
    def agreement(self) -> pl.DataFrame:
        """Agreement of the raters per dimension; empty for a single rater."""
        return pl.DataFrame() if self.agreed is None else self.agreed.agreement

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the tables that hold something; ``demands`` and ``unparsed`` always."""
        always = {"demands", "unparsed"}
        return {name: table for name, table in super().tables().items() if table.height or name in always}

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        items, dimensions = (self.demands[name].n_unique() for name in ("item", "dimension"))
        who = ", ".join(self.readings["annotator"].unique(maintain_order=True))
        told = f"{self.readings.height} levels read, {self.unparsed.height} cells unparsed"
        return f"{items} items in {dimensions} dimensions by {who} (protocol {self.protocol} × {self.repeats}): {told}"

    @property
    def shown(self) -> pl.DataFrame:
        """One row per item, one column per dimension."""
        return self.demands.pivot("dimension", index="item", values="level", maintain_order=True)


def plan_annotation(
    pool: Any,  # noqa: ANN401
    *,
    protocol: str = PROTOCOL,
    repeats: int = 1,
    items_per_call: int = ITEMS_PER_CALL,
    rubrics: str | Path | None = None,
    dimensions: Iterable[str] | None = None,
) -> AnnotationPlan:
    """Say what annotating a pool asks, without asking; see :func:`annotate` for the arguments."""
    if not 1 <= repeats <= MOST_REPEATS:
        raise MensuraError(f"repeats: expected 1 to {MOST_REPEATS}, got {repeats}")
    chosen = load_rubrics(rubrics, dimensions)
    items = item_table(pool)
    views, skipped = view_items(items)
    way = make_protocol(protocol, items_per_call)
    packets = tuple(packet for repeat in range(repeats) for packet in way.ask(views, chosen, repeat))
    return AnnotationPlan(way, chosen, tuple(views), skipped, unguessability(items), packets, repeats)


def annotate(
    pool: Any,  # noqa: ANN401
    *,
    model: str | Asker | Sequence[str | Asker],
    protocol: str = PROTOCOL,
    repeats: int = 1,
    items_per_call: int = ITEMS_PER_CALL,
    rubrics: str | Path | None = None,
    dimensions: Iterable[str] | None = None,
    aggregate: str = "median",
    seed: int = 0,
    **door: Any,  # noqa: ANN401
) -> Annotation:
    """Annotate the items of a pool with demand levels.

    ``pool``: an :class:`ItemPool`, a tidy folder, an items file, a table with item and text (and options, key,
    scoring), or ``"example"``. ``model``: a name as the command line takes it, something that answers questions, or
    several of either. ``protocol``: bundle, item or cell. ``repeats``: how often everything is asked. ``rubrics``: a
    folder whose rubrics replace or extend ours; ``dimensions``: which to annotate. ``aggregate``: median or ordinal.
    What else is given goes to :func:`mensura.llm.open_asker` for models given by name.
    """
    plan = plan_annotation(
        pool,
        protocol=protocol,
        repeats=repeats,
        items_per_call=items_per_call,
        rubrics=rubrics,
        dimensions=dimensions,
    )
    models: list[Any] = [model] if isinstance(model, str) or hasattr(model, "ask") else list(model)
    return carry_out(plan, models, aggregate=aggregate, seed=seed, **door)


def carry_out(
    plan: AnnotationPlan,
    models: Sequence[str | Asker],
    *,
    aggregate: str = "median",
    seed: int = 0,
    **door: Any,  # noqa: ANN401
) -> Annotation:
    """Ask every model what a plan holds; see :func:`annotate`."""
    if aggregate not in AGGREGATIONS:
        raise MensuraError(f"aggregate: {aggregate!r} is none of {', '.join(AGGREGATIONS)}")
    names = [one if isinstance(one, str) else one.model for one in models]
    if not models or len(set(names)) < len(names):
        raise MensuraError(f"model: expected one or more, each once, got {names}; ask one several times with repeats")
    asked: list[Asked] = []
    for one in models:
        asked.append(ask_plan(plan, one, **_left(door, asked)))
    return _annotation(plan, asked, aggregate, seed)


@dataclass(frozen=True, eq=False)
class Asked:
    """What one model's answers to a plan gave: readings, unparsed cells, and what they cost.

    ``cost`` is what was paid now, ``price`` what the answers cost altogether, those from the journal included.
    """

    readings: pl.DataFrame
    unparsed: pl.DataFrame
    calls: int
    stored: int
    tokens: int
    cost: float
    price: float


def ask_plan(plan: AnnotationPlan, model: str | Asker, **door: Any) -> Asked:  # noqa: ANN401
    """Ask one model everything a plan holds."""
    with opened(model, plan.max_tokens, door) as asker:
        answers = asker.ask(plan.questions, plan.protocol.read)
        return _sorted_out(plan, answers, asker.model)


def _left(door: dict[str, Any], asked: Sequence[Asked]) -> dict[str, Any]:
    """Return the settings of the door with what is left of the budget: one budget bounds all models together."""
    spent = {"max_calls": sum(part.calls for part in asked), "max_cost": sum(part.cost for part in asked)}
    bounds = {name: door[name] - used for name, used in spent.items() if door.get(name) is not None}
    return {**door, **{name: max(bound, 0) for name, bound in bounds.items()}}


@contextmanager
def opened(model: str | Asker, max_tokens: int, door: dict[str, Any]) -> Iterator[Asker]:
    """Yield an asker: the one given, or the one behind a model's name, closed afterwards."""
    if not isinstance(model, str):
        if door:
            raise MensuraError(
                f"annotate: unknown setting {', '.join(map(repr, door))} for a model that is open already"
            )
        yield model
        return
    from mensura.llm import open_asker

    with open_asker(model, **{"max_tokens": max_tokens, "journal": None, **door}) as asker:
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
        cost=sum(answer.cost for answer in fresh),
        price=sum(answer.cost for answer in answers),
    )


def _annotation(plan: AnnotationPlan, asked: Sequence[Asked], aggregate: str, seed: int) -> Annotation:
    readings, unparsed = pl.concat([part.readings for part in asked]), pl.concat([part.unparsed for part in asked])
    if readings.is_empty():
        raise MensuraError(
            f"annotate: no level could be read; the first of {unparsed.height} cells: {unparsed['reason'][0]}"
        )
    pooled = pool_readings(readings, aggregate)
    warnings = [
        f"{count} items left out: {reason}" for reason, count in plan.skipped["reason"].value_counts().iter_rows()
    ]
    if unparsed.height:
        reason, count = unparsed["reason"].value_counts(sort=True).row(0)
        warnings.append(f"{unparsed.height} cells without a level; the commonest reason ({count}): {reason}")
    return Annotation(
        pooled.demands,
        readings,
        unparsed,
        plan.skipped,
        plan.guessing,
        pooled.annotators,
        measure_agreement(readings, seed=seed) if _has_two_raters(readings) else None,
        plan.protocol.name,
        plan.repeats,
        sum(part.calls for part in asked),
        sum(part.stored for part in asked),
        sum(part.cost for part in asked),
        tuple(warnings),
    )


def _has_two_raters(readings: pl.DataFrame) -> bool:
    """Return whether any cell was read twice, so that agreement can be spoken of."""
    return bool(readings.select(pl.struct("item", "dimension").is_duplicated().any()).item())
