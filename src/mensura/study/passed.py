"""Which people were passed, when, on which test: for each measured group the first model above it, and how surely."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from mensura.core.frames import read_csv
from mensura.study.leaders import comparable_people
from mensura.study.study import Study

SURELY = 0.95
"""Chance of scoring above a group from which a model is said to have passed it."""
LEVEL = 0.5
"""Chance from which a model is level with a group."""
_NAMES = Path(__file__).parent / "data" / "people_names.csv"


@cache
def _short_names() -> dict[tuple[str, str], str]:
    return {(row["benchmark"], row["group"]): row["short"] for row in read_csv(_NAMES).iter_rows(named=True)}


def short_name(benchmark: str, group: str) -> str:
    """Return a few words for a group on a test, those of its source where nobody wrote shorter ones."""
    found = _short_names().get((benchmark, group), group)
    return found[:1].upper() + found[1:]


@dataclass(frozen=True)
class Passed:
    """A group of people on a test, and the models that reached it.

    ``level``: the first model by release that is as likely above the group as below it; ``first``: the first that is
    above it with a chance of 95% or more; ``best``: the one with the highest score today and its chance. Models are
    subjects with their release; None where there is none.
    """

    benchmark: str
    group: str
    status: str
    score: float
    unit: str
    n: int | None
    source: str | None
    level: tuple[str, date] | None
    first: tuple[str, date, float] | None
    best: tuple[str, float] | None
    why_not: str

    @property
    def short(self) -> str:
        """A few words for the group."""
        return short_name(self.benchmark, self.group)

    @property
    def verdict(self) -> str:
        """Whether the group was passed, no more surely than the errors of both scores allow."""
        if self.best is None:
            return "not known"
        chance = self.best[1]
        if self.first is not None and chance >= SURELY:
            return "passed"
        return "not passed" if chance <= 1 - SURELY else "cannot be told"


def passed_people(study: Study, statuses: tuple[str, ...] = ("measured",)) -> list[Passed]:
    """Return the groups of people with these statuses, those passed first by date, then the others by chance.

    Groups whose figure is in another metric than the models' are left out; a panel stays and says what it is.
    """
    apart = {
        (row["benchmark"], row["group"]): row["reason"] or ""
        for row in comparable_people().filter(~pl.col("comparable")).iter_rows(named=True)
    }
    released = dict(study.evidence.models.drop_nulls("released").select("subject", "released").iter_rows())
    units = dict(study.evidence.benchmarks.select("benchmark", "unit").iter_rows())
    found = []
    for row in study.people.tests.filter(pl.col("status").is_in(statuses)).iter_rows(named=True):
        key = (row["benchmark"], row["group"])
        if row["status"] == "panel" or key not in apart:
            found.append(_passed(study, row, units[row["benchmark"]], released, apart.get(key, "")))
    return sorted(found, key=_order)


def _order(one: Passed) -> tuple[int, Any]:
    kinds = ("passed", "cannot be told", "not passed", "not known")
    if one.verdict == "passed" and one.first is not None:
        return 0, one.first[1].toordinal()
    return kinds.index(one.verdict), -(one.best[1] if one.best else 0.0)


def _passed(study: Study, row: dict[str, Any], unit: str, released: dict[str, date], why_not: str) -> Passed:
    key = (row["benchmark"], row["group"])
    printed = study.rows.printed_people[key]
    chances = {name: chance for name, chance in study.over_people[key].items() if name in released}
    by_date = sorted(chances, key=lambda name: (released[name], -chances[name]))
    level = next(((name, released[name]) for name in by_date if chances[name] >= LEVEL), None)
    first = next(((name, released[name], chances[name]) for name in by_date if chances[name] >= SURELY), None)
    best = max(chances.items(), key=lambda pair: pair[1], default=None)
    if row["best"] in chances:
        best = (row["best"], chances[row["best"]])
    return Passed(
        row["benchmark"],
        row["group"],
        row["status"],
        printed["score"],
        unit,
        printed["n"],
        printed["source"],
        level,
        first,
        best,
        why_not,
    )
