"""Where one process is not enough: the same journal in several Ray actors, replaced when they die."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from mensura.core.errors import MensuraError
from mensura.core.ray import import_ray, in_words
from mensura.llm.asker import ModelAsker
from mensura.llm.interface import open_asker
from mensura.llm.protocol import Answer, Question, Reader

_PART = 200
"""Questions handed to an actor at a time; what a dead actor had is handed to another."""
_MOST_DEATHS = 20
_LEAVING = 10.0  # seconds for an actor to close its journal


class RayWorker:
    """One actor: a process with an asker of its own on the shared journal."""

    def __init__(self, name: str, settings: Mapping[str, Any], environment: Mapping[str, str]) -> None:
        os.environ.update(environment)
        self._open = partial(open_asker, name, **settings)

    @cached_property
    def _asker(self) -> ModelAsker:
        return self._open()  # not before the first question: Ray takes an error of the constructor for a death

    def pid(self) -> int:
        """Return its process id."""
        return os.getpid()

    def ask(self, questions: Sequence[Question], read: Reader) -> list[Answer]:
        """Answer questions through the journal."""
        return self._asker.ask(questions, read)

    def close(self) -> None:
        """Leave the journal whole and unclaimed."""
        if "_asker" in self.__dict__:
            self._asker.close()


class RayCrew:
    """Actors that share the work on one machine; obeys the contract of an asker.

    ``name`` and ``settings`` are those of :func:`mensura.llm.open_asker`; ``journal`` must be a file that every actor
    sees on a disk of this machine, for SQLite's locks do not reach across a network. ``max_cost`` and ``max_calls``
    would bound each actor alone and are refused.
    """

    def __init__(self, name: str, *, workers: int = 2, **settings: Any) -> None:  # noqa: ANN401
        ray = import_ray()
        for bound in ("max_cost", "max_calls", "advance"):
            if settings.get(bound) is not None:
                raise MensuraError(f"{bound}: counts within one process; leave it out, or ask without Ray")
        self._ray = ray
        self._name, self._settings = name, settings
        self._environment = {key: value for key, value in os.environ.items() if key.endswith(("_API_KEY", "_BASE_URL"))}
        self.workers = [self._hire() for _ in range(workers)]

    @property
    def model(self) -> str:
        """The model's name, as ``--model`` takes it."""
        return self._name

    def _hire(self) -> Any:  # noqa: ANN401
        actor: Any = self._ray.remote(RayWorker)
        return actor.options(max_concurrency=2).remote(self._name, self._settings, self._environment)

    def ask(self, questions: Sequence[Question], read: Reader) -> list[Answer]:
        """Return one answer per question, in their order; the parts of an actor that died are asked by another."""
        starts = list(range(0, len(questions), _PART))[::-1]
        done: dict[int, list[Answer]] = {}
        under_way: dict[Any, tuple[int, int]] = {}
        deaths = 0
        while starts or under_way:
            busy = {worker for worker, _ in under_way.values()}
            for number in range(len(self.workers)):
                if number not in busy and starts:
                    start = starts.pop()
                    part = list(questions[start : start + _PART])
                    under_way[self.workers[number].ask.remote(part, read)] = (number, start)
            (ready,), _ = self._ray.wait(list(under_way), num_returns=1)
            number, start = under_way.pop(ready)
            try:
                done[start] = self._ray.get(ready)
            except self._ray.exceptions.RayActorError:
                deaths += 1
                if deaths > _MOST_DEATHS:
                    raise MensuraError(
                        f"ask_with_ray: {deaths} workers died one after the other; use fewer workers or add memory"
                    ) from None
                self.workers[number] = self._hire()
                starts.append(start)
            except self._ray.exceptions.RayTaskError as fault:
                raise in_words(fault) from None
        return [answer for start in sorted(done) for answer in done[start]]

    def close(self) -> None:
        """End the actors, after each has left the journal."""
        left = [worker.close.remote() for worker in self.workers]
        self._ray.wait(left, num_returns=len(left), timeout=_LEAVING)
        for worker in self.workers:
            self._ray.kill(worker)


def ask_with_ray(
    name: str,
    questions: Sequence[Question],
    read: Reader,
    *,
    workers: int = 2,
    **settings: Any,  # noqa: ANN401
) -> list[Answer]:
    """Ask questions with Ray actors on one journal; ``settings`` as :func:`mensura.llm.open_asker` takes them."""
    crew = RayCrew(name, workers=workers, **settings)
    try:
        return crew.ask(questions, read)
    finally:
        crew.close()
