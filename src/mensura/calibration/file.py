"""A calibration as a file: what was found, how, from which inputs; read by the ruler, compared with another."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from mensura.calibration.inputs import Z90
from mensura.calibration.result import CalibrationResult
from mensura.core.errors import MensuraError
from mensura.core.files import write_text
from mensura.intake.tables import read_table
from mensura.scale import Calibration

FORMAT, VERSION = "mensura calibration", 1
_ROW = ("dimension", "slope", "intercept", "verdict")


@dataclass(frozen=True, eq=False)
class CalibrationFile:
    """A calibration read from a file.

    ``dimensions``: the lines of items as they are (other demands moving along): dimension, name, slope, intercept,
    base, low, high, r2, n_items, verdict, lowest, highest. ``bases``: the same with the other demands held still.
    """

    method: str
    settings: Mapping[str, Any]
    inputs: Mapping[str, str]
    items: int
    pools: int
    dimensions: pl.DataFrame
    bases: pl.DataFrame
    origin: str

    @property
    def lines(self) -> Calibration:
        """The lines for the ruler."""
        rows = self.dimensions.with_columns(code="dimension", source=pl.lit(self.origin), base=None)
        return Calibration.from_rows(rows.iter_rows(named=True))


def write_calibration(made: CalibrationResult, path: str | Path) -> None:
    """Write a calibration; nothing in it depends on when or where it was made."""
    write_text(Path(path), calibration_text(made))


def calibration_text(made: CalibrationResult) -> str:
    """Return the file's text."""
    rows = made.together.join(made.cover.drop("levels"), on="dimension", how="left", maintain_order="left")
    told = {
        "format": FORMAT,
        "version": VERSION,
        "method": made.method,
        "settings": dict(made.settings),
        "inputs": dict(made.inputs),
        "items": made.items.size,
        "pools": len(made.items.pools),
        "dimensions": _plain(rows),
        "bases": _plain(made.bases),
        "warnings": list(made.warnings),
    }
    return json.dumps(told, ensure_ascii=False, indent=1) + "\n"


def _plain(table: pl.DataFrame) -> list[dict[str, Any]]:
    return [
        {key: round(value, 6) if isinstance(value, float) else value for key, value in row.items()}
        for row in table.iter_rows(named=True)
    ]


def as_file(made: CalibrationResult) -> CalibrationFile:
    """Return a result as it would be read back from its file."""
    return _read(json.loads(calibration_text(made)), "this calibration")


def read_calibration_file(path: str | Path) -> CalibrationFile:
    """Read a calibration that :func:`write_calibration` wrote, or the folder or bases.csv of ``mensura calibrate``."""
    path = Path(path)
    if path.is_dir():
        path = path / "calibration.json"
    if path.suffix.lower() == ".csv":
        return _from_bases(path)
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MensuraError(f"{path}: no such file; expected a calibration.json of mensura calibrate") from None
    except (ValueError, OSError) as fault:
        raise MensuraError(
            f"{path}: not a calibration file ({fault}); expected the calibration.json of mensura calibrate"
        ) from fault
    return _read(told, str(path))


def _read(told: object, origin: str) -> CalibrationFile:
    """Check and read a file's content."""
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise MensuraError(f"{origin}: not a calibration file; expected the calibration.json of mensura calibrate")
    if told.get("version") != VERSION:
        raise MensuraError(
            f"{origin}: version {told.get('version')!r} of the format; expected {VERSION}. Run mensura calibrate again"
        )
    lacking = [key for key in ("method", "dimensions", "bases", "items", "pools") if key not in told]
    if lacking:
        raise MensuraError(f"{origin}: lacks {', '.join(lacking)}; write it again with mensura calibrate")
    return CalibrationFile(
        method=told["method"],
        settings=told.get("settings") or {},
        inputs=told.get("inputs") or {},
        items=told["items"],
        pools=told["pools"],
        dimensions=_table(origin, "dimensions", told["dimensions"]),
        bases=_table(origin, "bases", told["bases"]),
        origin=origin,
    )


def _table(origin: str, key: str, rows: object) -> pl.DataFrame:
    if (
        not isinstance(rows, list)
        or not rows
        or not all(isinstance(row, dict) and set(_ROW) <= set(row) for row in rows)
    ):
        raise MensuraError(f"{origin}: {key} must be a list of lines with {', '.join(_ROW)}")
    return pl.DataFrame(rows, infer_schema_length=None)


def _from_bases(path: Path) -> CalibrationFile:
    table = read_table(path)
    lacking = [column for column in _ROW if column not in table.columns]
    if lacking:
        raise MensuraError(f"{path}: missing column {', '.join(lacking)}; expected a bases.csv of mensura calibrate")
    return CalibrationFile("", {}, {}, 0, 0, table, table, origin=str(path))


def compare_calibrations(one: CalibrationFile, other: CalibrationFile) -> pl.DataFrame:
    """Return dimension, base, other_base, ratio, low, high, verdict, other_verdict for what both hold.

    ``ratio``: base over other base, with a 90% interval that takes the two as independent and log-normal; one of the
    same items is wider than need be. An interval without 1 says that they differ.
    """
    left, right = one.bases, other.bases
    both = left.join(right, on="dimension", how="inner", suffix="_other", maintain_order="left")
    if both.is_empty():
        raise MensuraError(
            f"calibrations: {one.origin} and {other.origin} share no dimension; give two with a common one"
        )
    rows = []
    for row in both.iter_rows(named=True):
        ratio = low = high = None
        if row["slope"] is not None and row["slope_other"] is not None:
            middle = row["slope"] - row["slope_other"]
            half = Z90 * math.hypot(_sd(row, ""), _sd(row, "_other"))
            ratio, low, high = 10.0**middle, 10.0 ** (middle - half), 10.0 ** (middle + half)
        rows.append(
            (row["dimension"], row["base"], row["base_other"], ratio, low, high, row["verdict"], row["verdict_other"])
        )
    names = ["dimension", "base", "other_base", "ratio", "low", "high", "verdict", "other_verdict"]
    types = [pl.String, *[pl.Float64] * 5, pl.String, pl.String]
    return pl.DataFrame(rows, schema=dict(zip(names, types, strict=True)), orient="row")


def _sd(row: Mapping[str, Any], suffix: str) -> float:
    low, high = row[f"low{suffix}"], row[f"high{suffix}"]
    return 0.0 if not low or not high else math.log10(high / low) / (2 * Z90)
