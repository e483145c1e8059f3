"""Responses in shards: counts of right answers of some subjects of one group, whole or in parts.

A pass is a sum over shards, so it does not matter where they are: in memory, in files that are read one after the
other, on a GPU, or on the machines of a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from mensura.core.arrays import Floats, Ints
from mensura.responses.irt.namespace import Array, DeviceCounts, Namespace, chunk_rows

_TINY = 1e-300
_SPARSE_ROWS = 10_000
"""Subjects of a chunk of a sparse shard: their posteriors stay in a cache, and sums by item are few."""


@dataclass(frozen=True)
class Shard:
    """Subjects of one group: ``right`` answers (subjects × items) and ``trials``; None where each item was taken once.

    Both are uint8 where counts are whole (at most 255); ``right`` may hold floats where credit is partial. Where few
    items were taken, both are sparse (CSR) and store the items taken alone, right answers of 0 included.
    """

    right: Array
    trials: Array | None
    group: int
    weights: Array | None = None
    """How many subjects of the population each subject stands for, in units of their mean; None: all alike."""

    def rows(self, start: int, stop: int, step: int = 1) -> Shard:
        """Return some of the subjects."""
        some = slice(start, stop, step)
        weights = None if self.weights is None else self.weights[some]
        return replace(self.changed(lambda counts: counts[some]), weights=weights)

    def changed(self, change: Callable[[Array], Array]) -> Shard:
        """Return the shard after a change of both tables of counts."""
        return replace(self, right=change(self.right), trials=None if self.trials is None else change(self.trials))

    def taken(self) -> Array:
        """Return the trials, ones where every item was taken once."""
        return np.ones(self.right.shape, dtype=np.uint8) if self.trials is None else self.trials

    def __len__(self) -> int:
        return int(self.right.shape[0])


class ShardSource(Protocol):
    """Where shards come from; every pass asks again, in the same order."""

    @property
    def groups(self) -> int:
        """How many groups there are."""

    @property
    def items(self) -> int:
        """How many items there are."""

    @property
    def complete(self) -> bool:
        """Whether every subject took every item once."""

    def shards(self) -> Iterator[Shard]:
        """Yield every shard."""


class ShardCounts(NamedTuple):
    """Of a shard: right answers, trials and subjects of each item; items taken and the share right of each subject."""

    right: Floats
    trials: Floats
    subjects: Ints
    taken: Ints
    rate: Floats

    @classmethod
    def of(cls, shard: Shard) -> ShardCounts:
        """Count a shard that is in the memory of this process."""
        trials = shard.taken()
        tables = shard.right, trials
        by_item, by_subject = ([one.sum(axis=axis, dtype=np.float64) for one in tables] for axis in (0, 1))
        took = trials > 0
        rate = by_subject[0] / np.maximum(by_subject[1], 1.0)
        return cls(by_item[0], by_item[1], took.sum(axis=0), took.sum(axis=1), rate)


@dataclass(frozen=True)
class Held:
    """Shards in memory; ``complete`` where every subject took every item once."""

    parts: Sequence[Shard]

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return max(part.group for part in self.parts) + 1

    @property
    def items(self) -> int:
        """How many items there are."""
        return int(self.parts[0].right.shape[1])

    @property
    def subjects(self) -> int:
        """How many subjects there are."""
        return sum(len(part) for part in self.parts)

    @property
    def complete(self) -> bool:
        """Whether every subject took every item once."""
        return all(part.trials is None for part in self.parts)

    def shards(self) -> Iterator[Shard]:
        """Yield every shard."""
        yield from self.parts


class _Derived(NamedTuple):
    """Shards made from those of another source, with the same groups and items."""

    groups: int
    items: int
    complete: bool
    shards: Callable[[], Iterator[Shard]]


def placed(space: Namespace, held: Held) -> Held:
    """Return the shards on a device, so that they move there once."""
    return Held([shard for part in held.parts for shard in _on_device(space, part)])


def streamed(source: ShardSource, space: Namespace) -> ShardSource:
    """Return a source whose shards go to a device one after the other; the next is read while a pass works on one."""

    def shards() -> Iterator[Shard]:
        with ThreadPoolExecutor(1) as reader:
            left = source.shards()
            ahead = reader.submit(next, left, None)
            while (shard := ahead.result()) is not None:
                ahead = reader.submit(next, left, None)
                yield from _on_device(space, shard)

    return _Derived(source.groups, source.items, source.complete, shards)


def weighed(source: ShardSource, weights: Floats) -> ShardSource:
    """Return a source whose subjects, in their order, have weights."""

    def shards() -> Iterator[Shard]:
        start = 0
        for shard in source.shards():
            yield replace(shard, weights=weights[start : start + len(shard)])
            start += len(shard)

    return _Derived(source.groups, source.items, source.complete, shards)


def _on_device(space: Namespace, shard: Shard) -> Iterator[Shard]:
    """Yield a shard on a device; a sparse one in its chunks, since devices cannot cut it."""
    for piece in chunks(space, shard) if is_sparse(shard.right) else [shard]:
        yield moved(space, piece)


def moved(space: Namespace, shard: Shard) -> Shard:
    """Return a shard on a device."""
    weights = None if shard.weights is None else space.real(shard.weights)
    return replace(shard.changed(space.put), weights=weights)


def is_sparse(counts: Array) -> bool:
    """Return whether counts are stored sparsely in this process's memory."""
    return hasattr(counts, "tocsr")


def dense(counts: Array) -> np.ndarray[Any, Any]:
    """Return counts as a plain array, wherever and however they are stored."""
    if isinstance(counts, DeviceCounts):
        counts = counts.plain if is_sparse(counts.plain) else counts.plain.to_dense()
    if is_sparse(counts):
        return np.asarray(counts.toarray())
    return np.asarray(counts.cpu() if hasattr(counts, "cpu") else counts)


def all_taken_once(trials: Array) -> bool:
    """Return whether every subject took every item once; sparse counts leave items out."""
    return not is_sparse(trials) and bool(np.all(trials == 1))


def fetched(held: Held) -> Held:
    """Return the shards as NumPy arrays, wherever they are."""
    return Held(
        [replace(p.changed(dense), weights=None if p.weights is None else dense(p.weights)) for p in held.parts]
    )


def chunks(space: Namespace, shard: Shard) -> Iterator[Shard]:
    """Yield a shard in pieces that suit the device."""
    if isinstance(shard.right, DeviceCounts):
        yield shard
        return
    rows = _SPARSE_ROWS if is_sparse(shard.right) else chunk_rows(space.device, int(shard.right.shape[1]))
    for start in range(0, len(shard), rows):
        yield shard.rows(start, start + rows)


def thinned(held: Held, most: int) -> Held:
    """Return about ``most`` subjects at equal steps from all shards: a sample to start from.

    Shards that are sparse on their device stay whole.
    """
    step = max(1, held.subjects // most)
    whole = any(isinstance(part.right, DeviceCounts) for part in held.parts)
    return held if whole else Held([part.rows(0, len(part), step) for part in held.parts])


def by_totals(held: Held) -> Held:
    """Return one mean row of right answers per total score: all that answers without gaps say of items of one slope."""
    parts = []
    for part in held.parts:
        totals, right = part.right.sum(axis=1, dtype=np.float64), part.right
        order = np.argsort(totals, kind="stable")
        first = np.flatnonzero(np.diff(totals[order], prepend=-1.0))
        given = np.ones(len(part)) if part.weights is None else part.weights
        right = right if part.weights is None else right * given[:, None]
        weights = np.add.reduceat(given[order], first)
        sums = np.add.reduceat(right[order], first, axis=0, dtype=np.float64)
        parts.append(Shard(sums / np.maximum(weights, _TINY)[:, None], None, part.group, weights))
    return Held(parts)


def of_matrix(right: Array, trials: Array | None, group: np.ndarray[Any, Any]) -> Held:
    """Return one shard per group of a matrix of counts (subjects × items)."""
    parts = []
    for number in range(int(group.max()) + 1):
        places = np.flatnonzero(group == number)
        first, last = int(places[0]), int(places[-1])
        rows = slice(first, last + 1) if last - first < len(places) else places  # a slice copies nothing
        taken = None if trials is None else trials[rows]
        parts.append(Shard(right[rows], None if taken is None or all_taken_once(taken) else taken, number))
    return Held(parts)
