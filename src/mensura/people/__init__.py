"""People: item pools, groups, populations and world strata; readers of the formats human data comes in."""

from mensura.people.pool import ItemPool
from mensura.people.population import WORLD, Ability, Population
from mensura.people.rates import all_crossings, tabulate

__all__ = ["WORLD", "Ability", "ItemPool", "Population", "all_crossings", "tabulate"]
