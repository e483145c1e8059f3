"""Results kept between calls: the same evidence and the same settings are read, not computed again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from mensura.cache import recall

if TYPE_CHECKING:
    from mensura.evidence import Evidence

T = TypeVar("T")


def keep(name: str, evidence: Evidence, settings: Mapping[str, object], compute: Callable[[], T]) -> T:
    """Return what ``compute`` gives for an evidence and settings, from the cache where it ran before.

    A setting that names a file stands for what the file holds.
    """
    told = [f"{key}={_told(value)}" for key, value in sorted(settings.items())]
    return recall(name, (evidence.fingerprint, evidence.origin, *evidence.warnings, *told), compute)


def _told(value: object) -> str:
    """Say what a setting is; a file by its contents."""
    if isinstance(value, str | Path) and Path(value).is_file():
        return hashlib.sha256(Path(value).read_bytes()).hexdigest()
    return repr(value)
