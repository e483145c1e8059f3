"""The method in words: parts, rules, formulas and departures, kept as data in ``data/method.toml``."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).parent / "data" / "method.toml"


@cache
def method_parts() -> list[dict[str, Any]]:
    """Return the parts of the method: id, title, text (paragraphs) and rules (rule, formula, source)."""
    parts: list[dict[str, Any]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))["part"]
    return [{"text": [], "rules": [], **part} for part in parts]
