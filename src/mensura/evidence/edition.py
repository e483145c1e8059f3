"""Which evidence a number was computed from: a date for people, a fingerprint for machines."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import polars as pl

from mensura.evidence.store import as_text

EMBEDDED_EDITION = "2026-11"
"""Year and month of the embedded tables; a later state of them is a later edition."""
FINGERPRINT_DIGITS = 12
"""Hexadecimal digits shown: two different states share them once in 10¹⁴."""


def fingerprint_of(tables: Mapping[str, pl.DataFrame]) -> str:
    """Return the first digits of the SHA-256 of all tables as their CSV files would hold them, by name."""
    digest = hashlib.sha256()
    for name in sorted(tables):
        digest.update(f"{name}\n".encode())
        digest.update(as_text(tables[name]).write_csv().encode())
    return digest.hexdigest()[:FINGERPRINT_DIGITS]
