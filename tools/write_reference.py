"""Write docs/commands.md, tables.md and rubrics.md from what they describe: ``python -m tools.write_reference``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from mensura.cli.main import build_app
from mensura.core.files import write_text
from mensura.demands import boundary_table, dimension_table, load_rubrics
from mensura.evidence import TABLES

DOCS = Path(__file__).parents[1] / "docs"
_NOTE = "<!-- written by python -m tools.write_reference -->"


def commands_page() -> str:
    parts = [f"# Commands\n\n{_NOTE}\n"]
    for path, command in leaves(typer.main.get_command(build_app()), "mensura"):
        parts.append(f"## {path}\n\n{_plain(command.help or '')}\n")
        rows = [_row(one) for one in command.params if one.name != "help"]
        if rows:
            parts.append("\n".join(["| option | meaning | default |", "|---|---|---|", *rows]) + "\n")
        parts.append(f"```\n{_plain(command.epilog or '').strip()}\n```\n")
    return "\n".join(parts)


def tables_page() -> str:
    parts = [f"# Evidence tables\n\n{_NOTE}\n\nColumns in **bold** must be there. A row is identified by the key.\n"]
    for name, table in TABLES.items():
        parts.append(f"## {name}.csv\n\n{table.about[0].upper()}{table.about[1:]}. Key: {', '.join(table.key)}.\n")
        rows = [
            f"| {f'**{column.name}**' if column.required else column.name} | {column.about} | {column.expected} |"
            for column in table.columns
        ]
        parts.append("\n".join(["| column | meaning | holds |", "|---|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def rubrics_page() -> str:
    parts = [
        f"# Rubrics\n\n{_NOTE}\n\nLevels 0 to 5; 5 means 5 or more. What they are for: [demands.md](demands.md).\n"
    ]
    named = dimension_table().select("dimension", "name", "group_name", "meaning").rows()
    rows = [f"| {' | '.join(row)} |" for row in named]
    parts.append("\n".join(["| dimension | name | group | meaning |", "|---|---|---|---|", *rows]) + "\n")
    rules = [f"| {topic} | {codes.replace(' ', ', ')} | {rule} |" for topic, codes, rule in boundary_table().rows()]
    parts.append("## Where things belong\n")
    parts.append("\n".join(["| topic | dimensions | rule |", "|---|---|---|", *rules]) + "\n")
    for rubric in load_rubrics().values():
        levels = [
            f"| {level.level} {level.label.lower()} | {level.text} | {'<br>'.join(level.examples)} |"
            for level in rubric.levels
        ]
        parts.append(f"## {rubric.code}: {rubric.dimension.name}\n\n{rubric.about}\n")
        parts.append("\n".join(["| level | asks for | examples |", "|---|---|---|", *levels]) + "\n")
    return "\n".join(parts)


def leaves(command: Any, path: str) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """Yield every command below one, with the words that call it."""
    if not hasattr(command, "commands"):
        yield path, command
        return
    for name in command.list_commands(None):
        yield from leaves(command.get_command(None, name), f"{path} {name}")


def _row(parameter: Any) -> str:  # noqa: ANN401
    named = parameter.param_type_name == "argument"
    names = f"`{parameter.name.upper()}`" if named else ", ".join(f"`{name}`" for name in parameter.opts)
    return f"| {names} | {_plain(getattr(parameter, 'help', None) or '')} | {_default(parameter.default)} |"


def _default(value: Any) -> str:  # noqa: ANN401
    """Return what holds where an option is left out; empty where nothing does, or where it is a switch and off."""
    if value is None or value is False or callable(value):
        return ""
    if value is True:
        return "on"
    many = isinstance(value, list | tuple)
    shown = ", ".join(map(str, value)) if many else str(getattr(value, "value", value)).removesuffix(" 00:00:00")
    return f"`{shown}`" if shown else ""


def _plain(text: str) -> str:
    """Drop console markup and stray line breaks of docstrings."""
    return re.sub(r"\[/?[a-z ]*\]", "", text).replace("|", "\\|").rstrip()


def main() -> None:
    write_text(DOCS / "commands.md", commands_page())
    write_text(DOCS / "tables.md", tables_page())
    write_text(DOCS / "rubrics.md", rubrics_page())


if __name__ == "__main__":
    main()
