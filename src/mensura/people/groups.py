"""Groups of people: bands of covariates, and the population that a pool or one of its groups stands for."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError
from mensura.people.pool import ItemPool
from mensura.people.world import OLDEST, Population, World

COUNTRY_WORDS = ("country", "country_group", "nation", "cnt", "cntry")
"""Names of the covariate that holds countries, in small letters; PISA has CNT."""
SCHOOL_AGE = 18


def banded(values: pl.Series, edges: Sequence[float], labels: Sequence[str]) -> pl.Series:
    """Return the label of each value's band; band i + 1 starts at ``edges[i]``. Unknown stays unknown."""
    numbers = values.cast(pl.Float64).fill_nan(None)
    place = np.searchsorted(np.asarray(edges, dtype=float), numbers.fill_null(0).to_numpy(), side="right")
    return pl.Series(values.name, labels, dtype=pl.String).gather(place).set(numbers.is_null(), None)


def describe(pool: ItemPool, world: World) -> Population:
    """Describe the population of a whole pool by its covariates: countries with their shares, and ages.

    Parameters
    ----------
    pool
        An item pool.
    world
        The world tables, which know the countries.

    Returns
    -------
    Population
        Everyone counts as a pupil where nobody is older than 18.

    Raises
    ------
    MensuraError
        If neither countries nor ages are among the covariates.

    Examples
    --------
    >>> from mensura import ItemPool
    >>> from mensura.people import World, describe
    >>> persons = {"person": [1, 2], "country": ["DEU", "DEU"]}
    >>> pool = ItemPool.from_answers("mine", {"item": ["q"]}, {"person": [1, 2], "q": [1, 0]}, persons, by=["country"])
    >>> describe(pool, World.load()).countries
    ('DEU',)

    """
    countries = _countries(pool, world)
    ages = _age_range(pool)
    if not countries and ages is None:
        raise MensuraError(
            f"pool {pool.name!r}: neither countries nor ages among its covariates say who was tested; "
            "name the population (for example --from pisa)"
        )
    low, high = ages or (15, OLDEST)
    where = ", ".join(countries) or "unknown countries"
    given = f" The test was given in {pool.administration}." if pool.administration.known else ""
    return Population(
        name=pool.name,
        prose=f"The people tested in {pool.name}: aged {low} to {high}, in {where}.{given}",
        ages=(low, high),
        countries=tuple(countries),
        shares=tuple(countries.values()),
        in_school=high <= SCHOOL_AGE,
        year=pool.administration.year,
        language=pool.administration.language,
    )


def population_of(group: str, whole: Population, world: World) -> Population:
    """Return the population of one group of a pool, given that of the whole pool.

    Parameters
    ----------
    group
        ``country=AUS`` narrows the countries, ``age_band=18-24`` the ages. Of any other covariate the world tables know
        nothing, and the group is described in prose only.
    whole
        The population of the pool.
    world
        The world tables.

    Returns
    -------
    Population
        The group.

    Raises
    ------
    MensuraError
        If the country or the ages are not understood.

    Examples
    --------
    >>> from mensura.people import WORLD, World, population_of
    >>> population_of("age=18-24", WORLD, World.load()).ages
    (18, 24)

    """
    if "=" not in group:
        return whole
    covariate, level = group.split("=", 1)
    prose = f"{whole.prose} Of these, those with {covariate.replace('_', ' ')} {level.replace('_', ' ')}."
    if covariate.casefold() in COUNTRY_WORDS:
        return whole.with_(name=group, prose=prose, countries=(world.country(level),), shares=(), ability=None)
    if covariate in ("age", "age_band"):
        return whole.with_(name=group, prose=prose, ages=parse_ages(level), ability=None)
    return whole.with_(name=group, prose=prose)


def parse_ages(level: str) -> tuple[int, int]:
    """Read a range of ages.

    Parameters
    ----------
    level
        ``18-24``, ``50+``, ``under 18`` or ``37``.

    Returns
    -------
    tuple
        The youngest and the oldest age.

    Raises
    ------
    MensuraError
        If the text has another form.

    Examples
    --------
    >>> from mensura.people import parse_ages
    >>> parse_ages("under 18")
    (0, 17)

    """
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


def _countries(pool: ItemPool, world: World) -> dict[str, float]:
    """Return the answers given per country, from the rates by country or the persons."""
    persons = pl.DataFrame() if pool.persons is None else pool.persons
    for word in COUNTRY_WORDS:
        rates = pool.rates.filter(pl.col("covariate").str.to_lowercase() == word)
        column = next((name for name in persons.columns if name.casefold() == word), None)
        if rates.height:
            counts = rates.group_by("group").agg(pl.col("n").sum()).sort("group").iter_rows()
            named = [(str(group).split("=", 1)[-1], float(n)) for group, n in counts]
        elif column is not None:
            named = [(str(name), float(n)) for name, n in persons[column].drop_nulls().value_counts().iter_rows()]
        else:
            continue
        return {world.country(name): n for name, n in named if world.knows(name)}
    return {}


def _age_range(pool: ItemPool) -> tuple[int, int] | None:
    """Return the ages between which all but a hundredth of the persons lie."""
    if pool.persons is None or "age" not in pool.persons.columns or not pool.persons["age"].dtype.is_numeric():
        return None
    ages = pool.persons["age"].drop_nulls()
    if ages.is_empty():
        return None
    low, high = (ages.quantile(share, interpolation="nearest") for share in (0.005, 0.995))
    return int(low or 0), int(high or OLDEST)
