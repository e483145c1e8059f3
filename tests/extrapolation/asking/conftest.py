"""A small task of our own making, with texts, options and keys."""

import numpy as np
import polars as pl
import pytest

from mensura.extrapolation.protocol import Task
from mensura.people import WORLD, Population

PUPILS = Population("pupils", "Pupils aged 15 of twelve schools in Portugal.", ages=(15, 15), countries=("PRT",))
ALL = Population("all", "Everybody tested: pupils aged 15 and their parents, in Portugal and Chile.")


def make_task(size: int = 12, reference: Population = WORLD, seed: int = 0, **changes: object) -> Task:
    """Items of rising difficulty answered by pupils; who is wanted is the world unless said otherwise."""
    rng = np.random.default_rng(seed)
    items = pl.DataFrame(
        {
            "item": [f"q{k}" for k in range(size)],
            "domain": ["arithmetic"] * size,
            "text": [f"How much is {k + 2} times {k + 7}?" for k in range(size)],
            "options": [f"{(k + 2) * (k + 7)} || {(k + 3) * (k + 7)} || {k + 9}" for k in range(size)],
            "key": [str((k + 2) * (k + 7)) for k in range(size)],
            "n_options": [3] * size,
        }
    )
    settings = {
        "items": items,
        "rate": np.round(np.sort(rng.uniform(0.15, 0.92, size))[::-1], 3),
        "n": np.full(size, 1234.0),
        "focal": PUPILS,
        "reference": reference,
        "links": np.full((1, size), np.nan),
        "links_n": np.full(size, np.inf),
        "share": np.zeros(size),
        "pool": "arithmetic pilot",
        "description": "A pilot test of arithmetic, 2024",
    }
    return Task(**{**settings, **changes})


@pytest.fixture
def new_task():
    return make_task


@pytest.fixture
def sample() -> Population:
    return ALL
