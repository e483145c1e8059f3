"""A model whose answers were recorded: everything can be tried offline, without a key."""

from __future__ import annotations

from typing import Protocol

from mensura.llm.protocol import Question
from mensura.llm.providers.base import CallError, Reply, Trouble


class Recording(Protocol):
    """Answers that are there already; ``version`` is a hash of them."""

    version: str

    def find(self, question: Question) -> Reply | None:
        """Return the reply recorded for a question, if there is one."""
        ...


class RecordedProvider:
    """Answers from a recording; what was not recorded is an error of that question."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    async def complete(self, question: Question) -> Reply:
        """Answer one question or raise :class:`CallError`."""
        reply = self._recording.find(question)
        if reply is None:
            about = ", ".join(f"{name}={value}" for name, value in question.about.items()) or "a question"
            raise CallError(Trouble.MISSING, f"not in the recording: {about}")
        return reply

    async def close(self) -> None:
        """Nothing to close."""
