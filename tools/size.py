"""Count lines of code, files and public names by package, commands and options: ``python -m tools.size``.

Lines of code are without docstrings, comments and blank lines. The second figure of each pair is that of the last
release, or of the day that ``tools/size_before.json`` names. ``--keep NAME`` writes the figures of a release there.
"""

from __future__ import annotations

import argparse
import ast
import json
from pathlib import Path

from mensura.core.files import write_text
from tools.public import public_names, read_commands

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "mensura"
BEFORE = Path(__file__).parent / "size_before.json"


def lines_of_code(text: str) -> int:
    """Return how many lines of a module are code."""
    said: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        for one in body if isinstance(body, list) else []:
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str):
                said.update(range(one.lineno, (one.end_lineno or one.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") and n not in said for n, line in lines)


def measure() -> dict[str, dict[str, int]]:
    """Return lines, files and public names of every package, and the commands and options of all."""
    sizes: dict[str, dict[str, int]] = {}
    for file in sorted(SOURCE.rglob("*.py")):
        parts = file.relative_to(SOURCE).parts
        size = sizes.setdefault(parts[0] if len(parts) > 1 else "mensura", {"lines": 0, "files": 0, "names": 0})
        size["lines"] += lines_of_code(file.read_text(encoding="utf-8"))
        size["files"] += 1
    for package, names in public_names().items():
        sizes[package.rpartition(".")[2]]["names"] += len(names)
    commands = read_commands()
    options = {"commands": len(commands), "options": sum(map(len, commands.values()))}
    total = {name: sum(size[name] for size in sizes.values()) for name in ("lines", "files", "names")}
    return {**sizes, "total": {**total, **options}}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.size", description=__doc__.splitlines()[0])
    parser.add_argument("--keep", metavar="NAME", help="write the figures as those of this release")
    given = parser.parse_args()
    sizes, before = measure(), json.loads(BEFORE.read_text(encoding="utf-8"))
    if given.keep:
        write_text(BEFORE, json.dumps({"name": given.keep, "sizes": sizes}, indent=1) + "\n")
    print(f"{'':<15}{'lines of code':>18}{'files':>12}{'public names':>16}   now, and at {before['name']}")
    for package, size in sizes.items():
        was = before["sizes"].get(package, {})
        pairs = [f"{size[name]:,} {was.get(name, 0):,}" for name in ("lines", "files", "names")]
        print(f"{package:<15}{pairs[0]:>18}{pairs[1]:>12}{pairs[2]:>16}")
    total, was = sizes["total"], before["sizes"]["total"]
    print(f"commands {total['commands']} {was['commands']}, options {total['options']} {was['options']}")
    print(json.dumps(sizes))


if __name__ == "__main__":
    main()
