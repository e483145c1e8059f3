"""The answers of people: one SQLite file, one transaction per answer, durable before it is acknowledged."""

from __future__ import annotations

import hmac
import json
import math
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from mensura.core.errors import MensuraError
from mensura.exam import records
from mensura.exam.design import ExamForm, deadline, make_form
from mensura.exam.file import Exam
from mensura.exam.records import OvertakenError, RefusedError, Sitting, StoredAnswer, hash_of, new_code
from mensura.exam.scoring import Given, is_blank

STALE = 2 * 3600.0
"""Seconds after which an unfinished sitting counts for its answers alone when forms are balanced."""
GRACE = 5.0
"""Seconds that an answer may travel after its time limit."""
_COUNT_EVERY = 60.0  # seconds after which the answers are counted again; in between new forms are added
_COMPLETION = 8
_JUMP = 5.0  # seconds by which the clock must move to be noted; smaller corrections change no time limit
_SHARED = {
    "sittings": "number, person, form, begun, about, started, finished",
    "shown": "number, item, at, left",
    "answers": "number, item, answer, edit, at, seconds, late",
}
"""Columns that others may read: nothing in them lets somebody in."""
_TOO_LATE = "The time is over. The answer that you gave in time counts. Open the next question."
_LAST = (
    "SELECT max(begun), max(started), max(finished), (SELECT max(at) FROM shown), (SELECT max(at) FROM answers) "
    "FROM sittings"
)


class AnswerStore:
    """Store the answers of people to one exam. Several threads may use it.

    Parameters
    ----------
    path : Path
        The SQLite file; made where it is not there.
    exam : Exam
        The exam; a store of another version of it is refused.
    clock, steady : Callable[[], float]
        Seconds since 1970, and seconds that go on evenly when somebody sets the clock.

    Attributes
    ----------
    is_purged : bool
        The file contains no deleted text.

    """

    PURGE_EVERY = 5.0  # seconds after which deleted text is tried again that another program keeps in the file

    def __init__(
        self,
        path: Path,
        exam: Exam,
        *,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._exam, self._clock, self._steady, self.path = exam, clock, steady, path
        self._lock = threading.RLock()
        self._forms: list[Sequence[str]] = []
        self._counted = -math.inf
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        try:
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30.0)
            self._db.row_factory = sqlite3.Row
            for setting in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"):
                self._db.execute(f"PRAGMA {setting}")
            self._prepare()
            self._jumps: list[float] = json.loads(self._fact("clock_jumps", "[]"))
            last = max((at for at in self._db.execute(_LAST).fetchone() if at is not None), default=-math.inf)
            self._start: float = max(clock() - sum(self._jumps), last) - steady()
            self._purge()
        except sqlite3.DatabaseError as fault:
            raise MensuraError(f"{path}: not a store of answers ({fault}); choose another file") from fault

    def _prepare(self) -> None:
        with self._writing() as db:
            if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for statement in records.SCHEMA:
                    db.execute(statement)
                facts = {"version": "1", "digest": self._exam.digest, "title": self._exam.settings.title}
                facts |= {"pepper": secrets.token_hex(32), "forgotten": "0", "closed": "0"}
                db.executemany("INSERT INTO meta VALUES (?, ?)", facts.items())
        if self._fact("digest") != self._exam.digest:
            raise MensuraError(
                f"{self.path}: its answers are to another version of the exam. Restore that version, or give a new file"
            )

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Hold one transaction; it is on the disk when the block ends."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self.is_purged = True  # for this process: the next one tries again
            self._db.close()

    def _fact(self, name: str, default: str | None = None) -> str:
        row = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        if row is None and default is None:
            raise MensuraError(f"{self.path}: not a store of answers; choose another file")
        return str(row[0]) if row else str(default)

    def now(self) -> float:
        """Return the time of this store in seconds since 1970: even within a run, and never before what is stored."""
        return self._start + self._steady()

    def _note_jump(self) -> float:
        """Return the time; note by how much somebody moved the clock meanwhile, so that the next run goes on evenly."""
        now = self.now()
        jump = self._clock() - now - sum(self._jumps)
        if abs(jump) > _JUMP:
            self._jumps = [*self._jumps, round(jump, 3)]
            self._db.execute("INSERT OR REPLACE INTO meta VALUES ('clock_jumps', ?)", (json.dumps(self._jumps),))
        return now

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the report must know about the times."""
        with self._lock:
            jumps: list[float] = json.loads(self._fact("clock_jumps", "[]"))
        sizes = ", ".join(f"{jump:+,.0f} s" for jump in jumps[:5]) + ", …" * (len(jumps) > 5)
        return (f"the server's clock moved during the exam ({sizes}); times were counted without it",) if jumps else ()

    @property
    def is_closed(self) -> bool:
        """Whether nobody may begin or answer any more."""
        with self._lock:
            return self._fact("closed") == "1"

    def set_closed(self, closed: bool) -> None:
        """Close the exam, or open it again."""
        with self._writing() as db:
            db.execute("UPDATE meta SET value = ? WHERE name = 'closed'", (str(int(closed)),))

    @property
    def forgotten(self) -> int:
        """Sittings that were deleted by their code."""
        with self._lock:
            return int(self._fact("forgotten"))

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return every row of ``sittings``, ``shown`` or ``answers``, without what lets somebody in."""
        with self._lock:
            return [dict(row) for row in self._db.execute(f"SELECT {_SHARED[table]} FROM {table}")]

    # The taker

    def begin(self, *, token: str | None = None, panel: str | None = None) -> tuple[str, Sitting]:
        """Open a sitting and return its secret code; a token, and a panel's id, let one person in once."""
        code = new_code()
        with self._writing() as db:
            self._refuse_closed()
            now = self._note_jump()
            if token is not None:
                if db.execute("SELECT 1 FROM tokens WHERE token = ?", (hash_of(token),)).fetchone():
                    raise RefusedError("This invitation was used before. Open the link that you got then.", 403)
                db.execute("INSERT INTO tokens VALUES (?, ?)", (hash_of(token), now))
            hidden = None if panel is None else self._hidden(panel)
            if hidden and db.execute("SELECT 1 FROM sittings WHERE panel = ?", (hidden,)).fetchone():
                raise RefusedError("You have begun this exam before. Open the link that you got then.", 403)
            last = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'sittings'").fetchone()
            number = 1 + (last[0] if last else 0)
            if now - self._counted > _COUNT_EVERY:
                self._forms, self._counted = self._taken(now), now
            form = make_form(self._exam, number, self._forms)
            self._forms.append(form.items)
            completion = self._exam.settings.completion_code or new_code(_COMPLETION)
            person = f"person-{secrets.token_hex(5)}"
            db.execute(
                "INSERT INTO sittings (number, person, code, panel, form, begun, completion) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (number, person, hash_of(code), hidden, json.dumps(asdict(form)), now, completion),
            )
        return code, Sitting(number, person, form, now, None, None, None, completion)

    def _hidden(self, panel: str) -> str:
        """Return the opaque id for a panel's id; the key that makes it never leaves the store."""
        key = bytes.fromhex(self._fact("pepper"))
        return hmac.new(key, panel.encode("utf-8", "replace"), "sha256").hexdigest()[:32]

    def _taken(self, now: float) -> list[Sequence[str]]:
        """Return the items that each sitting has answered, or is likely to."""
        answered: dict[int, list[str]] = {}
        for number, item in self._db.execute("SELECT number, item FROM answers"):
            answered.setdefault(number, []).append(item)
        return [
            answered.get(row["number"], [])
            if row["finished"] is not None or now - row["begun"] > STALE
            else json.loads(row["form"])["items"]
            for row in self._db.execute("SELECT number, form, begun, finished FROM sittings")
        ]

    def find(self, code: str) -> Sitting | None:
        """Return the sitting of a code."""
        query = f"SELECT {_SHARED['sittings']}, completion FROM sittings WHERE code = ?"
        with self._lock:
            row = self._db.execute(query, (hash_of(records.plain_code(code)),)).fetchone()
        if row is None:
            return None
        form = json.loads(row["form"])
        drawn = ExamForm(tuple(form["seed"]), tuple(form["items"]), form["options"])
        return Sitting(**{**row, "form": drawn, "about": None if row["about"] is None else json.loads(row["about"])})

    def describe(self, sitting: Sitting, about: dict[str, str]) -> None:
        """Store the answers about the person; only known questions and their options."""
        asked = {question.name: question.options for question in self._exam.settings.questions}
        kept = {name: answer for name, answer in about.items() if answer in asked.get(name, ())}
        self._set(sitting, "about", json.dumps(kept))

    def start(self, sitting: Sitting) -> None:
        """Start the clock; a second start changes nothing."""
        self._set(sitting, "started", self.now())

    def finish(self, sitting: Sitting) -> None:
        """End the sitting."""
        self._set(sitting, "finished", self.now())

    def _set(self, sitting: Sitting, column: str, value: object) -> None:
        change = f"UPDATE sittings SET {column} = ? WHERE number = ? AND {column} IS NULL AND finished IS NULL"
        with self._writing() as db:
            self._refuse_closed()
            db.execute(change, (value, sitting.number))

    def show(self, sitting: Sitting, item: str) -> float:
        """Note when an item was first shown, and return that time."""
        if item not in self.shown(sitting):
            with self._writing() as db:
                place = (sitting.number, item, self._note_jump())
                db.execute("INSERT OR IGNORE INTO shown (number, item, at) VALUES (?, ?, ?)", place)
        return self.shown(sitting)[item]

    def shown(self, sitting: Sitting) -> dict[str, float]:
        """Return when each item was first shown."""
        with self._lock:
            return dict(self._db.execute("SELECT item, at FROM shown WHERE number = ?", (sitting.number,)).fetchall())

    def answers(self, sitting: Sitting) -> dict[str, StoredAnswer]:
        """Return the answers of a sitting by item."""
        query = "SELECT item, answer, edit, at, seconds, late FROM answers WHERE number = ?"
        with self._lock:
            rows = self._db.execute(query, (sitting.number,)).fetchall()
        return {
            item: StoredAnswer(json.loads(given), edit, at, seconds, bool(late))
            for item, given, edit, at, seconds, late in rows
        }

    def answer(
        self,
        sitting: Sitting,
        item: str,
        given: Given,
        *,
        seconds: float,
        left: int = 0,
        after: int | None = None,
        made: float | None = None,
    ) -> StoredAnswer:
        """Store one answer as the next version, and return what is stored.

        ``after``: the stored version that the page knows; where another is stored, this answer is not
        (:class:`OvertakenError`). None: the answer replaces any other. ``made``: when the person made the change, in
        the time of the store; None for now. ``seconds`` that the item was in view are the page's word, but never more
        than have passed. ``left``: times the page was left.
        """
        records.refuse_foreign(self._exam, sitting, item, given)
        self.show(sitting, item)
        with self._writing() as db:
            self._refuse_closed()
            row = db.execute("SELECT started, finished FROM sittings WHERE number = ?", (sitting.number,)).fetchone()
            if row is None or row[0] is None or row[1] is not None:
                raise RefusedError("This sitting is finished or has not started. Open the first page.")
            now, opened, stored = self._note_jump(), self.shown(sitting), self.answers(sitting).get(item)
            late = now > deadline(self._exam, row[0], opened, item) + GRACE
            passed = now - opened[item]
            spent = min(seconds, passed) if seconds > 0 else passed  # a page without scripts sends 0
            version = 1 if stored is None else stored.edit + 1
            at = now if made is None else min(max(made, opened[item]), now)
            new = StoredAnswer(given, version, at, spent, late)
            if stored is None and is_blank(given):
                return replace(new, edit=0)  # nothing to store: the item was passed over
            if stored is not None and (after not in (None, stored.edit) or late > stored.late):
                is_same = given == stored.given
                if is_same and (late > stored.late or at <= stored.at):
                    return stored
                if late > stored.late:
                    raise RefusedError(_TOO_LATE, 410)
                if not is_same:
                    raise OvertakenError(stored, is_newer=stored.at > at)
            row = (sitting.number, item, json.dumps(given), version, at, spent, late)
            db.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            away = (min(left, 10_000), sitting.number, item)
            db.execute("UPDATE shown SET left = max(left, ?) WHERE number = ? AND item = ?", away)
        return new

    def forget(self, code: str) -> bool:
        """Delete everything about the sitting of a code; False where there is none.

        Its text leaves the file at once, or when no other program reads the file (``is_purged``).
        """
        with self._lock:
            is_deleted = records.forget_in(self._db, code)
            if is_deleted and self.is_purged:
                self._purge()
        return is_deleted

    def _purge(self) -> None:
        """Remove deleted text from the file, now or later; a reader elsewhere holds nobody up."""
        self.is_purged = records.purge(self._db)
        if not self.is_purged:
            later = threading.Timer(self.PURGE_EVERY, self._purge_again)
            later.daemon = True
            later.start()

    def _purge_again(self) -> None:
        with self._lock:
            if not self.is_purged:
                self._purge()

    def _refuse_closed(self) -> None:
        if self._fact("closed") == "1":
            raise RefusedError("The exam is closed. Ask the organiser to open it again.", 403)
