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
}


@dataclass(frozen=True, eq=False)
class BaselineItems:
    """Contain the items of a benchmark.

    Attributes
    ----------
    name : str
        Name of the source.
    table : pl.DataFrame
        item, text, answer, options, right (places of the right options), domain, n_options, format.
    of : int
        Number of items of the benchmark, of which these may be a sample.
    notes : tuple of str
        What a reader must know of them.

    """

    name: str
    table: pl.DataFrame
    of: int
    notes: tuple[str, ...] = ()

    def sample(self, size: int, seed: int = 0) -> BaselineItems:
        """Return a random sample with the same mixture of domains."""
        if size < 1:
            raise MensuraError(f"sample must be at least 1, got {size}")
        if size >= self.table.height:
            return self
        rng = np.random.default_rng(seed)
        order = pl.Series("order", rng.random(self.table.height))
        ranked = self.table.with_row_index("row").with_columns(order)
        ranked = ranked.with_columns(place=pl.col("order").rank("ordinal").over("domain") / pl.len().over("domain"))
        kept = ranked.sort("place", "order").head(size).sort("row")
        note = f"a sample of {size} of {self.of} items, in proportion to domains; its error is in the intervals"
        return replace(self, table=kept.drop("row", "order", "place"), notes=(*self.notes, note))

    def refuse_unaskable(self) -> None:
        """Refuse items that a language model cannot judge: no text, no key, a key outside the options."""
        faults = {
            "have no text": self.table.filter(pl.col("text") == ""),
            "have no key (the right answer)": self.table.filter(pl.col("answer") == ""),
            "have a key that is none of the options": self._unkeyed,
        }
        for fault, rows in faults.items():
            if rows.height:
                names = listed_names(list(rows["item"]))
                every = rows.height == self.table.height
                remedy = "Name the column (--map text=COLUMN,key=COLUMN)" if every else "Correct these rows"
                raise MensuraError(
                    f"{self.name}: {rows.height} of {self.table.height} items {fault} ({names}); "
                    f"expected text and key for every item. {remedy}, or give --estimates"
                )

    def doubts(self) -> list[str]:
        """Return what is odd about the items, for work that needs no texts."""
        wrong = self._unkeyed
        if not wrong.height:
            return []
        names = listed_names(list(wrong["item"]))
        return [f"the key of {wrong.height} items is none of their options ({names}); check these rows"]

    @property
    def _unkeyed(self) -> pl.DataFrame:
        """Items whose key is none of their options."""
        chosen = self.table.filter(pl.col("options").list.len() > 0, pl.col("answer") != "")
        return chosen.filter(pl.col("right").list.len() == 0)

    @property
    def n_options(self) -> list[int | None]:
        """Number of options of each item; 0 for an open answer, None where no item of the benchmark shows options."""
        shown = bool(self.table["options"].list.len().max())
        rows = self.table.select("options", "n_options").iter_rows()
        return [stated if stated is not None else len(options) if shown else None for options, stated in rows]


def read_items(source: Any, *, columns: str | None = None) -> BaselineItems:  # noqa: ANN401
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
        If an id is there twice, or an item is a picture only.

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
    _refuse_pictures(file.items, name)
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
        }
        for item in file.items
    ]
    several = sum(len(item.right) > 1 for item in file.items)
    note = f"{several} items have several right options, and any one counts; if all are needed, ask for all"
    notes = (*file.notes, note) if several else file.notes
    return BaselineItems(name, pl.DataFrame(rows, schema=_SCHEMA), len(rows), notes)


def _whole(cell: Any) -> int | None:  # noqa: ANN401
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
            "the rows (--map item=row)"
        )


def _refuse_pictures(items: Sequence[TestItem], name: str) -> None:
    """Refuse items that are pictures only."""
    only = [
        item.item
        for item in items
        if _ONLY_PICTURE.match(item.text)
        or (not item.text and any(_says_yes(item.rest.get(title)) for title in _PICTURES))
    ]
    if only:
        raise MensuraError(
            f"{name}: {len(only)} items are pictures only ({listed_names(only)}): Mensura needs words. "
            "Describe each picture in the text, or leave these items out"
        )


def _says_yes(cell: Any) -> bool:  # noqa: ANN401
    return str("" if cell is None else cell).strip().casefold() not in ("", "0", "false", "no", "none")
