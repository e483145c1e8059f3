"""Renewal of the site: notices new evidence, builds the next edition in another process, and swaps them whole."""

import asyncio
import logging
import re
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from mensura.core.errors import MensuraError
from mensura.core.processes import POLITE, run_apart
from mensura.evidence import Evidence, load
from mensura.ledger import open_ledger
from mensura.serve.edition import DIGITS, LiveEdition, stamp_of
from mensura.site.editions import parse_editions
from mensura.site.report import build_report
from mensura.site.revisions import EvidenceLog

_LOADED = re.compile(rb'(<(?:script[^>]* src|link rel="stylesheet" href)="[^":?#]+)"')
"""A script or style sheet of the site itself, as its pages name it."""
_KEPT = 2
"""Editions in memory: the current one, and the one before for pages that were being read when it came."""
_LOOK_EVERY = 2.0  # seconds between looks at the store
_RETRY_FIRST, _RETRY_MOST = 15.0, 600.0  # seconds before a failed build of the same evidence is tried again
_log = logging.getLogger("mensura.site")


class VersionedEvidence(NamedTuple):
    """Evidence, the name of its version, and its log where it has a history."""

    evidence: Evidence
    version: str
    log: EvidenceLog | None


@dataclass(frozen=True)
class Origin:
    """The source of the evidence: embedded (no path), a folder, or a store. It travels to another process.

    ``has_history``: the store has a log, which names its versions.
    """

    path: Path | None
    has_history: bool = False

    def mark(self) -> str:
        """Return a cheap mark of the present state: as long as it is the same, so is the evidence."""
        if self.path is None:
            return "embedded"
        if self.has_history:
            return open_ledger(self.path).version().fingerprint
        files = sorted(self.path.glob("*.csv")) if self.path.is_dir() else [self.path]
        return repr([(file.name, (stat := file.stat()).st_mtime_ns, stat.st_size, stat.st_ino) for file in files])

    def read(self) -> VersionedEvidence:
        """Return the present evidence; of a store with a log as of its last entry, whatever changes meanwhile."""
        if self.path is None or not self.has_history:
            evidence = load(self.path)
            return VersionedEvidence(evidence, evidence.fingerprint[:DIGITS], None)
        ledger = open_ledger(self.path)
        version = ledger.version()
        log = EvidenceLog.of(ledger, version.entry)
        return VersionedEvidence(ledger.evidence(version.entry), version.fingerprint[:DIGITS], log)


def find_origin(store: Path | None) -> Origin:
    """Find out what a store is.

    Parameters
    ----------
    store : Path or None
        A folder of CSV files or a store; None for the embedded evidence.

    Returns
    -------
    Origin
        What :class:`SiteRenewal` follows.

    Raises
    ------
    MensuraError
        If the path contains no evidence.

    Examples
    --------
    >>> find_origin(None).mark()
    'embedded'

    """
    if store is None or store.is_dir():
        return Origin(store)
    try:
        return Origin(open_ledger(store).path, has_history=True)
    except MensuraError:
        load(store)  # a plain store will do for reading; anything else is refused here, with its reason
        return Origin(store)


def require_ledger(origin: Origin) -> Path:
    """Return the path of a store with a history, or refuse: changes need one."""
    if origin.path is None or not origin.has_history:
        raise MensuraError(
            "reviewer: changes need a store with a history; make one with mensura evidence init --store FILE and give "
            "it with --store FILE"
        )
    return origin.path


def build_edition(origin: Origin, scratch: Path, editions_file: bytes = b"", method: str | None = None) -> LiveEdition:
    """Build every page of the present evidence, in a folder under ``scratch``, and read them into memory.

    ``editions_file``: what earlier editions changed (:attr:`LiveEdition.editions_file`); the log of a store says why
    this one did. ``method``: how IQs are scored.
    """
    evidence, version, log = origin.read()
    folder = Path(tempfile.mkdtemp(dir=scratch)) / "site"
    build_report(evidence, folder, log=log, earlier=parse_editions(editions_file), method=method)
    stamp = stamp_of(version).encode()
    for page in folder.rglob("*.html"):
        # a page that is read while the next edition comes then still gets the scripts and data it was built with
        page.write_bytes(_LOADED.sub(rb'\1?v=%s"' % stamp, page.read_bytes()))
    return LiveEdition.from_folder(folder, version)


Builder = Callable[[Origin, Path, LiveEdition | None], Awaitable[LiveEdition]]
"""Origin of the evidence, a scratch folder, and the edition that readers have meanwhile."""


async def _build_beside(
    origin: Origin, scratch: Path, shown: LiveEdition | None, method: str | None = None
) -> LiveEdition:
    editions, niceness = (shown.editions_file, POLITE) if shown else (b"", 0)  # nobody is served before the first one
    return await run_apart(build_edition, origin, scratch, editions, method, niceness=niceness)


class SiteRenewal:
    """Keep the current edition of one origin and build the next when its evidence changes.

    A request takes ``current`` once and answers from it: swapping replaces one reference, so no answer mixes versions.

    Parameters
    ----------
    origin : Origin
        The source of the evidence (:func:`find_origin`).
    build : Builder, optional
        Builds an edition; by default in another process.
    look_every : float
        Seconds between looks at the origin.
    method : str, optional
        How IQs are scored.

    Attributes
    ----------
    current : LiveEdition or None
        The edition that readers get; None until the first is built.
    fault : str or None
        Why the present evidence is not shown; None where it is.
    built, failed : int
        Editions that were built, and builds that failed.

    """

    current: LiveEdition | None = None
    fault: str | None = None
    built = failed = 0
    _mark: str | None = None
    _failed_mark: str | None = None
    _retry_at, _retry_after = 0.0, _RETRY_FIRST

    def __init__(
        self,
        origin: Origin,
        *,
        build: Builder | None = None,
        look_every: float = _LOOK_EVERY,
        method: str | None = None,
    ) -> None:
        self.origin = origin
        self._kept: dict[str, LiveEdition] = {}
        self._build = build or partial(_build_beside, method=method)
        self._look_every = look_every
        self._nudged = asyncio.Event()

    def edition(self, stamp: str | None = None) -> LiveEdition | None:
        """Return the current edition, or the kept one of a stamp."""
        return self.current if stamp is None else self._kept.get(stamp)

    def publish(self, edition: LiveEdition) -> None:
        """Make an edition the current one; the oldest kept goes."""
        self._kept.pop(edition.stamp, None)
        self._kept[edition.stamp] = edition
        while len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]
        self.current = edition

    def nudge(self) -> None:
        """Look at the store now: something was changed."""
        self._nudged.set()

    async def run(self) -> None:
        """Follow the store until cancelled."""
        while True:
            try:
                await self.look()
            except Exception:  # whatever it is, the next look may find it gone; readers keep the edition they have
                _log.exception("looking at the evidence failed")
                self.fault = "looking at the evidence failed; the log says why"
            try:
                await asyncio.wait_for(self._nudged.wait(), self._look_every)
            except TimeoutError:
                continue
            self._nudged.clear()

    async def look(self) -> None:
        """Build a new edition if the evidence is new; a failure leaves the current one in place."""
        try:
            mark = await asyncio.to_thread(self.origin.mark)
        except (OSError, MensuraError) as fault:
            self._note(str(fault))
            return
        if mark == self._mark or (mark == self._failed_mark and time.monotonic() < self._retry_at):
            return
        start = time.monotonic()
        try:
            with tempfile.TemporaryDirectory(prefix="mensura-") as scratch:
                edition = await self._build(self.origin, Path(scratch), self.current)
        except (OSError, MensuraError) as fault:
            self.failed += 1
            self._retry_after = min(2 * self._retry_after, _RETRY_MOST) if mark == self._failed_mark else _RETRY_FIRST
            self._failed_mark, self._retry_at = mark, time.monotonic() + self._retry_after
            self._note(str(fault))
            return
        self.built += 1
        self._mark, self._failed_mark, self.fault = mark, None, None
        self.publish(edition)
        _log.info("edition %s: %d files, %.1f s", edition.stamp, len(edition.files), time.monotonic() - start)

    def _note(self, fault: str) -> None:
        """Remember why the store is not shown, and say it once."""
        if fault != self.fault:
            _log.error("the evidence could not be shown: %s", fault)
        self.fault = fault
