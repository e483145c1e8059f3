"""What the store keeps: its tables, a sitting, an answer, and the refusal of a request."""

from __future__ import annotations

from dataclasses import dataclass

from mensura.core.errors import MensuraError
from mensura.exam.forms import ExamForm
from mensura.exam.scoring import Given

SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sittings (
    number INTEGER PRIMARY KEY AUTOINCREMENT, person TEXT NOT NULL UNIQUE, code BLOB NOT NULL UNIQUE,
    panel TEXT UNIQUE, form TEXT NOT NULL, begun REAL NOT NULL, about TEXT, started REAL, finished REAL,
    completion TEXT NOT NULL
);
CREATE TABLE tokens (token BLOB PRIMARY KEY, used REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE shown (
    number INTEGER NOT NULL, item TEXT NOT NULL, at REAL NOT NULL, left INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (number, item)
) WITHOUT ROWID;
CREATE TABLE answers (
    number INTEGER NOT NULL, item TEXT NOT NULL, answer TEXT NOT NULL, edit INTEGER NOT NULL, at REAL NOT NULL,
    seconds REAL NOT NULL, late INTEGER NOT NULL, PRIMARY KEY (number, item)
) WITHOUT ROWID;
"""


class RefusedError(MensuraError):
    """A taker's request that the store does not accept; ``status`` as HTTP has it."""

    def __init__(self, message: str, status: int = 409) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Sitting:
    """One person's pass through the exam. ``completion`` is the code shown at the end."""

    number: int
    person: str
    form: ExamForm
    begun: float
    about: dict[str, str] | None
    started: float | None
    finished: float | None
    completion: str


@dataclass(frozen=True)
class StoredAnswer:
    """The last answer to one item: its version ``edit``, counted from 1, and ``at``, when the person made it."""

    given: Given
    edit: int
    at: float
    seconds: float
    late: bool


class OvertakenError(RefusedError):
    """An answer whose page did not know the version that is stored; ``is_newer``: the person made that one later."""

    def __init__(self, stored: StoredAnswer, *, is_newer: bool) -> None:
        super().__init__("This answer was changed on another page. Send it again with the version that is stored.")
        self.stored, self.is_newer = stored, is_newer
