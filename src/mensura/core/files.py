"""Writing files whole or not at all.

A writer holds the lock of its unfinished file or folder. The operating system gives a lock up when a process ends, so a
lock that can be taken belongs to a killed writer, also across containers that share the folder.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mensura.core.errors import MensuraError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    import polars as pl

_TAKES_NO_MORE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, None)  # None: an error of polars
PART = ".part"
"""How the name of an unfinished file or folder ends."""
LONGEST_STEM = 100
"""So many characters of a name go into that of its unfinished neighbour: names have an end."""
_LONGEST_PID = 10
_DAY = 86_400.0
"""Seconds after which an unfinished file is given up on disks without locks."""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name ``path`` in an error of a disk that takes no more, which by itself names no file, or a temporary one."""
    try:
        yield
    except OSError as fault:
        if fault.errno not in _TAKES_NO_MORE:
            raise
        raise OSError(fault.errno, fault.strerror or str(fault), str(path)) from fault
    except Exception as fault:
        if not is_of_the_disk(fault):
            raise
        raise OSError(None, str(fault), str(path)) from fault


def is_of_the_disk(fault: Exception) -> bool:
    """Whether this is the system's own error in the words of older polars, which raise no OSError for it."""
    return type(fault).__module__.startswith("polars") and "(os error " in str(fault)


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary neighbour of ``path`` that replaces it only when the block succeeds; it keeps its mode."""
    if path.is_dir():
        raise MensuraError(f"{path}: a folder stands where a file is to be written; choose another name")
    path.parent.mkdir(parents=True, exist_ok=True)
    sweep_parts(path)
    with locked_part(path, _empty_file) as part:
        try:
            with naming(path):
                yield part
            part.chmod(_mode(path))
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def _empty_file(suffix: str, prefix: str, folder: str) -> str:
    handle, name = tempfile.mkstemp(suffix, prefix, folder)
    os.close(handle)
    return name


@contextmanager
def locked_part(path: Path, make: Callable[[str, str, str], str]) -> Iterator[Path]:
    """Make an unfinished neighbour of a path and hold its lock; others take it for abandoned when the lock is free."""
    while True:
        part = Path(make(PART, f".{path.name[:LONGEST_STEM]}.{os.getpid()}.", str(path.parent)))
        with suppress(FileNotFoundError):  # somebody swept it up before it was locked
            handle = _take_lock(part)
            if handle is None or _is_still(part, handle):
                break
            os.close(handle)
    try:
        yield part
    finally:
        if handle is not None:
            os.close(handle)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file or folder; do without where there are no locks."""
    handle = _take_lock(path)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _take_lock(path: Path, *, wait: bool = True) -> int | None:
    """Return a handle that holds the lock of a file or folder, or None where there are no locks.

    Without ``wait``, a lock that another holds is a BlockingIOError.
    """
    if fcntl is None:
        return None
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(handle)
        raise
    except OSError:  # some network disks lock nothing
        os.close(handle)
        return None
    return handle


def _is_still(part: Path, handle: int) -> bool:
    try:
        return os.path.samestat(part.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _mode(path: Path) -> int:
    """Return the permissions a file has, or those a new one gets."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    return 0o666 & ~umask()


def sweep_parts(path: Path) -> None:
    """Remove the unfinished neighbours that killed writers of a path left."""
    start = f".{path.name[:LONGEST_STEM]}."
    for entry in list(os.scandir(path.parent)):
        if entry.name.startswith(start) and entry.name.endswith(PART):
            pid = entry.name.removeprefix(start).split(".")[0]
            if pid.isdigit() and len(pid) <= _LONGEST_PID:
                with suppress(FileNotFoundError):
                    _sweep(Path(entry.path))


def _sweep(part: Path) -> None:
    """Remove an unfinished file or folder if its writer is gone, under its lock; without locks, if a day has passed."""
    if part.is_symlink():
        part.unlink(missing_ok=True)
        return
    try:
        handle = _take_lock(part, wait=False)
    except BlockingIOError:
        return
    try:
        if handle is None and time.time() - part.stat().st_mtime < _DAY:
            return
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)
    finally:
        if handle is not None:
            os.close(handle)


def umask() -> int:
    """Return the permissions that new files of this process do without."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text atomically."""
    with atomic_path(path) as part:
        part.write_text(text, encoding="utf-8")


def write_csv(frame: pl.DataFrame, path: Path) -> None:
    """Write one table as UTF-8 CSV atomically; cells a spreadsheet would compute are kept from it."""
    from mensura.core.frames import neutral_cells

    with atomic_path(path) as part:
        neutral_cells(frame).write_csv(part)
