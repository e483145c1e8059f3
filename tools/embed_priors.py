"""Learn the shipped priors of extrapolation again from the development pools.

Run from the project root: ``python -m tools.embed_priors``. Only the few numbers learned are kept.
"""

from __future__ import annotations

import polars as pl

from benchmarks.extrapolation_pools import development_pools
from mensura.core.files import write_csv
from mensura.extrapolation.facts import DATA
from tools.learn_priors import learn_priors


def learned() -> pl.DataFrame:
    tasks = {name: [case.revealed for case in found.cases] for name, found in development_pools().items()}
    return learn_priors(tasks).with_columns(pl.col(pl.Float64).round(3)).sort("kind", "basis")


def main() -> None:
    table = learned()
    write_csv(table, DATA / "priors.csv")
    print(table)


if __name__ == "__main__":
    main()
