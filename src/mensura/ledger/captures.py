"""Captures: what a source said, byte for byte, with where and when; kept for good and read again at will.

The text of a capture is hostile: it is data to parse within limits, and never a name, a path, a query or a page.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import polars as pl

from mensura.core.errors import MensuraError
from mensura.evidence.checks import require_id
from mensura.evidence.evidence import Evidence
from mensura.evidence.schema import TABLES
from mensura.evidence.store import as_text
from mensura.ledger.update import Update

MOST_BYTES = 16 * 2**20
"""Bytes of one capture; a leaderboard has a hundredth of that."""
FORMATS = ("csv", "json", "html", "text")
_LONGEST_ADDRESS = 2000


@dataclass(frozen=True)
class Capture:
    """Raw text of a source. ``capture`` is its SHA-256; ``form`` says how to read it, None where nobody said."""

    capture: str
    source: str
    address: str
    by: str
    time: str
    form: str | None
    data: bytes

    @property
    def day(self) -> str:
        """The day it was taken."""
        return self.time[:10]


def new_capture(data: bytes, *, source: str, address: str, by: str, time: str, form: str | None = None) -> Capture:
    """Return a capture, or refuse one that is empty, too large, or without a proper origin."""
    if not data.strip():
        raise MensuraError(f"capture: {address} is empty; expected the text of a source. Check the file or address")
    if len(data) > MOST_BYTES:
        raise MensuraError(f"capture: {len(data):,} bytes; at most {MOST_BYTES:,} are kept")
    if form is not None and form not in FORMATS:
        raise MensuraError(f"format: {form!r} is unknown; expected one of {', '.join(FORMATS)}")
    if not 0 < len(address) <= _LONGEST_ADDRESS or not address.isprintable():
        raise MensuraError(f"address: got {address[:80]!r}; expected one printable line of {_LONGEST_ADDRESS} at most")
    require_id(source, "source")
    return Capture(hashlib.sha256(data).hexdigest(), source, address, by, time, form, data)


# An update as people read it: tables of what changes, what was left out, what stands for nothing, what is proposed.


def update_tables(update: Update) -> dict[str, pl.DataFrame]:
    """Return an update as tables: changes, unmatched names, rows left out, proposals."""
    changes = [(c.table, " · ".join(c.row), c.field, c.old, c.new, c.line) for c in update.changes]
    unmatched = [(n.kind, n.name, ", ".join(map(str, n.lines)), ", ".join(n.near)) for n in update.unmatched]
    proposals = [
        (p.table, ", ".join(f"{k} = {v or '?'}" for k, v in p.row.items()), len(p.changes), p.accept)
        for p in update.proposals
    ]
    text = pl.String
    return {
        "changes": pl.DataFrame(
            changes,
            schema={**dict.fromkeys(("table", "row", "field", "old", "new"), text), "line": pl.Int64},
            orient="row",
        ),
        "unmatched": pl.DataFrame(
            unmatched, schema=dict.fromkeys(("kind", "name", "lines", "nearest"), text), orient="row"
        ),
        "skipped": pl.DataFrame(
            list(update.skipped), schema={"line": pl.Int64, "name": text, "reason": text}, orient="row"
        ),
        "proposals": pl.DataFrame(
            proposals, schema={"table": text, "row": text, "changes": pl.Int64, "accept": pl.Boolean}, orient="row"
        ),
    }


# What two versions of the evidence differ in, cell by cell.


def evidence_changes(before: Evidence, after: Evidence) -> pl.DataFrame:
    """Return one row per cell that differs: table, row (its key), field, old, new; blank cells are null."""
    return pl.concat([_changed(name, before, after) for name in TABLES])


def _changed(name: str, before: Evidence, after: Evidence) -> pl.DataFrame:
    old, new = (_long(name, evidence) for evidence in (before, after))
    joined = old.join(new, on=["row", "field"], how="full", coalesce=True, maintain_order="left_right", suffix="_new")
    changed = joined.filter(pl.col("cell").ne_missing(pl.col("cell_new")))
    return changed.select(table=pl.lit(name), row="row", field="field", old="cell", new="cell_new")


def _long(name: str, evidence: Evidence) -> pl.DataFrame:
    """Return a table as one row per cell that is not blank, its key joined to one text."""
    key = list(TABLES[name].key)
    frame = as_text(evidence.tables()[name])
    cells = frame.with_columns(row=pl.concat_str([pl.col(part).fill_null("") for part in key], separator=" · "))
    fields = [column.name for column in TABLES[name].columns if column.name not in key]
    return cells.unpivot(fields, index="row", variable_name="field", value_name="cell").drop_nulls("cell")
