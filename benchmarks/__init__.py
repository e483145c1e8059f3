"""Measurements of accuracy and speed: ``python -m benchmarks.NAME``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.measured import take_option
from mensura.core.errors import MensuraError

SHARED = Path(__file__).parents[2] / "shared"
"""Development data beside the project; what may be published of it is in the package or in ``benchmarks/data``."""


def run(main: Callable[[], object]) -> None:
    """Run a measurement; ``--record`` writes its figures to docs/measured.toml.

    If it needs data that this clone lacks, print which, without a traceback.
    """
    take_option()
    try:
        main()
    except (MensuraError, FileNotFoundError) as fault:
        if SHARED.is_dir():
            raise
        print(f"not measured: {fault}", file=sys.stderr)
        print(f"it needs development data in {SHARED}, which may not be published with the package", file=sys.stderr)
        sys.exit(2)
