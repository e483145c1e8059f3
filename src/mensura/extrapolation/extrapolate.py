"""``mensura.extrapolate``: the rates of a pool's group, carried to another population by a named method."""

from __future__ import annotations

from collections.abc import Callable

from mensura.errors import MensuraError
from mensura.extrapolation.extrapolators import STATISTICAL, factory
from mensura.extrapolation.poststratification import PostStratification
from mensura.extrapolation.protocol import Extrapolation, Extrapolator
from mensura.people import ItemPool, Population, World, describe, population_of

METHODS: dict[str, Callable[..., Extrapolator]] = {
    "poststratification": PostStratification,
    **{name: factory(name) for name in STATISTICAL},
}


def extrapolate(
    pool: ItemPool,
    *,
    to: Population | str = "world",
    group: str = "all",
    focal: Population | str | None = None,
    method: str = "poststratification",
    world: World | None = None,
    **settings: object,
) -> Extrapolation:
    """Return the rates that ``to`` would have on the items of ``pool``, given those of one of its groups.

    ``focal`` says who the group is; when not given, the pool's covariates do. Populations are given as such or by
    name (``"world"``, ``"pisa"``, ``"Japan"``). ``world`` swaps the world tables; ``settings`` go to the method
    (``draws``, ``seed``, ``level``, ``domain``; ``links``, ``difference``, ``kind`` of the statistical ones).
    """
    world = world or World.load()
    if method not in METHODS:
        raise MensuraError(f"unknown method {method!r}; there are {', '.join(METHODS)}")
    rates = pool.rates_of(group)
    if focal is None:
        focal = population_of(group, describe(pool, world), world)
    focal, reference = (world.population(who) if isinstance(who, str) else who for who in (focal, to))
    return METHODS[method](world=world, **settings).predict(pool.items, rates, focal, reference)
