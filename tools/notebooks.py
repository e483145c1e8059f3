"""Run the notebooks in an empty folder: ``python -m tools.notebooks [--write] [FILE …]``.

The cells of ``docs/notebooks/*.ipynb`` are the source. The last line of a cell is shown as a notebook shows it: a
picture as SVG, anything else as text. Without ``--write`` a difference in text is an error; with it the outputs are
written anew.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
NOTEBOOKS = tuple(sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")))
MOST_LINES = 30
"""Lines of a cell's text that are kept."""
LARGEST = 80_000
"""Bytes of a picture that is kept; larger ones appear when a reader runs the cell."""


def run_notebook(notebook: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the notebook with the outputs of its cells, run one after the other in a folder."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.chdir(folder):
        cells = [
            {**cell, "outputs": run_cell("".join(cell["source"]), names)} if cell["cell_type"] == "code" else cell
            for cell in notebook["cells"]
        ]
    return {**notebook, "cells": cells}


def run_cell(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Run one cell; return what it prints and what its last line is."""
    lines = ast.parse(source).body
    last = lines.pop() if lines and isinstance(lines[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(lines, []), "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    told = [{"output_type": "stream", "name": "stdout", "text": shortened(printed.getvalue())}]
    return [*(told if printed.getvalue() else []), *([shown(value)] if value is not None else [])]


def shown(value: object) -> dict[str, Any]:
    """Return a value as a notebook keeps it."""
    picture = drawing_of(value)
    data = {"image/svg+xml": [picture]} if picture and len(picture) <= LARGEST else {}
    text = ["a picture"] if picture else shortened(repr(value))
    return {
        "output_type": "execute_result",
        "execution_count": None,
        "metadata": {},
        "data": {**data, "text/plain": text},
    }


def drawing_of(value: object) -> str:
    """Return a picture as SVG, empty for anything else."""
    return str(value._repr_svg_()) if hasattr(value, "_repr_svg_") else ""


def shortened(text: str) -> list[str]:
    """Return the first lines of a text."""
    lines = text.rstrip().splitlines()
    lines = lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], "…"]
    return [f"{line}\n" for line in lines[:-1]] + lines[-1:]


def texts(notebook: dict[str, Any]) -> list[Any]:
    """Return what a notebook shows as text; the sign of a zero, which hangs on the last bit, does not count."""
    outputs = [one for cell in notebook["cells"] for one in cell.get("outputs", [])]
    lines = [one.get("text") or one["data"]["text/plain"] for one in outputs]
    return [[re.sub(r"-(0\.0+)(?!\d)", r"\1 ", line) for line in text] for text in lines]


def main() -> None:
    write = "--write" in sys.argv
    for path in [Path(name) for name in sys.argv[1:] if not name.startswith("--")] or NOTEBOOKS:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            found = run_notebook(notebook, Path(folder))
        if write:
            path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        elif texts(found) != texts(notebook):
            raise SystemExit(f"{path.name}: shows something else now; run python -m tools.notebooks --write {path}")
        print(f"{path.name}: every cell ran")


if __name__ == "__main__":
    main()
