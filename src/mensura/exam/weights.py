"""Raking: weights with which a convenience sample has the stated margins of a population."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from mensura.core.errors import MensuraError, listed_names
from mensura.core.frames import require_columns
from mensura.exam.small_groups import hidden_groups

TRIM = 5.0
"""No weight is more than this many times the mean, or less than its inverse."""
_PASSES = 200
_CLOSE = 1e-9


class RakedWeights(NamedTuple):
    """Weights by person (mean 1), the margins reached, and the design effect 1 + variance of the weights (Kish)."""

    weights: dict[str, float]
    margins: pl.DataFrame
    design_effect: float


def rake(takers: pl.DataFrame, margins: pl.DataFrame) -> RakedWeights:
    """Weight people so that the shares of their answers are those of ``margins``: question, answer, share.

    A question may name several, as in ``age × schooling``, with answers written alike. People who declined a question
    keep their share of the sample in it.
    """
    require_columns(margins, ["question", "answer", "share"], name="margins")
    wanted = margins.with_columns(pl.col("question", "answer").cast(pl.String), pl.col("share").cast(pl.Float64))
    weight = np.ones(takers.height)
    targets = [
        (name, _levels(takers, name), _shares(wanted, name)) for name in wanted["question"].unique(maintain_order=True)
    ]
    for name, levels, shares in targets:
        _refuse_absent(name, levels, shares)
    for _ in range(_PASSES):
        before = weight.copy()
        for _, levels, shares in targets:
            known = weight[[level is not None for level in levels]].sum()
            for answer, share in shares.items():
                rows = np.array([level == answer for level in levels])
                weight[rows] *= share * known / weight[rows].sum()
        weight = np.clip(weight / weight.mean(), 1.0 / TRIM, TRIM)
        weight /= weight.mean()
        if np.abs(weight - before).max() < _CLOSE:
            break
    reached = [row for target in targets for row in _reached(weight, *target)]
    schema = {"question": pl.String, "answer": pl.String, "share": pl.Float64, "sample": pl.Float64}
    table = pl.DataFrame(reached, schema={**schema, "weighted": pl.Float64}, orient="row")
    effect = float((weight**2).mean() / weight.mean() ** 2)
    people = dict(zip(takers["subject"], weight.tolist(), strict=True))
    return RakedWeights(people, table, effect)


def _reached(
    weight: np.ndarray[tuple[int], np.dtype[np.float64]], name: str, levels: list[str | None], shares: dict[str, float]
) -> Iterator[tuple[str, str, float, float | None, float | None]]:
    """Yield question, answer, share, and the shares in the sample before and after; not of small groups."""
    hidden = hidden_groups(Counter(levels))
    for answer, share in shares.items():
        found = (
            (None, None) if answer in hidden else (_share(weight**0, levels, answer), _share(weight, levels, answer))
        )
        yield (name, answer, share, *found)


def _levels(takers: pl.DataFrame, name: str) -> list[str | None]:
    parts = [part.strip() for part in name.split("×")]
    missing = [part for part in parts if part not in takers.columns]
    if missing:
        raise MensuraError(f"margins: {missing[0]!r} is no question of the exam; expected one of its names")
    rows = takers.select(parts).rows()
    return [None if None in row else " × ".join(row) for row in rows]


def _shares(margins: pl.DataFrame, name: str) -> dict[str, float]:
    rows = margins.filter(pl.col("question") == name)
    shares = rows["share"].to_list()
    total = sum(shares)
    if not 0.98 <= total <= 1.02 or min(shares) <= 0:
        raise MensuraError(
            f"margins: the shares of {name!r} add up to {total:.3f}; expected positive shares that add to 1"
        )
    return {answer: share / total for answer, share in rows.select("answer", "share").iter_rows()}


def _refuse_absent(name: str, levels: list[str | None], shares: dict[str, float]) -> None:
    absent = [answer for answer in shares if answer not in levels]
    strange = sorted({level for level in levels if level is not None and level not in shares})
    if absent:
        raise MensuraError(
            f"margins: nobody in the sample answered {name!r} with {listed_names(absent)}. Merge it with another answer"
        )
    if strange:
        raise MensuraError(f"margins: {name!r} lacks a share for {listed_names(strange)}; add it")


def _share(weight: np.ndarray[tuple[int], np.dtype[np.float64]], levels: list[str | None], answer: str) -> float:
    known = np.array([level is not None for level in levels])
    return float(weight[np.array([level == answer for level in levels])].sum() / weight[known].sum())
