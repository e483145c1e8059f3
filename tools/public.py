"""List everything that users may rely on: ``python -m tools.public`` writes docs/public.txt.

Public names by package, commands with their options, columns of the evidence tables, and columns of the tables that
commands print, whose names are also the fields of ``--json`` and the columns of ``--out``. ``tests/test_public.py``
compares the file with the package: whatever leaves it needs a line in the changelog (docs/stability.md).
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import typer

import mensura
from mensura.cli.main import build_app
from mensura.core.files import write_text
from mensura.evidence import TABLES
from tools.write_reference import leaves

ROOT = Path(__file__).parents[1]
LISTED = ROOT / "docs" / "public.txt"
APPROVED = ROOT / "tests" / "cli" / "approved"
_SIZES = re.compile(r" [#.,%+]+$")


def public_names() -> dict[str, list[str]]:
    """Return the exported names of every package."""
    inside = [f"mensura.{one.name}" for one in pkgutil.iter_modules(mensura.__path__) if one.ispkg]
    homes = ["mensura", *(name for name in inside if name != "mensura.cli")]
    names = {home: sorted(getattr(importlib.import_module(home), "__all__", ())) for home in homes}
    return {home: own for home, own in names.items() if own}


def read_commands() -> dict[str, list[str]]:
    """Return the options and arguments of every command."""
    commands = {}
    for path, command in leaves(typer.main.get_command(build_app()), "mensura"):
        commands[path] = sorted(
            max(one.opts, key=len) if one.param_type_name == "option" else str(one.name).upper()
            for one in command.params
            if one.name != "help"
        )
    return commands


def printed_columns() -> dict[str, list[str]]:
    """Return the columns of the tables that each command prints, as they were approved."""
    columns: dict[str, list[str]] = {}
    for file in sorted(APPROVED.glob("*.txt")):
        rows = [
            line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("  ") and " | " in line
        ]
        names = {_SIZES.sub("", cell.strip()) for row in rows for cell in row.split(" | ")}
        if names:
            columns[file.stem] = sorted(names)
    return columns


def public_list() -> str:
    """Return the whole list as text, one thing per line."""
    evidence = {name: [column.name for column in table.columns] for name, table in TABLES.items()}
    parts = {
        "Names": public_names(),
        "Commands": read_commands(),
        "Columns of evidence tables": evidence,
        "Columns that commands print": printed_columns(),
    }
    lines = ["# Written by python -m tools.public. What it means: stability.md"]
    for title, groups in parts.items():
        lines += ["", f"## {title}"]
        lines += [f"{group}: {name}" for group, names in groups.items() for name in names or ["–"]]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    write_text(LISTED, public_list())
