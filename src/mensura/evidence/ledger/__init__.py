"""The moving half of the evidence: captures, updates for review, and a store that remembers every change."""

from mensura.evidence.ledger.book import EvidenceVersion, Ledger, init_ledger, open_ledger
from mensura.evidence.ledger.captures import Capture
from mensura.evidence.ledger.connection import ConflictError
from mensura.evidence.ledger.folder import export_ledger, import_ledger, is_ledger_folder
from mensura.evidence.ledger.policy import POLICY_FIELDS
from mensura.evidence.ledger.update import CellChange, Proposal, Skipped, Unmatched, Update

__all__ = [
    "POLICY_FIELDS",
    "Capture",
    "CellChange",
    "ConflictError",
    "EvidenceVersion",
    "Ledger",
    "Proposal",
    "Skipped",
    "Unmatched",
    "Update",
    "export_ledger",
    "import_ledger",
    "init_ledger",
    "is_ledger_folder",
    "open_ledger",
]
