"""Learn the shipped corrections from recorded part-to-whole estimates: ``python -m tools.embed_corrections [RECORDS]``.

``RECORDS``: a table with design, pool, group, item, observed, whole, estimate, low, high. Only the design with one
focal group per prompt is used. One row from all pools, and one without each pool, for those who judge that pool.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import polars as pl

from mensura.core.files import write_csv
from mensura.extrapolation.asking.correction import learn_correction

ROOT = Path(__file__).resolve().parents[1]
RECORDS = ROOT.parent / "shared" / "data" / "items" / "part_to_whole.csv"
TARGET = ROOT / "src" / "mensura" / "extrapolation" / "asking" / "data" / "corrections.csv"
DESIGN = "one-group-per-prompt"


def main() -> None:
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else RECORDS
    if not source.is_file():
        raise SystemExit(f"{source}: no recorded estimates here; give their file as the argument")
    records = pl.read_csv(source).filter(pl.col("design") == DESIGN)
    pools = records["pool"].unique(maintain_order=True)
    kept = {"none": records, **{pool: records.filter(pl.col("pool") != pool) for pool in pools}}
    rows = [{"without": without, **asdict(learn_correction(table))} for without, table in kept.items()]
    write_csv(pl.DataFrame(rows).with_columns(pl.col(pl.Float64).round(4)), TARGET)
    print(f"{len(rows)} corrections from {records.height} recorded estimates in {TARGET.name}")


if __name__ == "__main__":
    main()
