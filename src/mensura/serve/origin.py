"""Where the live site's evidence comes from, and how a new version of it is noticed."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from mensura.core.errors import MensuraError
from mensura.evidence import Evidence, load
from mensura.ledger import open_ledger
from mensura.serve.edition import DIGITS, LiveEdition, stamp_of
from mensura.site.editions import parse_editions
from mensura.site.report import build_report
from mensura.site.revisions import EvidenceLog

_LOADED = re.compile(rb'(<(?:script[^>]* src|link rel="stylesheet" href)="[^":?#]+)"')
"""A script or style sheet of the site itself, as its pages name it."""


class HeldEvidence(NamedTuple):
    """Evidence, the name of its version, and its log where it has a history."""

    evidence: Evidence
    version: str
    log: EvidenceLog | None


class Origin(Protocol):
    """Anything that holds evidence. It travels to another process to be read there."""

    def mark(self) -> str:
        """Return a cheap mark of what is held now: as long as it is the same, so is the evidence."""
        ...

    def read(self) -> HeldEvidence:
        """Return the evidence as it is now."""
        ...


@dataclass(frozen=True)
class LedgerOrigin:
    """A store with its history: the version is the one its log says."""

    path: Path

    def mark(self) -> str:
        """Return the fingerprint of the present state."""
        return open_ledger(self.path).version().fingerprint

    def read(self) -> HeldEvidence:
        """Return the present state, read as of its entry: a change meanwhile changes nothing of it."""
        ledger = open_ledger(self.path)
        version = ledger.version()
        log = EvidenceLog.of(ledger, version.entry)
        return HeldEvidence(ledger.evidence(version.entry), version.fingerprint[:DIGITS], log)


@dataclass(frozen=True)
class PlainOrigin:
    """The embedded evidence (no path), a folder of CSV files, or a store without a history."""

    path: Path | None

    def mark(self) -> str:
        """Return names, sizes and times of the files."""
        if self.path is None:
            return "embedded"
        files = sorted(self.path.glob("*.csv")) if self.path.is_dir() else [self.path]
        return repr([(file.name, (stat := file.stat()).st_mtime_ns, stat.st_size, stat.st_ino) for file in files])

    def read(self) -> HeldEvidence:
        """Return the evidence, its version from its content."""
        evidence = load(self.path)
        return HeldEvidence(evidence, evidence.fingerprint[:DIGITS], None)


def find_origin(store: Path | None, *, writing: bool = False) -> Origin:
    """Return what holds the evidence of a store; ``writing`` brings one of an older schema up to date first."""
    if store is None or store.is_dir():
        return PlainOrigin(store)
    if writing:
        return LedgerOrigin(open_ledger(store, writing=True).path)
    try:
        return LedgerOrigin(open_ledger(store).path)
    except MensuraError:
        load(store)  # a plain store will do for reading; anything else is refused here, with its reason
        return PlainOrigin(store)


def require_ledger(origin: Origin) -> Path:
    """Return the path of a store with a history, or refuse: changes need one."""
    if not isinstance(origin, LedgerOrigin):
        raise MensuraError(
            "reviewer: changes need a store with a history; make one with mensura evidence init FILE and give it "
            "with --store FILE"
        )
    return origin.path


def build_edition(origin: Origin, scratch: Path, told: bytes = b"", method: str | None = None) -> LiveEdition:
    """Build every page of the evidence as it is now, in a folder under ``scratch``, and hold them.

    ``told``: what earlier editions changed (:attr:`LiveEdition.told`); the log of a store says why this one did.
    ``method``: how IQs are scored.
    """
    evidence, version, log = origin.read()
    folder = Path(tempfile.mkdtemp(dir=scratch)) / "site"
    build_report(evidence, folder, log=log, earlier=parse_editions(told), method=method)
    stamp = stamp_of(version)
    for page in folder.rglob("*.html"):
        page.write_bytes(stamp_page(page.read_bytes(), stamp))
    return LiveEdition.from_folder(folder, version)


def stamp_page(html: bytes, stamp: str) -> bytes:
    """Write the stamp of an edition after the address of each script and style sheet that a page names.

    A page that is read while the next edition comes then still gets the scripts and data it was built with.
    """
    return _LOADED.sub(rb'\1?v=%s"' % stamp.encode(), html)
