"""Ray: the one place that joins a cluster, and a runner that takes work as the process runner does.

A task whose worker dies is run again by Ray. Results come back in the order in which they are asked for.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, Self, TypeVar

from mensura.core.errors import MensuraError

P = ParamSpec("P")
T = TypeVar("T")
MOST_DEATHS = 10
"""How often Ray runs a task again whose worker died."""


def import_ray() -> Any:  # noqa: ANN401
    """Return the package, or name the extra that installs it."""
    try:
        import ray
    except ImportError:
        raise MensuraError("ray: needs the extra 'ray'; install it with pip install 'mensura[ray]'") from None
    return ray


def join_ray(address: str) -> Any:  # noqa: ANN401
    """Join or start a cluster and return the package.

    ``address``: ``local`` for one worker per processor of this machine, or that of a cluster, such as
    ``ray://head:10001`` or ``auto``.
    """
    ray = import_ray()
    if not ray.is_initialized():
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, ValueError) as fault:
            raise MensuraError(
                f"Ray at {address}: no cluster answers ({fault}); expected local, auto or ray://HOST:10001. Start one "
                "with ray start --head"
            ) from fault
    return ray


def collect(ray: Any, handles: Any) -> Any:  # noqa: ANN401
    """Wait for results and return them."""
    try:
        return ray.get(handles)
    except ray.exceptions.RayError as fault:
        raise in_words(fault) from fault


def in_words(fault: Exception) -> MensuraError:
    """Return the error that the work itself raised, or a sentence about a cluster that cannot finish."""
    cause = getattr(fault, "cause", None)
    if isinstance(cause, MensuraError):
        return cause
    reason = str(fault).partition("\n")[0]
    return MensuraError(
        f"Ray: the cluster did not finish the work ({reason}). Read its logs, or run the command without Ray"
    )


class RayTask(Generic[T]):
    """The result of one task, when it is there."""

    def __init__(self, ray: Any, handle: Any) -> None:  # noqa: ANN401
        self._ray, self._handle = ray, handle

    def result(self) -> T:
        """Wait for the result and return it."""
        result: T = collect(self._ray, self._handle)
        return result


class RayTasks:
    """Tasks on a Ray cluster: ``submit`` a function and read the result from what comes back."""

    def __init__(self, address: str) -> None:
        """Join the cluster at ``address`` as :func:`join_ray` does."""
        self._ray = join_ray(address)

    @property
    def workers(self) -> int:
        """Processors of the cluster."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> RayTask[T]:
        """Run ``function`` on the cluster and return where its result will be."""
        task = self._ray.remote(max_retries=MOST_DEATHS)(function)
        return RayTask(self._ray, task.remote(*arguments, **named))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the cluster to its owner."""
