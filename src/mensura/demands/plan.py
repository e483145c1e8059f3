"""What annotating a pool will ask, before anything is asked: the questions, and the tokens their answers take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError
from mensura.demands.protocols import ITEMS_PER_CALL, AnnotationProtocol, Packet, make_protocol
from mensura.demands.rubrics import Rubric, load_rubrics
from mensura.demands.views import ItemView, item_table, unguessability, view_items
from mensura.llm import Question

PROTOCOL = "bundle"
MOST_REPEATS = 100
_REASONING_TOKENS = 1000
"""The published limit of an answer that reasons about one dimension."""
_USUAL_REASONING, _USUAL_WHY, _LONGEST_WHY = 250, 40, 200
_TOKENS_PER_LEVEL = 6
"""Of an entry such as ``"MCr": 2,`` in an object."""
_ROOM = 500
"""Tokens left free around the objects of an answer: fences, a sentence before them."""


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
    """Say what annotating a pool asks, without asking; see :func:`mensura.demands.annotate` for the arguments."""
    if not 1 <= repeats <= MOST_REPEATS:
        raise MensuraError(f"repeats: expected 1 to {MOST_REPEATS}, got {repeats}")
    chosen = load_rubrics(rubrics, dimensions)
    items = item_table(pool)
    views, skipped = view_items(items)
    way = make_protocol(protocol, items_per_call)
    packets = tuple(packet for repeat in range(repeats) for packet in way.ask(views, chosen, repeat))
    return AnnotationPlan(way, chosen, tuple(views), skipped, unguessability(items), packets, repeats)
