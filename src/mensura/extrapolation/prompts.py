"""The facts of an item that a prompt may hold, and the published prompt in 27 variants.

Facts are taken from a task; nothing of what is to be predicted is among them. The variants combine three section
orders, phrasings and number formats; the facts are alike in all.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError
from mensura.demands.views import ItemView, view_items
from mensura.llm import Question
from mensura.people import WORLD

if TYPE_CHECKING:
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
    def place(self) -> dict[str, str]:
        """What a question about the item is about: task, item, and the two groups."""
        return {"task": "extrapolation", "from": self.source, "to": self.target}


def item_facts(task: Task) -> list[ItemFacts]:
    """Return the facts of every item of a task, in order. Items that need a picture count as without text."""
    reference = "" if task.reference.name == WORLD.name else task.reference.prose
    test, views = task.description or task.pool or "a test", _views(task.items)
    facts = []
    for row, rate, n in zip(task.items.iter_rows(named=True), task.rate, task.n, strict=True):
        view, about, correct = views.get(row["item"]), _about(row), row.get(_CORRECT)
        stem, options, key, scoring = f"{_NO_TEXT} {about}".rstrip(), tuple[str, ...](), "", ""
        if view is not None:
            stem, options, key, scoring = view.text, view.options, view.key, view.scoring
        if options and correct is not None:  # in alphabetical order, so that its place does not give it away
            options = tuple(sorted({*options, str(correct)}))
        answer, count = key or str(correct or _NO_KEY), int(n) if np.isfinite(n) else None
        people, groups = task.focal.prose, (task.focal.name, task.reference.name)
        known = (row["item"], test, people, stem, options, answer, scoring, about, float(rate), count)
        facts.append(ItemFacts(*known, reference, *groups))
    return facts


def _views(items: pl.DataFrame) -> dict[str, ItemView]:
    """Return the items with a text that can be shown, as annotators see them."""
    if "text" not in items.columns:
        return {}
    shown = items.filter(pl.col("text").is_not_null() & (pl.col("text").cast(pl.String).str.strip_chars() != ""))
    if "needs_picture" in items.columns:
        shown = shown.filter(~pl.col("needs_picture").cast(pl.Boolean, strict=False).fill_null(False))
    return {view.item: view for view in view_items(shown)[0]} if shown.height else {}


def _about(row: Mapping[str, object]) -> str:
    """Return what columns say of an item, such as ``domain: Algebra; format: multiple choice; 4 options``."""
    parts = [f"{name}: {str(row[name]).replace('_', ' ')}" for name in _KNOWN if row.get(name) is not None]
    if row.get("n_options") is not None:
        parts.append(f"{row['n_options']} options")
    return "; ".join(parts)


SYSTEM = "You know how people of all ages, countries and kinds of schooling do on test questions."
SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {"rationale": {"type": "string"}, "percentage": {"type": "number", "minimum": 0, "maximum": 100}},
    "required": ["rationale", "percentage"],
    "additionalProperties": False,
}
"""For answers by schema instead of free text; the prompt stays the same."""


class Variant(NamedTuple):
    """One of the 27 ways to write the same prompt: names of a section order, a phrasing and a number format."""

    order: str
    phrasing: str
    numbers: str


@cache
def read_template(name: str, own: Path | None = None) -> Mapping[str, Any]:
    """Return one of the shipped templates, its entries replaced by those of a user's own file."""
    text = (files("mensura.extrapolation") / "templates" / f"{name}.toml").read_text(encoding="utf-8")
    shipped = tomllib.loads(text)
    if own is None:
        return shipped
    try:
        changes = tomllib.loads(own.read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise MensuraError(
            f"{own}: not a readable template ({fault}); expected TOML with entries of {name}.toml"
        ) from fault
    unknown = sorted(set(changes) - set(shipped))
    if unknown:
        raise MensuraError(f"{own}: unknown entry {unknown[0]!r}; expected one of {', '.join(shipped)}. Rename it")
    return {key: _merged(part, changes[key]) if key in changes else part for key, part in shipped.items()}


def _merged(shipped: Any, own: Any) -> Any:  # noqa: ANN401
    if isinstance(shipped, dict) and isinstance(own, dict):
        return {**shipped, **{key: _merged(shipped.get(key), part) for key, part in own.items()}}
    return own


def fill(text: str, values: Mapping[str, object]) -> str:
    """Fill the braces of a template; refuse one that names a fact there is not."""
    try:
        return text.strip().format(**values)
    except (KeyError, IndexError, ValueError) as fault:
        raise MensuraError(
            f"template: {{{str(fault).strip(chr(39))}}} is unknown; expected braces around {', '.join(values)}. "
            "Write a brace that stays as two"
        ) from fault


def fenced(text: str) -> str:
    """Return a text of an item that cannot end the marks around the material of a prompt."""
    return text.replace("<<<", "< < <").replace(">>>", "> > >")


@cache
def all_variants() -> tuple[Variant, ...]:
    """Return the 27 variants, spread out: the first three differ in everything, the first nine hold every pair once.

    With a, b, c in {0, 1, 2}, variant 9c + 3a + b is (b, a + b, a + 2b + c), mod 3: nine by nine an orthogonal array.
    Main effects of order, phrasing and numbers cancel out of a mean over 3, 6, 9 … calls, those of pairs over 9, 18
    or 27.
    """
    template = read_template("item")
    orders, phrasings, numbers = (tuple(template[part]) for part in ("orders", "phrasings", "numbers"))
    places = ((a, b, c) for c in range(3) for a in range(3) for b in range(3))
    return tuple(Variant(orders[b], phrasings[(a + b) % 3], numbers[(a + 2 * b + c) % 3]) for a, b, c in places)


def write_item_prompt(facts: ItemFacts, variant: Variant, own: Path | None = None) -> str:
    """Return the prompt about one item in one variant: the world form or, with a reference, the validation form."""
    template = read_template("item", own)
    words, numbers = template["phrasings"][variant.phrasing], template["numbers"][variant.numbers]
    separator = {"comma": ",", "plain": "", "space": " "}[numbers["count"]]
    count = "" if facts.n is None else words["answered_by"].format(count=f"{facts.n:,}".replace(",", separator))
    tenths = round(facts.rate * 1000) / 10  # of a per cent, so that every format says the same
    values = {
        "test": facts.test,
        "people": facts.people,
        "reference": facts.reference,
        "stem": fenced(facts.stem),
        "options": "".join(["Options:\n", *(f"- {fenced(text)}\n" for text in facts.options)]) if facts.options else "",
        "answer": fenced(f"{facts.answer}\nScoring: {facts.scoring}" if facts.scoring else facts.answer),
        "rate": numbers["rate"].format(
            hundredths=f"{tenths:.1f}", share=f"{tenths / 100:.3f}", thousandths=round(10 * tenths)
        ),
        "count": count,
        "factors": ", ".join(template["factors"]["list"]),
    }
    sections = {**words, **template["sections"], "instruction": words["sample" if facts.reference else "world"]}
    chosen = [part for part in template["orders"][variant.order] if part != "reference" or facts.reference]
    return "\n\n".join(fill(sections[part], values) for part in chosen)


def ask_item(
    facts: ItemFacts, variant: Variant, repeat: int = 0, *, schema: bool = False, own: Path | None = None
) -> Question:
    """Return the question about one item in one variant; ``own``: a template of the user's."""
    return Question(
        prompt=write_item_prompt(facts, variant, own),
        system=SYSTEM,
        schema=SCHEMA if schema else None,
        repeat=repeat,
        about={**facts.place, "protocol": "item-by-item", "item": facts.item, "variant": "/".join(variant)},
    )
