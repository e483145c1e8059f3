"""Mensura: AI systems, benchmarks, items and people on common, human-anchored scales.

The public verbs are imported on first use, so that ``import mensura`` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mensura.errors import MensuraError
    from mensura.evidence import Evidence, load
    from mensura.extrapolation import Validation, extrapolate, validate
    from mensura.people import WORLD, ItemPool, Population
    from mensura.scale import Position

__version__ = "0.1.0"

__all__ = [
    "WORLD",
    "Evidence",
    "ItemPool",
    "MensuraError",
    "Population",
    "Position",
    "Validation",
    "extrapolate",
    "load",
    "validate",
]

_HOMES = {
    "WORLD": "mensura.people",
    "Evidence": "mensura.evidence",
    "ItemPool": "mensura.people",
    "MensuraError": "mensura.errors",
    "Population": "mensura.people",
    "Position": "mensura.scale",
    "Validation": "mensura.extrapolation",
    "extrapolate": "mensura.extrapolation",
    "load": "mensura.evidence",
    "validate": "mensura.extrapolation",
}


def __getattr__(name: str) -> object:
    """Import a public name from its home on first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'mensura' has no attribute {name!r}; public names: {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
