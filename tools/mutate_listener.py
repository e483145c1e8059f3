"""A pytest plugin for :mod:`tools.mutate`: which functions of the package each test calls, and what it costs.

What the set-up of a shared fixture calls belongs to every test that uses the fixture. Two variables of the environment
steer it: ``MUTATE_HEARD`` names the file to write (nothing is listened to without it), ``MUTATE_SECONDS`` limits the
processor time of the whole process.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Generator, Mapping
from pathlib import Path
from types import CodeType, FrameType

import pytest

SOURCE = f"src{os.sep}mensura{os.sep}"

Place = tuple[str, int]
"""A function: its file, relative to the project, and its first line, decorators included."""


def pytest_configure(config: pytest.Config) -> None:
    if seconds := os.environ.get("MUTATE_SECONDS"):
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), resource.getrlimit(resource.RLIMIT_CPU)[1]))
    if target := os.environ.get("MUTATE_HEARD"):
        config.pluginmanager.register(Listener(Path(target), config.rootpath))


class Listener:
    """Hears every call of a Python function; a trace function that returns nothing is told of no single lines."""

    def __init__(self, target: Path, root: Path) -> None:
        self._target = target
        self._source = f"{root}{os.sep}"
        self._codes: dict[int, CodeType] = {}
        self._tests: dict[str, tuple[float, set[Place], list[pytest.FixtureDef[object]]]] = {}
        self._fixtures: dict[pytest.FixtureDef[object], set[Place]] = defaultdict(set)
        self._seconds: dict[pytest.FixtureDef[object], float] = defaultdict(float)
        self._shared = 0.0
        threading.settrace(self._listen)
        sys.settrace(self._listen)

    def _listen(self, frame: FrameType, _event: str, _argument: object) -> None:
        code = frame.f_code
        self._codes[id(code)] = code  # by identity: the hash of a code object reads all of it

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Note what one test calls and costs, apart from the fixtures it shares with others."""
        self._codes = {}
        self._shared, start = 0.0, time.process_time()
        result = yield
        own = time.process_time() - start - self._shared
        self._tests[item.nodeid] = (own, self._places(), _shared_fixtures(item))
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
        """Note what a shared fixture calls and costs."""
        if fixturedef.scope == "function":
            return (yield)
        outer, self._codes = self._codes, {}
        start = time.process_time()
        try:
            return (yield)
        finally:
            seconds = time.process_time() - start
            self._shared += seconds
            self._seconds[fixturedef] = max(seconds, self._seconds[fixturedef])
            self._fixtures[fixturedef] |= self._places()
            self._codes |= outer

    def pytest_sessionfinish(self) -> None:
        """Write what was heard."""
        sys.settrace(None)
        tests = {}
        for name, (seconds, own, fixtures) in self._tests.items():
            calls = own.union(*(self._fixtures[fixture] for fixture in fixtures))
            tests[name] = (seconds + sum(self._seconds[fixture] for fixture in fixtures), calls)
        self._target.write_text(written(tests), encoding="utf-8")

    def _places(self) -> set[Place]:
        """Return the functions of the package among what was heard since the last forgetting."""
        near = self._source + SOURCE
        return {
            (code.co_filename.removeprefix(self._source), code.co_firstlineno)
            for code in list(self._codes.values())  # a copy: listening goes on
            if code.co_filename.startswith(near)
        }


def _shared_fixtures(item: pytest.Item) -> list[pytest.FixtureDef[object]]:
    """Return the fixtures of a test that outlive it."""
    if not isinstance(item, pytest.Function):
        return []
    named = item._fixtureinfo.name2fixturedefs
    return [one for name in item.fixturenames for one in named.get(name, ()) if one.scope != "function"]


def written(tests: Mapping[str, tuple[float, set[Place]]]) -> str:
    """Return seconds and calls of each test as JSON; every place is named once."""
    numbers: dict[Place, int] = {}
    rows = {
        name: (seconds, [numbers.setdefault(place, len(numbers)) for place in calls])
        for name, (seconds, calls) in tests.items()
    }
    return json.dumps({"processor": time.process_time(), "places": list(numbers), "tests": rows})
