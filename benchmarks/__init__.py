"""Measurements of accuracy and speed: ``python -m benchmarks.NAME``."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from benchmarks.measured import take_option

SHARED = Path(os.environ.get("MENSURA_SHARED") or Path(__file__).parents[2] / "shared")
"""Development data beside the project; what may be published of it is in the package or in ``benchmarks/data``."""


def run(main: Callable[[], object]) -> None:
    """Run a measurement; ``--record`` writes its figures to docs/measured.toml."""
    take_option()
    main()


def development_data(*parts: str) -> Path:
    """Return a file or folder of the development data, or stop with a sentence and a status where it is absent."""
    path = SHARED.joinpath("data", *parts)
    if not path.exists():
        raise SystemExit(f"{path}: absent; this command needs development data (docs/trust.md)")
    return path


def optional_data(*parts: str) -> Path | None:
    """Return a file or folder of the development data, or None: the command then leaves out what needs it."""
    path = SHARED.joinpath("data", *parts)
    return path if path.exists() else None
