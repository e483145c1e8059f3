"""Questions to language models: one interface, and a journal that loses no answer and pays none twice.

In: questions and the name of a model. Out: answers with their cost, in an SQLite journal that a stopped run
continues.
Read first: ``protocol`` (questions, answers, providers), ``asker`` (opens a model by its name) and ``queue`` (waiting
questions), ``calls`` and ``pacing`` (cost, limits of providers), ``record``, ``journal`` and
``journal_file`` (what is kept), ``endpoint`` and ``providers``, ``audit`` (reads a journal afterwards).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mensura.core.exports import on_first_use

if TYPE_CHECKING:
    from mensura.llm.asker import (
        Advance as Advance,
        ModelAsker as ModelAsker,
        Standing as Standing,
        open_asker as open_asker,
    )
    from mensura.llm.audit import (
        audit_table as audit_table,
        journal_status as journal_status,
        write_audit as write_audit,
    )
    from mensura.llm.calls import Estimate as Estimate, estimate as estimate
    from mensura.llm.journal import Journal as Journal
    from mensura.llm.journal_file import recover_journal as recover_journal
    from mensura.llm.protocol import (
        Answer as Answer,
        AnswerReading as AnswerReading,
        Asker as Asker,
        Prices as Prices,
        Question as Question,
        Reader as Reader,
        Settings as Settings,
        UnreadableError as UnreadableError,
    )
    from mensura.llm.providers import shipped_recordings as shipped_recordings

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
