"""What annotating a pool will ask, before anything is asked: the questions, and the tokens their answers take.

One model's answers to a plan, taken apart into cells: every cell asked for is a reading or is listed as unparsed.

Which protocol is worth its price: each is asked of the same items, and compared with one call per cell. A protocol is
*as good* as the first (a call per cell, as published) when it agrees with the first about as well as the first agrees
with itself: the mean kappa between them is no more than ``TOLERANCE`` below the mean kappa between repeats of the
first. The cheapest such protocol is the recommendation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from mensura.core.arrays import just_below
from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.demands.agreement import Agreement, measure_agreement
from mensura.demands.protocols import ITEMS_PER_CALL, PROTOCOLS, AnnotationProtocol, Packet
from mensura.demands.rubrics import Rubric, load_rubrics
from mensura.demands.views import ItemView, item_table, unguessability, view_items
from mensura.llm import Answer, Asker, Question

PROTOCOL = "bundle"
FIRST = "cell"
TOLERANCE = 0.05
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
    pool: Any,  # noqa: ANN401
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


@dataclass(frozen=True, eq=False, repr=False)
class ProtocolComparison(Result):
    """Protocols side by side.

    ``protocols``: protocol, calls, tokens, cost (answers from the journal included), unparsed; agreement with the first
    protocol (kappa with its interval, exact, within_one, shift) and with its own repeats (retest_kappa).
    ``dimensions``: the agreement with the first per dimension. ``recommended`` is the cheapest protocol that is as good
    as the first.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("protocols", "dimensions")

    protocols: pl.DataFrame
    dimensions: pl.DataFrame
    recommended: str
    model: str
    items: int
    warnings: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """What this is, in one line."""
        return f"Protocols on {self.items} items by {self.model}; the cheapest as good as {FIRST}: {self.recommended}"


def plan_protocols(pool: Any, *, repeats: int = 2, **settings: Any) -> dict[str, AnnotationPlan]:  # noqa: ANN401
    """Say what each protocol asks; two repeats or more, for the first protocol's agreement with itself."""
    if repeats < 2:
        raise MensuraError(
            f"repeats: expected 2 or more, for the first protocol's agreement with itself, got {repeats}"
        )
    per_call = settings.pop("items_per_call", ITEMS_PER_CALL)
    bundled = {name: per_call if name == PROTOCOL else ITEMS_PER_CALL for name in PROTOCOLS}
    return {
        name: plan_annotation(pool, protocol=name, repeats=repeats, items_per_call=size, **settings)
        for name, size in bundled.items()
    }


def compare_plans(plans: Mapping[str, AnnotationPlan], model: Asker, *, seed: int = 0) -> ProtocolComparison:
    """Carry out the plans of all protocols and compare what they give."""
    asked = {name: ask_plan(plan, model) for name, plan in plans.items()}
    lost = [name for name, part in asked.items() if part.readings.is_empty()]
    if lost:
        reason = asked[lost[0]].unparsed["reason"][0]
        raise MensuraError(
            f"protocols: no level could be read by {', '.join(lost)} ({reason}), so nothing can be compared; try "
            "another model"
        )
    rows, parts = [], []
    for name, part in asked.items():
        retest = measure_agreement(part.readings, seed=seed) if part.readings["repeat"].n_unique() > 1 else None
        agreement = None if name == FIRST else _against(asked[FIRST], part, seed)
        rows.append(
            {
                "protocol": name,
                "calls": part.calls + part.stored,
                "tokens": part.tokens,
                "cost": part.price,
                "unparsed": part.unparsed.height,
                **_figures(agreement),
                "retest_kappa": None if retest is None else retest.value("kappa"),
            }
        )
        parts += [] if agreement is None else [agreement.agreement.select(pl.lit(name).alias("protocol"), pl.all())]
    table = pl.DataFrame(rows, infer_schema_length=None)
    recommended, warnings = _recommend(table, table.filter(protocol=FIRST)["retest_kappa"].item())
    annotator, items = asked[FIRST].readings["annotator"][0], len(plans[FIRST].views)
    return ProtocolComparison(table, pl.concat(parts), recommended, annotator, items, warnings)


def _against(first: Asked, other: Asked, seed: int) -> Agreement:
    """Agreement of one repeat of each of two protocols, the first of either."""
    parts = []
    for label, part in (("first", first), ("other", other)):
        once = part.readings.filter(pl.col("repeat") == pl.col("repeat").min())
        parts.append(once.with_columns(annotator=pl.lit(label), repeat=pl.lit(0, dtype=pl.Int64)))
    return measure_agreement(pl.concat(parts), seed=seed)


def _figures(agreement: Agreement | None) -> dict[str, float | None]:
    names = ("kappa", "low", "high", "exact", "within_one", "shift")
    if agreement is None:
        return dict.fromkeys(names)
    mean = agreement.agreement.filter(dimension="mean", statistic="kappa").select("value", "low", "high").row(0)
    pair = agreement.pairs.select(names[3:]).row(0)
    return dict(zip(names, (*mean, *pair), strict=True))


def _recommend(table: pl.DataFrame, bar: float | None) -> tuple[str, tuple[str, ...]]:
    """Return the cheapest protocol that is as good as the first; cheapest by cost, then tokens, then calls."""
    if bar is None:
        return FIRST, ("the first protocol's agreement with itself is not defined, so nothing can be called as good",)
    good = table.filter((pl.col("protocol") == FIRST) | (pl.col("kappa") >= just_below(bar - TOLERANCE)))
    return str(good.sort("cost", "tokens", "calls")["protocol"][0]), ()
