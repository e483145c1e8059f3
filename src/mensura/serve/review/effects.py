"""What an update would do to the scores: computed beside the server, once per update and evidence version."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from mensura.core.errors import MensuraError
from mensura.core.processes import run_apart
from mensura.ledger import open_ledger
from mensura.study.preview import preview

_KEPT = 32  # effects in memory
_ROWS = 200  # of each table on the page; the largest changes come first
Tables = dict[str, list[dict[str, Any]]]


def effect_of(store: Path, update: str) -> Tables:
    """Return the tables of the preview of a pending update."""
    ledger = open_ledger(store)
    found = preview(ledger.evidence(), ledger.with_update(ledger.update(update)))
    return {name: frame.head(_ROWS).to_dicts() for name, frame in found.tables().items()}


class Effects:
    """Effects by evidence version and update; one is computed at a time."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._found: dict[tuple[str, str], Tables | str] = {}
        self._working: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._turn = asyncio.Lock()

    def ask(self, fingerprint: str, update: str) -> Tables | str | None:
        """Return the effect, why there is none, or None while it is being computed."""
        key = fingerprint, update
        if key not in self._found and key not in self._working:
            self._working[key] = asyncio.create_task(self._compute(key))
        return self._found.get(key)

    async def _compute(self, key: tuple[str, str]) -> None:
        try:
            async with self._turn:
                found: Tables | str = await run_apart(effect_of, self._store, key[1])
        except MensuraError as fault:
            found = str(fault)
        finally:
            del self._working[key]
        while len(self._found) >= _KEPT:
            del self._found[next(iter(self._found))]
        self._found[key] = found
