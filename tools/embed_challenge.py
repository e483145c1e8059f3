"""Write src/mensura/baseline/data/challenge: a simulated pool, so that everybody can try the challenge of estimators.

Run: python -m tools.embed_challenge. Items, people and rates are simulated. The pool is open, so its key is beside it.
"""

from __future__ import annotations

import tempfile
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl

from mensura.baseline.challenge import SIMULATED, seal_pool
from mensura.core.arrays import expit

PEOPLE = {"university students in Germany": 0.6, "crowd workers": 0.2, "pupils in grade 8": -0.5}
ITEMS, COUNT = 20, 150


def main() -> None:
    """Simulate sums of growing length, and seal the share of people who add them up correctly."""
    rng = np.random.default_rng(20261118)
    rows = []
    for place in range(ITEMS):
        numbers = rng.integers(2, 10 ** (1 + place // 7), size=2 + place // 4)
        hard = 0.35 * len(numbers) + 0.5 * np.log10(numbers.mean()) - 1.2 + rng.normal(0, 0.4)
        text, key = " + ".join(map(str, numbers)) + " = ?", str(numbers.sum())
        for people, ability in PEOPLE.items():
            right = rng.binomial(COUNT, expit(ability - 2 * hard + 1.5))
            rows.append((f"sum-{place + 1:02}", people, text, key, right / COUNT, COUNT))
    columns = ["item", "population", "text", "key", "rate", "n"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rates.csv"
        pl.DataFrame(rows, schema=columns, orient="row").write_csv(file)
        pool = seal_pool(file, SIMULATED, date(2026, 11, 18), salt="simulated, so that anybody can open it")
    print(f"wrote {SIMULATED.name}: {pool.items.height} items, seal {pool.seal[:16]}")


if __name__ == "__main__":
    main()
