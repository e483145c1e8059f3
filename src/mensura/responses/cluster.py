"""Passes on a cluster: shards as Ray tasks, whose sums are added where the fit runs.

A part is a shard, or a function that returns one (:func:`parts_of`). A worker calls the function once; Ray keeps the
shard in the shared memory of that machine, or on its disk, and runs the passes there. If a worker dies, Ray runs its
task again, and reads again what was lost. Sums are added in the order of the parts, so the result does not depend on
how the work was spread. Workers compute with one thread; with more threads, a fit without Ray differs by the rounding
of single precision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from mensura.core.errors import MensuraError
from mensura.core.ray import MOST_DEATHS, collect, import_ray, join_ray
from mensura.responses.irt.abilities import ShardAbilities, abilities
from mensura.responses.irt.fitting import Fitted
from mensura.responses.irt.model import Parameters
from mensura.responses.irt.namespace import namespace
from mensura.responses.irt.passes import NodeTables, PassSums, tally
from mensura.responses.irt.quadrature import Grid
from mensura.responses.irt.shards import Held, Shard, moved
from mensura.responses.store import ResponseStore, read_part

T = TypeVar("T")
Part = Shard | Callable[[], Shard]
PART_ROWS = 5_000
"""Subjects in memory that travel to a worker at a time."""


def on_ray(source: ResponseStore | Held, address: str, device: str = "numpy") -> RayPass:
    """Join or start a Ray cluster and return the pass of a source on it.

    ``address``: ``local`` for one worker per processor of this machine, or that of a cluster, such as
    ``ray://head:10001`` or ``auto``.
    """
    join_ray(address)
    return RayPass(parts_of(source), source.groups, complete=source.complete, device=device)


class RayPass:
    """A pass over parts on Ray, and other work on each of them. Start Ray with ``ray.init`` first."""

    def __init__(self, parts: Sequence[Part], groups: int, *, complete: bool, device: str = "numpy") -> None:
        """``device``: where each worker computes."""
        self._ray = ray = import_ray()
        if not parts:
            raise MensuraError("parts: none given; a pass needs at least one")
        self._groups, self._complete, self._device = groups, complete, device
        read, self._apply = (ray.remote(max_retries=MOST_DEATHS)(function) for function in (_read, _apply))
        self._handles = [ray.put(part) if isinstance(part, Shard) else read.remote(part) for part in parts]

    def __call__(self, parameters: Parameters, grid: Grid, by_node: bool) -> PassSums:
        """Return the sums of all parts, added in their order."""
        how = (self._device, parameters, grid, by_node, self._groups, self._complete)
        first, *others = self.each(partial(_part_sums, *how))
        return sum(others, start=first)

    def abilities(self, fitted: Fitted) -> list[ShardAbilities]:
        """Return the abilities of the subjects of every part."""
        return self.each(partial(_part_abilities, self._device, fitted))

    def each(self, function: Callable[[Shard], T]) -> list[T]:
        """Return ``function(shard)`` of every part, in their order."""
        job = self._ray.put(function)
        found: list[T] = collect(self._ray, [self._apply.remote(job, handle) for handle in self._handles])
        return found


def parts_of(source: ResponseStore | Held) -> list[Part]:
    """Return the parts of a store, which workers read from its folder, or of shards in memory, which travel to them."""
    if isinstance(source, ResponseStore):
        return [partial(read_part, path, source.items) for path in source.parts]
    cut = (part.rows(start, start + PART_ROWS) for part in source.parts for start in range(0, len(part), PART_ROWS))
    return list(cut)


def _read(part: Callable[[], Shard]) -> Shard:
    return part()


def _apply(function: Callable[[Shard], T], shard: Shard) -> T:
    return function(shard)


def _part_sums(
    device: str, parameters: Parameters, grid: Grid, by_node: bool, groups: int, complete: bool, shard: Shard
) -> PassSums:
    space = namespace(device)
    tables = NodeTables(space, parameters, grid, by_node=by_node)
    return tally(space, moved(space, shard), tables, groups, complete=complete)


def _part_abilities(device: str, fitted: Fitted, shard: Shard) -> ShardAbilities:
    space = namespace(device)
    return abilities(space, moved(space, shard), fitted)
