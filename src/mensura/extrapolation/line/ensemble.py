"""A mean of several methods, weighed by how well each does on links held out in turn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mensura.core.arrays import expit, logit
from mensura.core.errors import MensuraError
from mensura.extrapolation.line.methods import ConstantShift, Described, Hierarchical, Linked
from mensura.extrapolation.line.statistical import ranked
from mensura.extrapolation.protocol import LEVEL, Extrapolator, Prediction, Task, empty_sensitivity

if TYPE_CHECKING:
    import polars as pl

    from mensura.core.arrays import Floats

FOLDS = 5  # of the links, held out in turn
SMALLEST_ERROR = 1e-4  # squared error that is taken for none: no member gets all the weight by luck
_EDGE = 1e-6  # distance from 0 and 1 at which rates are read as logits


@dataclass(frozen=True, eq=False)
class Ensemble:
    """A mean of methods on the logit scale, any methods.

    ``members``: when not given, those that fit what the task knows: with slices two hierarchical lines and ``linked``,
    else ``linked``, ``described`` and ``shift``. ``weights``: one per member; when not given, by the inverse
    squared error on links held out in turn, alike with fewer than two links.
    """

    members: tuple[Extrapolator, ...] = ()
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", tuple(self.members))
        for member in self.members:
            if not isinstance(member, Extrapolator):
                raise MensuraError(f"members: each must be a method (see make_method), got {member!r}")
        levels = sorted({member.level for member in self.members})
        if len(levels) > 1:
            raise MensuraError(f"members: all must have intervals of one level, got {', '.join(map(str, levels))}")
        if self.weights is not None:
            weights = np.asarray(self.weights, dtype=float)
            if not self.members or weights.shape != (len(self.members),):
                raise MensuraError(f"weights: expected one for each of {len(self.members)} members, got {len(weights)}")
            if not (np.all(np.isfinite(weights)) and np.all(weights >= 0) and weights.sum() > 0):
                raise MensuraError(f"weights: expected numbers of at least 0, not all 0, got {self.weights}")

    @property
    def name(self) -> str:
        """The name used in tables and by ``--method``."""
        return "ensemble"

    @property
    def level(self) -> float:
        """The level of the members' intervals."""
        return self.members[0].level if self.members else LEVEL

    def predict(self, task: Task) -> Prediction:
        """Weigh the members per draw and mix their logits."""
        members = self._members(task)
        weights = self.weigh(task)
        parts = [member.predict(task) for member in members]

        def mixed(name: str) -> Floats:
            stack = np.stack([logit(np.clip(getattr(part, name), _EDGE, 1 - _EDGE)) for part in parts])
            return expit(np.einsum("md,mdk->dk", weights, stack))

        asked = [part.calls for part in parts if part.calls is not None]
        return Prediction(
            mixed("rate"),
            mixed("low"),
            mixed("high"),
            account=partial(_member_sensitivity, [member.name for member in members], parts, weights),
            warnings=tuple(dict.fromkeys(warning for part in parts for warning in part.warnings)),
            interval="mean of the members' bounds on the logit scale",
            calls=np.sum(asked, axis=0) if asked else None,
        )

    def weigh(self, task: Task) -> Floats:
        """Return the weights, members × draws; each draw's sum to 1."""
        members = self._members(task)
        if self.weights is not None:
            shares = np.asarray(self.weights, dtype=float)
            return np.tile((shares / shares.sum())[:, None], (1, task.draws))
        known = task.known
        links = known.sum(axis=1)
        if not (links > 1).any():
            return np.full((len(members), task.draws), 1 / len(members))
        fold = np.where(known, np.cumsum(known, axis=1) % FOLDS, -1)
        error = np.zeros((len(members), task.draws))
        for k in range(FOLDS):
            held = fold == k
            if not held.any():
                continue
            fewer = replace(task, links=np.where(held, np.nan, task.links))
            for m, member in enumerate(members):
                wrong = np.where(held, member.predict(fewer).rate - np.where(held, task.links, 0.0), 0.0)
                error[m] += (wrong**2).sum(axis=1)
        mean = np.where(links > 1, error / np.maximum(links, 1), 1.0) + SMALLEST_ERROR
        weights: Floats = (1 / mean) / (1 / mean).sum(axis=0)
        return weights

    def _members(self, task: Task) -> tuple[Extrapolator, ...]:
        if self.members:
            return self.members
        if task.slices is not None:
            return Hierarchical(), Hierarchical(groupings=False), Linked()
        return Linked(), Described(), ConstantShift()


def _member_sensitivity(names: list[str], parts: list[Prediction], weights: Floats) -> pl.DataFrame:
    """Return, per member, the mean rate without it (the others' weights scaled up) and with it alone; one draw only."""
    if weights.shape[1] > 1:
        return empty_sensitivity()
    means = np.array([part.rate[0].mean() for part in parts])
    rows = []
    for index, name in enumerate(names):
        others = np.where(np.arange(len(names)) == index, 0.0, weights[:, 0])
        without = float(others @ means / others.sum()) if others.sum() > 0 else float(means[index])
        rows.append((name, float(weights[index, 0]), 0.0, 1.0, without, float(means[index])))
    return ranked(rows)
