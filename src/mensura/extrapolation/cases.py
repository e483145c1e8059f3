"""From an item pool to cases: who is extrapolated from, to whom, what public facts say of the gap, and the truth."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError
from mensura.extrapolation.descriptions import Assessment, assessment_of, kind_of, split_crossing
from mensura.extrapolation.facts import ability_of, shift_for, world_tables
from mensura.extrapolation.protocol import Task
from mensura.people import Population, describe, population_of
from mensura.people.rates import ALL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mensura.core.arrays import Floats
    from mensura.people import ItemPool

SMALLEST_GROUP = 30  # answers to an item, below which a rate is mostly noise
FEWEST_ITEMS = 5
COUNTRY = "country"
KNOWN_OF_ITEMS = re.compile(
    r"item|domain|n_options|text|stem|options?(_\w+)?|answer|key|format|scoring|language|needs_picture|cognitive|passage"
    r"|unit|cluster|label|max_points|slope"
)
"""Columns of the item table that a task may hold. Others stay out: an item table may also state published rates."""


@dataclass(frozen=True, eq=False)
class Case:
    """A task and the truth it is scored against: the reference's rates, which the task does not hold."""

    task: Task
    truth: Floats

    @property
    def group(self) -> str:
        """The focal group."""
        return self.task.group

    @property
    def covariate(self) -> str:
        """The covariate of the focal group."""
        return self.task.covariate

    @property
    def items(self) -> list[str]:
        """The items, in order."""
        return self.task.names

    def linked(self, mask: np.ndarray) -> Task:
        """Return the task with the truth on the items marked in ``known`` (draws × items) as links."""
        return replace(self.task, links=np.where(mask, self.truth, np.nan))

    @property
    def revealed(self) -> Task:
        """The task with every link known: for learning from cases, never for predicting them."""
        return self.linked(np.ones((1, len(self.truth)), dtype=np.bool_))


@dataclass(frozen=True, eq=False)
class Expectation:
    """What the descriptions say of one group: ability per item, basis of the fact, kind of covariate, who they are."""

    theta: Floats
    basis: str
    kind: str
    population: Population


@dataclass(frozen=True, eq=False)
class _Words:
    """What a pool says of itself and its groups, read once."""

    pool: ItemPool
    description: str
    levels: Mapping[str, Sequence[str]]
    domains: Mapping[str, str | None]
    assessment: Assessment | None
    whole: Population

    @classmethod
    def of(cls, pool: ItemPool, description: str, focal: pl.DataFrame) -> _Words:
        groups = focal.select("covariate", "group").unique(maintain_order=True)
        levels: dict[str, list[str]] = {}
        for covariate, group in groups.iter_rows():
            levels.setdefault(covariate, []).append(_label(group))
        text = description or pool.name
        domains = dict(pool.items.select("item", "domain").iter_rows())
        return cls(pool, text, levels, domains, _assessment(pool, text), _whole_population(pool, text))

    def expect(self, covariate: str, group: str, items: Sequence[str]) -> Expectation:
        """Return what is expected of one group on some items."""
        parts = split_crossing(covariate, _label(group), self.levels)
        domains = [self.domains.get(item) for item in items]
        theta, basis = ability_of(parts, domains, self.assessment, len(self.levels[covariate]))
        return Expectation(theta, basis, kind_of(parts[0][0]), self._population(group, parts))

    def _population(self, group: str, parts: Sequence[tuple[str, str]]) -> Population:
        """Narrow the whole by each part of a crossing; a part that the world tables cannot read stays prose."""
        people = self.whole
        for covariate, label in parts:
            try:
                people = population_of(f"{covariate}={label}", people, world_tables())
            except MensuraError:
                people = people.with_(prose=f"{people.prose} Of these, those with {covariate} {label}.")
        return people.with_(name=group)


def cases_of(pool: ItemPool, description: str = "") -> list[Case]:
    """Make one case per focal group of a pool: from the group to the pool's whole sample (``all``).

    An item counts where the group has 30 or more answers, a group where it has five such items. Aggregates (covariate
    ``all`` or ``reference``) are no focal groups. A group with as many answers as the whole, or more, cannot be part of
    it: it is treated as a separate sample.

    Parameters
    ----------
    pool : ItemPool
        The pool, with a group ``all``.
    description : str
        What the pool is, in words; its name when empty.

    Returns
    -------
    list of Case
        Tasks, each with the truth that it does not hold.

    Raises
    ------
    MensuraError
        If the pool has no group ``all``, or no group has enough items.

    Examples
    --------
    >>> import polars as pl
    >>> from mensura import ItemPool
    >>> from mensura.extrapolation import cases_of
    >>> answers = pl.DataFrame({"person": range(60), **{f"q{at}": [1, 0] * 30 for at in range(5)}})
    >>> persons = pl.DataFrame({"person": range(60), "sex": ["female"] * 30 + ["male"] * 30})
    >>> pool = ItemPool.from_answers("mine", {"item": [f"q{at}" for at in range(5)]}, answers, persons)
    >>> [case.group for case in cases_of(pool)]
    ['sex=female', 'sex=male']

    """
    whole = _whole(pool)
    focal = pool.rates.filter((pl.col("group") != ALL) & ~pl.col("covariate").is_in([ALL, "reference"]))
    words = _Words.of(pool, description, focal)
    items = pool.items.select(name for name in pool.items.columns if KNOWN_OF_ITEMS.fullmatch(name))
    cases: list[Case] = []
    for (covariate,), groups in focal.group_by("covariate", maintain_order=True):
        slices = {
            str(group): table.filter(pl.col("n") >= SMALLEST_GROUP).join(whole, on="item", maintain_order="left")
            for (group,), table in groups.group_by("group", maintain_order=True)
        }
        expected = {
            group: words.expect(str(covariate), group, table["item"].to_list()) for group, table in slices.items()
        }
        cases += [
            _part_of_whole(words, items, str(covariate), group, slices, expected)
            for group, table in slices.items()
            if table.height >= FEWEST_ITEMS
        ]
    if not cases:
        raise MensuraError(
            f"pool {pool.name!r}: no group has {FEWEST_ITEMS} items with {SMALLEST_GROUP} or more people; add answers "
            "or join groups; "
            f"groups: {', '.join(pool.groups['group'].to_list()[:12])}"
        )
    return cases


def pairs_of(pool: ItemPool, cases: Sequence[Case], description: str = "") -> list[Case]:
    """Return every ordered pair of countries among ``cases`` as a case from one to the other, apart from each other."""
    countries = countries_of(cases)
    if not countries:
        return []
    labels = pl.DataFrame({"covariate": [c.covariate for c in countries], "group": [c.group for c in countries]})
    words = _Words.of(pool, description, labels)
    expected = {case.group: words.expect(case.covariate, case.group, case.items) for case in countries}
    return [
        _apart(one, other, expected[one.group], expected[other.group])
        for one in countries
        for other in countries
        if one is not other and len(set(one.items) & set(other.items)) >= FEWEST_ITEMS
    ]


def countries_of(cases: Sequence[Case]) -> list[Case]:
    """Return the cases of the country covariate that is no crossing: the one with the shortest name, if any."""
    plain = sorted({case.covariate for case in cases if case.task.kind == COUNTRY}, key=len)[:1]
    return [case for case in cases if case.covariate in plain]


def _whole(pool: ItemPool) -> pl.DataFrame:
    whole = pool.rates.filter(pl.col("group") == ALL)
    if whole.is_empty():
        raise MensuraError(
            f"pool {pool.name!r} has no group 'all', the whole sample to extrapolate to; add its rates to rates.csv"
        )
    return whole.select("item", n_whole="n", whole="rate")


def _assessment(pool: ItemPool, text: str) -> Assessment | None:
    """Return the assessment that the description names, of the year the pool states, where it states one."""
    assessment, year = assessment_of(text), pool.administration.year
    return assessment if assessment is None or year is None else replace(assessment, year=year)


def _whole_population(pool: ItemPool, text: str) -> Population:
    """Return the population of the whole pool; in prose alone where its covariates say nothing."""
    try:
        return describe(pool, world_tables())
    except MensuraError:
        return Population(pool.name, f"The people tested in {text}.")


def _label(group: str) -> str:
    return group.split("=", 1)[-1]


def _part_of_whole(
    words: _Words,
    items: pl.DataFrame,
    covariate: str,
    group: str,
    slices: Mapping[str, pl.DataFrame],
    expected: Mapping[str, Expectation],
) -> Case:
    table, mine = slices[group], expected[group]
    names = table["item"].to_list()
    n, n_whole = table["n"].to_numpy().astype(float), table["n_whole"].to_numpy().astype(float)
    others = [name for name in slices if name != group]
    gap = _mixed(names, [(slices[other], expected[other].theta) for other in others]) - mine.theta
    basis = mine.basis if np.isfinite(gap).any() else "none"
    sizes = np.array([float(slices[other]["n"].sum()) for other in others])
    task = Task(
        items=table.select("item").join(items, on="item", how="left", maintain_order="left"),
        rate=table["rate"].to_numpy().astype(float),
        n=n,
        focal=mine.population,
        reference=words.whole,
        links=np.full((1, len(names)), np.nan),
        links_n=n_whole,
        share=np.where(n < n_whole, n / n_whole, 0.0),
        pool=words.pool.name,
        description=words.description,
        covariate=covariate,
        group=group,
        kind=mine.kind,
        offset=shift_for(gap, basis),
        basis=basis,
        concentration=float((sizes**2).sum() / sizes.sum() ** 2) if sizes.sum() else 1.0,
    )
    return Case(task, table["whole"].to_numpy().astype(float))


def _mixed(items: Sequence[str], others: Sequence[tuple[pl.DataFrame, Floats]]) -> Floats:
    """Return the mean ability of the other groups on each item, weighted by their answers to it."""
    total, weight = dict.fromkeys(items, 0.0), dict.fromkeys(items, 0.0)
    for table, theta in others:
        for item, n, value in zip(table["item"], table["n"], theta, strict=True):
            if item in total and np.isfinite(value):
                total[item] += n * value
                weight[item] += n
    return np.array([total[item] / weight[item] if weight[item] else np.nan for item in items])


def _apart(one: Case, other: Case, here: Expectation, there: Expectation) -> Case:
    """Return the case from one group to another, separate one, on the items both have."""
    where = {item: k for k, item in enumerate(other.items)}
    mine = [k for k, item in enumerate(one.items) if item in where]
    its = [where[one.items[k]] for k in mine]
    gap = there.theta[its] - here.theta[mine]
    basis = here.basis if np.isfinite(gap).any() else "none"
    task = replace(
        one.task,
        items=one.task.items[mine],
        rate=one.task.rate[mine],
        n=one.task.n[mine],
        reference=there.population,
        links=np.full((1, len(mine)), np.nan),
        links_n=other.task.n[its],
        share=np.zeros(len(mine)),
        offset=shift_for(gap, basis),
        basis=basis,
        concentration=1.0,
    )
    return Case(task, other.task.rate[its])
