"""Small benchmarks and estimates, as users bring them."""

import numpy as np
import polars as pl
import pytest


@pytest.fixture
def items():
    """Fifty items with text, four options and a key."""
    rows = [
        {
            "id": f"q{n}",
            "question": f"What is {n} + {n}?",
            "choices": [str(2 * n), "1", "0", "-1"],
            "answer": str(2 * n),
        }
        for n in range(1, 51)
    ]
    return pl.DataFrame(rows)


@pytest.fixture
def said(items):
    """One estimate for every item, from 0.3 to 0.95."""
    rate = np.linspace(0.3, 0.95, items.height)
    return pl.DataFrame({"item": items["id"], "rate": rate, "low": rate - 0.15, "high": np.minimum(rate + 0.15, 1.0)})
