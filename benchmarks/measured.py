"""Figures that the documentation states: ``docs/measured.toml`` contains each of them once.

``python -m benchmarks.NAME --record`` measures and then writes its figures into that file, with the command, the date
and the machine. ``tests/test_measured.py`` then names every page whose text differs.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
import tomllib
from collections.abc import Iterable
from datetime import date
from pathlib import Path

from mensura.core.errors import MensuraError
from mensura.core.files import write_text

FILE = Path(__file__).parents[1] / "docs" / "measured.toml"
OPTION = "--record"
FIELDS = ("figure", "about", "command", "date", "machine")
_asked = False


def take_option() -> None:
    """Take ``--record`` from the command line, so that a script's own parser does not meet it."""
    global _asked
    _asked = OPTION in sys.argv
    sys.argv[:] = [word for word in sys.argv if word != OPTION]


def record(key: str, figure: str, command: str = "") -> None:
    """Print a figure beside the one in ``docs/measured.toml``; with ``--record``, write it there.

    ``figure`` is the text as pages print it, such as ``88–91%``. ``command`` is the command that measured it; by
    default it is the command line of this process.
    """
    entries = read_measured()
    if key not in entries:
        raise MensuraError(f"{FILE.name}: no entry {key!r}; expected one of {', '.join(entries)}. Add the entry first.")
    print(f"{key}: {figure} (documented: {entries[key]['figure']})")
    if not _asked:
        return
    entries[key] |= {"figure": figure, "command": command or as_run(), "date": date.today(), "machine": machine()}
    begin = FILE.read_text(encoding="utf-8").partition("\n[")[0]
    write_text(FILE, f"{begin}\n" + "".join(_entry_text(name, entry) for name, entry in entries.items()))


def read_measured(file: Path = FILE) -> dict[str, dict[str, object]]:
    """Return the entries of the file: key → figure, about, command, date, machine."""
    return tomllib.loads(file.read_text(encoding="utf-8"))


def percent_range(shares: Iterable[float], digits: int = 0) -> str:
    """Return the smallest and the largest share in percent, such as ``88–91%``."""
    low, high = min(values := [100 * share for share in shares]), max(values)
    return f"{low:.{digits}f}–{high:.{digits}f}%"


def as_run() -> str:
    """Return the command line of this process, without ``--record``."""
    return shlex.join(["python", "-m", f"benchmarks.{Path(sys.argv[0]).stem}", *sys.argv[1:]])


def machine() -> str:
    """Return the kind of processor and the number of cores."""
    return f"{platform.machine()}, {os.cpu_count()} cores"


def _entry_text(key: str, entry: dict[str, object]) -> str:
    lines = [f"{name} = {_value_text(entry[name])}" for name in FIELDS]
    return "\n".join([f'["{key}"]', *lines, "", ""])


def _value_text(value: object) -> str:
    return value.isoformat() if isinstance(value, date) else json.dumps(value, ensure_ascii=False)
