"""Items on given lines, for calibrations whose answer is known."""

import numpy as np
import polars as pl
import pytest

TABLE_16 = {
    "VO": (1.50, -0.55, 31.95, "High"),
    "AS": (1.24, 0.15, 17.19, "High"),
    "MC": (0.83, 0.50, 6.70, "Standard"),
    "KN": (0.71, 0.80, 5.08, "Standard"),
    "CL": (0.50, 0.27, 3.17, "Standard"),
    "AT": (0.48, 2.55, 2.99, "Standard"),
    "QL": (0.24, 0.97, 1.74, "Slow"),
    "CE": (0.20, 1.02, 1.60, "Slow"),
    "SN": (0.10, 1.95, 1.26, "Slow"),
}
"""The published lines: slope, intercept, base and class as printed."""
MEMBER = {
    "VO": "VO",
    "AS": "AS",
    "MC": "MCt",
    "KN": "KNn",
    "CL": "CL",
    "AT": "AT",
    "QL": "QLq",
    "CE": "CEc",
    "SN": "SNs",
}


def on_lines(lines, per_level=3, levels=(1, 2, 3, 4, 5)):
    """Rates and demands of items that each ask for one dimension and lie exactly on its line."""
    rows, told = [], []
    for code, (slope, intercept) in lines.items():
        for level in levels:
            rate = 10 ** (0.5 - slope * level - intercept)
            for k in range(per_level):
                item = f"{code}-{level}-{k}"
                rows.append((item, rate))
                told += [(item, other, level if other == code else 0) for other in lines]
    rates = pl.DataFrame(rows, schema=["item", "rate"], orient="row")
    return rates, pl.DataFrame(told, schema=["item", "dimension", "level"], orient="row")


@pytest.fixture
def simulated():
    """Four pools with known slopes in three dimensions, counted by 500 people, levels read twice without error."""
    rng = np.random.default_rng(5)
    slopes = {"KNn": 0.5, "QLl": 0.25, "VO": 0.1}
    codes = list(slopes)
    levels = rng.integers(0, 5, (320, 3))
    depth = 0.2 + levels @ np.array(list(slopes.values())) + 0.1 * rng.standard_normal(320)
    depth += np.repeat([0.2, -0.1, 0.0, -0.1], 80)
    rate = rng.binomial(500, 10.0 ** -np.maximum(depth, 0.0)) / 500
    items = [f"p{k // 80}:{k}" for k in range(320)]
    rates = pl.DataFrame({"item": items, "rate": rate, "n": 500})
    wide = pl.DataFrame({"item": items} | {code: levels[:, at] for at, code in enumerate(codes)})
    demands = pl.concat([wide.with_columns(annotator=pl.lit(name)) for name in ("a", "b")])
    return rates, demands, slopes
