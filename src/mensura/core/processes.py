"""The one process runner: functions of this package that run in other processes, as futures.

A child process never imports from the working folder, even if that folder contains a ``json.py``. It gets its work and
returns its result in files that only this user can read. It ends with its parent, however the parent ends.
"""

import logging
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, ParamSpec, Self, TypeVar

from mensura.core.cache import ResultPickler
from mensura.core.errors import MensuraError

P = ParamSpec("P")
T = TypeVar("T")
WORKERS = max(1, min(4, os.cpu_count() or 1))
"""Processes that work at once: one per processor, at most four, because each of them takes memory."""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Settings of a process with many small matrices: threads for each product would slow down the other processes."""
POLITE = 5
"""Niceness of work beside a server: readers hardly notice it, and it still ends."""
_CHILD = "import sys; from mensura.core.processes import work; work(*sys.argv[1:])"
_log = logging.getLogger("mensura.processes")


class Processes:
    """A pool of processes: ``submit`` a function, read the result from the future, leave the block to end them all."""

    def __init__(self, workers: int = WORKERS, *, niceness: int = 0) -> None:
        """Run at most ``workers`` processes at once; ``niceness`` is how far their priority is below this process's."""
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="mensura-process")
        self._niceness = niceness
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._closed = False

    def submit(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> Future[T]:
        """Run ``function``, which a module defines, in another process and return the future of its result.

        Its arguments are written down at once: what the caller changes later is not seen there. The future raises the
        function's :class:`MensuraError` or OSError again. Any other error goes to the log, and the future raises a
        MensuraError in its place.
        """
        folder = tempfile.TemporaryDirectory(prefix="mensura-work-", ignore_cleanup_errors=True)
        _dump((function, arguments, named), Path(folder.name) / "given")
        future = self._threads.submit(self._run, function, Path(folder.name))
        future.add_done_callback(lambda _: folder.cleanup())
        return future

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._closed = True
            for child in self._running:
                child.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _run(self, function: Callable[..., T], folder: Path) -> T:
        outcome_file = folder / "outcome"
        child = self._start(folder / "given", outcome_file)
        with child:  # its standard input stays open: the end of it tells the child that this process has ended
            stderr = child.stderr.read() if child.stderr else b""
        with self._lock:
            self._running.discard(child)
        if self._closed:
            raise CancelledError
        if child.returncode or not outcome_file.is_file():
            raise _ended(function, stderr.decode(errors="replace"))
        with outcome_file.open("rb") as file:
            error, result = pickle.load(file)
        if error is not None:
            raise error
        outcome: T = result
        return outcome

    def _start(self, given: Path, outcome: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-c", _CHILD, str(given), str(outcome), str(self._niceness)]
        with self._lock:
            if self._closed:
                raise CancelledError
            child = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={**ONE_THREAD, **os.environ, "PYTHONPATH": _search_path()},
            )
            self._running.add(child)
        return child


async def run_apart(function: Callable[..., T], *arguments: Any, niceness: int = POLITE) -> T:
    """Return ``function(*arguments)``, computed in another process; to cancel this kills the process.

    ``niceness``: how far its priority is below this process's; 0 if nobody can be served before it ends.
    """
    import asyncio

    with Processes(1, niceness=niceness) as processes:
        return await asyncio.wrap_future(processes.submit(function, *arguments))


def work(given: str, target: str, niceness: str) -> None:
    """Do in a child process the work that :meth:`Processes.submit` wrote down."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets the terminal's interrupt and ends this process
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(int(niceness))
    with Path(given).open("rb") as file:
        function, arguments, named = pickle.load(file)
    try:
        outcome: tuple[Exception | None, Any] = None, function(*arguments, **named)
    except MensuraError as error:
        outcome = MensuraError(str(error)), None
    except OSError as error:
        outcome = error, None
    part = Path(f"{target}.part")
    _dump(outcome, part)
    part.replace(target)


def _end_with_parent() -> None:
    os.read(0, 1)  # ends when the parent does; Python's own standard input would lock at exit
    os._exit(1)


def _search_path() -> str:
    """Return the module search path of this process, without the working folder unless this package lies there."""
    here, home = Path.cwd().resolve(), Path(__file__).resolve().parents[2]
    entries = [str(Path(entry).resolve()) for entry in sys.path if entry]
    return os.pathsep.join(entry for entry in entries if entry == str(home) or entry != str(here))


def _ended(function: Callable[..., object], stderr: str) -> MensuraError:
    """Return the error of a child process that ended without a result, and log its last words."""
    name = getattr(function, "__name__", "work")
    if not stderr.strip():
        return MensuraError(f"{name}: its process was killed before it ended; free some memory and run this again")
    _log.error("%s failed in its process:\n%s", name, stderr)
    return MensuraError(f"{name}: failed in its process ({stderr.strip().splitlines()[-1]}); please report this error")


def _dump(value: object, target: Path) -> None:
    with target.open("wb") as file:
        ResultPickler(file, protocol=pickle.HIGHEST_PROTOCOL).dump(value)


# Ray: the one place that joins a cluster. A task whose worker dies is run again; results come in the order asked for.

MOST_DEATHS = 10
"""How often Ray runs a task again whose worker died."""


def import_ray() -> Any:
    """Return the package, or name the extra that installs it."""
    try:
        import ray
    except ImportError:
        raise MensuraError("ray: needs the extra 'ray'; install it with pip install 'mensura[ray]'") from None
    return ray


def join_ray(address: str) -> Any:
    """Join or start a cluster and return the package.

    ``address``: ``local`` for one worker per processor of this machine, or that of a cluster, such as
    ``ray://head:10001`` or ``auto``.
    """
    ray = import_ray()
    if not ray.is_initialized():
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, ValueError) as fault:
            raise MensuraError(
                f"Ray at {address}: no cluster answers ({fault}); expected local, auto or ray://HOST:10001. Start one "
                "with ray start --head"
            ) from fault
    return ray


def collect(ray: Any, handles: Any) -> Any:
    """Wait for results and return them."""
    try:
        return ray.get(handles)
    except ray.exceptions.RayError as fault:
        raise in_words(fault) from fault


def in_words(fault: Exception) -> MensuraError:
    """Return the error that the work itself raised, or a sentence about a cluster that cannot finish."""
    cause = getattr(fault, "cause", None)
    if isinstance(cause, MensuraError):
        return cause
    reason = str(fault).partition("\n")[0]
    return MensuraError(
        f"Ray: the cluster did not finish the work ({reason}). Read its logs, or run the command without Ray"
    )
