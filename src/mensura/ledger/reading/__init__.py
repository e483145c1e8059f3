"""Reading hostile text as rows: CSV, JSON, HTML tables and pasted leaderboards, all within limits."""

from mensura.ledger.reading.layout import LAYOUTS, RowLayout
from mensura.ledger.reading.rows import SourceRow, clean_text
from mensura.ledger.reading.source import read_rows

__all__ = ["LAYOUTS", "RowLayout", "SourceRow", "clean_text", "read_rows"]
