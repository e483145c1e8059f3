"""Texts for pages: terms of the glossary, the method in words, and links to sources that a browser may open.

The glossary is that of ``docs/glossary.md``, shipped as ``data/glossary.csv`` (``python -m tools.write_glossary``).
"""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup, escape

from mensura.core.errors import MensuraError
from mensura.core.frames import read_csv
from mensura.evidence import slug

FILE = Path(__file__).parent / "data" / "glossary.csv"
_LINKS = FILE.with_name("source_links.csv")
_DATE = re.compile(r"\b(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?\b")
_PRICE = re.compile(r"(?:^|;)\s*price:\s*([^;]+)")
_SNAPSHOT = "{snapshot}"


@cache
def glossary() -> dict[str, str]:
    """Return the meaning of each term."""
    return dict(read_csv(FILE).select("term", "meaning").iter_rows())


def term(name: str, words: str = "") -> Markup:
    """Return a term that shows its meaning on hover, by a tap and by the keyboard, without a script.

    ``words``: those in the text, the term itself when not given.
    """
    meanings = {key.lower(): meaning for key, meaning in glossary().items()}
    if name.lower() not in meanings:
        raise MensuraError(f"term {name!r}: the glossary does not have it; expected one of {', '.join(glossary())}")
    meaning = meanings[name.lower()]
    tag = '<button type="button" class="term">{}<span role="tooltip">{}</span></button>'
    return Markup(tag).format(words or name, meaning[0].upper() + meaning[1:])


def term_id(name: str) -> str:
    """Return where the method page explains a term."""
    return str(escape(f"term-{slug(name)}"))


def first_link(text: str | None) -> str:
    """Return the first web address at the start of a source's note, nothing where there is none."""
    first = (text or "").split(" ")[0].rstrip(";")
    return first if first.startswith(("https://", "http://")) else ""


def source_link(words: str | None) -> str:
    """Return where a source can be read that the evidence names in words, nothing where no address is known."""
    return first_link(words) or _known_sources().get(words or "", {}).get("url") or ""


def price_source(text: str | None) -> str | None:
    """Return what a model's note of sources says about its prices, all of it where it says nothing in particular."""
    price = _PRICE.search(text or "")
    return price[1].strip() if price else text


def source_date(words: str | None) -> str:
    """Return the date of a source that is named in words: a known one, one in its name, or that none is given."""
    date, named = _known_sources().get(words or "", {}).get("date"), _DATE.search(words or "")
    return date or (named[0] if named else "date not given")


@cache
def _known_sources() -> dict[str, dict[str, str | None]]:
    table = read_csv(_LINKS)
    return {row["source"]: row for row in table.with_columns(pl.all().cast(pl.String)).iter_rows(named=True)}


@cache
def _written() -> tuple[dict[str, Any], ...]:
    """Return the parts as the file has them, the limits last."""
    return tuple(tomllib.loads(FILE.with_name("method.toml").read_text(encoding="utf-8"))["part"])


def method_parts(snapshot: str = "", policy: Sequence[dict[str, Any]] = ()) -> list[dict[str, Any]]:
    """Return the parts of the method: id, title, text (paragraphs) and rules (rule, formula, source).

    ``snapshot`` says how much of the evidence is one publisher's; it takes its place among the limits. ``policy``: the
    rules by which the evidence chooses models for charts.
    """
    return [
        {
            "rules": list(policy) if part["id"] == "policy" else [],
            **part,
            "text": [line.replace(_SNAPSHOT, snapshot) for line in part.get("text", [])],
        }
        for part in _written()
    ]
