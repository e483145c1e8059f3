"""The facts of an item that a prompt may hold, the published prompt in 27 variants, and the reading of its answers.

Facts are taken from a task; nothing of what is to be predicted is among them. The variants combine three section
orders, phrasings and number formats; the facts are alike in all. Every variant asks for a last line ``Final answer:
NN%``. What can be read in two ways is refused, never guessed.
"""

from __future__ import annotations

import re
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
from mensura.llm import AnswerReading, Question, UnreadableError
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
        described = (row["item"], test, people, stem, options, answer, scoring, about, float(rate), count)
        facts.append(ItemFacts(*described, reference, *groups))
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
LONGEST = 200_000
"""Characters read of an answer, from its end: an answer that never ends is cut, not searched for hours."""
_FINAL = re.compile(r"\bfinal\s+answer\b(?=[^\n]*[0-9])", re.IGNORECASE)
_SHARE = re.compile(
    r"""[\s:=*_`"]*(?:(?:is|about|around|approximately|roughly)\b|[~≈])?[\s*]*([0-9]{1,3}(?:[.,][0-9]+)?)"""
    r"""\s*(?:%|per\s?cent)[\s.*_`"]*""",
    re.IGNORECASE,
)


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
    if unknown := sorted(set(changes) - set(shipped)):
        raise MensuraError(f"{own}: unknown entry {unknown[0]!r}; expected one of {', '.join(shipped)}. Rename it")
    return {key: _merged(part, changes[key]) if key in changes else part for key, part in shipped.items()}


def _merged(shipped: Any, own: Any) -> Any:
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


def ask_item(facts: ItemFacts, variant: Variant, repeat: int = 0, *, own: Path | None = None) -> Question:
    """Return the question about one item in one variant; ``own``: a template of the user's."""
    return Question(
        prompt=write_item_prompt(facts, variant, own),
        system=SYSTEM,
        repeat=repeat,
        about={**facts.place, "protocol": "item-by-item", "item": facts.item, "variant": "/".join(variant)},
    )


def read_percentage(text: str) -> AnswerReading:
    """Read the success rate that an answer states on its line ``Final answer: NN%``, or as its last line alone.

    Parameters
    ----------
    text : str
        The answer of a language model.

    Returns
    -------
    AnswerReading
        Its value is a dict with ``rate``, between 0 and 1. Its rationale is the text before the line.

    Raises
    ------
    UnreadableError
        If the line is missing or holds anything but one percentage, or two lines differ.

    Examples
    --------
    >>> from mensura.extrapolation import read_percentage
    >>> read_percentage("Few remember this. Final answer: 12.5%").value
    {'rate': 0.125}

    """
    whole = text[-LONGEST:].rpartition("</think>")[2].strip()
    if re.search(r"<think(?:ing)?>", whole, re.IGNORECASE):
        raise UnreadableError("the answer breaks off while thinking; raise max_tokens (--set max_tokens=N)")
    starts = [match.span() for match in _FINAL.finditer(whole)] or [(whole.rfind("\n") + 1,) * 2]
    lines = [whole[end:].partition("\n")[0] for _, end in starts]
    shares = [_SHARE.fullmatch(line) for line in lines]
    rates = {float(share[1].replace(",", ".")) / 100 for share in shares if share is not None}
    if len(rates) != 1 or None in shares or max(rates) > 1:
        shown = "; ".join(line.strip()[:60] for line in lines) or "nothing"
        raise UnreadableError(f"no plain percentage at the end ({shown}); expected a line 'Final answer: NN%'")
    return AnswerReading(value={"rate": rates.pop()}, rationale=whole[: starts[0][0]].strip())
