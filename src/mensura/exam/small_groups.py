"""Small groups of people stay hidden, also from a reader who subtracts the shown groups from the total."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import TypeVar

LEAST_SHOWN = 5
"""A group of fewer people is not shown."""
Group = TypeVar("Group")


def hidden_groups(counts: Mapping[Group, int]) -> set[Group]:
    """Return the groups of one question that tables leave out; ``counts``: people by group, all people in one.

    These are the groups of fewer than five. The total minus the shown groups would tell what they hide together. So
    the next larger groups are hidden, too, until two groups with five people or more are.
    """
    rising = sorted(counts, key=lambda group: counts[group])
    hidden = {group for group in rising if counts[group] < LEAST_SHOWN}
    for group in rising:
        inside = [counts[one] for one in hidden if counts[one]]
        if not inside or (len(inside) > 1 and sum(inside) >= LEAST_SHOWN):
            break
        hidden.add(group)
    return hidden


def shared_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """Return the weights as tables show them, each shared by five people or more: the mean of neighbours.

    People with the same answers about themselves have the same weight. A weight that few share would point at them.
    """
    rising = sorted(weights, key=lambda person: weights[person])
    groups: list[list[str]] = []
    for _, alike in groupby(rising, key=lambda person: round(weights[person], 9)):
        if groups and len(groups[-1]) < LEAST_SHOWN:
            groups[-1].extend(alike)
        else:
            groups.append(list(alike))
    if len(groups) > 1 and len(groups[-1]) < LEAST_SHOWN:
        groups[-2:] = [groups[-2] + groups[-1]]
    return {person: sum(weights[one] for one in group) / len(group) for group in groups for person in group}
