"""Work beside the server: one function in a fresh process, of low priority where readers would have to wait for it."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from mensura.errors import MensuraError

T = TypeVar("T")
_SPAWN = multiprocessing.get_context("spawn")
_NICENESS = 5
"""A third of the server's weight where both want the same processor: readers hardly feel it, and it still ends."""


async def run_beside(function: Callable[..., T], *arguments: Any, niceness: int = _NICENESS) -> T:  # noqa: ANN401
    """Return ``function(*arguments)``, computed in another process; when cancelled the process is killed.

    ``niceness``: how far its priority is below the server's; 0 where nobody can be served before it ends.
    A :class:`MensuraError` comes back as it was raised. Whatever else went wrong is written to the log, not to readers.
    """
    ours, theirs = _SPAWN.Pipe(duplex=False)
    worker = _SPAWN.Process(target=_work, args=(theirs, niceness, function, arguments), daemon=True)
    worker.start()
    theirs.close()
    try:
        succeeded, outcome = await asyncio.to_thread(ours.recv)
    except EOFError:
        raise MensuraError("the work beside the server was killed before it ended; is there enough memory?") from None
    finally:
        worker.kill()
        await asyncio.shield(asyncio.to_thread(worker.join))
        ours.close()
    if not succeeded:
        raise MensuraError(str(outcome))
    found: T = outcome
    return found


def _work(answer: Connection, niceness: int, function: Callable[..., object], arguments: tuple[object, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's interrupt is for the server, which ends this process
    if hasattr(os, "nice"):
        os.nice(niceness)
    try:
        answer.send((True, function(*arguments)))
    except MensuraError as fault:
        answer.send((False, str(fault)))
    except Exception:
        logging.getLogger("mensura.site").exception("work beside the server failed: %s", function.__name__)
        answer.send((False, "the work beside the server failed; the log says why"))
