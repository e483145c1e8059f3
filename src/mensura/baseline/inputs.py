"""Read what a user brings: the items of a benchmark, estimates that exist, and anchors.

Items come under the names that people use. Estimates are what language models said, one row per item, model and run.
Anchors are human rates on some items, which tie an estimate down.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import MARGIN
from mensura.core.errors import MensuraError, listed_names
from mensura.core.frames import require_columns
from mensura.intake import items as intake
from mensura.intake.items import TestItem
from mensura.intake.tables import as_frame, read_table
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
    """Items: item, text, answer, options, right (places of the right options), domain, n_options, format.

    ``name``: of the source. ``of``: how many items the benchmark has, when these are a sample. ``notes``: what a reader
    must know of them.
    """

    name: str
    table: pl.DataFrame
    of: int
    notes: tuple[str, ...] = ()

    def sample(self, size: int, seed: int = 0) -> BaselineItems:
        """Return a random sample with the same mixture of domains."""
        if size < 1:
            raise MensuraError(f"--sample must be at least 1, got {size}")
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
                raise MensuraError(
                    f"{self.name}: {rows.height} of {self.table.height} items {fault} ({names}); "
                    "expected text and key for every item. Correct these rows, or give --estimates"
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
    return BaselineItems(name, pl.DataFrame(rows, schema=_SCHEMA), len(rows), file.notes)


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
            f"{name}: item ids occur twice or are empty ({listed_names(repeated)}); give each item its own"
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


RECORDED = "recorded/zero-shot"
COLUMNS = {
    "item": pl.String,
    "rate": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "model": pl.String,
    "run": pl.String,
    "remembered": pl.Boolean,
    "population": pl.String,
}
"""The columns of estimates; all but item and rate may be missing."""
_FILE = Path(__file__).parent / "data" / "zero_shot.csv"
_ALSO = {"id": "item"}
_TRUE = ("1", "1.0", "true", "yes")


def read_estimates(source: Any) -> pl.DataFrame:  # noqa: ANN401
    """Return estimates with all :data:`COLUMNS`, from a file, a table or ``recorded/zero-shot``; refuse wrong rates."""
    if isinstance(source, str) and source == RECORDED:
        return read_recorded().select(list(COLUMNS))
    name = str(source) if isinstance(source, str | Path) else "estimates"
    frame = read_table(Path(source)) if isinstance(source, str | Path) else as_frame(source, name=name)
    return _checked(frame, name)


def read_recorded(pool: str | None = None) -> pl.DataFrame:
    """Return the shipped recordings, of one pool or of all: the estimates alone, without texts and true rates."""
    frame = read_table(_FILE).rename({"people": "population"})
    if pool is not None:
        known = frame["pool"].unique().sort().to_list()
        if pool not in known:
            raise MensuraError(f"recorded/{pool}: no such recording; expected recorded/ and one of {', '.join(known)}")
        frame = frame.filter(pl.col("pool") == pool)
    return _checked(frame, RECORDED).with_columns(frame["pool"], frame["n_options"], frame["domain"])


def _checked(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    titles = {title: title.strip().casefold() for title in frame.columns}
    frame = frame.rename(titles)
    if "estimate" in frame.columns:  # beside it, a rate is the truth
        frame = frame.drop("rate", strict=False).rename({"estimate": "rate"})
    frame = frame.rename({old: new for old, new in _ALSO.items() if old in frame.columns and new not in frame.columns})
    missing = [column for column in ("item", "rate") if column not in frame.columns]
    if missing:
        raise MensuraError(
            f"{name}: no column {missing[0]!r}; expected item, rate, low, high (and model, run, remembered), "
            f"got {', '.join(frame.columns)}. Rename the column"
        )
    if not frame.height:
        raise MensuraError(f"{name}: no estimates; expected one row per item")
    columns = [_column(frame, column, kind) for column, kind in COLUMNS.items()]
    table = frame.select(columns)
    for column in ("rate", "low", "high"):
        _refuse_numbers(frame, table, column, name)
    swapped = table.filter((pl.col("low") > pl.col("rate") + MARGIN) | (pl.col("high") < pl.col("rate") - MARGIN))
    if swapped.height:
        row = swapped.row(0, named=True)
        raise MensuraError(
            f"{name}, item {row['item']}: the interval {row['low']} to {row['high']} does not contain the rate "
            f"{row['rate']}; expected low ≤ rate ≤ high ({swapped.height} rows). Correct them"
        )
    return table


def _column(frame: pl.DataFrame, column: str, kind: Any) -> pl.Expr:  # noqa: ANN401
    if column not in frame.columns:
        default = {"model": "unnamed", "run": "1", "remembered": False}.get(column)
        return pl.lit(default, dtype=kind).alias(column)
    if kind == pl.Boolean:
        return pl.col(column).cast(pl.String).str.to_lowercase().is_in(_TRUE).fill_null(False).alias(column)
    cell = pl.col(column).cast(kind, strict=False)
    return cell.fill_null("unnamed").alias(column) if column == "model" else cell.alias(column)


def _refuse_numbers(frame: pl.DataFrame, table: pl.DataFrame, column: str, name: str) -> None:
    """Refuse rates that are no numbers, missing or outside 0 to 1."""
    if column not in frame.columns:
        return
    given = frame[column].cast(pl.String).fill_null("")
    value = table[column]
    no_number = (value.is_null() | value.is_nan()) & (
        (given != "") if column != "rate" else pl.repeat(True, len(value), eager=True)
    )
    wrong = no_number | ~value.fill_null(0.5).fill_nan(0.5).is_between(0, 1)
    if wrong.any():
        row = int(wrong.arg_true()[0])
        percent = "; is it a percentage? Divide by 100" if (value > 1).any() else ". Correct it"
        raise MensuraError(
            f"{name}, item {table['item'][row]}, {column}: {given[row] or 'nothing'} is no rate; expected a number "
            f"from 0 to 1 ({int(wrong.sum())} such rows){percent}"
        )


USUAL_N = 100
"""People behind an anchor that states no n."""
_TOO_FAR = 4.0  # standard errors between two rates of one item, from which they contradict each other


def read_anchors(source: Any) -> pl.DataFrame:  # noqa: ANN401
    """Return item, rate, n, population (null: of every population); refuse anchors that contradict each other.

    Several rates of one item that agree within sampling error become one.
    """
    name = str(source) if isinstance(source, str | Path) else "anchors"
    frame = read_table(Path(source)) if isinstance(source, str | Path) else as_frame(source, name=name)
    require_columns(frame, ["item", "rate"], name=name)
    columns = frame.columns
    table = frame.select(
        pl.col("item").cast(pl.String),
        pl.col("rate").cast(pl.Float64, strict=False),
        (
            pl.col("n").cast(pl.Float64, strict=False).fill_null(USUAL_N) if "n" in columns else pl.lit(float(USUAL_N))
        ).alias("n"),
        (pl.col("population").cast(pl.String) if "population" in columns else pl.lit(None, pl.String)).alias(
            "population"
        ),
    )
    wrong = table.filter(pl.col("rate").is_null() | ~pl.col("rate").is_between(0, 1) | ~(pl.col("n") > 0))
    if wrong.height:
        row = wrong.row(0, named=True)
        raise MensuraError(
            f"{name}, item {row['item']}: rate {row['rate']} with n {row['n']:g} is no anchor; expected a rate "
            "from 0 to 1 and n above 0. Correct the row"
        )
    return _merged(table, name)


def _merged(table: pl.DataFrame, name: str) -> pl.DataFrame:
    for (item, _), rows in table.group_by("item", "population", maintain_order=True):
        if rows.height > 1 and (gap := _gap(rows)) > _TOO_FAR:
            low, high = rows.sort("rate").row(0, named=True), rows.sort("rate").row(-1, named=True)
            raise MensuraError(
                f"{name}, item {item}: rates {low['rate']:g} (n {low['n']:g}) and {high['rate']:g} (n {high['n']:g}) "
                f"contradict each other ({gap:.0f} standard errors apart); expected one rate per item and population. "
                "Remove one, or name its population in a column"
            )
    return table.group_by("item", "population", maintain_order=True).agg(
        rate=(pl.col("rate") * pl.col("n")).sum() / pl.col("n").sum(), n=pl.col("n").sum()
    )


def _gap(rows: pl.DataFrame) -> float:
    ends = rows.sort("rate")
    low, high = ends.row(0, named=True), ends.row(-1, named=True)
    rate, n = rows["rate"].to_numpy(), rows["n"].to_numpy()
    pooled = float(np.clip(np.average(rate, weights=n), 0.01, 0.99))
    return float((high["rate"] - low["rate"]) / np.sqrt(pooled * (1 - pooled) * (1 / low["n"] + 1 / high["n"])))
