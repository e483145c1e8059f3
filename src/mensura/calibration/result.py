"""A calibration as a result: bases with intervals and verdicts, the three stages, and lines for the ruler.

A calibration as a file: bases, method and inputs; read by the ruler, compared with another.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.calibration.items import RatedItems
from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.core.files import write_text
from mensura.core.frames import require_columns
from mensura.core.results import Result
from mensura.intake.tables import read_table
from mensura.scale import Calibration

BASE_COLUMNS: Mapping[str, Any] = {
    "dimension": pl.String,
    **dict.fromkeys(("slope", "intercept", "base", "low", "high", "r2"), pl.Float64),
    "n_items": pl.Int64,
    "verdict": pl.String,
}
STAGE_COLUMNS: Mapping[str, Any] = {
    "dimension": pl.String,
    **dict.fromkeys(("level", "n"), pl.Int64),
    **dict.fromkeys(("empirical", "line", "aligned"), pl.Float64),
}
RULER_COLUMNS: Mapping[str, Any] = {
    "dimension": pl.String,
    "pools": pl.Int64,
    **dict.fromkeys(("skill", "largest"), pl.Float64),
    "ruler": pl.Boolean,
}
FORMAT, VERSION = "mensura calibration", 1
_ROW = ("dimension", "slope", "intercept", "verdict")


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationResult(Result):
    """The calibrated dimensions.

    Attributes
    ----------
    bases
        dimension, slope, intercept, base, low, high (90%, of the base), r2, n_items, verdict; the other demands fixed.
    together
        The same with the other demands moving along as they do in the items, as in the published procedure (and for it
        the same table): what a level of the dimension means for items as they are.
    stages
        Per dimension and annotated level the number of items that it decides, their mean ``empirical`` level (stage 1:
        against the level itself), the ``line`` there (stage 2), and the level ``aligned`` by base and intercept, slope
        · level + intercept (stage 3: empirical against it lies on the diagonal).
    cover
        dimension, name, lowest and highest level with items enough, number of levels.
    spreads
        Errors and differences that the model found (empty for the published procedure).
    rulers
        dimension, pools, skill, largest, ruler: whether a dimension orders the items of pools left out better than the
        largest demand does.
    method, items, inputs, settings, warnings
        How it was made: the method, the items, fingerprints of rates and demands, settings and warnings.
    item_levels
        The empirical level of each item, Mensura's without guessing.
    slope_draws, intercept_draws
        Of the lines of ``together``, draws × dimensions.

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
        joined = self.together.select("dimension", "base").join(raw, on="dimension", how="left", maintain_order="left")
        return joined.select("dimension", pl.col("n").fill_null(0), "base", pl.col("base_raw").fill_nan(None))

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


@dataclass(frozen=True, eq=False)
class CalibrationFile:
    """A calibration read from a file.

    Attributes
    ----------
    dimensions
        The lines of items as they are (other demands moving along): dimension, name, slope, intercept, base, low, high,
        r2, n_items, verdict, lowest, highest.
    bases
        The same with the other demands fixed.
    origin
        Where it comes from.
    inputs
        Fingerprints of its rates and demands.

    """

    dimensions: pl.DataFrame
    bases: pl.DataFrame
    origin: str
    inputs: Mapping[str, str] = field(default_factory=dict)

    @property
    def lines(self) -> Calibration:
        """The lines for the ruler."""
        rows = self.dimensions.with_columns(code="dimension", source=pl.lit(self.origin), base=None)
        return Calibration.from_rows(rows.iter_rows(named=True))


def write_calibration(made: CalibrationResult, path: str | Path) -> None:
    """Write a calibration; nothing in the file depends on when or where it was made.

    Parameters
    ----------
    made
        The result of :func:`mensura.calibrate`.
    path
        The file, such as calibration.json.

    Returns
    -------
    None

    Examples
    --------
    >>> from mensura.calibration import write_calibration
    >>> write_calibration(calibration, "calibration.json")  # doctest: +SKIP

    """
    write_text(Path(path), calibration_text(made))


def calibration_text(made: CalibrationResult) -> str:
    """Return the text of the file that :func:`write_calibration` writes."""
    rows = made.together.join(made.cover.drop("levels"), on="dimension", how="left", maintain_order="left")
    content = {
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
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _plain(table: pl.DataFrame) -> list[dict[str, Any]]:
    return table.with_columns(pl.selectors.float().round(6)).to_dicts()


def read_calibration_file(path: str | Path) -> CalibrationFile:
    """Read a calibration that Mensura wrote.

    Parameters
    ----------
    path
        The calibration.json of :func:`write_calibration`, the folder of ``mensura calibrate --out``, or a table of
        lines in any format, such as its bases.csv.

    Returns
    -------
    CalibrationFile
        Its lines and bases.

    Raises
    ------
    MensuraError
        If the file is missing, damaged or something else.

    Examples
    --------
    >>> from mensura.calibration import read_calibration_file
    >>> read_calibration_file("mine/calibration.json").lines  # doctest: +SKIP

    """
    path = Path(path)
    if path.is_dir():
        path = path / "calibration.json"
    if path.suffix.lower() != ".json":
        table = read_table(path)
        require_columns(table, _ROW, name=str(path))
        return CalibrationFile(table, table, str(path))
    expected = "expected the calibration.json of mensura calibrate"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MensuraError(f"{path}: no such file; {expected}") from None
    except (ValueError, OSError) as fault:
        raise MensuraError(f"{path}: not a calibration file ({fault}); {expected}") from fault
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise MensuraError(f"{path}: not a calibration file; {expected}")
    if content.get("version") != VERSION:
        raise MensuraError(
            f"{path}: version {content.get('version')!r} of the format; expected {VERSION}. Run mensura calibrate again"
        )
    lacking = [key for key in ("method", "dimensions", "bases", "items", "pools") if key not in content]
    if lacking:
        raise MensuraError(f"{path}: lacks {', '.join(lacking)}; write it again with mensura calibrate")
    lines, bases = (_line_table(content[key], f"{path}: {key}") for key in ("dimensions", "bases"))
    return CalibrationFile(lines, bases, str(path), content.get("inputs") or {})


def _line_table(rows: Any, name: str) -> pl.DataFrame:
    whole = isinstance(rows, list) and rows and all(isinstance(row, dict) and set(_ROW) <= set(row) for row in rows)
    if not whole:
        raise MensuraError(f"{name} must be a list of lines with {', '.join(_ROW)}")
    return pl.DataFrame(rows, infer_schema_length=None)
