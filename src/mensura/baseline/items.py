"""Read the items of any benchmark under the names that people use, and say what is wrong with them."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError
from mensura.intake.packed import read_bytes, read_member, suffix_of
from mensura.intake.tables import as_frame, read_noted
from mensura.people import ItemPool

NAMES = {
    "item": ("item", "id", "qid", "question_id", "sample_id", "doc_id", "item_id"),
    "text": ("text", "question", "prompt", "input", "problem", "query", "stem"),
    "answer": ("answer", "target", "key", "gold", "correct_answer", "answer_key", "solution", "label", "expected"),
    "options": ("options", "choices", "alternatives"),
    "domain": ("domain", "subject", "category", "topic"),
    "format": ("format",),
    "picture": ("needs_picture", "image", "picture", "image_path", "figure"),
}
"""Columns by meaning, in the names that people use; the first that is there counts."""
_OPTION_COLUMN = re.compile(r"^(?:option|choice|opt)?[ _]?(?:([a-h])|(\d{1,2}))$")
_ONLY_PICTURE = re.compile(
    r"^\s*(?:!\[[^\]]*\]\([^)]*\)|<img\b[^>]*>|\S+\.(?:png|jpe?g|gif|svg|webp))\s*$", re.IGNORECASE
)
_MOST_BYTES = 2**28
_SHOWN = 5


@dataclass(frozen=True, eq=False)
class BaselineItems:
    """Items as ``item``, ``text``, ``answer``, ``options`` (a list), ``domain``, ``format``; texts may be missing.

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
            "have a key that is none of the options": self.table.filter(~pl.Series(self._keyed())),
        }
        for fault, rows in faults.items():
            if rows.height:
                raise MensuraError(
                    f"{self.name}: {rows.height} of {self.table.height} items {fault} ({_some(rows['item'])}); "
                    "expected text and key for every item. Correct these rows, or give --estimates"
                )

    def doubts(self) -> list[str]:
        """Return what is odd about the items, for work that needs no texts."""
        wrong = self.table.filter(~pl.Series(self._keyed()))
        if not wrong.height:
            return []
        return [f"the key of {wrong.height} items is none of their options ({_some(wrong['item'])}); check these rows"]

    def _keyed(self) -> list[bool]:
        """Tell of each item whether its key is one of its options; without options or key there is nothing to tell."""
        rows = self.table.select("answer", "options").iter_rows()
        return [not options or not answer or _names_an_option(answer, options) for answer, options in rows]

    @property
    def n_options(self) -> list[int | None]:
        """Number of options of each item; 0 for an open answer, None where no item of the benchmark shows options."""
        shown = bool(self.table["options"].list.len().max())
        rows = self.table.select("options", "n_options").iter_rows()
        return [stated if stated is not None else len(options) if shown else None for options, stated in rows]


def _names_an_option(answer: str, options: list[str]) -> bool:
    """Tell whether a key is an option's text, its letter or its number (from 0 or from 1)."""
    plain = answer.strip().casefold().strip("().")
    texts = {option.strip().casefold() for option in options}
    letters = {chr(ord("a") + place) for place in range(len(options))}
    numbers = {str(place) for place in range(len(options) + 1)}
    return plain in texts | letters | numbers or answer.strip().casefold() in texts


def read_items(source: Any) -> BaselineItems:  # noqa: ANN401
    """Read items from a file, a pool's folder, a pool or a table.

    Files: CSV, Parquet, JSON, JSON lines (also samples of lm-evaluation-harness), Inspect logs (.eval, .json).
    """
    if isinstance(source, BaselineItems):
        return source
    if isinstance(source, ItemPool):
        return _tidied(source.items, source.name)
    if isinstance(source, str | Path):
        path = Path(source)
        if path.is_dir():
            return _tidied(ItemPool.read(path).items, path.name)
        return _tidied(_read_file(path), path.name)
    return _tidied(as_frame(source, name="items"), "items")


def _read_file(path: Path) -> pl.DataFrame:
    suffix = suffix_of(path)
    if suffix not in (".json", ".jsonl", ".ndjson", ".eval"):
        return read_noted(path, infer=False).frame
    if not path.is_file():
        raise MensuraError(f"{path}: no such file; check the name and the folder")
    try:
        records = _archived(path) if suffix == ".eval" else _from_json(read_bytes(path, _MOST_BYTES).decode("utf-8"))
    except (ValueError, zipfile.BadZipFile, KeyError, RecursionError) as fault:
        raise MensuraError(f"{path}: not readable ({str(fault)[:80]}); expected one JSON object per item") from fault
    rows = [_flat(record) for record in records if isinstance(record, Mapping)]
    if not rows:
        raise MensuraError(f"{path}: no items; expected one JSON object per item with text, options, answer")
    titles = list(dict.fromkeys(title for row in rows for title in row))
    return pl.DataFrame(
        {title: [row.get(title) for row in rows] for title in titles}, schema=dict.fromkeys(titles, pl.String)
    )


def _from_json(text: str) -> list[Any]:
    try:
        told = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    if isinstance(told, Mapping):
        told = next((told[name] for name in ("samples", "items", "questions", "data") if name in told), [told])
    return told if isinstance(told, list) else []


def _archived(path: Path) -> list[Any]:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.startswith("samples/") and name.endswith(".json")]
        found = {
            str(one.get("id")): one for name in names if (one := json.loads(read_member(archive, name, _MOST_BYTES)))
        }
    return list(found.values())


def _flat(record: Mapping[str, Any]) -> dict[str, str | None]:
    """Return a record with text cells: a harness sample's document unfolded, messages joined, lists as JSON."""
    inner = record.get("doc")
    merged = (
        {**inner, **{name: cell for name, cell in record.items() if name in ("doc_id", "target")}}
        if isinstance(inner, Mapping)
        else record
    )
    return {
        str(name): _cell(cell)
        for name, cell in merged.items()
        if not isinstance(cell, Mapping) or name in NAMES["options"]
    }


def _cell(cell: Any) -> str | None:  # noqa: ANN401
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, Mapping):  # the ARC way: {"text": [...], "label": [...]}
        return json.dumps(cell.get("text", list(cell.values())), ensure_ascii=False)
    if isinstance(cell, list) and cell and isinstance(cell[0], Mapping) and "content" in cell[0]:
        said = [message["content"] for message in cell if message.get("role") in (None, "user")]
        return "\n".join(text for text in said if isinstance(text, str))
    return json.dumps(cell, ensure_ascii=False) if isinstance(cell, list) else str(cell)


def _tidied(frame: pl.DataFrame, name: str) -> BaselineItems:
    """Bring a table into the form of :class:`BaselineItems`."""
    if not frame.height:
        raise MensuraError(f"{name}: no items; expected one row per item")
    plain = {title.strip().casefold(): title for title in reversed(frame.columns)}
    found = {field: next((plain[one] for one in names if one in plain), None) for field, names in NAMES.items()}
    if found["item"] is None and found["text"] is None:
        raise MensuraError(
            f"{name}: no column of texts or ids; expected {', '.join(NAMES['text'])} or {', '.join(NAMES['item'])}, "
            f"got {', '.join(frame.columns)}. Rename a column"
        )
    texts = _column(frame, found["text"])
    ids = (
        _column(frame, found["item"]) if found["item"] else pl.Series([str(row) for row in range(1, frame.height + 1)])
    )
    _refuse_pictures(frame, texts, ids, found["picture"], name)
    if ids.is_duplicated().any() or (ids == "").any():
        repeated = ids.filter(ids.is_duplicated() | (ids == ""))
        raise MensuraError(f"{name}: item ids occur twice or are empty ({_some(repeated.unique())}); give each its own")
    domain = _column(frame, found["domain"])
    stated = (
        frame[plain["n_options"]].cast(pl.Int64, strict=False)
        if "n_options" in plain
        else pl.Series([None] * frame.height, dtype=pl.Int64)
    )
    table = pl.DataFrame(
        {
            "item": ids,
            "text": texts,
            "answer": _column(frame, found["answer"]),
            "domain": domain,
            "n_options": stated,
            "format": _column(frame, found["format"]),
        }
    )
    options = pl.Series("options", _options(frame, found["options"]), dtype=pl.List(pl.String))
    return BaselineItems(name, table.with_columns(options), table.height)


def _column(frame: pl.DataFrame, title: str | None) -> pl.Series:
    if title is None:
        return pl.Series([""] * frame.height, dtype=pl.String)
    column = frame[title]
    if isinstance(column.dtype, pl.List):
        column = pl.Series([None if cell is None else json.dumps(list(cell), ensure_ascii=False) for cell in column])
    return column.cast(pl.String).str.strip_chars().fill_null("")


def _options(frame: pl.DataFrame, title: str | None) -> list[list[str]]:
    if title is not None:
        return [_split(cell) for cell in _column(frame, title)]
    numbered = [name for name in frame.columns if _OPTION_COLUMN.match(name.strip().casefold())]
    if len(numbered) < 2:
        return [[] for _ in range(frame.height)]
    columns = [_column(frame, name).to_list() for name in sorted(numbered, key=str.casefold)]
    return [[cell for cell in row if cell] for row in zip(*columns, strict=True)]


def _split(cell: str) -> list[str]:
    if cell.startswith(("[", "{")):
        try:
            told = json.loads(cell)
        except ValueError:
            told = [part.strip("'\" ") for part in cell.strip("[]").split("', '")]
        listed = told.get("text", list(told.values())) if isinstance(told, Mapping) else told
        return [str(part).strip() for part in listed]
    separator = next((mark for mark in ("||", "\n", " | ", "|", ";") if mark in cell), None)
    return [part.strip() for part in cell.split(separator) if part.strip()] if separator else [cell] if cell else []


def _refuse_pictures(frame: pl.DataFrame, texts: pl.Series, ids: pl.Series, title: str | None, name: str) -> None:
    """Refuse items that are pictures only."""
    only = texts.str.contains(_ONLY_PICTURE.pattern)
    if title is not None:
        shown = _column(frame, title).str.to_lowercase().is_in(["", "0", "false", "no", "none"]).not_()
        only = only | (shown & (texts == ""))
    if only.any():
        raise MensuraError(
            f"{name}: {int(only.sum())} items are pictures only ({_some(ids.filter(only))}): Mensura needs words. "
            "Describe each picture in the text, or leave these items out"
        )


def _some(ids: pl.Series) -> str:
    shown = ", ".join(map(str, ids.head(_SHOWN)))
    return shown + (f", … {ids.len() - _SHOWN} more" if ids.len() > _SHOWN else "")
