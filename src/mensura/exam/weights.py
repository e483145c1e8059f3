"""Who counts and how much: exclusion by the exam's rules, raking to a population, and groups that stay hidden."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, just_above, just_below
from mensura.core.errors import MensuraError, listed_names
from mensura.core.frames import require_columns
from mensura.exam.settings import ExclusionRules


def exclude(takers: pl.DataFrame, rules: ExclusionRules) -> pl.DataFrame:
    """Return subject, rule, value and limit for every rule that a person breaks; a person may break several."""
    failed = pl.col("failed_checks").cast(pl.Float64)
    share = pl.col("answered") / pl.max_horizontal(pl.lit(1), "items")
    broken = [
        ("answered too few items", share, rules.least_answered, share < rules.least_answered),
        ("answered too fast", pl.col("seconds"), rules.fastest_seconds, pl.col("seconds") < rules.fastest_seconds),
        ("failed attention checks", failed, rules.most_failed_checks, failed > rules.most_failed_checks),
    ]
    parts = [
        takers.with_row_index("row")
        .filter(is_broken)
        .select("row", "subject", rule=pl.lit(rule), value=value.cast(pl.Float64), limit=pl.lit(float(limit)))
        for rule, value, limit, is_broken in broken
    ]
    return pl.concat(parts).sort("row", maintain_order=True).drop("row")


# Small groups of people stay hidden, also from a reader who subtracts the shown groups from the total.

LEAST_SHOWN = 5
"""A group of fewer people is not shown."""
Group = TypeVar("Group")


def hidden_groups(counts: Mapping[Group, int]) -> set[Group]:
    """Return the groups of one question that tables leave out; ``counts``: people by group, all people in one.

    These are the groups of fewer than five. The total minus the shown groups would tell what they hide together. So
    the next larger groups are hidden, too, until two groups with five people or more are.
    """
    rising = sorted(counts, key=lambda group: counts[group])
    hidden = {group for group in rising if counts[group] < LEAST_SHOWN}
    for group in rising:
        inside = [counts[one] for one in hidden if counts[one]]
        if not inside or (len(inside) > 1 and sum(inside) >= LEAST_SHOWN):
            break
        hidden.add(group)
    return hidden


def shared_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """Return the weights as tables show them, each shared by five people or more: the mean of neighbours.

    People with the same answers about themselves have the same weight. A weight that few share would point at them.
    """
    rising = sorted(weights, key=lambda person: weights[person])
    groups: list[list[str]] = []
    for _, alike in groupby(rising, key=lambda person: round(weights[person], 9)):
        if groups and len(groups[-1]) < LEAST_SHOWN:
            groups[-1].extend(alike)
        else:
            groups.append(list(alike))
    if len(groups) > 1 and len(groups[-1]) < LEAST_SHOWN:
        groups[-2:] = [groups[-2] + groups[-1]]
    return {person: sum(weights[one] for one in group) / len(group) for group in groups for person in group}


# Raking: weights with which a convenience sample has the stated margins of a population.

TRIM = 5.0
"""No weight is more than this many times the mean, or less than its inverse."""
_PASSES = 200
_CLOSE = 1e-9
_DECLINED = ""  # no answer of a question is empty
_MARGINS = {"question": pl.String, "answer": pl.String, **dict.fromkeys(("share", "sample", "weighted"), pl.Float64)}
Levels = np.ndarray[Any, np.dtype[np.object_]]


class RakedWeights(NamedTuple):
    """Weights by person (mean 1), the margins reached, and the design effect 1 + variance of the weights (Kish)."""

    weights: dict[str, float]
    margins: pl.DataFrame
    design_effect: float


def rake(takers: pl.DataFrame, margins: pl.DataFrame | None) -> RakedWeights:
    """Weight people so that the shares of their answers are those of ``margins``: question, answer, share.

    Without margins everybody has the weight 1. A question may name several, as in ``age × schooling``, with answers
    written alike. People who declined a question keep their share of the sample in it.
    """
    if margins is None:
        return RakedWeights(dict.fromkeys(takers["subject"], 1.0), pl.DataFrame(schema=_MARGINS), 1.0)
    require_columns(margins, ["question", "answer", "share"], name="margins")
    wanted = margins.with_columns(pl.col("question", "answer").cast(pl.String), pl.col("share").cast(pl.Float64))
    targets = [_target(takers, wanted, name) for name in wanted["question"].unique(maintain_order=True)]
    weight = np.ones(takers.height)
    for _ in range(_PASSES):
        before = weight.copy()
        for _, levels, shares in targets:
            total = weight[levels != _DECLINED].sum()
            for answer, share in shares.items():
                weight[levels == answer] *= share * total / weight[levels == answer].sum()
        weight = np.clip(weight, 1.0 / TRIM, TRIM)
        weight /= weight.mean()
        if np.abs(weight - before).max() < _CLOSE:
            break
    reached = [row for target in targets for row in _reached(weight, *target)]
    effect = float((weight**2).mean() / weight.mean() ** 2)
    people = dict(zip(takers["subject"], weight.tolist(), strict=True))
    return RakedWeights(people, pl.DataFrame(reached, schema=_MARGINS, orient="row"), effect)


def _target(takers: pl.DataFrame, margins: pl.DataFrame, name: str) -> tuple[str, Levels, dict[str, float]]:
    """Return a question, the answer of each person to it, and the share of each answer."""
    parts = [part.strip() for part in name.split("×")]
    missing = [part for part in parts if part not in takers.columns]
    if missing:
        raise MensuraError(f"margins: {missing[0]!r} is no question of the exam; expected one of its names")
    levels = [_DECLINED if None in row else " × ".join(row) for row in takers.select(parts).iter_rows()]
    shares = dict(margins.filter(pl.col("question") == name).select("answer", "share").iter_rows())
    total = sum(shares.values())
    if not just_below(0.98) <= total <= just_above(1.02) or min(shares.values()) <= 0:
        raise MensuraError(f"margins: the shares of {name!r} add up to {total:.3f}; expected positive ones, 1 in all")
    absent = [answer for answer in shares if answer not in levels]
    unlisted = sorted(set(levels) - {_DECLINED} - set(shares))
    if absent:
        raise MensuraError(
            f"margins: nobody in the sample answered {name!r} with {listed_names(absent)}. Merge it with another answer"
        )
    if unlisted:
        raise MensuraError(f"margins: {name!r} lacks a share for {listed_names(unlisted)}; add it")
    return name, np.array(levels, dtype=object), {answer: share / total for answer, share in shares.items()}


def _reached(weight: Floats, name: str, levels: Levels, shares: dict[str, float]) -> Iterator[tuple[Any, ...]]:
    """Yield question, answer, share, and the shares in the sample before and after; not of small groups."""
    hidden = hidden_groups(Counter(levels))
    for answer, share in shares.items():
        before_and_after = [
            None if answer in hidden else float(one[levels == answer].sum() / one[levels != _DECLINED].sum())
            for one in (np.ones(len(weight)), weight)
        ]
        yield (name, answer, share, *before_and_after)


def count_people(number: int) -> str:
    """Return how many people in words that fit the number."""
    return f"{number} {'person' if number == 1 else 'people'}"
