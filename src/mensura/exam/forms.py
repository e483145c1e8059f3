"""Which items a person gets, in which order: balanced over persons, shuffled by a recorded seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mensura.core.arrays import Ints
from mensura.exam.file import Exam

Taken = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True)
class ExamForm:
    """The items of one sitting in order, and for each the places of its options as they are shown."""

    seed: tuple[int, int]
    items: tuple[str, ...]
    options: dict[str, list[int]]

    def as_dict(self) -> dict[str, Any]:
        """Return the form for the record."""
        return asdict(self)


def choose_items(taken: Taken, k: int, rng: np.random.Generator) -> Ints:
    """Return k of n items for the next person.

    ``taken`` is persons × items: what was answered, or will be. Items given least often come first; among those, the
    ones that shared fewest forms with the items already chosen. So items, and pairs of items, are given about equally
    often whenever the exam ends.
    """
    count = taken.sum(axis=0)
    pairs = taken.T @ taken
    chosen: list[int] = []
    met = np.zeros(taken.shape[1])
    free = np.ones(taken.shape[1], dtype=bool)
    for _ in range(k):
        rank = np.where(free, count, np.inf)
        near = np.flatnonzero(rank <= rank.min() + 0.5)
        order = rng.permutation(near)
        best = int(order[np.argmin(met[order])])
        chosen.append(best)
        free[best] = False
        met += pairs[best]
    return np.asarray(chosen)


def make_form(exam: Exam, number: int, taken: Sequence[Sequence[str]] = ()) -> ExamForm:
    """Return the form of a person; ``number`` counts sittings, ``taken`` lists the items of those before."""
    rng = np.random.default_rng([exam.settings.seed, number])
    names = [item.item for item in exam.scored]
    if exam.per_person < len(names):
        places = {name: place for place, name in enumerate(names)}
        matrix = np.zeros((len(taken), len(names)), dtype=np.float32)
        for row, form in enumerate(taken):
            matrix[row, [places[name] for name in form if name in places]] = 1.0
        picked = {names[place] for place in choose_items(matrix, exam.per_person, rng)}
        names = [name for name in names if name in picked]
    return _arranged(exam, names, [check.item for check in exam.checks], (exam.settings.seed, number), rng)


def full_form(exam: Exam, number: int) -> ExamForm:
    """Return all items that count, for a model; shuffled alike. Attention checks are for people."""
    rng = np.random.default_rng([exam.settings.seed, number])
    return _arranged(exam, [item.item for item in exam.scored], [], (exam.settings.seed, number), rng)


def _arranged(
    exam: Exam, names: list[str], checks: list[str], seed: tuple[int, int], rng: np.random.Generator
) -> ExamForm:
    if exam.settings.order == "shuffled":
        names = [names[place] for place in rng.permutation(len(names))]
    ranks = {section.name: rank for rank, section in enumerate(exam.settings.sections)}
    names.sort(key=lambda name: ranks.get(exam.by_name[name].section, 0))
    for check in checks:
        names.insert(int(rng.integers(min(1, len(names)), len(names) + 1)), check)
    options = {}
    for name in names:
        item = exam.by_name[name]
        mix = exam.settings.shuffle_options and not item.keep_order
        count = len(item.options)
        options[name] = [int(place) for place in (rng.permutation(count) if mix else range(count))]
    return ExamForm(seed, tuple(names), options)
