"""The dimension waterfall and the composite: dimensions averaged, missing ones filled, all averaged again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mensura.iq.field import Field, Flags
from mensura.iq.ladders import HIGHEST, LOWEST, Array
from mensura.iq.quantiles import masked_quantile, smallest
from mensura.iq.rules import Rules
from mensura.iq.waterfall import COMPLETION, PEERS, SOURCE, Filled, Steps, rests_on_scores

STATUSES = (
    "missing",
    "measured",
    "partly measured",
    "inherited",
    "peers",
    "assumed",
    "completed",
    "matched",
    "nearest",
    "global",
)
MISSING, MEASURED, PARTLY, INHERITED, BY_PEERS, ASSUMED, COMPLETED, MATCHED, NEAREST, GLOBAL = range(len(STATUSES))
"""Where a dimension comes from: all its benchmarks measured; some; none but a predecessor's; only peers', only
assumed zeros or only completed cells; estimated as a whole from models alike, the nearest ones, or all of its time."""


@dataclass(frozen=True, eq=False)
class Scored:
    """Dimension and composite IQs of a stack of draws."""

    dimensions: Array  # draws × models × dimensions, NaN where none
    composites: Array  # draws × models, not rounded, NaN where none
    statuses: NDArray[np.int8]  # models × dimensions, of the first draw
    scored: Flags  # models × dimensions: rests on scores of the model or its predecessors
    own: Array  # draws × models: mean of the scored dimensions


def score_dimensions(field: Field, filled: Filled, rules: Rules, weights: Array, noise: Array | None = None) -> Scored:
    """Average benchmarks into dimensions, fill missing dimensions, and average these into the composite.

    ``weights`` (one per dimension, summing to 1) are equal in the method; ``noise`` (draws × models × dimensions) lets
    dimension-level estimates vary by their error.
    """
    values = _average(field, filled.iqs)
    scored = rests_on_scores(field, filled.steps) & ~np.isnan(values[0])
    statuses = _statuses(field, filled.steps, values[0], scored)
    count = scored.sum(axis=1)
    total = np.where(scored, values, 0.0).sum(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        own = total / count
        other = (total[:, :, None] - values) / (count - 1)[:, None]
    rankable = count >= rules.dimension.minimum_scored
    for place in range(len(field.dimensions)):
        targets = np.flatnonzero((statuses[:, place] == MISSING) & rankable)
        peers = np.flatnonzero(scored[:, place] & rankable)
        if targets.size == 0 or peers.size == 0:
            continue
        alike, step = comparable(field, own, other[:, :, place], targets, peers, rules)
        cap = masked_quantile(values[:, None, peers, place], alike, rules.dimension.percentile)
        estimate = np.minimum(own[:, targets], cap)
        if noise is not None:
            estimate = np.clip(estimate + rules.error.dimension * noise[:, targets, place], LOWEST, HIGHEST)
        values[:, targets, place] = estimate
        statuses[targets, place] = np.where(np.isnan(estimate[0]), MISSING, step)
    composites = np.where(rankable, values @ weights, np.nan)
    return Scored(values, composites, statuses, scored, own)


def comparable(
    field: Field, own: Array, other: Array, targets: NDArray[np.int64], peers: NDArray[np.int64], rules: Rules
) -> tuple[Flags, NDArray[np.int8]]:
    """Return which models bound a missing dimension, draws × targets × peers, and by which step (first draw).

    ``own`` is a model's mean over its scored dimensions, ``other`` that without the missing one. Alike are models
    released no later within the band; with too few of them the nearest; with too few of any, all of the era.
    """
    rule = rules.dimension
    era = field.released[peers] <= field.released[targets][:, None]
    distance = np.where(era, np.abs(own[:, targets, None] - other[:, None, peers]), np.inf)
    banded = distance <= rule.band
    enough = banded.sum(axis=-1, keepdims=True) >= rule.comparable
    alike = np.where(enough, banded, smallest(distance, rule.comparable))
    thin = era.sum(axis=-1) < rule.comparable
    step = np.select([enough[0, :, 0], thin], [MATCHED, GLOBAL], NEAREST).astype(np.int8)
    return alike, step


def _average(field: Field, iqs: Array) -> Array:
    """Return the mean of each dimension's benchmarks, NaN unless every one has a value."""
    size = field.members.sum(axis=0)
    there = ~np.isnan(iqs)
    whole = there @ field.members == size
    return np.where(whole, np.where(there, iqs, 0.0) @ field.members / size, np.nan)


def rounded(values: Array) -> Array:
    """Round half up, as the method does."""
    return np.asarray(np.floor(values + 0.5))


def _statuses(field: Field, steps: Steps, values: Array, scored: Flags) -> NDArray[np.int8]:
    size = field.members.sum(axis=0)
    sources = (steps == SOURCE) @ field.members
    by_peers = (steps == PEERS) @ field.members > 0
    there = ~np.isnan(values)
    completed = (steps == COMPLETION) @ field.members > 0
    kinds = [there & (sources == size), there & (sources > 0), scored, there & by_peers, there & completed, there]
    return np.select(kinds, [MEASURED, PARTLY, INHERITED, BY_PEERS, COMPLETED, ASSUMED], MISSING).astype(np.int8)
