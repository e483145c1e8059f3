"""Asking language models: one interface to every provider, and a journal in which no answer is lost or paid twice.

Public names are imported on first use: making a question needs no event loop and no journal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mensura.exports import on_first_use

if TYPE_CHECKING:
    from mensura.llm.asker import Advance, ModelAsker, Standing
    from mensura.llm.audit import audit_table, journal_cost, journal_status, write_audit
    from mensura.llm.batches import BatchAsker, ask_batch
    from mensura.llm.budget import Estimate, estimate
    from mensura.llm.interface import open_asker
    from mensura.llm.journal import Journal
    from mensura.llm.journal_file import Recovery, recover_journal
    from mensura.llm.protocol import Answer, AnswerReading, Asker, Question, Reader, UnreadableError
    from mensura.llm.recordings import shipped_recordings
    from mensura.llm.settings import Prices, Settings

_HOMES = {
    "Advance": "asker",
    "Answer": "protocol",
    "AnswerReading": "protocol",
    "Asker": "protocol",
    "BatchAsker": "batches",
    "Estimate": "budget",
    "Journal": "journal",
    "ModelAsker": "asker",
    "Prices": "settings",
    "Question": "protocol",
    "Reader": "protocol",
    "Recovery": "journal_file",
    "Settings": "settings",
    "Standing": "asker",
    "UnreadableError": "protocol",
    "ask_batch": "batches",
    "audit_table": "audit",
    "estimate": "budget",
    "journal_cost": "audit",
    "journal_status": "audit",
    "open_asker": "interface",
    "recover_journal": "journal_file",
    "shipped_recordings": "recordings",
    "write_audit": "audit",
}

__all__ = [
    "Advance",
    "Answer",
    "AnswerReading",
    "Asker",
    "BatchAsker",
    "Estimate",
    "Journal",
    "ModelAsker",
    "Prices",
    "Question",
    "Reader",
    "Recovery",
    "Settings",
    "Standing",
    "UnreadableError",
    "ask_batch",
    "audit_table",
    "estimate",
    "journal_cost",
    "journal_status",
    "open_asker",
    "recover_journal",
    "shipped_recordings",
    "write_audit",
]

__getattr__, __dir__ = on_first_use(__name__, _HOMES)
