"""Learn the shipped priors of extrapolation again from the development pools.

Run from the project root: ``python -m tools.embed_priors ../shared/data/human``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

from mensura.extrapolation import cases_of, learn_priors
from mensura.extrapolation.line.descriptions import read_description
from mensura.extrapolation.line.facts import DATA
from mensura.people import ItemPool


def learned(human: Path) -> pl.DataFrame:
    folders = sorted(path for path in human.iterdir() if (path / "items.csv").is_file())
    pools = {folder.name: cases_of(ItemPool.read(folder), read_description(folder)) for folder in folders}
    tasks = {name: [case.revealed for case in cases] for name, cases in pools.items()}
    return learn_priors(tasks).with_columns(pl.col(pl.Float64).round(3)).sort("kind", "basis")


def main() -> None:
    table = learned(Path(sys.argv[1]))
    table.write_csv(DATA / "priors.csv")
    print(table)


if __name__ == "__main__":
    main()
