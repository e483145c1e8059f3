"""The moving half of the evidence: captures, updates for review, and a store that remembers every change."""

from mensura.evidence.ledger.book import EvidenceVersion, Ledger
from mensura.evidence.ledger.captures import MOST_BYTES, Capture
from mensura.evidence.ledger.compare import evidence_changes
from mensura.evidence.ledger.connection import ConflictError
from mensura.evidence.ledger.extraction import extract_update
from mensura.evidence.ledger.fetch import fetch
from mensura.evidence.ledger.folder import export_ledger, import_ledger, is_ledger_folder
from mensura.evidence.ledger.mapping import SourceMapping, mapping_file, parse_mapping, read_mapping, shipped_names
from mensura.evidence.ledger.opening import has_history, init_ledger, open_ledger
from mensura.evidence.ledger.policy import POLICY_FIELDS
from mensura.evidence.ledger.shown import update_tables
from mensura.evidence.ledger.update import CellChange, Proposal, Skipped, Unmatched, Update

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
