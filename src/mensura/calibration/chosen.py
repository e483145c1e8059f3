"""Which calibrated lines a ruler reads levels with: ours, the published ones, or a file's."""

from __future__ import annotations

from pathlib import Path

from mensura.calibration.file import read_calibration_file
from mensura.calibration.open_pool import open_lines
from mensura.evidence import load, read_calibration
from mensura.scale import Calibration


def chosen_lines(calibration: str | None = None, published: Calibration | None = None) -> Calibration:
    """Return the lines asked for: ``open``, ``published`` or a file's (of :func:`write_calibration`, or a CSV).

    By default the published ones, which are those of the embedded evidence unless given. Lines of two calibrations are
    never mixed: their bases differ tenfold, and a picture of both compares nothing.
    """
    if calibration is None or calibration == "published":
        return load().calibration if published is None else published
    if calibration == "open":
        return open_lines()
    path = Path(calibration)
    if path.is_dir() or path.suffix.lower() == ".json" or "verdict" in _header(path):
        return read_calibration_file(path).lines
    return read_calibration(path)


def _header(path: Path) -> list[str]:
    """Return the column names of a CSV, or nothing where there is none to read."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            return [name.strip() for name in file.readline().split(",")]
    except (OSError, UnicodeDecodeError):
        return []
