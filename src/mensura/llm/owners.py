"""Know which process asks a question: each has a locked file next to the journal.

The operating system gives up the lock when a process ends, however it ends. So a lock that can be taken belongs to a
dead process, on every system and across containers that share the folder.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from glob import escape
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
else:

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


_MARK = ".owner-"
_NUMBER_BYTES = 6


class Owner:
    """One user of a journal: a random number, and a locked file of that name while it lives.

    ``journal`` None: a journal in memory, which has no other users.
    """

    def __init__(self, journal: Path | None) -> None:
        self._journal = journal
        self._handle: int | None = None
        self.number = int.from_bytes(secrets.token_bytes(_NUMBER_BYTES), "big")
        if journal is not None:
            living_owners(journal)  # removes files that killed processes left
            while not self._take():
                self.number += 1

    def close(self) -> None:
        """Give up the lock."""
        if self._handle is not None and self._journal is not None:
            os.close(self._handle)
            self._handle = None
            with suppress(OSError):
                _lock_file(self._journal, self.number).unlink()

    def _take(self) -> bool:
        """Make and lock the file; false where another process swept it away in between."""
        assert self._journal is not None
        path = _lock_file(self._journal, self.number)
        try:
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        except FileExistsError:
            return False
        try:
            _lock(handle)
        except OSError:
            os.close(handle)
            return False
        if not path.exists():
            os.close(handle)
            return False
        self._handle = handle
        return True


def is_alive(journal: Path | None, number: int) -> bool:
    """Return whether the owner of this number still uses the journal; the file of a dead one is removed."""
    if journal is None:
        return False
    path = _lock_file(journal, number)
    try:
        handle = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        _lock(handle)
    except OSError:
        return True
    finally:
        os.close(handle)
    with suppress(OSError):
        path.unlink()
    return False


def living_owners(journal: Path) -> int:
    """Return the number of processes that use a journal; files of dead ones are removed."""
    start = f"{journal.name}{_MARK}"
    names = [path.name.removeprefix(start) for path in journal.parent.glob(f"{escape(start)}*")]
    numbers = [int(name, 16) for name in names if name and set(name) <= set("0123456789abcdef")]
    return sum(is_alive(journal, number) for number in numbers)


def _lock_file(journal: Path, number: int) -> Path:
    return journal.with_name(f"{journal.name}{_MARK}{number:x}")
