"""Writing files whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mensura.errors import MensuraError

if TYPE_CHECKING:
    import polars as pl


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary neighbour of ``path`` that replaces it only when the block succeeds; it keeps its mode."""
    if path.is_dir():
        raise MensuraError(f"{path}: a folder stands where a file is to be written; choose another name")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    part = Path(name)
    try:
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
    """Write one table as UTF-8 CSV atomically."""
    with atomic_path(path) as part:
        frame.write_csv(part)
