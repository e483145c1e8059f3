"""Runs of the tests for :mod:`tools.mutate`: once to hear what each test calls, then with one mutant at a time."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tools.mutants import Mutant
from tools.mutate_listener import Place

_TOOLS = Path(__file__).parents[1]
"""Where pytest finds the listener."""

_LEFT_BEHIND = shutil.ignore_patterns(".*", "__pycache__", "report", "dist", "build")
_PYTEST = ("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "tools.mutate_listener", "-m", "not browser")
_ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""Plugins that come with other libraries take two seconds of each run to be imported, and serve no test here."""

_GREEN, _MISUSED, _NO_TEST = 0, 4, 5
"""Exit statuses of pytest; 4 is also that of a named test in a file that cannot be imported."""

_FIRST_SECONDS = 10.0
"""A mutant is shown first to so many processor seconds of tests that call its function."""
_PATIENCE, _GRACE = 3.0, 60.0
"""A run is stopped, and its mutant counts as killed, after so many times the tests' own time plus so many seconds."""
_LINES_SAID = 30
"""Last lines of pytest's output that are shown where tests fail without any mutant."""
_CLOCK = 4.0
"""On the clock a run may take so many times that: the machine may be busy, but a mutant may also wait for ever."""


@dataclass(frozen=True)
class HeardTest:
    """One test: its processor seconds, those of its shared fixtures included, and the functions it calls."""

    name: str
    seconds: float
    calls: frozenset[Place]

    @property
    def file(self) -> str:
        """The file it stands in."""
        return self.name.split("::", 1)[0]

    def reaches(self, mutant: Mutant) -> bool:
        """Return whether it calls the mutant's function; for a line outside of functions, any function of its file."""
        if mutant.function:
            return (mutant.file, mutant.function) in self.calls
        return any(file == mutant.file for file, _ in self.calls)


@dataclass(frozen=True)
class Room:
    """A package's test files, what each of their tests calls, and the processor seconds of all together."""

    files: tuple[str, ...]
    tests: tuple[HeardTest, ...]
    seconds: float

    def first(self, mutant: Mutant) -> list[HeardTest]:
        """Return the tests that reach the mutant, the quickest first, as many as fit into a few seconds."""
        near = sorted((test for test in self.tests if test.reaches(mutant)), key=lambda test: test.seconds)
        chosen: list[HeardTest] = []
        for test in near:
            if chosen and sum(one.seconds for one in chosen) + test.seconds > _FIRST_SECONDS:
                break
            chosen.append(test)
        files = list(dict.fromkeys(test.file for test in chosen))
        return sorted(chosen, key=lambda test: files.index(test.file))  # the fixtures of a file are set up once

    def ordered(self, mutant: Mutant) -> list[str]:
        """Return all test files: those that reach the mutant come first, the quickest first.

        The others follow, because a kept result or a process of its own may hide a caller.
        """
        cost = dict.fromkeys(self.files, 0.0)
        for test in self.tests:
            cost[test.file] += test.seconds
        near = {test.file for test in self.tests if test.reaches(mutant)}
        return sorted(self.files, key=lambda file: (file not in near, cost[file]))


class Tree:
    """A temporary copy of the project, in which files are changed and tests are run."""

    def __init__(self, project: Path, folder: Path) -> None:
        self.root = folder.resolve()
        self._running: subprocess.Popen[bytes] | None = None
        shutil.copytree(project, self.root, ignore=_LEFT_BEHIND)
        compiled = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "src"]
        subprocess.run(compiled, cwd=self.root, check=True)

    def listen(self, files: Sequence[str]) -> Room:
        """Run unchanged tests and hear what they call; what was heard is kept for the same sources and tests."""
        kept = Path(tempfile.gettempdir()) / f"mutate-heard-{self._digest(files)}.json"
        if not kept.is_file():
            heard, said = self.root / "heard.json", self.root / "said.txt"
            with said.open("wb") as output:
                status = self._pytest(files, {"MUTATE_HEARD": str(heard)}, clock=None, output=output)
            if status not in (_GREEN, _NO_TEST):
                last = said.read_text(encoding="utf-8", errors="replace").splitlines()[-_LINES_SAID:]
                raise SystemExit("\n".join(["tests fail without any mutant; mend them first:", *last]))
            heard.replace(kept)
        return read_room(files, kept.read_text(encoding="utf-8"))

    def survives(self, mutant: Mutant, room: Room) -> bool:
        """Return whether every test of the room stays green with the mutant in place."""
        path = self.root / mutant.file
        source = path.read_bytes()
        path.write_bytes(mutant.apply(source))
        try:
            if first := room.first(mutant):
                status = self._limited([test.name for test in first], sum(test.seconds for test in first))
                if status not in (_GREEN, _MISUSED, _NO_TEST):
                    return False
            return self._limited(room.ordered(mutant), room.seconds) == _GREEN
        finally:
            path.write_bytes(source)

    def end(self) -> None:
        """End the run in progress together with every process it started."""
        if self._running is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._running.pid, signal.SIGKILL)

    def _limited(self, tests: Sequence[str], seconds: float) -> int:
        limit = _GRACE + _PATIENCE * seconds
        return self._pytest(tests, {"MUTATE_SECONDS": str(int(limit))}, clock=_CLOCK * limit)

    def _pytest(
        self,
        tests: Sequence[str],
        variables: dict[str, str],
        *,
        clock: float | None,
        output: BinaryIO | int = subprocess.DEVNULL,
    ) -> int:
        """Run tests in the copy; the exit status, or 1 when the time is up. No process and no file of it stays."""
        paths = os.pathsep.join(map(str, (self.root / "src", self.root, _TOOLS)))
        with tempfile.TemporaryDirectory(prefix="run-", ignore_cleanup_errors=True) as scratch:
            Path(scratch).chmod(0o755)  # as /tmp is: a test may become a user who may only look
            own = {"PYTHONPATH": paths, "TMPDIR": scratch, **_ENVIRONMENT, **variables}
            command = [sys.executable, *_PYTEST, *tests]
            self._running = subprocess.Popen(
                command, cwd=self.root, env={**os.environ, **own}, stdout=output, stderr=output, start_new_session=True
            )
            try:
                return self._running.wait(clock)
            except subprocess.TimeoutExpired:
                return 1
            finally:
                self.end()
                self._running.wait()

    def _digest(self, files: Sequence[str]) -> str:
        """Return a name for the package and these tests as they are: what was heard holds for no others."""
        folders = {self.root / Path(file).parent for file in files} | {self.root / "tests"}
        near = {path for folder in folders for path in folder.glob("*") if path.is_file()}
        source = {path for path in (self.root / "src").rglob("*") if path.is_file() and path.suffix != ".pyc"}
        digest = hashlib.sha256(repr((sys.version, sorted(files))).encode())
        for path in sorted(near | source):
            digest.update(str(path.relative_to(self.root)).encode() + b"\0" + path.read_bytes())
        return digest.hexdigest()[:16]


def read_room(files: Iterable[str], heard: str) -> Room:
    """Read what the listener wrote."""
    told = json.loads(heard)
    places = [(str(file), int(line)) for file, line in told["places"]]
    tests = (
        HeardTest(name, seconds, frozenset(places[number] for number in calls))
        for name, (seconds, calls) in told["tests"].items()
    )
    return Room(tuple(files), tuple(tests), told["processor"])
