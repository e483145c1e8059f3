"""Responses drawn from known items and abilities."""

from typing import NamedTuple

import numpy as np
import polars as pl
import pytest


class Drawn(NamedTuple):
    """A wide table of responses and what they were drawn from."""

    wide: pl.DataFrame
    slope: np.ndarray
    intercept: np.ndarray
    ability: np.ndarray


def draw(subjects, items, seed=0, *, guessing=0.0, mean=0.0, sd=1.0, slope=None, intercept=None, name="s"):
    """Draw responses of one group; columns subject and i0, i1, …"""
    rng = np.random.default_rng(seed)
    slope = np.exp(rng.normal(0.0, 0.3, items)) if slope is None else slope
    intercept = rng.normal(0.0, 1.0, items) if intercept is None else intercept
    ability = mean + sd * rng.normal(size=subjects)
    chance = guessing + (1.0 - guessing) / (1.0 + np.exp(-(ability[:, None] * slope + intercept)))
    right = (rng.random(chance.shape) < chance).astype(np.int8)
    columns = {f"i{place}": right[:, place] for place in range(items)}
    return Drawn(
        pl.DataFrame({"subject": [f"{name}{row}" for row in range(subjects)], **columns}), slope, intercept, ability
    )


def as_long(wide):
    """The same responses, one row each."""
    index = [column for column in ("subject", "group") if column in wide.columns]
    return wide.unpivot(index=index, variable_name="item", value_name="correct")


@pytest.fixture(scope="session")
def drawn():
    return draw(1500, 40, seed=3)
