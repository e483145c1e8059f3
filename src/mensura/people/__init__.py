"""People: item pools, groups, populations and the strata of the world.

In: published files of human answers (SPSS, R, fixed width, CSV) or tables of rates. Out: an :class:`ItemPool` with
rates by group, and a :class:`World` of strata.
Read first: ``pool`` (items, persons, answers), ``readers`` (file formats), ``harmonise`` and ``tidy`` (codes become
answers, with a log), ``rates`` and ``groups`` (rates with errors), ``population`` (a described group), ``world`` and
``strata`` (all people alive).
"""

from mensura.people.administration import Administration
from mensura.people.cells import cells_of
from mensura.people.groups import add_bands, describe, parse_ages, population_of
from mensura.people.harmonise import HarmonisingRules, harmonise, read_points, screen
from mensura.people.pool import ItemPool
from mensura.people.population import WORLD, Ability, Population
from mensura.people.rates import all_crossings, tabulate
from mensura.people.readers import PublishedTable, choose_columns, read_raw, split_persons, widen_answers
from mensura.people.world import World

__all__ = [
    "WORLD",
    "Ability",
    "Administration",
    "HarmonisingRules",
    "ItemPool",
    "Population",
    "PublishedTable",
    "World",
    "add_bands",
    "all_crossings",
    "cells_of",
    "choose_columns",
    "describe",
    "harmonise",
    "parse_ages",
    "population_of",
    "read_points",
    "read_raw",
    "screen",
    "split_persons",
    "tabulate",
    "widen_answers",
]
