"""One sample of an evaluation: who, which item, how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mensura.core.errors import MensuraError


class SampleOutcome(NamedTuple):
    """The outcome of one sample; ``value`` from 0 to 1, none where it was not scored; ``run`` names the evaluation."""

    subject: str
    item: str
    value: float | None
    run: str


def checked_value(value: Any, where: str, expected: str = "a number from 0 to 1") -> float:  # noqa: ANN401
    """Return an outcome as a number, or say where it is none."""
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        raise MensuraError(f"{where} is {value!r}; expected {expected}")
    return float(value)


def as_object(told: object, path: Path, name: str) -> Mapping[str, Any]:
    """Return a JSON object, or say that it is none."""
    if not isinstance(told, Mapping):
        raise MensuraError(f"{path}: {name} is not an object; expected an evaluation log")
    return told
