"""What may be known in each situation: the tasks a method is given, and which of their items are scored.

- ``described``: the focal group's rates with n, the descriptions of all groups, how many answers each group gave,
  and public facts; no rate of the reference or of any other group.
- ``linked``: the same, and the reference's rates on k items drawn at random; scored on the others, mean over draws.
- ``slices``: five item folds. On the other folds the rates of all groups and of the reference are known; on the
  fold to predict, the focal group's rates, and of each other group only its mean over the fold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mensura.core.errors import MensuraError
from mensura.extrapolation.extrapolate import DESCRIBED, LINKED, SITUATIONS
from mensura.extrapolation.line.model import focal_logit
from mensura.extrapolation.protocol import Slices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mensura.core.arrays import Mask
    from mensura.extrapolation.protocol import Task
    from mensura.extrapolation.validation.cases import Case

FOLDS = 5
FEWEST_LEFT = 3  # items to be scored beside the links


@dataclass(frozen=True, eq=False)
class Trial:
    """The tasks of one case in a situation, and which items of each row of their links are scored."""

    case: Case
    tasks: tuple[Task, ...]
    hidden: Mask

    @property
    def is_partition(self) -> bool:
        """Whether every item is hidden in exactly one task, as in folds."""
        return len(self.tasks) > 1


def trials_of(
    situation: str, cases: Sequence[Case], *, links: int, draws: int, rng: np.random.Generator
) -> list[Trial | None]:
    """Return one trial per case; None where a case has too few items."""
    if situation not in SITUATIONS:
        raise MensuraError(f"unknown situation {situation!r}; expected one of {', '.join(SITUATIONS)}")
    folds = _Folds.deal(cases, rng)
    if situation == DESCRIBED:
        return [Trial(case, (case.task,), np.ones((1, case.task.size), dtype=np.bool_)) for case in cases]
    if situation == LINKED:
        return [_linked(case, links, draws, rng) for case in cases]
    return [folds.trial(case) for case in cases]


def _linked(case: Case, links: int, draws: int, rng: np.random.Generator) -> Trial | None:
    size = case.task.size
    if size < links + FEWEST_LEFT:
        return None
    hidden = np.argsort(rng.random((draws, size)), axis=1) >= links
    return Trial(case, (case.linked(~hidden),), hidden)


class _Folds:
    """The folds of a pool's items, and every group masked to what may be known outside each fold."""

    def __init__(self, cases: Sequence[Case], fold: dict[str, int]) -> None:
        self._cases = cases
        self._fold = [np.array([fold[item] for item in case.items]) for case in cases]
        self._where = {case: index for index, case in enumerate(cases)}
        self._masked: dict[tuple[int, int], Task] = {}
        self._means: dict[tuple[int, int, frozenset[str]], tuple[float, int]] = {}

    @classmethod
    def deal(cls, cases: Sequence[Case], rng: np.random.Generator) -> _Folds:
        """Deal the items of the pool into folds, the same for all groups."""
        items = sorted({item for case in cases for item in case.items})
        return cls(cases, dict(zip(items, rng.permutation(np.arange(len(items)) % FOLDS).tolist(), strict=True)))

    def trial(self, case: Case) -> Trial:
        """Return one task per fold that the case has items of."""
        own = self._fold[self._where[case]]
        folds = [k for k in range(FOLDS) if (own == k).any()]
        hidden = np.stack([own == k for k in folds])
        tasks = [
            replace(case.linked(~row[None]), slices=self._others(case, k)) for k, row in zip(folds, hidden, strict=True)
        ]
        return Trial(case, tuple(tasks), hidden)

    def _others(self, case: Case, fold: int) -> Slices:
        own = self._fold[self._where[case]]
        names = frozenset(item for item, k in zip(case.items, own, strict=True) if k == fold)
        others = [index for index, other in enumerate(self._cases) if other is not case]
        means = [self._mean(index, fold, names) for index in others]
        return Slices(
            tuple(self._mask(index, fold) for index in others),
            hidden_logit=np.array([mean for mean, _ in means]),
            hidden_count=np.array([float(count) for _, count in means]),
        )

    def _mask(self, index: int, fold: int) -> Task:
        """Return a group's task with its rates and the reference's known outside the fold."""
        if (index, fold) not in self._masked:
            case, known = self._cases[index], self._fold[index] != fold
            rate = np.where(known, case.task.rate, np.nan)
            self._masked[index, fold] = replace(case.linked(known[None]), rate=rate)
        return self._masked[index, fold]

    def _mean(self, index: int, fold: int, names: frozenset[str]) -> tuple[float, int]:
        """Return a group's mean logit over those items of the fold that are among ``names``, and their number."""
        key = index, fold, names
        if key not in self._means:
            case = self._cases[index]
            shared = np.array([item in names for item in case.items])
            logits = focal_logit(case.task.rate[shared], case.task.n[shared])
            self._means[key] = (float(logits.mean()), len(logits)) if len(logits) else (float("nan"), 0)
        return self._means[key]
