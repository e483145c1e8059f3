"""People: item pools, groups, populations and the strata of the world.

In: published files of human answers (SPSS, R, fixed width, CSV) or tables of rates. Out: an :class:`ItemPool` with
rates by group, and a :class:`World` of strata.
Read first: ``pool`` (items, persons, answers), ``tidy`` (its folder), ``harmonise`` (codes become answers, with a log),
``rates`` (rates with errors), ``world`` and ``strata`` (populations, all people alive), ``groups`` (who was tested).
"""

from mensura.people.groups import add_bands, describe, parse_ages, population_of
from mensura.people.harmonise import HarmonisingRules, harmonise, read_points, screen
from mensura.people.pool import Administration, ItemPool
from mensura.people.rates import all_crossings, tabulate
from mensura.people.strata import cells_of
from mensura.people.world import WORLD, Ability, Population, World

__all__ = [
    "WORLD",
    "Ability",
    "Administration",
    "HarmonisingRules",
    "ItemPool",
    "Population",
    "World",
    "add_bands",
    "all_crossings",
    "cells_of",
    "describe",
    "harmonise",
    "parse_ages",
    "population_of",
    "read_points",
    "screen",
    "tabulate",
]
