"""Freeze the stitched scale of the embedded evidence under a date: python tools/freeze_scale.py 2026-11."""

from __future__ import annotations

import re
import sys

from mensura.core.errors import MensuraError
from mensura.evidence import load
from mensura.stitching import stitch
from mensura.stitching.frozen import FOLDER, freeze


def main(name: str) -> None:
    """Write ``src/mensura/stitching/data/scales/NAME.json``; a scale that stands is never written again."""
    if not re.fullmatch(r"\d{4}-\d{2}", name):
        raise MensuraError(f"name: got {name!r}; expected year and month, such as 2026-11")
    target = FOLDER / f"{name}.json"
    if target.exists():
        raise MensuraError(f"{target}: a frozen scale never changes; choose another month")
    evidence = load()
    freeze(stitch(evidence), name, evidence).write(target)


if __name__ == "__main__":
    main(sys.argv[1])
