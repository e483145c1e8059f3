"""Tests on every Python of this machine, and with the oldest and newest libraries that Mensura says it works with.

``python -m tools.versions [--python PROGRAM …] [--only lowest|tested|newest] [--tests PATH …]``

Each run has a fresh environment and the installed package. With the libraries we test with (``constraints.txt``) on
every Python that is found on the path, or given; with the lowest version of each library that ``pyproject.toml``
allows on the oldest of them; and with the newest, as ``pip install`` takes them, on the latest of them. With the newest
the installed wheel alone writes a report and runs every command once: continuous integration does that every time.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
_ROOMS = ("test_imports.py", "test_docs.py", "scale", "evidence", "people", "iq", "charts", "cli")
QUICK = tuple(f"tests/{room}" for room in _ROOMS)
"""The tests of the edges, where other versions show first; ``--tests tests`` runs everything."""
EVERY_COMMAND = ("tests/cli/test_every_command.py",)
_NEWEST_MINOR = 20  # of Python 3; beyond it nobody looks
_SAID = 25  # lines of a failure that are shown


@dataclass(frozen=True)
class Outcome:
    """How the tests went on one Python with one choice of libraries."""

    python: str
    libraries: str
    passed: bool
    seconds: float


def project() -> dict[str, object]:
    """Read the table ``project`` of pyproject.toml."""
    table: dict[str, object] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def lowest_pins() -> list[str]:
    """Return ``name==version`` for the lower bound of every library a user's installation takes."""
    described = project()
    extras = described["optional-dependencies"]
    requirements = [*described["dependencies"], *extras["readers"]]  # type: ignore[misc, index]
    bounds = [re.fullmatch(r"([\w.-]+)>=([\w.]+)", requirement) for requirement in requirements]
    if None in bounds:
        raise SystemExit("pyproject.toml: every dependency is written as name>=version")
    return [f"{bound[1]}=={bound[2]}" for bound in bounds if bound is not None]


def wheel_name() -> str:
    """Return the file name of the wheel that is built here."""
    text = (ROOT / "src" / "mensura" / "__init__.py").read_text(encoding="utf-8")
    version = re.search(r'^__version__ = "(.+)"$', text, flags=re.MULTILINE)
    if version is None:
        raise SystemExit('src/mensura/__init__.py: no __version__; expected a line __version__ = "…"')
    return f"mensura-{version[1]}-py3-none-any.whl"


def oldest_minor() -> int:
    """Return the oldest minor version of Python 3 that the project allows."""
    return int(str(project()["requires-python"]).removeprefix(">=3."))


def pythons_here() -> dict[str, str]:
    """Return the programs of every allowed Python on the path that really starts, by version, oldest first."""
    found = {}
    for minor in range(oldest_minor(), _NEWEST_MINOR + 1):
        program = shutil.which(f"python3.{minor}")
        version = program and version_of(program)
        if program and version:
            found[version] = program
    return found


def version_of(program: str) -> str | None:
    """Return the version a Python program gives itself; nothing where it does not start."""
    asked = [program, "-c", "import platform; print(platform.python_version())"]
    try:
        run = subprocess.run(asked, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return run.stdout.strip() if run.returncode == 0 else None


def try_out(version: str, program: str, libraries: str, tests: Sequence[str]) -> Outcome:
    """Build the wheel, install it in a fresh environment, write a report with the newest libraries, and run tests."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="versions-") as folder:
        pins = ROOT / "constraints.txt"
        if libraries == "lowest":
            pins = Path(folder) / "lowest.txt"
            pins.write_text("\n".join(lowest_pins()), encoding="utf-8")
        own = str(Path(folder) / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python")
        pinned = [] if libraries == "newest" else ["-c", str(pins)]
        pip = [own, "-m", "pip", "-q", "--disable-pip-version-check"]
        report = [str(Path(own).with_name("mensura")), "report", "--out", str(Path(folder) / "report")]
        steps = [
            ([program, "-m", "venv", str(Path(folder) / "venv")], ROOT),
            ([*pip, "wheel", "--no-deps", "-w", folder, str(ROOT)], ROOT),
            ([*pip, "install", "--no-compile", *pinned, f"./{wheel_name()}[test]"], Path(folder)),
            *([(report, Path(folder))] if libraries == "newest" else []),
            ([own, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not browser", *tests], ROOT),
        ]
        passed = all(_succeeds(*step) for step in steps)
    return Outcome(version, libraries, passed, round(time.perf_counter() - start, 1))


def _succeeds(command: list[str], folder: Path) -> bool:
    """Run a command in a folder; a failure shows the end of what it printed."""
    run = subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False
    )
    if run.returncode != 0:
        print("\n".join(run.stdout.splitlines()[-_SAID:]), file=sys.stderr)
    return run.returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.versions", description=__doc__.splitlines()[0])
    parser.add_argument("--python", action="append", default=[], metavar="PROGRAM", help="a Python to try; repeatable")
    parser.add_argument("--only", choices=["lowest", "tested", "newest"], help="only these libraries")
    parser.add_argument("--tests", nargs="+", metavar="PATH", help="tests to run")
    options = parser.parse_args()
    given = {version_of(program) or program: program for program in options.python}
    found = given or pythons_here()
    if not found:
        raise SystemExit(f"no Python from 3.{oldest_minor()} on the path; name one with --python")
    pythons = list(found.items())
    runs = [(*pythons[0], "lowest"), *((*one, "tested") for one in pythons), (*pythons[-1], "newest")]
    usual = {"newest": EVERY_COMMAND}
    outcomes = [
        try_out(*run, options.tests or usual.get(run[2], QUICK)) for run in runs if options.only in (None, run[2])
    ]
    print(f"{'python':<12}{'libraries':<12}{'tests':<10}{'seconds':>8}")
    for outcome in outcomes:
        passed = "passed" if outcome.passed else "FAILED"
        print(f"{outcome.python:<12}{outcome.libraries:<12}{passed:<10}{outcome.seconds:>8.0f}")
    print(json.dumps({"lowest": lowest_pins(), "runs": [vars(outcome) for outcome in outcomes]}))
    sys.exit(0 if all(outcome.passed for outcome in outcomes) else 1)


if __name__ == "__main__":
    main()
