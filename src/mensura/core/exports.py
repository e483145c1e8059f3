"""Public names of a package that load on first use (PEP 562), so that an import costs only what it needs."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

draw_table: Callable[..., Any]
"""Draws the first table of a result. The package itself sets it: its charts stand above these modules."""


def on_first_use(
    package: str, file: str, *more: str
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` for the ``__init__`` of a package.

    The ``__init__`` lists its public names once, as imports under ``if TYPE_CHECKING:``; this function reads that list.
    ``more`` are names that the ``__init__`` defines itself. A public name must differ from the modules of the package,
    because the import of a module would bind its name first.
    """
    homes = _listed(Path(file).read_text(encoding="utf-8"))

    def getattribute(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}; public names: {', '.join(homes)}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def directory() -> list[str]:
        return sorted([*homes, *more])

    return getattribute, directory, sorted(homes)


def _listed(source: str) -> dict[str, str]:
    """Return the module of each name imported under ``if TYPE_CHECKING:``."""
    blocks = (node for node in ast.parse(source).body if isinstance(node, ast.If))
    blocks = (node for node in blocks if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING")
    imports = (node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom))
    return {alias.name: node.module or "" for node in imports for alias in node.names}
