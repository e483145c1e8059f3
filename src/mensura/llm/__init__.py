"""Asking language models: one door to every provider, and a journal in which no answer is lost or paid twice."""

from mensura.llm.asker import Advance, ModelAsker, Standing
from mensura.llm.audit import audit_table, journal_cost, journal_status, write_audit
from mensura.llm.batches import BatchAsker, ask_batch
from mensura.llm.doors import open_asker
from mensura.llm.estimates import Estimate, estimate
from mensura.llm.journal import Journal
from mensura.llm.protocol import Answer, AnswerReading, Asker, Question, Reader, UnreadableError
from mensura.llm.recordings import shipped_recordings
from mensura.llm.settings import Prices, Settings

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
    "Settings",
    "Standing",
    "UnreadableError",
    "ask_batch",
    "audit_table",
    "estimate",
    "journal_cost",
    "journal_status",
    "open_asker",
    "shipped_recordings",
    "write_audit",
]
