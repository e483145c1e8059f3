"""Progress bars for long work: shown on a terminal, silent in a pipe."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

SILENCE = 1.0
"""Seconds without output after which a terminal shows that the command still works; its start takes up to one more."""


class Waiting:
    """A moving bar with the time so far. It appears when a command is silent, and goes before the next output."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._woken = threading.Condition(self._lock)
        self._pauses = 1
        self._bar: Progress | None = None

    @contextmanager
    def during(self, label: str) -> Iterator[None]:
        """Watch one command: show ``label`` and a bar whenever it is silent for long; in a pipe do nothing."""
        console = Console(stderr=True)
        if not console.is_terminal:
            yield
            return
        ended = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(label, console, ended), daemon=True)
        with self._lock:
            self._pauses -= 1
        watcher.start()
        try:
            yield
        finally:
            with self._lock:
                ended.set()
                self._pauses += 1
                self._hide()
            watcher.join()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Show no such bar meanwhile: the command prints, shows another bar, asks the user or runs a server."""
        with self._lock:
            self._pauses += 1
            self._hide()
        try:
            yield
        finally:
            with self._lock:
                self._pauses -= 1
                self._woken.notify_all()

    def _hide(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        self._woken.notify_all()

    def _watch(self, label: str, console: Console, ended: threading.Event) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        bar = Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
        bar.add_task(label, total=None)
        with self._lock:
            while not ended.is_set():
                silent = not self._woken.wait(timeout=SILENCE)
                if silent and not self._pauses and self._bar is None:
                    self._bar = bar
                    bar.start()


waiting = Waiting()
"""The bar of the running command."""


@contextmanager
def terminal_bar(*columns: ProgressColumn) -> Iterator[Progress]:
    """Open a bar of these columns on the stream of errors; it is cleared in the end, and silent in a pipe."""
    from rich.progress import Progress

    console = Console(stderr=True)
    shown = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with waiting.paused(), shown as progress:
        yield progress


@contextmanager
def progress_bar(label: str, total: int) -> Iterator[Callable[[], None]]:
    """Yield ``advance()``, to be called once per finished unit of ``total``."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with terminal_bar(*columns) as progress:
        task = progress.add_task(label, total=total)
        yield lambda: progress.advance(task)
