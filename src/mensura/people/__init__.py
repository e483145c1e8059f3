"""People: item pools, groups, populations and the strata of the world.

In: published files of human answers (SPSS, R, fixed width, CSV) or tables of rates. Out: an :class:`ItemPool` with
rates by group, and a :class:`World` of strata.
Read first: ``pool`` (items, persons, answers), ``tidy`` (its folder), ``harmonising`` (codes to answers, with a log),
``rates`` (rates with errors), ``world`` and ``strata`` (populations, all people alive), ``groups`` (who was tested).
"""

from typing import TYPE_CHECKING

from mensura.core.exports import on_first_use

if TYPE_CHECKING:
    from mensura.people.groups import describe as describe, parse_ages as parse_ages, population_of as population_of
    from mensura.people.harmonising import (
        HarmonisingRules as HarmonisingRules,
        harmonise as harmonise,
        read_points as read_points,
        screen as screen,
    )
    from mensura.people.pool import Administration as Administration, ItemPool as ItemPool
    from mensura.people.rates import tabulate as tabulate
    from mensura.people.strata import cells_of as cells_of
    from mensura.people.world import WORLD as WORLD, Ability as Ability, Population as Population, World as World

__getattr__, __dir__, __all__ = on_first_use(__name__, __file__)
