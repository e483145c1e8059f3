"""Learn the shipped priors of extrapolation again from the development pools.

Run from the project root: ``python -m tools.embed_priors [SHARED_DATA]``. Only the few numbers learned are kept.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

from benchmarks.extrapolation_pools import DATA as DEVELOPMENT, development_pools
from mensura.core.files import write_csv
from mensura.extrapolation import learn_priors
from mensura.extrapolation.line.facts import DATA


def learned(data: Path) -> pl.DataFrame:
    tasks = {name: [case.revealed for case in found.cases] for name, found in development_pools(data).items()}
    return learn_priors(tasks).with_columns(pl.col(pl.Float64).round(3)).sort("kind", "basis")


def main() -> None:
    table = learned(Path(sys.argv[1]) if len(sys.argv) > 1 else DEVELOPMENT)
    write_csv(table, DATA / "priors.csv")
    print(table)


if __name__ == "__main__":
    main()
