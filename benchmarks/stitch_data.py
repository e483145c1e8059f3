"""The stitching reference data, and the last line every measurement prints."""

from __future__ import annotations

import json

import polars as pl

from benchmarks import development_data


def table(name: str) -> pl.DataFrame:
    """Read one table of the stitching data."""
    return pl.read_csv(development_data("stitching", f"{name}.csv"), infer_schema_length=None)


def reference_scores() -> pl.DataFrame:
    """Return the 1,324 scores of the published fit."""
    return table("scores").filter(pl.col("in_reference_fit") == 1)


def finish(figures: dict[str, object]) -> None:
    """Print the one line of JSON that ends every measurement."""
    print(json.dumps(figures, ensure_ascii=False))
