"""The dimensions in which items make demands, and where borderline subjects belong: tables, as data files say them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import polars as pl

from mensura.core.frames import read_csv

DATA = Path(__file__).parent / "data"
UNGUESSABILITY = "UG"


@dataclass(frozen=True)
class Dimension:
    """One dimension: its code, the group it belongs to, and what it means.

    ``kind``: primordial, knowledge or extraneous, as the published framework sorts them, or what a user's own table
    says.
    """

    code: str
    group: str
    group_name: str
    name: str
    kind: str
    meaning: str


@lru_cache(maxsize=1)
def dimension_table() -> pl.DataFrame:
    """Return dimension, group, group_name, name, kind, meaning: eighteen that are annotated, and UG, computed."""
    return read_csv(DATA / "dimensions.csv")


@lru_cache(maxsize=1)
def boundary_table() -> pl.DataFrame:
    """Return topic, dimensions, rule: where subjects belong that annotators have put in different places."""
    return read_csv(DATA / "boundaries.csv")


@lru_cache(maxsize=1)
def annotated_dimensions() -> dict[str, Dimension]:
    """Return the eighteen dimensions by code, in the published order; Unguessability is computed and not among them."""
    rows = dimension_table().filter(pl.col("dimension") != UNGUESSABILITY).iter_rows()
    return {row[0]: Dimension(*row) for row in rows}
