"""Passes on a cluster: shards as Ray tasks, whose sums are added where the fit runs.

Parts are functions that return a shard, so that a worker reads its own (:func:`parts_of`). A task whose worker dies
is run again by Ray. Sums are added in the order of the parts, so the result does not depend on how the work was spread.
Workers compute with one thread; with more threads, a fit without Ray differs by the rounding of single precision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mensura.core.errors import MensuraError
from mensura.core.ray import MOST_DEATHS, collect, import_ray, join_ray
from mensura.responses.irt.fitting import Pass
from mensura.responses.irt.model import Parameters
from mensura.responses.irt.namespace import namespace
from mensura.responses.irt.passes import NodeTables, PassSums, tally
from mensura.responses.irt.quadrature import Grid
from mensura.responses.irt.shards import Held, Shard
from mensura.responses.store import ResponseStore, read_part

Part = Callable[[], Shard]
PART_ROWS = 5_000
"""Subjects in memory that travel to a worker at a time."""


def on_ray(source: ResponseStore | Held, address: str, device: str = "numpy") -> Pass:
    """Join or start a Ray cluster and return the pass of a source on it.

    ``address``: ``local`` for one worker per processor of this machine, or that of a cluster, such as
    ``ray://head:10001`` or ``auto``.
    """
    join_ray(address)
    return ray_pass(parts_of(source), source.groups, complete=source.complete, device=device)


def ray_pass(parts: Sequence[Part], groups: int, *, complete: bool, device: str = "numpy") -> Pass:
    """Return a pass that runs on Ray; start it with ``ray.init`` first. ``device``: where each worker computes."""
    ray = import_ray()
    if not parts:
        raise MensuraError("parts: none given; a pass needs at least one")
    task = ray.remote(max_retries=MOST_DEATHS)(_part_sums)
    handles = [ray.put(part) for part in parts]

    def run(parameters: Parameters, grid: Grid, by_node: bool) -> PassSums:
        job = ray.put((parameters, grid, by_node, groups, complete, device))
        found: list[PassSums] = collect(ray, [task.remote(handle, job) for handle in handles])
        total = found[0]
        for sums in found[1:]:
            total = total + sums
        return total

    return run


def parts_of(source: ResponseStore | Held) -> list[Part]:
    """Return the parts of a store, which workers read from its folder, or of shards in memory, which travel to them."""
    if isinstance(source, ResponseStore):
        return [partial(read_part, path, source.items) for path in source.parts]
    cut = (part.rows(start, start + PART_ROWS) for part in source.parts for start in range(0, len(part), PART_ROWS))
    return [partial(_itself, part) for part in cut]


def _itself(shard: Shard) -> Shard:
    return shard


def _part_sums(part: Part, job: tuple[Any, ...]) -> PassSums:
    parameters, grid, by_node, groups, complete, device = job
    space = namespace(device)
    shard = part()
    trials = None if shard.trials is None else space.put(shard.trials)
    weights = None if shard.weights is None else space.real(shard.weights)
    on_device = Shard(space.put(shard.right), trials, shard.group, weights)
    return tally(space, on_device, NodeTables(space, parameters, grid, by_node=by_node), groups, complete=complete)
