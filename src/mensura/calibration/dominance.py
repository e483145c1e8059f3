"""Which demand decides an item: the dominance filter, for single dimensions and for groups of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mensura.core.arrays import Floats, Mask


def dominant(levels: Floats) -> Mask:
    """Return items × dimensions: whether a demand is the item's highest; ties count for each.

    An item that demands nothing at all is dominated by nothing.
    """
    top = levels.max(axis=1, keepdims=True)
    return np.asarray((levels >= top) & (top > 0))


def group_levels(levels: Floats, dimensions: Sequence[str], groups: Mapping[str, Sequence[str]]) -> tuple[Floats, Mask]:
    """Return the level of every item in every group, and whether the group dominates it.

    A group dominates an item if any of its members does. Its level is the harmonic mean k / Σ 1/level over the k
    members that the item asks for at all: a member at 0 says nothing of how hard the others are, and with the zeros in,
    the mean of nearly every item would be 0. An item that asks for no member is at 0.
    """
    place = {code: at for at, code in enumerate(dimensions)}
    decides = dominant(levels)
    columns, masks = [], []
    for members in groups.values():
        at = [place[code] for code in members]
        asked = levels[:, at] > 0
        count = asked.sum(axis=1)
        inverse = (asked / np.where(asked, levels[:, at], 1.0)).sum(axis=1)
        columns.append(np.where(count > 0, count / np.where(count > 0, inverse, 1.0), 0.0))
        masks.append(decides[:, at].any(axis=1))
    return np.column_stack(columns), np.column_stack(masks)
