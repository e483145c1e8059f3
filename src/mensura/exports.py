"""Public names of a package, imported on first use (PEP 562): who asks for one file pays for that file alone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def on_first_use(
    package: str, homes: Mapping[str, str], *more: str
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package, for its ``__init__``.

    ``homes`` names, for each public name, the module below the package that defines it; ``more`` are names that the
    ``__init__`` defines itself. A public name must not be that of a module below the package: importing the module
    would bind it first.
    """

    def getattribute(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}; public names: {', '.join(homes)}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        vars(sys.modules[package])[name] = value
        return value

    def directory() -> list[str]:
        return sorted([*homes, *more])

    return getattribute, directory
