"""Writing a folder as a set: its files appear together, replace what the same writer left, and touch nothing else.

The new folder is built beside the old one and takes its name in one step. A manifest inside (``.mensura.json``) lists
what each writer put there: those files are renewed or, when stale, removed; every other file is foreign and is carried
over as it is. A foreign file in the way of a new one is refused.
"""

import ctypes
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from mensura.core.errors import MensuraError
from mensura.core.files import locked, locked_part, naming, sweep_parts, umask, write_text

MANIFEST = ".mensura.json"
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


@contextmanager
def whole_folder(folder: Path, writer: str, *, certain: Sequence[str] = ()) -> Iterator[Path]:
    """Yield an empty folder to fill; when the block succeeds its files become those of ``writer`` in ``folder``.

    ``certain``: files that will be written whatever happens; foreign ones of that name are refused before the work. A
    name that ends in a slash is a folder.
    Killed at any instant, ``folder`` holds the old set or the new one. Where it cannot be renamed (it is the working
    directory, or a mount point), its files are replaced one by one, and an error on the way brings the old ones back.
    Several writers may finish at once: each takes over what the others left.
    """
    folder = folder.resolve()
    if folder.exists() and not folder.is_dir():
        raise MensuraError(f"{folder}: a file stands where a folder is to be written; choose another name")
    folder.parent.mkdir(parents=True, exist_ok=True)
    _refuse_foreign(folder, writer, certain, _owners(folder))
    sweep_parts(folder)
    with locked_part(folder, tempfile.mkdtemp) as stage:
        try:
            stage.chmod(0o777 & ~umask())
            with naming(folder):
                yield stage
                with locked(folder.parent):  # writers finish one after another
                    _put_in_place(stage, folder, writer)
        finally:
            shutil.rmtree(stage, ignore_errors=True)


def written_state(folder: Path, writer: str) -> str | None:
    """Return a mark of the files that a writer left in a folder: their names, sizes and times; None if one is gone."""
    digest = hashlib.sha256()
    try:
        for name in _owners(folder)[writer]:
            facts = (folder / name).stat()
            digest.update(f"{name}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
    except (OSError, KeyError, MensuraError):
        return None
    return digest.hexdigest()


def _put_in_place(stage: Path, folder: Path, writer: str) -> None:
    """Make a filled stage the folder, together with what others have there."""
    written = sorted(_files(stage))
    owners = _owners(folder)
    _refuse_foreign(folder, writer, written, owners)
    kept = set(written)
    stale = [name for name in owners.get(writer, []) if name not in kept]
    owners = {name: files for name, files in owners.items() if name != writer} | {writer: written}
    write_text(stage / MANIFEST, json.dumps(owners, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    if not folder.exists():
        stage.rename(folder)
    elif _is_movable(folder):
        _carry_over(folder, stage, {*written, *stale, MANIFEST})
        if not _exchange(stage, folder):
            _exchange_by_renaming(stage, folder)
    else:
        _replace_files(stage, folder, stale)


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
    """Refuse to write over a file or link that this writer did not put there, also where a folder is to be."""
    own = set(owners.get(writer, []))
    parents = {parent.as_posix() for name in written for parent in PurePosixPath(f"{name}_").parents}
    in_the_way = [name for name in sorted(parents) if (folder / name).is_symlink() or (folder / name).is_file()]
    for name in [*in_the_way, *(name for name in written if not name.endswith("/"))]:
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
    """Swap two folders in one step; false where the system cannot."""
    if sys.platform != "linux":
        return False
    call = getattr(ctypes.CDLL(None), "renameat2", None)
    names = os.fsencode(new), os.fsencode(old)
    return call is not None and call(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0


def _exchange_by_renaming(new: Path, old: Path) -> None:
    """Swap two folders in two steps; an error between them brings the old one back."""
    aside = new.with_name(f"{new.name.removesuffix('.part')}.old.part")
    with locked(old):  # nobody takes it for an abandoned one meanwhile
        try:
            old.rename(aside)
            new.rename(old)
        finally:
            if not old.exists():
                aside.rename(old)
            shutil.rmtree(aside, ignore_errors=True)


def _replace_files(stage: Path, folder: Path, stale: Iterable[str]) -> None:
    """Replace files one by one, the manifest last, and remove the stale ones; an error brings all of them back."""
    names = [*(name for name in sorted(_files(stage)) if name != MANIFEST), MANIFEST]
    kept = Path(tempfile.mkdtemp(dir=stage))
    for name in [*names, *stale]:
        if os.path.lexists(folder / name):
            (kept / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(folder / name, kept / name, follow_symlinks=False)
    try:
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (stage / name).replace(folder / name)
        for name in stale:
            (folder / name).unlink(missing_ok=True)
    except BaseException:
        for name in [*names, *stale]:
            (folder / name).unlink(missing_ok=True)
            if os.path.lexists(kept / name):
                shutil.copy2(kept / name, folder / name, follow_symlinks=False)
        raise
