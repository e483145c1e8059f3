"""The file of the answers: one SQLite database, its schema, its time, its lock, and the removal of deleted text."""

import json
import math
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mensura.core.checksums import UNREADABLE, damaged_tables, keep_sums, sums_of
from mensura.core.errors import MensuraError
from mensura.exam import records
from mensura.exam.file import Exam
from mensura.exam.records import RefusedError, is_log_whole

_JUMP = 5.0  # seconds by which the clock must move to be noted; smaller corrections change no time limit
SHARED = {
    "sittings": "number, person, form, begun, about, started, finished, language",
    "shown": "number, item, at, left",
    "answers": "number, item, answer, edit, at, seconds, late",
}
"""Columns that others may read: nothing in them lets somebody in."""
_LAST = (
    "SELECT max(begun), max(started), max(finished), (SELECT max(at) FROM shown), (SELECT max(at) FROM answers) "
    "FROM sittings"
)


class AnswerFile:
    """Keep the file of the answers to one exam. Several threads may use it.

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
        self._opened, self._probed = 0, -math.inf
        is_new = not path.exists() or not path.stat().st_size
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        is_whole = is_log_whole(path)
        try:
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30.0)
            self._db.row_factory = sqlite3.Row
            for setting in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"):
                self._db.execute(f"PRAGMA {setting}")
            self._prepare(is_new, is_whole)
            self._jumps: list[float] = json.loads(self._fact("clock_jumps", "[]"))
            last = max((at for at in self._db.execute(_LAST).fetchone() if at is not None), default=-math.inf)
            self._start: float = max(clock() - sum(self._jumps), last) - steady()
            self._purge()
        except UNREADABLE as fault:
            self._db.close()
            raise MensuraError(
                f"{path}: not a store of answers, or a damaged one ({fault}). Choose another file, or keep what can be "
                f"read: mensura exam repair {path}"
            ) from fault
        except MensuraError:
            self._db.close()
            raise

    def _prepare(self, is_new: bool, is_log_whole: bool) -> None:
        if not is_new:
            self._refuse_damaged("" if is_log_whole else "the last answers in its log (-wal) cannot be read")
        with self._writing() as db:
            if is_new and not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for statement in records.SCHEMA:
                    db.execute(statement)
                facts = {"version": str(records.VERSION), "digest": self._exam.digest}
                facts["title"] = self._exam.settings.title
                facts |= {"pepper": secrets.token_hex(32), "forgotten": "0", "closed": "0"}
                db.executemany("INSERT INTO meta VALUES (?, ?)", facts.items())
                db.executemany("INSERT INTO meta VALUES (?, ?)", sums_of(db, records.CHECKED).items())
        keep_sums(self._db, records.CHECKED)
        if self._fact("digest") != self._exam.digest:
            raise MensuraError(
                f"{self.path}: its answers are to another version of the exam. Restore that version, or give a new file"
            )

    def _refuse_damaged(self, reason: str) -> None:
        """Refuse a file whose pages, tables or sums do not agree; name what is lost and what helps."""
        whole = self._db.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok"
        version = self._fact("version")
        if whole and not reason and version.isdigit() and int(version) != records.VERSION:
            raise MensuraError(
                f"{self.path}: version {version}; expected {records.VERSION}. Use the Mensura that wrote it"
            )
        lost = damaged_tables(self._db, records.CHECKED)
        rows = f"its rows of {', '.join(lost)} differ from their checksums" if lost else ""
        schema = {sql for (sql,) in self._db.execute("SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")}
        reason = reason or rows or ("its schema differs" if schema != set(records.SCHEMA) else "")
        if whole and not reason:
            return
        reason = reason or "its pages do not agree"
        raise MensuraError(
            f"{self.path}: the store is damaged: {reason}. Restore a backup, or keep what can be read: "
            f"mensura exam repair {self.path}"
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
            if self._opened:
                self._write_visits(self._db)
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

    @property
    def opened(self) -> int:
        """How often the first page was opened by people without a sitting; a reload counts again."""
        with self._lock:
            return int(self._fact("opened", "0")) + self._opened

    def count_visit(self) -> None:
        """Count a visit of the first page; it goes to the disk with the next person who begins."""
        with self._lock:
            self._opened += 1

    def _write_visits(self, db: sqlite3.Connection) -> None:
        db.execute("INSERT OR REPLACE INTO meta VALUES ('opened', ?)", (str(self.opened),))
        self._opened = 0

    def probe(self) -> None:
        """Write to the file and read it back, at most once a second; raises where it fails."""
        with self._lock:
            if self._steady() < self._probed + 1.0:
                return
            mark = secrets.token_hex(8)
            with self._writing() as db:
                db.execute("INSERT OR REPLACE INTO meta VALUES ('probe', ?)", (mark,))
            if self._fact("probe") != mark:
                raise MensuraError(f"{self.path}: what was written is not read back; check the disk")
            self._probed = self._steady()

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Return every row of ``sittings``, ``shown`` or ``answers``, without what lets somebody in."""
        with self._lock:
            return [dict(row) for row in self._db.execute(f"SELECT {SHARED[table]} FROM {table}")]

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
            raise RefusedError("closed_answer", 403)
