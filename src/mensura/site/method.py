"""The method in words: parts, rules, formulas, departures and limits, kept as data in ``data/method.toml``."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).parent / "data" / "method.toml"
_SNAPSHOT = "{snapshot}"
_FROZEN = (
    "A placed model's IQ is that of a scoring of the edition and this model alone, its capability the posterior given "
    "its own scores on the edition's benchmarks, its rank one more than the number of the edition's ranked models "
    "above it, so that two placed models may share one. Pace, watch, people and charts' default choice are the "
    "edition's. What two models' errors share is counted between models of the edition only."
)
"""Said of every frozen scale."""


@cache
def _written() -> tuple[dict[str, Any], ...]:
    """Return the parts as the file has them, the limits last."""
    return tuple(tomllib.loads(_FILE.read_text(encoding="utf-8"))["part"])


def method_parts(snapshot: str = "", policy: dict[str, Any] | None = None, scale: str = "") -> list[dict[str, Any]]:
    """Return the parts of the method: id, title, text (paragraphs) and rules (rule, formula, source).

    ``snapshot`` says how much of the evidence is one publisher's; it takes its place among the limits. ``policy``, what
    the evidence says about charts, stands before them. ``scale``: what a frozen scale holds still, where it is one.
    """
    parts = [*_written()]
    if scale:
        parts.insert(0, {"id": "frozen-scale", "title": "The frozen scale", "text": [scale, _FROZEN]})
    if policy is not None:
        parts.insert(len(parts) - 1, policy)
    return [
        {"rules": [], **part, "text": [line.replace(_SNAPSHOT, snapshot) for line in part.get("text", [])]}
        for part in parts
    ]
