"""From an item pool to cases: who is extrapolated from, to whom, and what public facts say of the gap."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.errors import MensuraError
from mensura.extrapolation.descriptions import assessment_of, kind_of, split_crossing
from mensura.extrapolation.facts import ability_of, logits_per_unit
from mensura.extrapolation.line import Case, Floats
from mensura.extrapolation.priors import TRANSFER, prior_for
from mensura.people.rates import ALL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mensura.people import ItemPool

SMALLEST_GROUP = 30
FEWEST_ITEMS = 5
GROUPINGS = ("domain", "format", "cognitive", "passage", "scoring", "language")


@dataclass(frozen=True)
class Expectation:
    """What the descriptions say of one group: ability per item, basis of the fact, kind of covariate."""

    theta: Floats
    basis: str
    kind: str


def cases_of(
    pool: ItemPool,
    description: str = "",
    *,
    smallest: int = SMALLEST_GROUP,
    priors: pl.DataFrame | None = None,
) -> list[Case]:
    """Return one case per focal group: from the group to the pool's whole sample (``all``).

    An item counts where the group has ``smallest`` or more answers, a group where it has five such items.
    Aggregates (covariate ``all`` or ``reference``) are no focal groups. A group with as many answers as the
    whole, or more, cannot be part of it: it is treated as a separate sample. ``priors`` replaces the shipped table.
    """
    whole = _whole(pool)
    focal = pool.rates.filter((pl.col("group") != ALL) & ~pl.col("covariate").is_in([ALL, "reference"]))
    levels = _levels(focal)
    domains = dict(pool.items.select("item", "domain").iter_rows())
    cases: list[Case] = []
    for (covariate,), groups in focal.group_by("covariate", maintain_order=True):
        slices = {
            str(group): table.filter(pl.col("n") >= smallest).join(whole, on="item", maintain_order="left")
            for (group,), table in groups.group_by("group", maintain_order=True)
        }
        expected = {
            group: _expect(str(covariate), group, table["item"].to_list(), domains, levels, pool, description)
            for group, table in slices.items()
        }
        for group, table in slices.items():
            if table.height >= FEWEST_ITEMS:
                case = _part_of_whole(pool, str(covariate), group, slices, expected)
                prior = prior_for(case.kind, case.basis, priors)
                cases.append(replace(case, prior=prior.widened(1 + case.concentration)))
    if not cases:
        raise MensuraError(
            f"pool {pool.name!r}: no group has {FEWEST_ITEMS} items with {smallest} or more people; "
            f"groups: {', '.join(pool.groups['group'].to_list()[:12])}"
        )
    return cases


def pairs_of(pool: ItemPool, cases: Sequence[Case], description: str = "") -> list[tuple[str, Case]]:
    """Return every ordered pair of countries among ``cases`` as (reference group, case), apart from each other."""
    plain = sorted({case.covariate for case in cases if case.kind == "country"}, key=len)[:1]
    countries = [case for case in cases if case.covariate in plain]
    theta = _abilities(pool, countries, description)
    return [
        (b.group, _apart(a, b, theta[a.group], theta[b.group]))
        for a in countries
        for b in countries
        if a is not b and len(set(a.items) & set(b.items)) >= FEWEST_ITEMS
    ]


def _whole(pool: ItemPool) -> pl.DataFrame:
    whole = pool.rates.filter(pl.col("group") == ALL)
    if whole.is_empty():
        raise MensuraError(f"pool {pool.name!r} has no group 'all', the whole sample to extrapolate to")
    return whole.select("item", n_whole="n", whole="rate")


def _levels(rates: pl.DataFrame) -> dict[str, list[str]]:
    """Return the labels of every covariate (the part of the group's name after ``=``)."""
    groups = rates.select("covariate", "group").unique(maintain_order=True)
    levels: dict[str, list[str]] = {}
    for covariate, group in groups.iter_rows():
        levels.setdefault(covariate, []).append(_label(group))
    return levels


def _label(group: str) -> str:
    return group.split("=", 1)[-1]


def _expect(
    covariate: str,
    group: str,
    items: Sequence[str],
    domains: Mapping[str, str | None],
    levels: Mapping[str, Sequence[str]],
    pool: ItemPool,
    description: str,
) -> Expectation:
    parts = split_crossing(covariate, _label(group), levels)
    assessment = assessment_of(description or pool.name)
    theta, basis = ability_of(parts, [domains.get(item) for item in items], assessment, len(levels[covariate]))
    return Expectation(theta, basis, kind_of(parts[0][0]))


def _part_of_whole(
    pool: ItemPool,
    covariate: str,
    group: str,
    slices: Mapping[str, pl.DataFrame],
    expected: Mapping[str, Expectation],
) -> Case:
    table, mine = slices[group], expected[group]
    items = table["item"].to_list()
    n, n_whole = table["n"].to_numpy().astype(float), table["n_whole"].to_numpy().astype(float)
    part = n < n_whole
    gap = _mixed(items, [(slices[g], expected[g].theta) for g in slices if g != group]) - mine.theta
    basis = mine.basis if np.isfinite(gap).any() else "none"
    sizes = np.array([float(slices[g]["n"].sum()) for g in slices if g != group])
    features, factor = _features(pool.items, items)
    return Case(
        items=tuple(items),
        rate=table["rate"].to_numpy().astype(float),
        n=n,
        share=np.where(part, n / n_whole, 0.0),
        rest=np.where(part, n_whole - n, n_whole),
        reference=table["whole"].to_numpy().astype(float),
        offset=TRANSFER[basis] * logits_per_unit() * np.nan_to_num(gap),
        features=features,
        factor=factor,
        covariate=covariate,
        group=group,
        kind=mine.kind,
        basis=basis,
        concentration=float((sizes**2).sum() / sizes.sum() ** 2) if sizes.sum() else 1.0,
    )


def _mixed(items: Sequence[str], others: Sequence[tuple[pl.DataFrame, Floats]]) -> Floats:
    """Return the mean ability of the other groups on each item, weighted by their answers to it."""
    total, weight = dict.fromkeys(items, 0.0), dict.fromkeys(items, 0.0)
    for table, theta in others:
        for item, n, value in zip(table["item"], table["n"], theta, strict=True):
            if item in total and np.isfinite(value):
                total[item] += n * value
                weight[item] += n
    return np.array([total[item] / weight[item] if weight[item] else np.nan for item in items])


def _abilities(pool: ItemPool, cases: Sequence[Case], description: str) -> dict[str, Expectation]:
    domains = dict(pool.items.select("item", "domain").iter_rows())
    levels = {case.covariate: [_label(c.group) for c in cases] for case in cases}
    return {
        case.group: _expect(case.covariate, case.group, case.items, domains, levels, pool, description)
        for case in cases
    }


def _apart(a: Case, b: Case, theta_a: Expectation, theta_b: Expectation) -> Case:
    """Return the case from group ``a`` to the separate group ``b``, on the items both have."""
    where = {item: k for k, item in enumerate(b.items)}
    mine = [k for k, item in enumerate(a.items) if item in where]
    its = [where[a.items[k]] for k in mine]
    gap = theta_b.theta[its] - theta_a.theta[mine]
    basis = theta_a.basis if np.isfinite(gap).any() else "none"
    return replace(
        a,
        items=tuple(a.items[k] for k in mine),
        rate=a.rate[mine],
        n=a.n[mine],
        share=np.zeros(len(mine)),
        rest=b.n[its],
        reference=b.rate[its],
        offset=TRANSFER[basis] * logits_per_unit() * np.nan_to_num(gap),
        features=a.features[:, mine] if a.features.size else a.features,
        basis=basis,
        concentration=1.0,
        prior=prior_for(theta_a.kind, basis).widened(2.0),
    )


def _features(table: pl.DataFrame, items: Sequence[str]) -> tuple[Floats, tuple[str, ...]]:
    """Return the groupings of the items as rows of 0 and 1, and the grouping each row belongs to."""
    rows: list[Floats] = []
    factor: list[str] = []
    for name in (name for name in GROUPINGS if name in table.columns):
        label = dict(table.select("item", pl.col(name).cast(pl.String).fill_null("")).iter_rows())
        values = [label[item] for item in items]
        for level in sorted(set(values)) if 1 < len(set(values)) <= len(items) / 2 else []:
            rows.append(np.array([value == level for value in values], dtype=float))
            factor.append(name)
    return np.array(rows).reshape(len(rows), len(items)), tuple(factor)
