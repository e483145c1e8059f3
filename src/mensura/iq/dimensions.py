"""The dimension waterfall and the composite: dimensions averaged, missing ones filled, all averaged again."""

from dataclasses import dataclass

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask
from mensura.iq.ladders import HIGHEST, LOWEST
from mensura.iq.matrix import ScoreMatrix
from mensura.iq.rules import IqRules
from mensura.iq.waterfall import JOINT, PEERS, SOURCE, Codes, Filled, masked_quantile, rests_on_scores, smallest

STATUSES = (
    "missing",
    "measured",
    "partly measured",
    "inherited",
    "peers",
    "assumed",
    "estimated",
    "matched",
    "nearest",
    "global",
)
MISSING, MEASURED, PARTLY, INHERITED, BY_PEERS, ASSUMED, ESTIMATED, MATCHED, NEAREST, GLOBAL = range(len(STATUSES))
"""Where a dimension comes from: all its benchmarks measured; at least two; none but a predecessor's; only peers', only
assumed zeros; one benchmark or none measured and the rest estimated; filled as a whole from models alike, the nearest
ones, or all of its time."""


@dataclass(frozen=True, eq=False, repr=False)
class ScoredDimensions:
    """Dimension and composite IQs of a stack of draws."""

    dimensions: Floats  # draws × models × dimensions, NaN where none
    composites: Floats  # draws × models, not rounded, NaN where none
    statuses: Codes  # models × dimensions, of the first draw
    scored: Mask  # models × dimensions: rests on scores of the model or its predecessors
    own: Floats  # draws × models: mean of the scored dimensions


def score_dimensions(
    matrix: ScoreMatrix, filled: Filled, rules: IqRules, weights: Floats, noise: Floats | None = None
) -> ScoredDimensions:
    """Average benchmarks into dimensions, fill missing dimensions, and average these into the composite.

    ``weights`` (one per dimension, summing to 1) are equal in the method; ``noise`` (draws × models × dimensions) lets
    dimension-level estimates vary by their error.
    """
    values = _average(matrix, filled.iqs)
    scored = rests_on_scores(matrix, filled.steps) & ~np.isnan(values[0])
    statuses = _statuses(matrix, filled.steps, values[0], scored)
    count = scored.sum(axis=1)
    total = np.where(scored, values, 0.0).sum(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        own = total / count
        other = (total[:, :, None] - values) / (count - 1)[:, None]
    whole = ~np.isnan(values[0]).any(axis=1)
    rankable = whole if rules.imputation.is_joint else count >= rules.dimension.minimum_scored
    for place in range(len(matrix.dimensions)):
        targets = np.flatnonzero((statuses[:, place] == MISSING) & rankable)
        peers = np.flatnonzero(scored[:, place] & rankable)
        if targets.size == 0 or peers.size == 0:
            continue
        alike, step = comparable(matrix, own, other[:, :, place], targets, peers, rules)
        cap = masked_quantile(values[:, None, peers, place], alike, rules.dimension.percentile)
        estimate = np.minimum(own[:, targets], cap)
        if noise is not None:
            estimate = np.clip(estimate + rules.error.dimension * noise[:, targets, place], LOWEST, HIGHEST)
        values[:, targets, place] = estimate
        statuses[targets, place] = np.where(np.isnan(estimate[0]), MISSING, step)
    return ScoredDimensions(values, np.where(rankable, values @ weights, np.nan), statuses, scored, own)


def comparable(
    matrix: ScoreMatrix, own: Floats, other: Floats, targets: Ints, peers: Ints, rules: IqRules
) -> tuple[Mask, Codes]:
    """Return which models bound a missing dimension, draws × targets × peers, and by which step (first draw).

    ``own`` is a model's mean over its scored dimensions, ``other`` that without the missing one. Alike are models
    released no later within the band; with too few of them the nearest; with too few of any, all of the era.
    """
    rule = rules.dimension
    era = matrix.released[peers] <= matrix.released[targets][:, None]
    distance = np.where(era, np.abs(own[:, targets, None] - other[:, None, peers]), np.inf)
    banded = distance <= rule.band
    enough = banded.sum(axis=-1, keepdims=True) >= rule.comparable
    alike = np.where(enough, banded, smallest(distance, rule.comparable))
    thin = era.sum(axis=-1) < rule.comparable
    return alike, np.select([enough[0, :, 0], thin], [MATCHED, GLOBAL], NEAREST).astype(np.int8)


def _average(matrix: ScoreMatrix, iqs: Floats) -> Floats:
    """Return the mean of each dimension's benchmarks, NaN unless every one has a value."""
    size = matrix.members.sum(axis=0)
    there = ~np.isnan(iqs)
    whole = there @ matrix.members == size
    return np.where(whole, np.where(there, iqs, 0.0) @ matrix.members / size, np.nan)


def rounded(values: Floats) -> Floats:
    """Round half up, as the method does."""
    return np.asarray(np.floor(values + 0.5))


def _statuses(matrix: ScoreMatrix, steps: Codes, values: Floats, scored: Mask) -> Codes:
    size = matrix.members.sum(axis=0)
    sources = (steps == SOURCE) @ matrix.members
    by_peers = (steps == PEERS) @ matrix.members > 0
    there = ~np.isnan(values)
    estimated = (steps == JOINT) @ matrix.members > 0
    kinds = {
        MEASURED: there & (sources == size),
        PARTLY: there & (sources > 1),
        ESTIMATED: there & ((sources == 1) | (estimated & ~scored & ~by_peers)),
        INHERITED: scored,
        BY_PEERS: there & by_peers,
        ASSUMED: there,
    }
    return np.select(list(kinds.values()), list(kinds), MISSING).astype(np.int8)
