"""Taking values from answers, whatever readers and answers do."""

from __future__ import annotations

from typing import NamedTuple

from mensura.llm.entries import Entry, value_text
from mensura.llm.protocol import Answer, AnswerReading, Question, Reader, UnreadableError


class Read(NamedTuple):
    """What a reader took from a text, its value as JSON, and why it took nothing."""

    reading: AnswerReading
    value: str = "null"
    error: str = ""


def read_safely(text: str, read: Reader) -> Read:
    """Read a text; a reader that crashes, or returns what JSON cannot hold, took nothing."""
    try:
        reading = read(text)
        return Read(reading, value_text(reading.value))
    except UnreadableError as fault:
        return Read(AnswerReading(None), error=f"unreadable: {fault}")
    except Exception as fault:
        return Read(AnswerReading(None), error=f"unreadable: the reader failed ({type(fault).__name__}: {fault})")


def answer_of(question: Question, entry: Entry, read: Read, *, stored: bool) -> Answer:
    """Return the answer to a question as the journal holds it, read by the asker's own reader."""
    error = read.error and (entry.error or read.error)
    value, rationale = read.reading
    text, _, _, _, tokens_in, tokens_out, cost, seconds, attempts = entry
    return Answer(
        question, text, value, rationale, error, stored, tokens_in, tokens_out, cost or 0.0, seconds, attempts
    )
