"""Answers the journal holds already, found many at a time and read anew: a better reader needs no new call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mensura.llm.entries import Entry, redacted, split_answer, value_text
from mensura.llm.journal import Journal
from mensura.llm.protocol import Answer, Question, Reader
from mensura.llm.readings import answer_of, read_safely
from mensura.llm.shelf import Redact

_tuple = tuple.__new__
"""Makes a named tuple of all its parts in order, in half the time that its own constructor takes."""


class Stored(NamedTuple):
    """What a journal holds for some questions.

    ``answers``: one per question, None where there is none. ``reread``: entries whose reader now takes something else
    from the text than the journal says, by key, for :func:`note_readings`.
    """

    answers: list[Answer | None]
    reread: dict[bytes, Entry]


def stored_answers(journal: Journal, keys: Sequence[bytes], questions: Sequence[Question], read: Reader) -> Stored:
    """Look up questions by their keys; nothing is written.

    Nearly every stored answer is read as it was before. That case is written out in one loop, without the objects that
    the others pass through, for a run of a hundred thousand answers is resumed by it.
    """
    unpack = journal.shelf.unpack
    answers: list[Answer | None] = []
    reread: dict[bytes, Entry] = {}
    for row, question in zip(journal.answered_rows(keys), questions, strict=True):
        if row is None:
            answers.append(None)
            continue
        key, packed, value, error, tokens_in, tokens_out, cost, seconds, attempts = row
        text, rationale = split_answer(unpack(packed))
        try:
            now, why = read(text)
            as_before = why == rationale and not error and value_text(now) == value
        except Exception:  # whatever a reader does, read_safely says what it was
            as_before = False
        if as_before:
            parts = (question, text, now, why, "", True, tokens_in, tokens_out, cost or 0.0, seconds, attempts)
            answers.append(_tuple(Answer, parts))
            continue
        entry = journal.entry(row)
        taken = read_safely(text, read)
        why = taken.reading.rationale
        if taken.value != value or why != rationale or (not taken.error) != (not error):
            reread[key] = Entry(text, taken.value, why, taken.error)
        answers.append(answer_of(question, entry, taken, stored=True))
    return Stored(answers, reread)


def note_readings(journal: Journal, reread: Mapping[bytes, Entry], redact: Redact) -> None:
    """Write down, inside a transaction, what readers now take from stored texts."""
    for key, entry in reread.items():
        journal.reread(key, redacted(entry, redact))
