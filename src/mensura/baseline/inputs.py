"""The items of a benchmark, under the names that people use."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError, listed_names
from mensura.intake import items as intake
from mensura.intake.items import TestItem
from mensura.people import ItemPool
from mensura.people.pool import is_pool

_ONLY_PICTURE = re.compile(
    r"^\s*(?:!\[[^\]]*\]\([^)]*\)|<img\b[^>]*>|\S+\.(?:png|jpe?g|gif|svg|webp))\s*$", re.IGNORECASE
)
_PICTURES = ("needs_picture", "image", "picture", "image_path", "figure")
_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("item", "text", "answer"), pl.String),
    "options": pl.List(pl.String),
    "right": pl.List(pl.Int64),
    "domain": pl.String,
    "n_options": pl.Int64,
    "format": pl.String,
    "fault": pl.String,
}
_NO_OPTION, _PICTURE = "key that is none of the options", "picture without words"


@dataclass(frozen=True, eq=False)
class BaselineItems:
    """Contain the items of a benchmark.

    Attributes
    ----------
    name : str
        Name of the source.
    table : pl.DataFrame
        item, text, answer, options, right (places of the right options), domain, n_options, format, fault (why a
        language model cannot judge the item; empty where it can).
    of : int
        Number of items of the benchmark, of which these may be a sample.
    notes : tuple of str
        What a reader must know of them.
    columns : tuple of str
        Titles of the source.

    """

    name: str
    table: pl.DataFrame
    of: int
    notes: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    def sample(self, size: int, seed: int = 0) -> BaselineItems:
        """Return a random sample with the same mixture of domains."""
        if size < 1:
            raise MensuraError(f"sample must be at least 1, got {size}")
        if size >= self.table.height:
            return self
        order = pl.Series("order", np.random.default_rng(seed).random(self.table.height))
        ranked = self.table.with_row_index("row").with_columns(order)
        ranked = ranked.with_columns(place=pl.col("order").rank("ordinal").over("domain") / pl.len().over("domain"))
        kept = ranked.sort("place", "order").head(size).sort("row")
        note = f"a sample of {size} of {self.of} items, in proportion to domains; its error is in the intervals"
        return replace(self, table=kept.drop("row", "order", "place"), notes=(*self.notes, note))

    def askable(self) -> BaselineItems:
        """Return the items that a language model can judge, and note the others; refuse a file of mostly others."""
        faulty, size = self.table.filter(pl.col("fault") != ""), self.table.height
        if not faulty.height:
            return self
        faults = self._faults(faulty)
        if 2 * faulty.height > size:
            columns = f"It has the columns {listed_names(self.columns)}. Name" if self.columns else "Name"
            named = f"{columns} the column (--map text=COLUMN,key=COLUMN; columns= in Python)"
            remedy = named if faulty.height == size else "Correct these rows"
            raise MensuraError(
                f"{self.name}: {faulty.height} of {size} items cannot be asked: {faults}; expected text and key for "
                f"every item. {remedy}, or give estimates"
            )
        note = f"{size - faulty.height} of {size} items used; left out: {faults}"
        return replace(self, table=self.table.filter(fault=""), notes=(*self.notes, note))

    def doubts(self) -> list[str]:
        """Return what is odd about the items, for work that needs no texts."""
        faulty = self.table.filter(pl.col("fault").is_in([_NO_OPTION, _PICTURE]))
        return [f"{self._faults(faulty)}; check these rows"] if faulty.height else []

    @staticmethod
    def _faults(faulty: pl.DataFrame) -> str:
        """Return each fault with the items that have it: "no key, the right answer (q7, q9)"."""
        by_fault = faulty.group_by("fault", maintain_order=True).agg("item")
        return "; ".join(f"{fault} ({listed_names(names)})" for fault, names in by_fault.rows())

    @property
    def n_options(self) -> list[int | None]:
        """Number of options of each item; 0 for an open answer, None where no item of the benchmark shows options."""
        shown = bool(self.table["options"].list.len().max())
        rows = self.table.select("options", "n_options").iter_rows()
        return [stated if stated is not None else len(options) if shown else None for options, stated in rows]


def read_items(source: Any, *, columns: str | None = None) -> BaselineItems:
    """Read the items of a benchmark from a file, a pool or a table.

    Parameters
    ----------
    source
        Any file of items (:func:`mensura.intake.items.read_items`), a pool or its folder, a table of any library.
    columns
        Fields and their columns where names alone do not say it, such as ``text=question_stem,key=answer:1``.

    Returns
    -------
    BaselineItems
        The items, and notes on how their keys were read.

    Raises
    ------
    MensuraError
        If an id is there twice.

    Examples
    --------
    >>> from mensura.baseline import read_items
    >>> read_items({"item": ["sum"], "question": ["2 + 2 = ?"], "answer": ["4"]}).table["answer"].to_list()
    ['4']

    """
    if isinstance(source, BaselineItems):
        return source
    name, table = "items", source
    if isinstance(source, ItemPool):
        name, table = source.name, source.items
    elif isinstance(source, str | Path):
        path = Path(source)
        name, table = path.name, ItemPool.read(path).items if is_pool(path) else path
    file = intake.read_items(table, columns=columns)
    _refuse_repeated([item.item for item in file.items], name)
    rows = [
        {
            "item": item.item,
            "text": f"{item.context}\n\n{item.text}" if item.context else item.text,
            "answer": " or ".join(item.keys),
            "options": list(item.options),
            "right": list(item.right),
            "domain": item.domain,
            "n_options": _whole(item.rest.get("n_options")),
            "format": str(item.rest.get("format") or ""),
            "fault": _fault(item),
        }
        for item in file.items
    ]
    several = sum(len(item.right) > 1 for item in file.items)
    note = f"{several} items have several right options, and any one counts; if all are needed, ask for all"
    notes = (*file.notes, note) if several else file.notes
    return BaselineItems(name, pl.DataFrame(rows, schema=_SCHEMA), len(rows), notes, file.titles)


def _whole(cell: Any) -> int | None:
    """Return a number of options; None where a cell holds none."""
    try:
        return None if cell is None else int(float(cell))
    except ValueError:
        return None


def _refuse_repeated(ids: Sequence[str], name: str) -> None:
    repeated = [one for one, count in Counter(ids).items() if count > 1 or not one]
    if repeated:
        raise MensuraError(
            f"{name}: item ids occur twice or are empty ({listed_names(repeated)}); give each item its own, or number "
            "the rows (--map item=row; columns= in Python)"
        )


def _fault(item: TestItem) -> str:
    """Return why a language model cannot judge an item; nothing where it can."""
    pictured = not item.text and any(_says_yes(item.rest.get(title)) for title in _PICTURES)
    if pictured or _ONLY_PICTURE.match(item.text):
        return _PICTURE
    if not (item.text or item.context):
        return "no text"
    if not any(item.keys):
        return "no key, the right answer"
    return _NO_OPTION if item.options and not item.right else ""


def _says_yes(cell: Any) -> bool:
    return str("" if cell is None else cell).strip().casefold() not in ("", "0", "false", "no", "none")
