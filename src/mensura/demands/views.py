"""What an annotator may see of an item: text, options, key and scoring, and nothing else.

Rates, outcomes of people or machines, the item's id, its domain and its place in the table stay behind: a level is
judged from the item alone.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from mensura.core.errors import MensuraError
from mensura.demands.rubrics import load_rubrics
from mensura.intake.items import FIELDS, ItemFile, read_items, read_records
from mensura.intake.tables import as_frame, find_table
from mensura.people import ItemPool, tidy

_OWN = re.compile(r"item|text|options|option_\d+|key|answer|scoring|n_options|needs_picture")
"""Columns of Mensura's item tables that are read here; they may also have rates, and parameters called a and b."""
_COLUMNS: Mapping[str, Any] = {
    "item": pl.String,
    "text": pl.String,
    "options": pl.List(pl.String),
    "answer": pl.List(pl.String),
}


@dataclass(frozen=True)
class ItemView:
    """One item as the annotator sees it; ``item`` names it in tables and is never shown."""

    item: str
    text: str
    options: tuple[str, ...] = ()
    key: str = ""
    scoring: str = ""

    def as_text(self) -> str:
        """Return the item as it stands in a prompt."""
        parts = [f"Text: {self.text}"]
        if self.options:
            parts.append("Options:\n" + "\n".join(f"- {option}" for option in self.options))
        if self.key:
            parts.append(f"Key (the answer scored as right): {self.key}")
        if self.scoring:
            parts.append(f"Scoring: {self.scoring}")
        return "\n".join(parts)


def item_table(pool: Any, columns: str | None = None) -> pl.DataFrame:
    """Return the items of a pool, a tidy folder, an items file of any layout, a table, or the shipped ``"example"``.

    ``columns``: fields and their columns, such as ``text=stem,key=answer:1``.
    """
    if isinstance(pool, ItemPool):
        return pool.items
    place = Path(pool) if isinstance(pool, str | Path) else None
    place = example_folder() if place == Path("example") else place
    if (
        columns is None
        and place is not None
        and (find_table(place, "items") or not (place.is_file() or any(place.rglob("*.json"))))
    ):
        return tidy.read_items(place)
    source = pool if place is not None or isinstance(pool, list) else as_frame(pool, name="pool")
    file = _read_items(source) if columns is None else read_items(source, columns=columns)
    rows = [
        {
            **{name: item.rest.get(name) for name in ("scoring", "n_options", "needs_picture")},
            "item": item.item,
            "text": f"{item.context}\n\n{item.text}".strip() if item.text else "",
            "options": item.options,
            "answer": item.keys,
        }
        for item in file.items
    ]
    return tidy.check_items(pl.DataFrame(rows, schema_overrides=_COLUMNS, infer_schema_length=None), name=file.name)


def _read_items(source: Any) -> ItemFile:
    """Read items of any layout; of a table with Mensura's own columns, item and text, nothing but such columns."""
    _, records = read_records(source, titles={name for names in FIELDS.values() for name in names})
    if not records or not {"item", "text"} <= set(records[0].cells):
        return read_items(source)
    return read_items([{name: cell for name, cell in one.cells.items() if _OWN.fullmatch(name)} for one in records])


def example_folder() -> Path:
    """Return the folder of the shipped example pool: items of our own making, annotated and recorded."""
    return Path(__file__).parent / "data" / "example"


def pool_rates(pools: Sequence[ItemPool], group: str = "all") -> pl.DataFrame:
    """Collect the rates of one group of every pool.

    Parameters
    ----------
    pools
        Item pools with different names.
    group
        The group, such as ``"all"`` or ``"country=JPN"``.

    Returns
    -------
    polars.DataFrame
        pool, item, rate, n.

    Raises
    ------
    MensuraError
        If two pools share a name, or a pool lacks the group.

    Examples
    --------
    >>> from mensura import ItemPool
    >>> from mensura.demands import pool_rates
    >>> items, rates = {"item": ["a"]}, {"item": ["a"], "group": ["all"], "n": [10], "rate": [0.5]}
    >>> pool_rates([ItemPool.from_rates("mine", items, rates)]).rows()
    [('mine', 'a', 0.5, 10)]

    """
    names = [pool.name for pool in pools]
    if len(set(names)) < len(names):
        raise MensuraError(f"pools: names must differ, got {', '.join(names)}")
    tables = [pool.rates_of(group).select(pl.lit(pool.name).alias("pool"), "item", "rate", "n") for pool in pools]
    return pl.concat(tables)


def view_items(items: pl.DataFrame) -> tuple[list[ItemView], pl.DataFrame]:
    """Return the items that can be annotated as they are seen, and those that cannot: item, reason."""
    views, skipped = [], []
    for item in _read_items(items).items:
        if reason := "needs a picture" if item.rest.get("needs_picture") is True else "" if item.text else "no text":
            skipped.append((item.item, reason))
        else:
            scoring = str(item.rest.get("scoring") or "").strip()
            views.append(ItemView(item.item, item.text, item.options, " or ".join(item.keys), scoring))
    if not views:
        raise MensuraError(
            "pool: no item can be annotated; the item table needs a column 'text' (and options, key, scoring where "
            f"there are any), it has {', '.join(items.columns)}"
        )
    return views, pl.DataFrame(skipped, schema={"item": pl.String, "reason": pl.String}, orient="row")


def unguessability(items: pl.DataFrame) -> pl.DataFrame:
    """Compute the chance in percent that a blind guess is wrong.

    Parameters
    ----------
    items
        item, and where known options and n_options, which wins over counting the options shown: ticking two of five
        has ten answers.

    Returns
    -------
    polars.DataFrame
        item, n_options, unguessability, basis. With k equally likely answers it is 100 (1 − 1/k), and 100 for an open
        answer.

    Raises
    ------
    MensuraError
        If an n_options is below 1.

    Examples
    --------
    >>> import polars as pl
    >>> from mensura.demands import unguessability
    >>> unguessability(pl.DataFrame({"item": ["a"], "n_options": [4]}))["unguessability"].item()
    75.0

    """
    rows: list[tuple[object, ...]] = []
    for item in _read_items(items).items:
        stated, counted = item.rest.get("n_options"), len(item.options)
        if stated is not None and stated < 1:
            raise MensuraError(f"item {item.item!r}: n_options must be 1 or more, got {stated}")
        if stated is not None:
            rows.append((item.item, int(stated), 100 * (1 - 1 / stated), "n_options"))
        elif counted > 1:
            rows.append((item.item, counted, 100 * (1 - 1 / counted), "options counted"))
        else:
            rows.append((item.item, None, 100.0, "no options: taken for open"))
    schema = {"item": pl.String, "n_options": pl.Int64, "unguessability": pl.Float64, "basis": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def annotation_sheet(
    pool: Any, *, rubrics: str | Path | None = None, dimensions: Iterable[str] | None = None
) -> pl.DataFrame:
    """Make an empty annotation sheet for people, who see what a language model sees.

    Parameters
    ----------
    pool
        An item pool, a tidy folder, an items file, a table with item and text, or ``"example"``.
    rubrics
        Folder whose rubrics replace or extend Mensura's.
    dimensions
        Dimensions to annotate; all when not given.

    Returns
    -------
    polars.DataFrame
        item, text, options, key, scoring, annotator, a column per dimension, comment. Filled in,
        :func:`mensura.demands.read_demands` reads it back; cells that stay empty are no readings.

    Raises
    ------
    MensuraError
        If no item can be annotated.

    Examples
    --------
    >>> from mensura.demands import annotation_sheet
    >>> annotation_sheet("example", dimensions=["KNc"]).columns[-2:]
    ['KNc', 'comment']

    """
    codes = list(load_rubrics(rubrics, dimensions))
    views, _ = view_items(item_table(pool))
    rows = [(view.item, view.text, "\n".join(view.options), view.key, view.scoring) for view in views]
    shown = pl.DataFrame(rows, schema=["item", "text", "options", "key", "scoring"], orient="row")
    empty = [pl.lit(None, dtype=pl.String).alias(name) for name in ("annotator", *codes, "comment")]
    return shown.with_columns(empty)
