"""Paths that a command is given, checked before any work: what is to be read is there, what is to be written can be."""

from __future__ import annotations

import os
from pathlib import Path

from mensura.core.addresses import is_address
from mensura.core.errors import MensuraError


def check_input(path: Path | None) -> Path | None:
    """Refuse a file or folder to be read that is not there, or may not be read."""
    if is_address(path):  # its reader finds out
        return path
    if path is not None and not path.exists():
        raise MensuraError(f"{path}: no such file or folder; check the path")
    if path is not None and not os.access(path, os.R_OK):
        raise MensuraError(f"{path}: may not be read; change its permissions")
    return path


def check_inputs(paths: list[Path] | None) -> list[Path] | None:
    """Check every path of an option that can be given more than once."""
    for path in paths or []:
        check_input(path)
    return paths


def check_output(path: Path | None) -> Path | None:
    """Refuse a place that cannot be written: below a file, on a disk that is read-only, behind a dead link."""
    if path is None or is_address(path):
        return path
    place = path
    while not os.path.lexists(place):
        place = place.parent
    if place.is_symlink() and not place.exists():
        raise MensuraError(f"{place}: a link that leads nowhere; choose another name")
    if place != path and not place.is_dir():
        raise MensuraError(f"{path}: {place} is a file, so nothing can be written below it; choose another name")
    if not os.access(place if place.is_dir() else place.parent, os.W_OK):
        raise MensuraError(f"{path}: {place} cannot be written (read-only, or not yours); choose another place")
    return path
