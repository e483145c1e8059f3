"""Runs as arrays: one matrix of subjects and tasks per suite."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.horizon.reading import HorizonData

Integers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, eq=False)
class SuiteArrays:
    """One suite: who ran its tasks (``rows``), successes and trials by subject and task, and guessing by task."""

    name: str
    rows: Integers
    tasks: slice
    successes: Floats
    trials: Floats
    chance: Floats


@dataclass(frozen=True, eq=False)
class Design:
    """All arrays of one fit."""

    subjects: list[str]
    suites: list[SuiteArrays]
    tasks: pl.DataFrame

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Subject and suite of each interaction; none where there is one suite."""
        if len(self.suites) == 1:
            return []
        return [(int(row), place) for place, suite in enumerate(self.suites) for row in suite.rows]


def make_design(data: HorizonData, subjects: list[str]) -> Design:
    """Put the runs of ``subjects`` (sorted) and times into arrays."""
    runs = data.runs.filter(pl.col("subject").is_in(subjects))
    tasks = data.times.select("suite", "task").unique().sort("suite", "task").with_row_index("place")
    chance = data.times.group_by("suite", "task").agg(pl.col("chance").drop_nulls().first())
    tasks = tasks.join(chance, on=["suite", "task"], how="left", maintain_order="left")
    placed = runs.join(tasks.select("suite", "task", "place"), on=["suite", "task"]).with_columns(
        who=pl.col("subject").cast(pl.Enum(subjects)).to_physical()
    )
    suites = []
    for (suite,), part in tasks.group_by("suite", maintain_order=True):
        first, count = int(part["place"][0]), part.height
        own = placed.filter(pl.col("suite") == suite)
        rows, at = np.unique(own["who"].to_numpy().astype(np.int64), return_inverse=True)
        successes, trials = np.zeros((2, rows.size, count))
        cell = (at, own["place"].to_numpy().astype(np.int64) - first)
        trials[cell] = own["trials"].to_numpy()
        successes[cell] = own["trials"].to_numpy() * own["score"].to_numpy()
        guess = part["chance"].fill_null(np.nan).to_numpy().astype(float)
        suites.append(SuiteArrays(str(suite), rows, slice(first, first + count), successes, trials, guess))
    return Design(subjects, suites, tasks.drop("place"))
