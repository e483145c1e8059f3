"""Which evidence a number was computed from: a date for people, a fingerprint for machines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TypeAlias

import polars as pl

from mensura.evidence.schema import TABLES
from mensura.evidence.store import as_text

EMBEDDED_EDITION = "2026-12"
"""Year and month of the embedded tables; a later state of them is a later edition."""
FINGERPRINT_DIGITS = 12
"""Hexadecimal digits shown: two different states share them once in 10¹⁴."""

Cells: TypeAlias = dict[str, dict[tuple[str, ...], dict[str, str]]]
"""Every cell that is not blank, by table, key of the row, and field; the key cells themselves are left out."""


def fingerprint_of(cells: Cells) -> str:
    """Return the SHA-256 of every cell; the order of rows does not matter."""
    digest = hashlib.sha256()
    for name in sorted(cells):
        for key in sorted(cells[name]):
            row = json.dumps([name, key, sorted(cells[name][key].items())], ensure_ascii=False)
            digest.update(row.encode() + b"\n")
    return digest.hexdigest()


def cells_of(tables: Mapping[str, pl.DataFrame]) -> Cells:
    """Return tables as the cells that their files or a store would hold."""
    return {name: _rows(as_text(frame), TABLES[name].key) for name, frame in tables.items()}


def _rows(frame: pl.DataFrame, key: tuple[str, ...]) -> dict[tuple[str, ...], dict[str, str]]:
    fields = [name for name in frame.columns if name not in key]
    keys = frame.select(pl.col(key).fill_null("")).iter_rows()
    rows = frame.select(fields).iter_rows()
    return {
        at: {name: cell for name, cell in zip(fields, row, strict=True) if cell is not None}
        for at, row in zip(keys, rows, strict=True)
    }
