"""Passes on a cluster: shards as Ray tasks, whose sums are added where the fit runs.

Parts are functions that return a shard, so that a worker reads its own (:func:`parts_of`). A task whose worker dies
is run again by Ray; sums are added in the order of the parts, so the result is the same to the last bit however the
work was spread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mensura.core.errors import MensuraError
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
MOST_DEATHS = 10
"""How often Ray runs a task again whose worker died."""


def on_ray(source: ResponseStore | Held, address: str, device: str = "numpy") -> Pass:
    """Join or start a Ray cluster and return the pass of a source on it; ``address``: see :func:`join_ray`."""
    join_ray(address)
    return ray_pass(parts_of(source), source.groups, complete=source.complete, device=device)


def join_ray(address: str) -> None:
    """Join or start a Ray cluster, unless this process is in one.

    ``address``: ``local`` for one worker per processor of this machine, or that of a cluster, such as
    ``ray://head:10001`` or ``auto``.
    """
    ray = _ray()
    if not ray.is_initialized():
        try:
            ray.init(address=address, log_to_driver=False)
        except (ConnectionError, ValueError) as fault:
            raise MensuraError(
                f"--ray {address}: no cluster answers ({fault}); expected local, auto or ray://HOST:10001. Start one "
                "with ray start --head"
            ) from fault


def _ray() -> Any:  # noqa: ANN401
    try:
        import ray
    except ImportError:
        raise MensuraError("ray: needs the extra 'ray'; install it with pip install 'mensura[ray]'") from None
    return ray


def ray_pass(parts: Sequence[Part], groups: int, *, complete: bool, device: str = "numpy") -> Pass:
    """Return a pass that runs on Ray; start it with ``ray.init`` first. ``device``: where each worker computes."""
    ray = _ray()
    if not parts:
        raise MensuraError("parts: none given; a pass needs at least one")
    task = ray.remote(max_retries=MOST_DEATHS)(_part_sums)
    handles = [ray.put(part) for part in parts]

    def run(parameters: Parameters, grid: Grid, by_node: bool) -> PassSums:
        job = ray.put((parameters, grid, by_node, groups, complete, device))
        found: list[PassSums] = ray.get([task.remote(handle, job) for handle in handles])
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
