"""Writing files whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mensura.core.errors import MensuraError

if TYPE_CHECKING:
    import polars as pl

_TAKES_NO_MORE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, None)  # None: an error of polars
PART = ".part"
"""How the name of an unfinished file or folder ends."""
LONGEST_STEM = 100
"""So many characters of a name go into that of its unfinished neighbour: names have an end."""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name ``path`` in an error of a disk that takes no more, which by itself names no file, or a temporary one."""
    try:
        yield
    except OSError as fault:
        if fault.errno not in _TAKES_NO_MORE:
            raise
        raise OSError(fault.errno, fault.strerror or str(fault), str(path)) from fault


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary neighbour of ``path`` that replaces it only when the block succeeds; it keeps its mode."""
    if path.is_dir():
        raise MensuraError(f"{path}: a folder stands where a file is to be written; choose another name")
    path.parent.mkdir(parents=True, exist_ok=True)
    sweep_parts(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=part_prefix(path), suffix=PART)
    os.close(handle)
    part = Path(name)
    try:
        with naming(path):
            yield part
        part.chmod(_mode(path))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _mode(path: Path) -> int:
    """Return the permissions a file has, or those a new one gets."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    return 0o666 & ~umask()


def part_prefix(path: Path) -> str:
    """Return how the unfinished neighbours of a path are called that this process makes."""
    return f".{path.name[:LONGEST_STEM]}.{os.getpid()}."


def sweep_parts(path: Path) -> None:
    """Remove the unfinished neighbours that killed writers of a path left."""
    start = f".{path.name[:LONGEST_STEM]}."
    for entry in list(os.scandir(path.parent)):
        if entry.name.startswith(start) and entry.name.endswith(PART):
            pid = entry.name.removeprefix(start).split(".")[0]
            if pid.isdigit() and not _alive(int(pid)):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    Path(entry.path).unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


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
