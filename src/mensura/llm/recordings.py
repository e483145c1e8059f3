"""Recordings: answers in a table or a journal, found again by what a question is about or by its words.

A table has a column ``answer`` and columns that name what a question is about (``item``, ``dimension``, ``variant`` …).
A row answers a question when each of its filled cells equals what ``Question.about`` says (``repeat``: the question's
own); of several rows that do, the one with most filled cells. The columns in :data:`NOT_MATCHED` may accompany them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from mensura.core.errors import MensuraError
from mensura.llm.journal import Journal
from mensura.llm.protocol import CallError, Question, Reply, Trouble
from mensura.llm.record import WITHHELD
from mensura.llm.settings import KEY_BYTES, KeyMaker, Settings

SHIPPED = Path(__file__).parent / "data"
PREFIX = "recorded/"
NOT_MATCHED = ("answer", "tokens_in", "tokens_out", "model", "source", "note")
"""Columns of a recording that are not compared with what a question is about."""
_TABLE_ENDINGS = (".csv", ".csv.gz", ".parquet")
_JOURNAL_ENDINGS = (".sqlite", ".db")
_NEUTRAL = Settings("recorded", temperature=None, max_tokens=1)
"""Journals are searched by the words of a question alone, whichever model answered it."""


class TableRecording:
    """Answers found by what a question is about."""

    def __init__(self, rows: list[dict[str, object]], origin: str, version: str) -> None:
        self.version = version
        self._replies: dict[tuple[tuple[str, str], ...], Reply] = {}
        self.tasks = frozenset(str(row["task"]) for row in rows if row.get("task"))
        fields: set[tuple[str, ...]] = set()
        for row in rows:
            about = {
                name: str(cell) for name, cell in row.items() if name not in NOT_MATCHED and cell not in (None, "")
            }
            if row.get("answer") is None:
                continue
            place = tuple(sorted(about.items()))
            if place in self._replies:
                raise MensuraError(f"{origin}: two answers for {about}; expected one. Remove the other")
            self._replies[place] = Reply(str(row["answer"]), _count(row, "tokens_in"), _count(row, "tokens_out"))
            fields.add(tuple(sorted(about)))
        self._fields = sorted(fields, key=lambda names: (-len(names), names))

    def find(self, question: Question) -> Reply | None:
        """Return the reply recorded for a question, if there is one."""
        about = {**question.about, "repeat": str(question.repeat)}
        for names in self._fields:
            if all(name in about for name in names):
                reply = self._replies.get(tuple((name, str(about[name])) for name in names))
                if reply is not None:
                    return reply
        return None


class JournalRecording:
    """Answers found by a question's words (prompt, system, schema, repeat), whichever model gave them."""

    tasks: frozenset[str] = frozenset()

    def __init__(self, path: Path, version: str) -> None:
        self.version = version
        self._key = KeyMaker(_NEUTRAL)
        self._replies: dict[bytes, Reply] = {}
        with Journal(path, create=False) as journal:
            for question, entry in journal.questions():
                withheld = next((kind for kind in WITHHELD if entry.error.startswith(kind)), "")
                reply = Reply(entry.text, entry.tokens_in, entry.tokens_out, withheld=withheld)
                self._replies.setdefault(self._key(question), reply)

    def find(self, question: Question) -> Reply | None:
        """Return the reply recorded for a question, if there is one."""
        return self._replies.get(self._key(question))


class RecordedProvider:
    """Answer from a recording; a question that was not recorded is an error of that question."""

    def __init__(self, recording: TableRecording | JournalRecording) -> None:
        self._recording = recording

    async def complete(self, question: Question) -> Reply:
        """Answer one question or raise :class:`CallError`."""
        reply = self._recording.find(question)
        if reply is None:
            raise CallError(Trouble.MISSING, f"not in the recording: {self._missing(question)}")
        return reply

    def _missing(self, question: Question) -> str:
        """Name what is missing: the task, where the recording is for others, else the subject of the question."""
        task, tasks = question.about.get("task"), self._recording.tasks
        if task and tasks and task not in tasks:
            return f"{task} (it holds {', '.join(sorted(tasks))})"
        return ", ".join(f"{name}={value}" for name, value in question.about.items()) or "a question"

    async def close(self) -> None:
        """Nothing to close."""


def version_of(name: str) -> str:
    """Return the hash of the recording that a model's name stands for, empty for any other model."""
    return read_recording(name).version if name.startswith(PREFIX) else ""


def read_recording(name: str) -> TableRecording | JournalRecording:
    """Open a recording: one that ships with the package by its name, or a file of one's own by its path."""
    path = _path_of(name)
    version = hashlib.blake2b(path.read_bytes(), digest_size=KEY_BYTES).hexdigest()
    if path.name.endswith(_JOURNAL_ENDINGS):
        return JournalRecording(path, version)
    from mensura.core.frames import require_columns
    from mensura.intake.tables import read_table

    frame = read_table(path)
    require_columns(frame, ["answer"], name=str(path))
    if set(frame.columns) <= set(NOT_MATCHED):
        raise MensuraError(f"{path}: no column says what an answer is about; add one such as item or dimension")
    return TableRecording(frame.to_dicts(), str(path), version)


def shipped_recordings() -> list[str]:
    """Return the names of the recordings that ship with the package."""
    endings = (*_TABLE_ENDINGS, *_JOURNAL_ENDINGS)
    found = {path.name.removesuffix(end) for path in SHIPPED.iterdir() for end in endings if path.name.endswith(end)}
    return sorted(found)


def _path_of(name: str) -> Path:
    wanted = name.removeprefix(PREFIX)
    endings = (*_TABLE_ENDINGS, *_JOURNAL_ENDINGS)
    if wanted.endswith(endings):
        path = Path(wanted).expanduser()
        if not path.is_file():
            raise MensuraError(f"{name}: no such file {path}; check the path")
        return path
    if wanted in shipped_recordings():
        return next(path for end in endings if (path := SHIPPED / f"{wanted}{end}").is_file())
    raise MensuraError(
        f"model: there is no recording {wanted!r}; expected one of {', '.join(shipped_recordings())}, "
        f"or recorded/PATH with a file of your own ({', '.join(endings)})"
    )


def _count(row: Mapping[str, object], name: str) -> int | None:
    cell = row.get(name)
    return cell if isinstance(cell, int) else None
