"""Which of the free items: the most informative ones, or some that are spread along the difficulties, by content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask
from mensura.core.errors import MensuraError
from mensura.responses.bank import ItemBank

_ROOM = 3
"""Exposure: an item is drawn among this many times the items wanted."""
_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
"""Multiples of it, less their whole parts, lie evenly between 0 and 1 however many there are."""


@dataclass
class Contents:
    """The content of every item, and how many more of each are wanted; taking an item counts down."""

    kinds: list[str]
    quota: dict[str, int]

    @classmethod
    def of(cls, bank: ItemBank, content: Mapping[str, str] | None, usable: Ints, size: int) -> Contents:
        """Return the contents of a bank with quotas for ``size`` items of the usable ones."""
        kinds = _contents(bank, content)
        return cls(kinds, _quotas(kinds, usable, size))

    @property
    def wanted(self) -> Mask:
        """Items of contents that are not full yet."""
        return np.array([self.quota.get(kind, 0) > 0 for kind in self.kinds], dtype=np.bool_)

    def take(self, place: int) -> None:
        """Count an item."""
        self.quota[self.kinds[place]] = self.quota.get(self.kinds[place], 0) - 1

    def among(self, free: Mask) -> Mask:
        """Return the free items of contents that are wanted, or all free ones where there is none."""
        wanted = free & self.wanted
        return wanted if wanted.any() else free


def best_places(
    information: Floats, free: Mask, contents: Contents, count: int, exposure: np.random.Generator | None
) -> list[int]:
    """Return the places of the most informative items, or some drawn among three times as many."""
    chosen: list[int] = []
    while len(chosen) < count:
        left = free.copy()
        left[chosen] = False
        if not left.any():
            break
        places = np.flatnonzero(contents.among(left))
        ranked = places[np.argsort(-information[places], kind="stable")]
        one = int(ranked[0] if exposure is None else exposure.choice(ranked[: _ROOM * count]))
        chosen.append(one)
        contents.take(one)
    return chosen


def spread_places(
    line: Ints,
    density: Floats,
    free: Mask,
    contents: Contents,
    turns: range,
    exposure: np.random.Generator | None,
) -> list[int]:
    """Return the places of items that are spread along a line, one per turn."""
    chosen: list[int] = []
    for turn in turns:
        left = free.copy()
        left[chosen] = False
        if not left.any():
            break
        share = turn_share(turn) if exposure is None else float(exposure.random())
        one = spread_place(np.where(contents.among(left), density, 0.0), line, share)
        chosen.append(one)
        contents.take(one)
    return chosen


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


def _contents(bank: ItemBank, content: Mapping[str, str] | None) -> list[str]:
    if content is None:
        return [item.partition(":")[0] if ":" in item else "all" for item in bank.items]
    missing = [item for item in bank.items if item not in content]
    if missing:
        raise MensuraError(
            f"content: {len(missing)} items have none, such as {missing[0]!r}; give a content area for every item"
        )
    return [content[item] for item in bank.items]


def _quotas(kinds: Sequence[str], usable: Ints, size: int) -> dict[str, int]:
    """Return how many items of each content a form takes: in proportion, the largest remainders rounded up."""
    counts: dict[str, int] = {}
    for place in usable:
        counts[kinds[place]] = counts.get(kinds[place], 0) + 1
    total = max(1, sum(counts.values()))
    exact = {kind: size * count / total for kind, count in counts.items()}
    quota = {kind: min(counts[kind], int(share)) for kind, share in exact.items()}
    for kind in sorted(exact, key=lambda kind: exact[kind] - int(exact[kind]), reverse=True):
        if sum(quota.values()) < size and quota[kind] < counts[kind]:
            quota[kind] += 1
    return quota
