"""Subgroups from covariates: bands of numbers, and a population for a group of a pool."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from mensura.errors import MensuraError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mensura.people.population import Population
    from mensura.people.world import World

COUNTRY_WORDS = ("country", "country_group", "nation")


def add_bands(persons: pl.DataFrame, covariate: str, edges: Sequence[int]) -> pl.DataFrame:
    """Add ``COVARIATE_band``: edges 18, 25, 50 give ``under 18``, ``18-24``, ``25-49``, ``50+``."""
    if covariate not in persons.columns:
        have = ", ".join(name for name in persons.columns if name != "person")
        raise MensuraError(f"no covariate {covariate!r} to band; there are {have}")
    if not persons[covariate].dtype.is_numeric():
        raise MensuraError(f"covariate {covariate!r} is not a number, so it has no bands")
    if not edges or list(edges) != sorted(set(edges)):
        raise MensuraError(f"edges of {covariate!r} must rise, got {', '.join(map(str, edges)) or 'none'}")
    labels = [f"under {edges[0]}"]
    labels += [f"{low}-{high - 1}" for low, high in pairwise(edges)]
    labels.append(f"{edges[-1]}+")
    band = pl.col(covariate).cast(pl.Float64).cut([float(edge) for edge in edges], labels=labels, left_closed=True)
    return persons.with_columns(band.cast(pl.String).alias(f"{covariate}_band"))


def population_of(group: str, whole: Population, world: World) -> Population:
    """Return the population of one group of a pool, given that of the whole pool.

    ``country=AUS`` narrows the countries, ``age_band=18-24`` the ages; of any other covariate the world
    tables know nothing, and the group is described in prose only.
    """
    if "=" not in group:
        return whole
    covariate, level = group.split("=", 1)
    prose = f"{whole.prose} Of these, those with {covariate.replace('_', ' ')} {level.replace('_', ' ')}."
    if covariate in COUNTRY_WORDS:
        code = world.country(level)
        return whole.with_(name=group, prose=prose, countries=(code,), shares=(), ability=None)
    if covariate in ("age", "age_band"):
        return whole.with_(name=group, prose=prose, ages=_ages(level), ability=None)
    return whole.with_(name=group, prose=prose)


def _ages(level: str) -> tuple[int, int]:
    """Read ``18-24``, ``50+``, ``under 18`` or ``37`` as a range of ages."""
    text = level.replace("–", "-").strip()
    try:
        if text.startswith("under "):
            return 0, int(text.removeprefix("under ")) - 1
        if text.endswith("+"):
            return int(text[:-1]), 120
        first, _, last = text.partition("-")
        return int(first), int(last or first)
    except ValueError as fault:
        raise MensuraError(f"age group {level!r}: expected a form such as 18-24, 50+ or 37") from fault
