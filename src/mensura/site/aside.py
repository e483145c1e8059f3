"""One function in a process of its own, while this one computes something else: two halves of a large study at once."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from mensura.cache import ResultPickler

T = TypeVar("T")
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""Of a process whose matrices are small and many: threads for each product would take the processors of the others."""
_CHILD = "import sys; from mensura.site.aside import work; work(*sys.argv[1:])"


@contextmanager
def aside(function: Callable[..., T], *arguments: Any) -> Iterator[Callable[[], T]]:  # noqa: ANN401
    """Start ``function(*arguments)``, a function of a module, in another process; yield what waits for its result.

    Where that process fails, the function runs again in this one, so that its error is raised as ever. When the block
    ends before the process does, the process is killed.
    """
    with tempfile.TemporaryDirectory(prefix="mensura-aside-") as folder:
        given, found = Path(folder) / "given", Path(folder) / "found"
        _dump((function, arguments), given)
        worker = subprocess.Popen(
            [sys.executable, "-c", _CHILD, str(given), str(found)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**ONE_THREAD, **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

        def result() -> T:
            if worker.wait() != 0:
                return function(*arguments)
            with found.open("rb") as file:
                outcome: T = pickle.load(file)
            found.unlink()
            return outcome

        try:
            yield result
        finally:
            worker.kill()
            worker.wait()


def work(given: str, found: str) -> None:
    """Do what :func:`aside` wrote down, in the process that it started."""
    with Path(given).open("rb") as file:
        function, arguments = pickle.load(file)
    _dump(function(*arguments), Path(found))


def _dump(value: object, target: Path) -> None:
    with target.open("wb") as file:
        ResultPickler(file, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
