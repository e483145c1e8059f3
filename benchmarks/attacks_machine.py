"""Attacks on running commands, for :mod:`benchmarks.shell`: hostile folders, kills, full disks, closed folders."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

import mensura

Commands = dict[str, tuple[str, ...]]
WRITING: Commands = {
    "stitch": ("stitch", "{tables}/scores.csv", "--out", "out"),
    "iq": ("iq", "--method", "published", "--out", "out"),
    "pool": ("people", "import", "{tables}/answers.csv", "--items", "q*", "--out", "out"),
    "fit": ("responses", "fit", "{tables}/answers.csv", "--model", "rasch", "--out", "out"),
    "exam": ("exam", "new", "out"),
}
"""Commands that write a folder ``out``; each gives the same files at each call."""
MODULES = ("json", "numpy", "polars", "resvg_py", "typer", "mensura", "sqlite3", "concurrent", "site", "secrets")
TRAP = 'from pathlib import Path\nPath("{}").touch()\nraise SystemExit(9)\n'
ODD_ENDS = (0, 1, 2, -signal.SIGKILL, -signal.SIGTERM, 128 + signal.SIGTERM)


def run_command(words: tuple[str, ...], tables: Path, folder: Path, limit: int | None = None) -> subprocess.Popen[str]:
    """Start ``mensura`` in a folder as its users do; ``limit`` is the largest file it can write, in bytes."""

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    arguments = [word.format(tables=tables) for word in words]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "mensura", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=limited,
        env={**os.environ, "PYTHONPATH": str(Path(mensura.__file__).parents[1]), "COLUMNS": "200"},
    )


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@contextmanager
def prepared(tables: dict[str, str]) -> Iterator[tuple[Path, dict[str, dict[str, bytes]]]]:
    """Yield a folder of tables and the files that each undisturbed command writes."""
    with tempfile.TemporaryDirectory() as home:
        for name, text in tables.items():
            (Path(home) / f"{name}.csv").write_text(text, encoding="utf-8")
        whole = {}
        for name, words in WRITING.items():
            with tempfile.TemporaryDirectory() as folder:
                told, _ = (process := run_command(words, Path(home), Path(folder))).communicate()
                if process.returncode:
                    raise SystemExit(f"{name} does not run undisturbed: {told}")
                whole[name] = contents(Path(folder) / "out")
        yield Path(home), whole


def attack_folder(tables: dict[str, str]) -> Iterator[str | None]:
    """Run commands in a folder whose Python files have the names of modules: none of them may run."""
    with prepared(tables) as (home, whole):
        for turn, module in enumerate(MODULES):
            name = list(WRITING)[turn % len(WRITING)]
            with tempfile.TemporaryDirectory() as folder:
                trap = Path(folder) / "ran"
                (Path(folder) / f"{module}.py").write_text(TRAP.format(trap), encoding="utf-8")
                run_command(WRITING[name], home, Path(folder)).communicate()
                if trap.exists():
                    yield f"{name} ran {module}.py of the working folder"
                else:
                    same = contents(Path(folder) / "out") == whole[name]
                    yield None if same else f"{name} wrote other files beside {module}.py"


def attack_by_kills(tables: dict[str, str], tries: int, rng: np.random.Generator) -> Iterator[str | None]:
    """Kill commands at random instants: what they write is whole or absent, and the next call succeeds."""
    with prepared(tables) as (home, whole):
        for turn in range(tries):
            name = list(WRITING)[turn % len(WRITING)]
            sent = (signal.SIGKILL, signal.SIGTERM)[turn % 2]
            yield _in_folder(name, home, whole[name], partial(_killed, sent=sent, rng=rng))


def attack_full_disk(tables: dict[str, str], tries: int, rng: np.random.Generator) -> Iterator[str | None]:
    """Let no file grow beyond a random size: a clear error, nothing torn, and the next call succeeds."""
    with prepared(tables) as (home, whole):
        for turn in range(tries):
            name = list(WRITING)[turn % len(WRITING)]
            largest = max(len(content) for content in whole[name].values())
            yield _in_folder(name, home, whole[name], _ended, limit=int(rng.integers(0, largest)))


def attack_closed_folder(tables: dict[str, str]) -> Iterator[str | None]:
    """Put a file where a command wants its folder: an error, and the file is as it was."""
    with prepared(tables) as (home, _):
        for name, words in WRITING.items():
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "out").write_text("mine", encoding="utf-8")
                told, _ = (process := run_command(words, home, Path(folder))).communicate()
                kept = (Path(folder) / "out").is_file() and (Path(folder) / "out").read_text(encoding="utf-8") == "mine"
                if not kept or process.returncode not in (1, 2) or "Traceback" in told:
                    yield f"{name} with a file in its way: ended with {process.returncode}, kept {kept}"
                else:
                    yield None


def _killed(process: subprocess.Popen[str], sent: signal.Signals, rng: np.random.Generator) -> str:
    time.sleep(float(rng.uniform(0.05, 2.5)))
    process.send_signal(sent)
    return process.communicate()[0]


def _ended(process: subprocess.Popen[str]) -> str:
    return process.communicate()[0]


def _in_folder(
    name: str,
    home: Path,
    whole: dict[str, bytes],
    disturb: Callable[[subprocess.Popen[str]], str],
    limit: int | None = None,
) -> str | None:
    """Disturb one command, then call it again undisturbed; return why it did not hold, or None."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        process = run_command(WRITING[name], home, Path(folder), limit)
        told = disturb(process)
        if "Traceback (most recent call last)" in told:
            return f"{name} printed a traceback: {told[-200:]}"
        if process.returncode not in ODD_ENDS:
            return f"{name} ended with {process.returncode}"
        if out.exists() and contents(out) != whole:
            return f"{name} left a torn folder"
        words = WRITING[name]
        again = run_command(words, home, Path(folder))
        told, _ = again.communicate()
        if contents(out) != whole:
            return f"{name} did not write its files afterwards: {told[-200:]}"
        left = [path.name for path in Path(folder).iterdir() if path.name != "out"]
        return f"{name} left {', '.join(left)}" if left else None
