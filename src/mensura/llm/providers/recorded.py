"""A model whose answers were recorded: everything can be tried offline, without a key."""

from __future__ import annotations

from typing import Protocol

from mensura.llm.protocol import Question
from mensura.llm.providers.base import CallError, Reply, Trouble


class Recording(Protocol):
    """Answers that are there already; ``version`` is a hash of them, ``tasks`` what they are for, where they say so."""

    version: str
    tasks: frozenset[str]

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
            raise CallError(Trouble.MISSING, f"not in the recording: {self._missing(question)}")
        return reply

    def _missing(self, question: Question) -> str:
        """Say what is not there: the task, where the recording is of others, else what the question is about."""
        task, tasks = question.about.get("task"), self._recording.tasks
        if task and tasks and task not in tasks:
            return f"{task} (it holds {', '.join(sorted(tasks))})"
        return ", ".join(f"{name}={value}" for name, value in question.about.items()) or "a question"

    async def close(self) -> None:
        """Nothing to close."""
