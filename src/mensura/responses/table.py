"""Responses in memory: counts of right answers and of trials, subjects × items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError
from mensura.core.results import Result
from mensura.responses.irt.shards import Held, Shard

LOG_SCHEMA = {"what": pl.String, "count": pl.Int64, "rule": pl.String}
Counts = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False, repr=False)
class ResponseTable(Result):
    """Who answered what, and how often right.

    ``subjects``: subject, group, n (items taken), rate; in the order of the rows of ``right``, groups one after the
    other. ``items``: item, n (subjects who took it), rate. ``log``: what was found that a rule decided. ``right`` and
    ``trials`` (None: every item once by everyone) are subjects × items.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("subjects", "items", "log")

    subjects: pl.DataFrame
    items: pl.DataFrame
    log: pl.DataFrame
    right: Counts
    trials: Counts | None

    @property
    def heading(self) -> str:
        """How much there is."""
        taken = self.right.size if self.trials is None else int(np.count_nonzero(self.trials))
        groups = ", ".join(f"{count:,} {name}" for name, count in zip(self.groups, self.group_sizes, strict=True))
        return f"{taken:,} responses: {self.subjects.height:,} subjects ({groups}) × {self.items.height:,} items"

    @property
    def groups(self) -> list[str]:
        """The groups; the first is the measure of abilities."""
        return self.subjects["group"].unique(maintain_order=True).to_list()

    @property
    def group_sizes(self) -> list[int]:
        """Subjects of each group."""
        found = dict(self.subjects.group_by("group").len().iter_rows())
        return [int(found[group]) for group in self.groups]

    def held(self) -> Held:
        """Return one shard per group."""
        parts, start = [], 0
        for number, size in enumerate(self.group_sizes):
            rows = slice(start, start + size)
            trials = None if self.trials is None else self.trials[rows]
            if trials is not None and bool(np.all(trials == 1)):
                trials = None
            parts.append(Shard(self.right[rows], trials, number))
            start += size
        return Held(parts)

    def of_groups(self, first: str | None) -> ResponseTable:
        """Return the same responses with another group as the first."""
        if first is None or self.groups[0] == first:
            return self
        if first not in self.groups:
            raise MensuraError(f"reference: got {first!r}; expected one of {', '.join(self.groups)}")
        order = np.argsort(np.array([name != first for name in self.subjects["group"]]), kind="stable")
        trials = None if self.trials is None else self.trials[order]
        return ResponseTable(self.subjects[order], self.items, self.log, self.right[order], trials)


def build_table(
    subjects: list[str], groups: list[str], items: list[str], right: Counts, trials: Counts | None, log: pl.DataFrame
) -> ResponseTable:
    """Return a table, its subjects ordered by group and what nobody took left out."""
    if trials is not None and bool(np.all(trials == 1)):
        trials = None
    taken = np.full(right.shape, 1, dtype=np.uint8) if trials is None else trials
    someone, something = np.any(taken > 0, axis=0), np.any(taken > 0, axis=1)
    if not someone.all() or not something.all():
        right, taken = right[np.ix_(something, someone)], taken[np.ix_(something, someone)]
        trials = None if trials is None else taken
        items = [item for item, kept in zip(items, someone, strict=True) if kept]
        subjects = [subject for subject, kept in zip(subjects, something, strict=True) if kept]
        groups = [group for group, kept in zip(groups, something, strict=True) if kept]
    if not items or not subjects:
        raise MensuraError("responses: no outcome; add at least one")
    ranks = {group: rank for rank, group in enumerate(dict.fromkeys(groups))}
    order = np.argsort(np.array([ranks[group] for group in groups]), kind="stable")
    if np.any(np.diff(order) != 1):
        right, taken = right[order], taken[order]
        trials = None if trials is None else taken
    by_item, by_subject = taken.sum(axis=0, dtype=np.int64), taken.sum(axis=1, dtype=np.int64)
    kind = np.float64 if right.dtype.kind == "f" else np.int64
    return ResponseTable(
        pl.DataFrame(
            {
                "subject": [subjects[place] for place in order],
                "group": [groups[place] for place in order],
                "n": (taken > 0).sum(axis=1),
                "rate": right.sum(axis=1, dtype=kind) / by_subject,
            }
        ),
        pl.DataFrame({"item": items, "n": (taken > 0).sum(axis=0), "rate": right.sum(axis=0, dtype=kind) / by_item}),
        log,
        right,
        trials,
    )
