"""Where the live site's evidence comes from, and how a new version of it is noticed."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from mensura import __version__
from mensura.evidence import Evidence, load
from mensura.site.live.edition import VERSION_DIGITS, Edition
from mensura.site.report import build_report


def mark_of(store: Path | None) -> str:
    """Return a cheap mark of what the store holds now: another mark, another evidence (or the same, written again)."""
    if store is None:
        return "embedded"
    files = sorted(store.glob("*.csv")) if store.is_dir() else [store]
    seen = [(file.name, (stat := file.stat()).st_mtime_ns, stat.st_size, stat.st_ino) for file in files]
    return repr(seen)


def read_origin(store: Path | None) -> tuple[Evidence, str]:
    """Return the evidence and the name of its version: a hash of the program's version and every table's content."""
    evidence = load(store)
    digest = hashlib.sha256(__version__.encode())
    for name, frame in evidence.tables().items():
        digest.update(f"\n{name}\n".encode())
        digest.update(frame.write_csv().encode())
    return evidence, digest.hexdigest()[:VERSION_DIGITS]


def build_edition(store: Path | None, scratch: Path) -> Edition:
    """Build every page of what the store holds now, in a folder under ``scratch``, and hold them."""
    evidence, version = read_origin(store)
    folder = Path(tempfile.mkdtemp(dir=scratch)) / "site"
    build_report(evidence, folder, stamp=f"?v={version}")
    return Edition.from_folder(folder, version)
