"""Learn the shipped corrections from recorded part-to-whole estimates: ``python -m tools.embed_corrections``.

Of the recorded estimates in the development data, it uses the design with one focal group per prompt. One row is from
all pools, and one without each pool, for those who judge that pool.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import polars as pl

from benchmarks import development_data
from mensura.core.files import write_csv
from tools.learn_correction import learn_correction

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "src" / "mensura" / "extrapolation" / "data" / "corrections.csv"
DESIGN = "one-group-per-prompt"


def main() -> None:
    records = pl.read_csv(development_data("items", "part_to_whole.csv")).filter(pl.col("design") == DESIGN)
    pools = records["pool"].unique(maintain_order=True)
    kept = {"none": records, **{pool: records.filter(pl.col("pool") != pool) for pool in pools}}
    rows = [{"without": without, **asdict(learn_correction(table))} for without, table in kept.items()]
    write_csv(pl.DataFrame(rows).with_columns(pl.col(pl.Float64).round(4)), TARGET)
    print(f"{len(rows)} corrections from {records.height} recorded estimates in {TARGET.name}")


if __name__ == "__main__":
    main()
