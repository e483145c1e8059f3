"""The ledger: evidence that changes, with a review before and a log after each change.

In: captures of public pages and files. Out: updates to review, an SQLite store with its history, and the evidence of
any date.
Read first: ``book`` (the ledger and its calls), ``captures`` (unedited copies of sources, fetched and kept),
``mapping``, ``naming`` and ``extraction`` (a capture becomes an update), ``update`` (the changes to review), ``log``
(entries and undo), ``store`` (the file and its cells), ``opening`` (making and opening stores, as folders too).
"""

from typing import TYPE_CHECKING

from mensura.core.exports import on_first_use

if TYPE_CHECKING:
    from mensura.ledger.book import POLICY_FIELDS as POLICY_FIELDS, EvidenceVersion as EvidenceVersion, Ledger as Ledger
    from mensura.ledger.captures import MOST_BYTES as MOST_BYTES, Capture as Capture, fetch as fetch
    from mensura.ledger.extraction import extract_update as extract_update
    from mensura.ledger.mapping import (
        SourceMapping as SourceMapping,
        mapping_file as mapping_file,
        parse_mapping as parse_mapping,
        read_mapping as read_mapping,
        shipped_names as shipped_names,
    )
    from mensura.ledger.opening import (
        export_ledger as export_ledger,
        has_history as has_history,
        import_ledger as import_ledger,
        init_ledger as init_ledger,
        is_ledger_folder as is_ledger_folder,
        open_ledger as open_ledger,
    )
    from mensura.ledger.store import ConflictError as ConflictError, evidence_changes as evidence_changes
    from mensura.ledger.update import (
        CellChange as CellChange,
        Proposal as Proposal,
        Skipped as Skipped,
        Unmatched as Unmatched,
        Update as Update,
        update_tables as update_tables,
    )

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
