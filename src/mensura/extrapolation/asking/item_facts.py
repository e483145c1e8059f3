"""The facts of one item that a prompt may hold, taken from a task; nothing of what is to be predicted is among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.demands.views import ItemView, view_items
from mensura.people import WORLD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mensura.extrapolation.protocol import Task

_KNOWN = ("label", "unit", "domain", "cognitive", "format", "language")
_CORRECT = "option_correct"
_NO_TEXT = "(its text is not available)"
_NO_KEY = "(not available)"


@dataclass(frozen=True)
class ItemFacts:
    """What is known of one item and of the people who answered it.

    ``test``: what the data are. ``people``: who was observed. ``stem``, ``options``, ``answer`` and ``scoring``: the
    item and its key. ``about``: its domain, format and so on. ``rate`` and ``n``: the observed group's success.
    ``reference``: who is wanted; empty in the world form, where the instruction itself names everybody. ``source`` and
    ``target`` name both groups for tables and recordings; they are not shown.
    """

    item: str
    test: str
    people: str
    stem: str
    options: tuple[str, ...]
    answer: str
    scoring: str
    about: str
    rate: float
    n: int | None
    reference: str = ""
    source: str = ""
    target: str = "world"

    @property
    def form(self) -> str:
        """``world`` or ``sample`` (the validation form)."""
        return "sample" if self.reference else "world"

    @property
    def place(self) -> dict[str, str]:
        """What a question about the item is about: task, item, and the two groups."""
        return {"task": "extrapolation", "from": self.source, "to": self.target}


def item_facts(task: Task) -> list[ItemFacts]:
    """Return the facts of every item of a task, in order. Items that need a picture count as without text."""
    world = task.reference.name == WORLD.name
    views = _views(task.items)
    found = []
    for row, rate, n in zip(task.items.iter_rows(named=True), task.rate, task.n, strict=True):
        view, about = views.get(row["item"]), _about(row)
        found.append(
            ItemFacts(
                item=row["item"],
                test=task.description or task.pool or "a test",
                people=task.focal.prose,
                stem=view.text if view else f"{_NO_TEXT} {about}".rstrip(),
                options=_options(row, view),
                answer=(view.key if view else "") or str(row.get(_CORRECT) or _NO_KEY),
                scoring=view.scoring if view else "",
                about=about,
                rate=float(rate),
                n=int(n) if np.isfinite(n) else None,
                reference="" if world else task.reference.prose,
                source=task.focal.name,
                target=task.reference.name,
            )
        )
    return found


def _views(items: pl.DataFrame) -> dict[str, ItemView]:
    """Return the items with a text that can be shown, as annotators see them."""
    if "text" not in items.columns:
        return {}
    shown = items.filter(pl.col("text").is_not_null() & (pl.col("text").cast(pl.String).str.strip_chars() != ""))
    if "needs_picture" in items.columns:
        shown = shown.filter(~pl.col("needs_picture").cast(pl.Boolean, strict=False).fill_null(False))
    return {view.item: view for view in view_items(shown)[0]} if shown.height else {}


def _options(row: Mapping[str, object], view: ItemView | None) -> tuple[str, ...]:
    """Return the options; where the right one stands in a column of its own, all in alphabetical order."""
    options = view.options if view else ()
    correct = row.get(_CORRECT)
    return tuple(sorted({*options, str(correct)})) if options and correct is not None else options


def _about(row: Mapping[str, object]) -> str:
    """Return what columns say of an item, such as ``domain: Algebra; format: multiple choice; 4 options``."""
    parts = [f"{name}: {str(row[name]).replace('_', ' ')}" for name in _KNOWN if row.get(name) is not None]
    if row.get("n_options") is not None:
        parts.append(f"{row['n_options']} options")
    return "; ".join(parts)
