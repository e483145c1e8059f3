"""A calibration as a result: bases with intervals and verdicts, the three stages, and lines for the ruler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.calibration.rated_items import RatedItems
from mensura.calibration.skill import RULER_COLUMNS
from mensura.core.arrays import Floats
from mensura.core.results import Result
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
