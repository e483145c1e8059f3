"""The example pool with rates: our own items and imagined people, so that every command can be tried offline."""

from __future__ import annotations

from pathlib import Path

from mensura.core.frames import read_csv
from mensura.demands.views import item_table
from mensura.extrapolation.line.descriptions import read_description
from mensura.people import ItemPool

EXAMPLE = Path(__file__).parent / "data" / "example"
NAME = "example"


def example_description() -> str:
    """Return what the example's folder says of the people."""
    return read_description(EXAMPLE)


def example_pool() -> ItemPool:
    """Return the shipped example: sixteen items, two imagined groups; nobody was tested."""
    return ItemPool.from_rates(NAME, item_table(NAME), read_csv(EXAMPLE / "group_rates.csv"))
