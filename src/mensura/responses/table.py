"""Responses in memory: counts of right answers and of trials, subjects × items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError, check_choice
from mensura.core.results import Result
from mensura.responses.irt.shards import Held, Shard, ShardCounts, all_taken_once, of_matrix

Places: TypeAlias = np.ndarray[Any, Any]
Counts = Any
"""Counts of subjects × items: an array, or a sparse one (CSR) that stores the items taken alone."""
SPARSE = 0.2
"""Share of items taken below which counts are stored sparsely."""
LEAST_SPARSE = 1_000_000
"""Subjects × items up to which counts are never sparse: they are small anyway."""


def counts_at(
    rows: Places, columns: Places, right: Places, trials: Places, shape: tuple[int, int]
) -> tuple[Counts, Counts]:
    """Return right answers and trials as tables, from one value per cell taken, row by row; sparse where few are."""
    if shape[0] * shape[1] <= LEAST_SPARSE or len(rows) >= SPARSE * shape[0] * shape[1]:
        tables = np.zeros(shape, dtype=right.dtype), np.zeros(shape, dtype=trials.dtype)
        tables[0][rows, columns], tables[1][rows, columns] = right, trials
        return tables
    from scipy.sparse import csr_array

    starts, places = np.searchsorted(rows, np.arange(shape[0] + 1)).astype(np.int32), columns.astype(np.int32)
    return csr_array((right, places, starts), shape=shape), csr_array((trials, places, starts), shape=shape)


@dataclass(frozen=True, eq=False, repr=False)
class ResponseTable(Result):
    """Count who answered what, and how often right.

    Attributes
    ----------
    subjects
        subject, group, n (items taken), rate; in the order of the rows of ``right``, groups one after the other.
    items
        item, n (subjects who took it), rate.
    log
        What was found that a rule decided.
    right, trials
        Subjects × items, both sparse where few items were taken. ``trials`` is None where everyone took every item
        once.

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
        taken = int(self.subjects["n"].sum())
        groups = ", ".join(f"{count:,} {name}" for name, count in zip(self.groups, self.group_sizes, strict=True))
        return f"{taken:,} responses: {self.subjects.height:,} subjects ({groups}) × {self.items.height:,} items"

    @property
    def groups(self) -> list[str]:
        """The groups; the first is the measure of abilities."""
        return self.subjects["group"].unique(maintain_order=True).to_list()

    @property
    def group_sizes(self) -> list[int]:
        """Subjects of each group."""
        sizes = dict(self.subjects.group_by("group").len().iter_rows())
        return [int(sizes[group]) for group in self.groups]

    def held(self) -> Held:
        """Return one shard per group."""
        return of_matrix(self.right, self.trials, np.repeat(np.arange(len(self.groups)), self.group_sizes))

    def of_groups(self, first: str | None) -> ResponseTable:
        """Return the same responses with another group as the first."""
        if first is None or self.groups[0] == first:
            return self
        check_choice("reference", first, self.groups)
        order = np.argsort(np.array([name != first for name in self.subjects["group"]]), kind="stable")
        trials = None if self.trials is None else self.trials[order]
        return ResponseTable(self.subjects[order], self.items, self.log, self.right[order], trials)


def build_table(
    subjects: list[str], groups: list[str], items: list[str], right: Counts, trials: Counts | None, log: pl.DataFrame
) -> ResponseTable:
    """Return a table, its subjects ordered by group and what nobody took left out."""
    if trials is not None and all_taken_once(trials):
        trials = None
    whole = ShardCounts.of(Shard(right, trials, 0))
    ranks = {group: rank for rank, group in enumerate(dict.fromkeys(groups))}
    order = np.argsort([ranks[group] for group in groups], kind="stable")
    order, kept = order[whole.taken[order] > 0], np.flatnonzero(whole.subjects > 0)
    if not len(order) or not len(kept):
        raise MensuraError("responses: no outcome; add at least one")
    if len(kept) < right.shape[1]:
        right, trials = right[:, kept], None if trials is None else trials[:, kept]
    if len(order) < right.shape[0] or np.any(np.diff(order) != 1):
        right, trials = right[order], None if trials is None else trials[order]
    of_subjects = {"n": whole.taken[order], "rate": whole.rate[order]}
    of_items = {"n": whole.subjects[kept], "rate": (whole.right / np.maximum(whole.trials, 1.0))[kept]}
    names = {"subject": [subjects[at] for at in order], "group": [groups[at] for at in order]}
    tables = pl.DataFrame(names | of_subjects), pl.DataFrame({"item": [items[at] for at in kept]} | of_items)
    return ResponseTable(*tables, log, right, trials)
