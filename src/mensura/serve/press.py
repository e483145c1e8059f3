"""The press: keeps the current edition, builds the next one beside it, and swaps them whole."""

from __future__ import annotations

import asyncio
import logging
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from mensura.core.errors import MensuraError
from mensura.core.processes import run_apart
from mensura.serve.edition import LiveEdition
from mensura.serve.origin import Origin, build_edition

_KEPT = 2
"""Editions in memory: the current one, and the one before for pages that were being read when it came."""
_LOOK_EVERY = 2.0  # seconds between looks at the store
_RETRY_FIRST, _RETRY_MOST = 15.0, 600.0  # seconds before a failed build of the same evidence is tried again

Builder = Callable[[Origin, Path, LiveEdition | None], Awaitable[LiveEdition]]
"""Origin of the evidence, a scratch folder, and the edition that readers have meanwhile."""
_log = logging.getLogger("mensura.site")


async def _build_beside(
    origin: Origin, scratch: Path, shown: LiveEdition | None, method: str | None = None
) -> LiveEdition:
    if shown is None:  # nobody is served before this edition is there: it may take the whole machine
        return await run_apart(build_edition, origin, scratch, b"", method, niceness=0)
    return await run_apart(build_edition, origin, scratch, shown.told, method)


class Press:
    """Holds the editions of one origin of evidence. ``current`` is None until the first is built.

    A request takes ``current`` once and answers from it: swapping replaces one reference, so no answer mixes versions.
    """

    def __init__(
        self,
        origin: Origin,
        *,
        build: Builder | None = None,
        look_every: float = _LOOK_EVERY,
        method: str | None = None,
    ) -> None:
        self.origin = origin
        self.current: LiveEdition | None = None
        self.fault: str | None = None
        self.built = 0
        self.failed = 0
        self.build_seconds = 0.0
        self._kept: dict[str, LiveEdition] = {}
        self._build = build or partial(_build_beside, method=method)
        self._look_every = look_every
        self._mark: str | None = None
        self._failed_mark: str | None = None
        self._retry_at = 0.0
        self._retry_after = _RETRY_FIRST
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
        """Build a new edition if the store holds what no edition shows; a failure leaves the current one in place."""
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
        self.build_seconds = time.monotonic() - start
        self._mark, self._failed_mark, self.fault = mark, None, None
        self.publish(edition)
        _log.info("edition %s: %d files, %.1f s", edition.stamp, len(edition.files), self.build_seconds)

    def _note(self, fault: str) -> None:
        """Remember why the store is not shown, and say it once."""
        if fault != self.fault:
            _log.error("the evidence could not be shown: %s", fault)
        self.fault = fault
