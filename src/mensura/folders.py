"""Writing a folder as a set: its files appear together, replace what the same writer left, and touch nothing else.

The new folder is built beside the old one and takes its name in one step. A manifest inside (``.mensura.json``) lists
what each writer put there: those files are renewed or, when stale, removed; every other file is foreign and is carried
over as it is. A foreign file in the way of a new one is refused.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mensura.errors import MensuraError
from mensura.files import umask, write_text

MANIFEST = ".mensura.json"
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


@contextmanager
def whole_folder(folder: Path, writer: str, *, certain: Sequence[str] = ()) -> Iterator[Path]:
    """Yield an empty folder to fill; when the block succeeds its files become those of ``writer`` in ``folder``.

    ``certain``: files that will be written whatever happens; foreign ones of that name are refused before the work.
    Killed at any instant, ``folder`` holds the old set or the new one. Where it cannot be renamed (it is the working
    directory, or a mount point), its files are replaced one by one instead.
    """
    folder = folder.resolve()
    if folder.exists() and not folder.is_dir():
        raise MensuraError(f"{folder}: a file stands where a folder is to be written; choose another name")
    folder.parent.mkdir(parents=True, exist_ok=True)
    _refuse_foreign(folder, writer, certain, _owners(folder))
    _sweep(folder)
    stage = Path(tempfile.mkdtemp(dir=folder.parent, prefix=_prefix(folder), suffix=".part"))
    try:
        stage.chmod(0o777 & ~umask())
        yield stage
        written = sorted(_files(stage))
        owners = _owners(folder)
        _refuse_foreign(folder, writer, written, owners)
        stale = [name for name in owners.get(writer, []) if name not in written]
        owners = {name: files for name, files in owners.items() if name != writer} | {writer: written}
        write_text(stage / MANIFEST, json.dumps(owners, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
        if not folder.exists():
            stage.rename(folder)
        elif _is_movable(folder):
            _carry_over(folder, stage, {*written, *stale, MANIFEST})
            if not _exchange(stage, folder):
                _replace_files(stage, folder, stale)
        else:
            _replace_files(stage, folder, stale)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _files(folder: Path) -> Iterator[str]:
    """Yield the files of a folder and its subfolders, as relative names with forward slashes."""
    for path in folder.rglob("*"):
        if path.is_symlink() or not path.is_dir():
            yield path.relative_to(folder).as_posix()


def _owners(folder: Path) -> dict[str, list[str]]:
    """Read the manifest: the files of each writer; empty where there is none."""
    try:
        owners = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (ValueError, OSError) as fault:
        raise MensuraError(
            f"{folder / MANIFEST}: not readable ({fault}); remove it or choose another folder"
        ) from fault
    if not isinstance(owners, dict) or not all(isinstance(files, list) for files in owners.values()):
        raise MensuraError(f"{folder / MANIFEST}: not a list of files by writer; remove it or choose another folder")
    return {str(name): [str(file) for file in files if _stays_inside(str(file))] for name, files in owners.items()}


def _stays_inside(name: str) -> bool:
    return not Path(name).is_absolute() and ".." not in Path(name).parts


def _refuse_foreign(folder: Path, writer: str, written: Iterable[str], owners: dict[str, list[str]]) -> None:
    """Refuse to write over a file that this writer did not put there."""
    own = set(owners.get(writer, []))
    for name in written:
        if name not in own and os.path.lexists(folder / name):
            owner = next((other for other, files in owners.items() if name in files), None)
            whose = f"was written by mensura {owner}" if owner else "was not written by mensura"
            raise MensuraError(f"{folder / name}: exists and {whose}; choose another folder, or move it away first")


def _carry_over(old: Path, new: Path, ours: set[str]) -> None:
    """Give every foreign file and empty folder of ``old`` a second name in ``new``; ``old`` stays as it is."""
    for path in sorted(old.rglob("*")):
        name = path.relative_to(old).as_posix()
        target = new / name
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                target.mkdir(parents=True, exist_ok=True)
        elif name not in ours:
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(path, target, follow_symlinks=False)
            except OSError:
                shutil.copy2(path, target, follow_symlinks=False)


def _is_movable(folder: Path) -> bool:
    """Return whether nobody stands in the folder: a working directory that is renamed away is lost to its user."""
    here = Path.cwd().resolve()
    return not folder.is_mount() and not here.is_relative_to(folder)


def _exchange(new: Path, old: Path) -> bool:
    """Swap two folders in one step; false where the system cannot. Without such a call, rename in two steps."""
    if sys.platform == "linux":
        call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
        names = os.fsencode(new), os.fsencode(old)
        return call is not None and call(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0
    aside = old.with_name(f"{_prefix(old)}old")
    old.rename(aside)
    new.rename(old)
    aside.rename(new)
    return True


def _replace_files(stage: Path, folder: Path, stale: Iterable[str]) -> None:
    """Replace files one by one, the manifest last, and remove the stale ones."""
    names = [name for name in sorted(_files(stage)) if name != MANIFEST]
    for name in [*names, MANIFEST]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (stage / name).replace(folder / name)
    for name in stale:
        (folder / name).unlink(missing_ok=True)


def _prefix(folder: Path) -> str:
    return f".{folder.name[:100]}.{os.getpid()}."


def _sweep(folder: Path) -> None:
    """Remove what killed writers of this folder left beside it."""
    for path in folder.parent.glob(f".{_literal(folder.name[:100])}.*.part"):
        pid = path.name.removeprefix(f".{folder.name[:100]}.").split(".")[0]
        if pid.isdigit() and not _alive(int(pid)):
            shutil.rmtree(path, ignore_errors=True)


def _literal(name: str) -> str:
    """Return a name in which no character is a pattern."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
