"""What both protocols share: whom they ask, the table of answers, and what their readers have to be told."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from mensura.core.errors import MensuraError
from mensura.people import WORLD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mensura.extrapolation.protocol import Task
    from mensura.llm import Asker

ANSWER_COLUMNS = {
    "item": pl.String(),
    "variant": pl.String(),
    "repeat": pl.Int64(),
    "rate": pl.Float64(),
    "form": pl.String(),
    "error": pl.String(),
}
"""Every answer of a language model, one per row; the rate is null where the answer could not be read."""
_SHOWN = 3
_LONGEST = 100
_NEVER_CHECKED = (
    "no world estimate has ever been checked against the world: the intervals are those of estimates for whole "
    "samples, where the truth is known"
)


class AskingMethod:
    """Share what the methods have that ask a language model: whom they ask, and under which name."""

    NAME: ClassVar[str] = ""
    asker: Asker | None

    @property
    def name(self) -> str:
        """The name used in tables and by ``--method``."""
        return self.NAME

    @property
    def model(self) -> str:
        """The name of the language model."""
        return self.whom.model

    @property
    def whom(self) -> Asker:
        """Whom to ask; a method without anybody is refused."""
        return somebody(self.asker, self.NAME)


def somebody(asker: Asker | None, method: str) -> Asker:
    """Return whom a method asks; a method without anybody to ask is refused."""
    if asker is None:
        raise MensuraError(
            f"method {method!r} needs asker, a language model: mensura.llm.open_asker(NAME), or --model NAME"
        )
    return asker


def failures_told(failures: Sequence[str], calls: int) -> tuple[str, ...]:
    """Say how many calls gave no readable answer, and the commonest reasons; nothing where none failed."""
    if not failures:
        return ()
    common = Counter(reason[:_LONGEST] for reason in failures).most_common(_SHOWN)
    reasons = "; ".join(f"{reason} ({count})" for reason, count in common)
    return (f"{len(failures)} of {calls} answers could not be read: {reasons}",)


def world_told(task: Task) -> tuple[str, ...]:
    """Say that nobody knows how wrong an estimate for the world is."""
    return (_NEVER_CHECKED,) if task.reference.name == WORLD.name else ()
