"""Results kept between runs: a result that was computed once from the same inputs, by the same code, is read again.

The name of an entry is a hash of everything it depends on: the inputs, the files of this package, the versions of
Python and of the libraries whose objects it contains. So no entry is ever out of date, and the folder may be deleted at
any time.

Entries are Python pickles. Mensura reads an entry only if this user owns it, in a folder that only this user can write
to. It removes only files that have the name of an entry, in a folder that carries its mark (``CACHEDIR.TAG``).
"""

import hashlib
import mmap
import os
import pickle
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar

from mensura.core.files import atomic_path, write_text

T = TypeVar("T")

VARIABLE = "MENSURA_CACHE"
"""Names the folder to keep results in, or says ``off``."""
MOST_ENTRIES, MOST_BYTES = 500, 2**30
"""Entries kept, and their bytes together; the one longest unused goes first."""
_SUFFIX = ".result"
_ENTRY = re.compile(r"[a-z][a-z-]*-[0-9a-f]{40}\.result")
_MARK = "CACHEDIR.TAG"
_SIGNATURE = "Signature: 8a477f597d28d172789f06886806bc55"
"""Of a cache folder, by the convention that backup programs follow (bford.info/cachedir)."""
_MARK_TEXT = f"{_SIGNATURE}\n# Mensura keeps results here. This folder can be deleted at any time.\n"
_SUBFOLDER = "mensura-cache"
"""Inside a chosen folder, which may contain files of others."""
_SUM_BYTES = 4
_LIBRARIES = ("numpy", "polars", "scipy")


class KeptResult(NamedTuple):
    """One entry: its file, what it is, its size in bytes and when it was last used, in seconds since 1970."""

    file: Path
    name: str
    size: int
    used: float


def cache_folder() -> Path | None:
    """Return the folder for results: in ``MENSURA_CACHE``, else in the system's; None if the user switched it off."""
    chosen = os.environ.get(VARIABLE, "").strip()
    if chosen.lower() == "off":
        return None
    if chosen:
        return Path(chosen).expanduser() / _SUBFOLDER
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "mensura"
    except RuntimeError:  # no home
        return None


def recall(name: str, inputs: Sequence[str], compute: Callable[[], T]) -> T:
    """Return the kept result of ``compute`` for the same ``inputs``; without one, compute it and keep it.

    A folder or an entry that cannot be read costs time, never the result.
    """
    kept = find_kept(name, inputs)
    result: T = compute() if kept is None else kept[0]
    if kept is None:
        keep_results(name, [(inputs, result)])
    return result


def find_kept(name: str, inputs: Sequence[str]) -> tuple[Any] | None:
    """Return a kept result in a tuple of its own, None if there is none."""
    folder = cache_folder()
    if folder is None or not _is_ours(folder):
        return None
    file = folder / f"{name}-{_key(name, inputs)}{_SUFFIX}"
    entry = _read(file)
    if entry is not None:
        with suppress(OSError):
            os.utime(file)
    return entry


def keep_results(name: str, results: Iterable[tuple[Sequence[str], object]]) -> None:
    """Keep results of one name, each under its inputs; a full disk or a result without a pickle is not an error."""
    folder = cache_folder()
    if folder is None or not _is_ours(folder):
        return
    with suppress(OSError, pickle.PicklingError, AttributeError, TypeError):  # the last three: it has no pickle
        for inputs, result in results:
            _write(folder / f"{name}-{_key(name, inputs)}{_SUFFIX}", result)
        _shorten(folder)


class Fingerprinted(Protocol):
    """What an evidence tells of itself: equal ones give equal results."""

    @property
    def fingerprint(self) -> str:
        """Stands for every cell."""

    @property
    def origin(self) -> str:
        """Where it comes from, which results repeat."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was assumed, which results repeat."""


def keep(name: str, evidence: Fingerprinted, settings: Mapping[str, object], compute: Callable[[], T]) -> T:
    """Return what ``compute`` gives for an evidence and settings, from the cache where it ran before.

    A setting that names a file stands for what the file holds.
    """
    inputs = [f"{key}={_setting_text(value)}" for key, value in sorted(settings.items())]
    return recall(name, (evidence.fingerprint, evidence.origin, *evidence.warnings, *inputs), compute)


def _setting_text(value: object) -> str:
    """Return a setting as text; a file is the digest of its contents."""
    if isinstance(value, str | Path) and Path(value).is_file():
        return hashlib.sha256(Path(value).read_bytes()).hexdigest()
    return repr(value)


def kept_results(folder: Path) -> list[KeptResult]:
    """Return the entries of a cache folder, the last used first."""
    entries = []
    with suppress(FileNotFoundError):
        for file in folder.iterdir():
            if _ENTRY.fullmatch(file.name) and file.is_file():
                facts = file.stat()
                entries.append(KeptResult(file, file.name.rpartition("-")[0], facts.st_size, facts.st_mtime))
    return sorted(entries, key=lambda entry: (-entry.used, entry.file.name))


def clear_cache(folder: Path) -> int:
    """Remove every entry of a cache folder that carries the mark, nothing else; return their number."""
    entries = kept_results(folder) if _is_marked(folder) else []
    for entry in entries:
        entry.file.unlink(missing_ok=True)
    return len(entries)


def _shorten(folder: Path) -> None:
    """Remove the entries longest unused that are too many or too large together; the newest stays in any case."""
    if not _is_marked(folder):
        return
    size = 0
    for place, entry in enumerate(kept_results(folder)):
        size += entry.size
        if place and (place >= MOST_ENTRIES or size > MOST_BYTES):
            entry.file.unlink(missing_ok=True)


def _key(name: str, inputs: Sequence[str]) -> str:
    parts = [name, sys.version, _code(), *inputs]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:{part}".encode())  # lengths: no two lists run into the same text
    return digest.hexdigest()[:40]


@cache
def _code() -> str:
    """Say which libraries, and which files of this package by name, size and time of change: a few milliseconds."""
    from importlib.metadata import version

    package = Path(__file__).parents[1]
    digest = hashlib.sha256(repr([(library, version(library)) for library in _LIBRARIES]).encode())
    for folder, inner, files in os.walk(package):
        inner[:] = sorted(name for name in inner if name != "__pycache__")
        for file in sorted(files):
            facts = os.stat(os.path.join(folder, file))  # noqa: PTH116, PTH118
            digest.update(f"{folder}/{file}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _is_ours(folder: Path) -> bool:
    """Make and mark the folder if it is missing; return whether it belongs to this user and to nobody else."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        facts = folder.stat()
        if not _is_marked(folder):
            write_text(folder / _MARK, _MARK_TEXT)
    except OSError:
        return False
    return _is_own(facts) and not (hasattr(os, "getuid") and facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _is_own(facts: os.stat_result) -> bool:
    return not hasattr(os, "getuid") or facts.st_uid == os.getuid()


def _is_marked(folder: Path) -> bool:
    try:
        return (folder / _MARK).read_text(encoding="utf-8") == _MARK_TEXT
    except (OSError, UnicodeDecodeError):
        return False


def _read(file: Path) -> tuple[Any] | None:
    """Return an entry, None if it is missing, torn, owned by another user or of a form that this code cannot read."""
    try:
        with file.open("rb") as source:
            if not _is_own(os.fstat(source.fileno())):
                return None
            content = source.read()
        packed = memoryview(content)[:-_SUM_BYTES]
        if zlib.crc32(packed).to_bytes(_SUM_BYTES, "big") != content[-_SUM_BYTES:]:
            return None
        return (pickle.loads(packed),)
    except Exception:  # no such file, or a pickle that fails in any way: the result is then computed again
        return None


def _write(file: Path, result: object) -> None:
    """Write an entry: the pickle, then its checksum, which tells a torn entry; no large result is in memory twice."""
    with atomic_path(file) as part, part.open("w+b") as target:
        ResultPickler(target, protocol=pickle.HIGHEST_PROTOCOL).dump(result)
        target.flush()
        with mmap.mmap(target.fileno(), 0, access=mmap.ACCESS_READ) as packed:
            checksum = zlib.crc32(packed)
        target.write(checksum.to_bytes(_SUM_BYTES, "big"))


class ResultPickler(pickle.Pickler):
    """Pickles results, read-only mappings in them included."""

    def reducer_override(self, value: object) -> Any:
        """Say how a value is pickled that cannot say it itself."""
        if isinstance(value, MappingProxyType):
            return _read_only, (dict(value),)
        return NotImplemented


def _read_only(content: dict[object, object]) -> MappingProxyType[object, object]:
    """Make a read-only mapping; a function, because the type has no name a pickle could find it by."""
    return MappingProxyType(content)
