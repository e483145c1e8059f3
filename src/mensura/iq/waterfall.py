"""The benchmark waterfall: every missing benchmark filled by the first step that applies.

All functions work on stacks: the first axis is the draw (one for a plain scoring, many for uncertainty), then models,
then benchmarks. Which step applies depends on what was measured, not on the values, except that a correlation must be
positive to be used.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mensura.core.arrays import Floats, Ints, Mask
from mensura.iq.ladders import HIGHEST, LOWEST
from mensura.iq.matrix import ALWAYS, ScoreMatrix
from mensura.iq.rules import CorrelationRule, IqRules, PeerRule
from mensura.iq.same_gaps import GapCorrection

STEPS = ("none", "source", "predecessor", "peers", "zero", "correlation", "within", "joint")
NONE, SOURCE, PREDECESSOR, PEERS, ZERO, CORRELATION, WITHIN, JOINT = range(len(STEPS))

Codes: TypeAlias = NDArray[np.int8]
"""Steps or statuses as places in their list of names."""

_KIND = 1000.0  # more than any distance in IQ, so that a nearer kind always comes first
_NO_VARIANCE = 1e-9  # squared IQ points: a benchmark on which all score alike predicts nothing
_ORIGIN = 100.0  # IQs are counted from here while variances are formed, to keep their digits


@dataclass(frozen=True, eq=False, repr=False)
class Correlations:
    """Shrunk regressions between benchmarks of a dimension, draws × predictor × predicted."""

    weight: Floats  # n · shrunk², 0 where not usable
    slope: Floats
    intercept: Floats
    residual: Floats  # standard deviation of the predicted benchmark around the line


@dataclass(frozen=True, eq=False, repr=False)
class Filled:
    """Benchmark IQs after the waterfall, with the step and standard error of each, and whose value was inherited."""

    iqs: Floats  # draws × models × benchmarks, NaN where no step applies
    steps: Codes  # models × benchmarks, of the first draw
    errors: Floats  # draws × models × benchmarks: standard error of imputed values, 0 for measured ones
    donors: Ints  # models × benchmarks: row of the predecessor taken from, -1 = none
    correction: GapCorrection | None = None  # of estimates by the joint model


def run_waterfall(matrix: ScoreMatrix, iqs: Floats, rules: IqRules, noise: Floats | None = None) -> Filled:
    """Run the waterfall on a stack of benchmark IQs (draws × models × benchmarks).

    ``noise`` holds standard normal deviates of the same shape; imputed values then vary by their standard error.
    """
    measured = matrix.measured
    values, errors = iqs.copy(), np.zeros_like(iqs)
    steps = np.where(measured, SOURCE, NONE).astype(np.int8)

    def put(where: Mask, estimates: Floats, error: Floats | float, step: int) -> None:
        new = where & ~np.isnan(estimates)
        spread = np.broadcast_to(np.asarray(error), values.shape)
        shaken = estimates if noise is None else np.clip(estimates + spread * noise, LOWEST, HIGHEST)
        np.copyto(values, shaken, where=new)
        np.copyto(errors, spread, where=new)
        steps[new[0]] = step

    donors = find_donors(matrix)
    heirs = (steps == NONE) & (donors >= 0)
    put(heirs[None], iqs[:, np.maximum(donors, 0), np.arange(iqs.shape[2])], rules.error.predecessor, PREDECESSOR)
    capability = _capability(matrix, values)
    put((steps == NONE)[None], peer_estimates(matrix, iqs, capability, rules.peers), rules.error.peers, PEERS)
    zeros = (steps == NONE) & assumed_zero(matrix)
    put(zeros[None], np.broadcast_to(matrix.zero_iq, values.shape), rules.error.zero, ZERO)

    counts, average = known_in(matrix, values)
    caps = masked_quantile(np.swapaxes(iqs, 1, 2), measured.T, rules.within.percentile)
    lines = correlate(matrix, iqs, rules.correlation)
    fillable, tried = _fillable(matrix, steps, counts, rules)
    rule, single = rules.correlation, (counts == 1)[:, matrix.dimension_of]
    penalty = np.where(single, rule.penalty_single, rule.penalty)
    margin = np.where(single, rule.margin_single, rule.margin)
    mean = average[:, :, matrix.dimension_of]
    missing = (steps == NONE) & fillable
    estimate, residual = _predict(matrix, iqs, lines)
    careful = np.clip(np.minimum(estimate - penalty * residual, mean - margin), LOWEST, HIGHEST)
    # the penalty is a known bias of the careful value, so its square belongs to the error
    put((missing & tried)[None], careful, residual * np.sqrt(1 + penalty**2), CORRELATION)
    within = np.clip(np.fmin(np.where(tried | single, mean - margin, mean), caps[:, None, :]), LOWEST, HIGHEST)
    put(np.isnan(values) & missing, within, rules.error.within, WITHIN)
    return Filled(values, steps, errors, donors)


def find_donors(matrix: ScoreMatrix) -> Ints:
    """Return, per missing benchmark, the nearest ancestor that was measured on it (-1 = none).

    A model without any score of its own inherits nothing: it would be its predecessor under another name.
    """
    donors = np.full(matrix.measured.shape, -1)
    for place in range(matrix.ancestors.shape[1]):
        ancestor = matrix.ancestors[:, place]
        has = matrix.measured[ancestor] & (ancestor >= 0)[:, None]
        donors = np.where((donors < 0) & has, ancestor[:, None], donors)
    return np.where(matrix.measured | ~matrix.measured.any(axis=1, keepdims=True), -1, donors)


def assumed_zero(matrix: ScoreMatrix) -> Mask:
    """Say where a missing score is taken as zero: hard benchmarks always, some only for early releases.

    On benchmarks that have a peer estimate the zero needs other evidence in the dimension, or an early release. A
    model without any score gets no zeros either.
    """
    zero = (matrix.released[:, None] < matrix.zero_before[None, :]) & matrix.measured.any(axis=1, keepdims=True)
    early = matrix.released < _early(matrix)
    evidence = (matrix.measured @ matrix.members > 0)[:, matrix.dimension_of]
    return np.asarray(zero & (~matrix.by_peers[None, :] | evidence | early[:, None]))


def peer_groups(matrix: ScoreMatrix, column: int) -> tuple[Ints, Ints, Floats]:
    """Return for one benchmark the targets, the candidate peers, and how close they are in kind (inf = barred).

    Targets have no source value in the dimension. Peers were measured, released no later and are alike in
    reasoning; nearest are those of the same provider and line, then provider and tier, provider, tier, all others.
    """
    same = matrix.dimension_of == matrix.dimension_of[column]
    targets = np.flatnonzero(~matrix.measured[:, same].any(axis=1))
    peers = np.flatnonzero(matrix.measured[:, column])
    barred = (matrix.released[peers] > matrix.released[targets][:, None]) | (
        matrix.reasoning[peers] != matrix.reasoning[targets][:, None]
    )
    provider = matrix.provider[peers] == matrix.provider[targets][:, None]
    line = matrix.line[peers] == matrix.line[targets][:, None]
    tier = matrix.tier[peers] == matrix.tier[targets][:, None]
    kind = np.select([provider & line, provider & tier, provider, tier], [0.0, 1.0, 2.0, 3.0], 4.0)
    return targets, peers, np.where(barred, np.inf, kind)


def peer_estimates(matrix: ScoreMatrix, iqs: Floats, capability: Floats, rule: PeerRule) -> Floats:
    """Return lower-tail peer estimates, NaN wherever the rule does not apply or peers are too few."""
    filled = np.full(iqs.shape, np.nan)
    for column in np.flatnonzero(matrix.by_peers).tolist():
        targets, peers, kind = peer_groups(matrix, column)
        if targets.size == 0 or peers.size == 0:
            continue
        distance = np.abs(capability[:, targets, None] - capability[:, None, peers])
        nearest = smallest(_KIND * kind + np.where(np.isnan(distance), np.inf, distance), rule.count)
        quartile = masked_quantile(iqs[:, None, peers, column], nearest, rule.percentile)
        filled[:, targets, column] = np.where(nearest.sum(axis=-1) >= rule.minimum, quartile, np.nan)
    return filled


def correlate(matrix: ScoreMatrix, iqs: Floats, rule: CorrelationRule) -> Correlations:
    """Regress every benchmark on every other of its dimension, over the models that have both."""
    centred = np.where(matrix.measured, iqs - _ORIGIN, 0.0)
    flags = matrix.measured.astype(float)
    turned = np.swapaxes(centred, 1, 2)
    n = flags.T @ flags
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_x = turned @ flags / n
        mean_y = np.swapaxes(mean_x, 1, 2)
        var_x = (turned**2 @ flags - n * mean_x**2) / (n - 1)
        var_y = np.swapaxes(var_x, 1, 2)
        covariance = (turned @ centred - n * mean_x * mean_y) / (n - 1)
        shrunk = covariance / np.sqrt(var_x * var_y) * (n / (n + rule.shrinkage))
        slope = shrunk * np.sqrt(var_y / var_x)
        residual = np.sqrt(np.maximum(var_y * (1 - shrunk**2), 0.0))
    same = (matrix.dimension_of[:, None] == matrix.dimension_of) & ~np.eye(len(matrix.benchmarks), dtype=bool)
    varied = (var_x > _NO_VARIANCE) & (var_y > _NO_VARIANCE)
    usable = same & (n >= rule.minimum_overlap) & varied & (np.nan_to_num(shrunk) > 0)
    weight, intercept = n * shrunk**2, mean_y + _ORIGIN - slope * (mean_x + _ORIGIN)
    return Correlations(*(np.where(usable, part, 0.0) for part in (weight, slope, intercept, residual)))


def _predict(matrix: ScoreMatrix, iqs: Floats, lines: Correlations) -> tuple[Floats, Floats]:
    """Return the weighted prediction and its residual standard deviation, NaN without a usable predictor."""
    flags, scores = matrix.measured.astype(float), np.where(matrix.measured, iqs, 0.0)
    total = flags @ lines.weight
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = (flags @ (lines.weight * lines.intercept) + scores @ (lines.weight * lines.slope)) / total
        residual = flags @ (lines.weight * lines.residual) / total
    return np.where(total > 0, estimate, np.nan), np.where(total > 0, residual, 0.0)


def _capability(matrix: ScoreMatrix, values: Floats) -> Floats:
    """Return each model's mean benchmark IQ outside the dimensions that use peers, NaN if it has none."""
    barred = np.isin(matrix.dimension_of, matrix.dimension_of[matrix.by_peers])
    outside = values[:, :, ~barred]
    count = (~np.isnan(outside)).sum(axis=2)
    return np.asarray(np.nansum(outside, axis=2) / np.where(count > 0, count, np.nan))


def known_in(matrix: ScoreMatrix, values: Floats) -> tuple[Ints, Floats]:
    """Return per model and dimension how many benchmarks have a value so far, and their mean."""
    flags = ~np.isnan(values)
    counts = flags[0] @ matrix.members
    with np.errstate(invalid="ignore", divide="ignore"):
        average = np.where(flags, values, 0.0) @ matrix.members / counts
    return counts.astype(np.int64), average


def _fillable(matrix: ScoreMatrix, steps: Codes, counts: Ints, rules: IqRules) -> tuple[Mask, Mask]:
    """Say, per model and benchmark, whether missing ones may be filled, and whether correlation is tried first."""
    minimum = np.array([rule.minimum for rule in rules.dimensions.values()])
    sourced = (steps == SOURCE) @ matrix.members > 0
    tried = sourced & ((minimum > 1) | (counts <= rules.correlation.up_to))
    direct = rests_on_scores(matrix, steps) & ((counts >= minimum) | sourced)
    enough = direct | ((steps == PEERS) @ matrix.members > 0) | _zeros_only(matrix, steps, rules)
    return enough[:, matrix.dimension_of], tried[:, matrix.dimension_of]


def rests_on_scores(matrix: ScoreMatrix, steps: Codes) -> Mask:
    """Say which dimensions of a model have a source value of its own or of a predecessor."""
    return np.asarray(np.isin(steps, (SOURCE, PREDECESSOR)) @ matrix.members > 0)


def _zeros_only(matrix: ScoreMatrix, steps: Codes, rules: IqRules) -> Mask:
    """Say where assumed zeros of an early release fill the dimension on their own."""
    suffice = np.array([rule.zeros_suffice for rule in rules.dimensions.values()])
    early = (matrix.released < _early(matrix))[:, None]
    return np.asarray(((steps == ZERO) @ matrix.members > 0) & suffice & early)


def _early(matrix: ScoreMatrix) -> int:
    """Return the day before which releases get assumed zeros on some benchmarks (0 = no such rule)."""
    return int(matrix.zero_before[matrix.zero_before < ALWAYS].max(initial=0))


def masked_quantile(values: Floats, mask: Mask, percentile: float) -> Floats:
    """Return the percentile of the masked values along the last axis (linear interpolation); NaN where none is.

    ``values`` and ``mask`` are broadcast against each other; the result lacks the last axis.
    """
    ordered = np.sort(np.where(mask, values, np.inf), axis=-1)
    count = np.broadcast_to(mask, ordered.shape).sum(axis=-1)
    place = percentile / 100 * np.maximum(count - 1, 0)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(count - 1, 0))
    low = np.take_along_axis(ordered, below[..., None], axis=-1)[..., 0]
    high = np.take_along_axis(ordered, above[..., None], axis=-1)[..., 0]
    empty = count == 0
    low, high = np.where(empty, np.nan, low), np.where(empty, np.nan, high)
    return np.asarray(low + (place - below) * (high - low))


def smallest(values: Floats, count: int) -> Mask:
    """Mark the ``count`` smallest finite values along the last axis (all of them where there are fewer)."""
    if count < values.shape[-1]:
        limit = np.partition(values, count - 1, axis=-1)[..., count - 1 : count]
        return np.asarray((values <= limit) & np.isfinite(values))
    return np.isfinite(values)
