"""The ledger: evidence that changes, with a review before and a log after each change.

In: captures of public pages and files. Out: updates to review, an SQLite store with its history, and the evidence of
any date.
Read first: ``book`` (the ledger and its calls), ``fetch`` and ``captures`` (unedited copies of sources), ``mapping``
and ``extraction`` (a capture becomes an update), ``update`` (the changes to review), ``log`` (entries and undo),
``compare`` (two versions).
"""

from mensura.ledger.book import EvidenceVersion, Ledger
from mensura.ledger.captures import MOST_BYTES, Capture, evidence_changes, update_tables
from mensura.ledger.extraction import extract_update
from mensura.ledger.fetch import fetch
from mensura.ledger.folder import export_ledger, import_ledger, is_ledger_folder
from mensura.ledger.mapping import SourceMapping, mapping_file, parse_mapping, read_mapping, shipped_names
from mensura.ledger.opening import has_history, init_ledger, open_ledger
from mensura.ledger.policy import POLICY_FIELDS
from mensura.ledger.store import ConflictError
from mensura.ledger.update import CellChange, Proposal, Skipped, Unmatched, Update

__all__ = [
    "MOST_BYTES",
    "POLICY_FIELDS",
    "Capture",
    "CellChange",
    "ConflictError",
    "EvidenceVersion",
    "Ledger",
    "Proposal",
    "Skipped",
    "SourceMapping",
    "Unmatched",
    "Update",
    "evidence_changes",
    "export_ledger",
    "extract_update",
    "fetch",
    "has_history",
    "import_ledger",
    "init_ledger",
    "is_ledger_folder",
    "mapping_file",
    "open_ledger",
    "parse_mapping",
    "read_mapping",
    "shipped_names",
    "update_tables",
]
