"""A calibration as a result: bases with intervals and verdicts, the three stages, and lines for the ruler.

A calibration as a file: what was found, how, from which inputs; read by the ruler, compared with another.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.calibration.inputs import Z90
from mensura.calibration.items import RatedItems
from mensura.calibration.skill import RULER_COLUMNS
from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.core.files import write_text
from mensura.core.results import Result
from mensura.intake.tables import read_table
from mensura.scale import Calibration

BASE_COLUMNS: Mapping[str, Any] = {
    "dimension": pl.String,
    "slope": pl.Float64,
    "intercept": pl.Float64,
    "base": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "r2": pl.Float64,
    "n_items": pl.Int64,
    "verdict": pl.String,
}
STAGE_COLUMNS: Mapping[str, Any] = {
    "dimension": pl.String,
    "level": pl.Int64,
    "n": pl.Int64,
    "empirical": pl.Float64,
    "line": pl.Float64,
    "aligned": pl.Float64,
}


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationResult(Result):
    """The calibrated dimensions.

    ``bases``: dimension, slope, intercept, base, low, high (90%, of the base), r2, n_items, verdict; the other demands
    held still. ``together``: the same with the other demands moving along as they do in the items, as in the published
    procedure (and for it the same table): what a level of the dimension means for items as they are. ``stages``: per
    dimension and annotated level the number of items that it decides, their mean ``empirical`` level (stage 1: against
    the level itself), the ``line`` there (stage 2), and the level ``aligned`` by base and intercept, slope · level +
    intercept (stage 3: empirical against it lies on the diagonal). ``cover``: dimension, name, lowest and highest level
    with items enough, number of levels. ``item_levels``: the empirical level of each item, ours without guessing.
    ``slope_draws``, ``intercept_draws``: of the lines of ``together``, draws × dimensions. ``spreads``: what the model
    found of errors and differences (empty for the published procedure). ``rulers``: dimension, pools, skill, largest,
    ruler: whether a dimension orders the items of pools left out better than the largest demand does. ``inputs``:
    fingerprints of rates and demands.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("bases", "together", "stages", "cover", "spreads", "rulers")

    bases: pl.DataFrame
    together: pl.DataFrame
    stages: pl.DataFrame
    cover: pl.DataFrame
    spreads: pl.DataFrame
    method: str
    items: RatedItems
    item_levels: Floats
    slope_draws: Floats
    intercept_draws: Floats
    rulers: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=RULER_COLUMNS))
    inputs: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """Method, items and pools."""
        pools = len(self.items.pools)
        return (
            f"Calibration ({self.method}): {self.items.size:,} items, {pools} pool{'s' if pools != 1 else ''}; "
            "base: factor by which world success falls per level, with its 90% interval"
        )

    @property
    def lines(self) -> Calibration:
        """The lines for the ruler, of items as they are; dimensions without an identified base are unusable."""
        rows = self.together.join(self.cover, on="dimension", how="left", maintain_order="left")
        return Calibration.from_rows(rows.with_columns(code="dimension", base=None).iter_rows(named=True))

    def raw_lines(self) -> pl.DataFrame:
        """Return dimension, n, base, base_raw: the base, and that of a regression on the items that it decides.

        Level means count every level alike; the items themselves count levels by their number of items.
        """
        slope = pl.cov("level", "empirical") / pl.var("level")
        raw = self.points().group_by("dimension").agg(n=pl.len(), base_raw=10.0**slope)
        found = self.together.select("dimension", "base").join(raw, on="dimension", how="left", maintain_order="left")
        return found.select("dimension", pl.col("n").fill_null(0), "base", pl.col("base_raw").fill_nan(None))

    def points(self) -> pl.DataFrame:
        """Return dimension, item, level, empirical: every item under each dimension that decides it."""
        rows, at = np.nonzero(self.items.deciding)
        names = np.array(self.items.dimensions)
        return pl.DataFrame(
            {
                "dimension": names[at],
                "item": np.array(self.items.items)[rows],
                "level": self.items.levels[rows, at],
                "empirical": self.item_levels[rows],
            }
        )


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
