"""The stitching reference data, and the last line every measurement prints."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import polars as pl

DEFAULT = Path(__file__).parents[2] / "shared"


def parser(about: str | None) -> argparse.ArgumentParser:
    """Return a parser that knows where the development data lies."""
    arguments = argparse.ArgumentParser(description=about)
    arguments.add_argument("--shared", type=Path, default=DEFAULT, help="folder with the development data")
    return arguments


def table(shared: Path, name: str) -> pl.DataFrame:
    """Read one table of the stitching data, or stop with a clear message."""
    file = shared / "data" / "stitching" / f"{name}.csv"
    if not file.is_file():
        sys.exit(f"{file} not found: this measurement needs the reference data (option --shared FOLDER)")
    return pl.read_csv(file, infer_schema_length=None)


def reference_scores(shared: Path) -> pl.DataFrame:
    """Return the 1,324 scores of the published fit."""
    return table(shared, "scores").filter(pl.col("in_reference_fit") == 1)


def finish(figures: dict[str, object]) -> None:
    """Print the one line of JSON that ends every measurement."""
    print(json.dumps(figures, ensure_ascii=False))
