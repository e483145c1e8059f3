"""Links out of the report: only addresses that a browser may open."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import polars as pl

from mensura.core.frames import read_csv

_LINKS = Path(__file__).parent / "data" / "source_links.csv"
_DATE = re.compile(r"\b(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?\b")
_PRICE = re.compile(r"(?:^|;)\s*price:\s*([^;]+)")


def first_link(text: str | None) -> str:
    """Return the first web address at the start of a source's note, nothing where there is none."""
    first = (text or "").split(" ")[0].rstrip(";")
    return first if first.startswith(("https://", "http://")) else ""


def source_link(words: str | None) -> str:
    """Return where a source can be read that the evidence names in words, nothing where no address is known."""
    return first_link(words) or _known_sources().get(words or "", {}).get("url") or ""


def price_source(text: str | None) -> str | None:
    """Return what a model's note of sources says about its prices, all of it where it says nothing in particular."""
    found = _PRICE.search(text or "")
    return found[1].strip() if found else text


def source_date(words: str | None) -> str:
    """Return the date of a source that is named in words: a known one, one in its name, or that none is given."""
    known = _known_sources().get(words or "", {}).get("date")
    named = _DATE.search(words or "")
    return known or (named[0] if named else "date not given")


@cache
def _known_sources() -> dict[str, dict[str, str | None]]:
    table = read_csv(_LINKS)
    return {row["source"]: row for row in table.with_columns(pl.all().cast(pl.String)).iter_rows(named=True)}
