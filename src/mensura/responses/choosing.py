"""Which of the free items: spread along the difficulties, and balanced by content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask
from mensura.core.errors import MensuraError
from mensura.responses.result import ItemBank

_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
"""Multiples of it, less their whole parts, lie evenly between 0 and 1 however many there are."""


class Contents:
    """The content of every item, and how many more of each are wanted; taking an item counts down.

    A form takes items of each content in proportion to the usable ones, the largest remainders rounded up.
    """

    def __init__(self, bank: ItemBank, content: Mapping[str, str] | None, usable: Mask, size: int) -> None:
        missing = [] if content is None else [item for item in bank.items if item not in content]
        if missing:
            raise MensuraError(
                f"content: {len(missing)} items have none, such as {missing[0]!r}; give a content area for every item"
            )
        parts = [item.partition(":") for item in bank.items]
        self.kinds = (
            [part[0] if part[1] else "all" for part in parts] if content is None else [content[i] for i in bank.items]
        )
        counts = Counter(self.kinds[place] for place in np.flatnonzero(usable))
        exact = {kind: size * count / max(1, counts.total()) for kind, count in counts.items()}
        self._quota = {kind: min(counts[kind], int(share)) for kind, share in exact.items()}
        for kind in sorted(exact, key=lambda kind: exact[kind] - int(exact[kind]), reverse=True):
            if sum(self._quota.values()) < size and self._quota[kind] < counts[kind]:
                self._quota[kind] += 1

    @property
    def wanted(self) -> Mask:
        """Items of contents that are not full yet."""
        return np.array([self._quota.get(kind, 0) > 0 for kind in self.kinds], dtype=np.bool_)

    def take(self, place: int) -> None:
        """Count an item."""
        self._quota[self.kinds[place]] = self._quota.get(self.kinds[place], 0) - 1

    def among(self, free: Mask) -> Mask:
        """Return the free items of contents that are wanted, or all free ones where there is none."""
        wanted = free & self.wanted
        return wanted if wanted.any() else free


def difficulty_line(bank: ItemBank, mean: float) -> Ints:
    """Return the items' places from the hardest to the easiest for subjects of an ability."""
    return np.argsort(bank.chances(np.array([mean]))[:, 0], kind="stable").astype(np.int64)


def turn_share(number: int) -> float:
    """Return where along the line the item of a turn lies, from 0 to 1."""
    return float(((number + 1) * _GOLDEN) % 1.0)


def spread_place(density: Floats, line: Ints, share: float) -> int:
    """Return the item at a share of the whole density along a line; an item without density is none."""
    along = density[line]
    among = line[along > 0.0] if np.any(along > 0.0) else line
    total = np.cumsum(np.maximum(density[among], np.finfo(float).tiny))
    return int(among[min(int(np.searchsorted(total, share * total[-1], side="right")), len(among) - 1)])
