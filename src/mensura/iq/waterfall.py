"""The benchmark waterfall: every missing benchmark filled by the first step that applies.

All functions work on stacks: the first axis is the draw (one for a plain scoring, many for uncertainty), then models,
then benchmarks. Which step applies depends on what was measured, not on the values, except that a correlation must be
positive to be used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mensura.iq.field import ALWAYS, Field, Flags
from mensura.iq.ladders import HIGHEST, LOWEST, Array
from mensura.iq.quantiles import masked_quantile, smallest
from mensura.iq.rules import CorrelationRule, PeerRule, Rules

STEPS = ("none", "source", "predecessor", "peers", "zero", "correlation", "within", "completion")
NONE, SOURCE, PREDECESSOR, PEERS, ZERO, CORRELATION, WITHIN, COMPLETION = range(len(STEPS))

Steps = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Correlations:
    """Shrunk regressions between benchmarks of a dimension, draws × predictor × predicted."""

    overlap: Array
    shrunk: Array  # r · n / (n + shrinkage)
    weight: Array  # n · shrunk², 0 where not usable
    slope: Array
    intercept: Array
    residual: Array  # standard deviation of the predicted benchmark around the line


@dataclass(frozen=True, eq=False)
class Filled:
    """Benchmark IQs after the waterfall, with the step and standard error of each, and what the steps used."""

    iqs: Array  # draws × models × benchmarks, NaN where no step applies
    steps: Steps  # models × benchmarks, of the first draw
    errors: Array  # draws × models × benchmarks: standard error of imputed values, 0 for measured ones
    donors: NDArray[np.int64]  # models × benchmarks: row of the predecessor taken from, -1 = none
    average: Array  # draws × models × dimensions: mean of what was known before the last two steps
    known: NDArray[np.int64]  # models × dimensions: benchmarks known before the last two steps
    caps: Array  # draws × benchmarks: percentile cap of the within-dimension estimate
    correlations: Correlations
    capability: Array  # draws × models: mean benchmark IQ outside the peer dimensions, which ranks peers


def run_waterfall(field: Field, iqs: Array, rules: Rules, noise: Array | None = None) -> Filled:
    """Run the waterfall on a stack of benchmark IQs (draws × models × benchmarks).

    ``noise`` holds standard normal deviates of the same shape; imputed values then vary by their standard error.
    """
    measured = field.measured
    values, errors = iqs.copy(), np.zeros_like(iqs)
    steps = np.where(measured, SOURCE, NONE).astype(np.int8)

    def put(where: Flags, found: Array, error: Array | float, step: int) -> None:
        new = where & ~np.isnan(found)
        spread = np.broadcast_to(np.asarray(error), values.shape)
        shaken = found if noise is None else np.clip(found + spread * noise, LOWEST, HIGHEST)
        np.copyto(values, shaken, where=new)
        np.copyto(errors, spread, where=new)
        steps[new[0]] = step

    donors = find_donors(field)
    heirs = (steps == NONE) & (donors >= 0)
    inherited = iqs[:, np.maximum(donors, 0), np.arange(iqs.shape[2])]
    put(heirs[None], inherited, rules.error.predecessor, PREDECESSOR)
    capability = _capability(field, values)
    put((steps == NONE)[None], peer_estimates(field, iqs, capability, rules.peers), rules.error.peers, PEERS)
    zeros = (steps == NONE) & assumed_zero(field)
    put(zeros[None], np.broadcast_to(field.zero_iq, values.shape), rules.error.zero, ZERO)

    known, average = known_in(field, values)
    caps = masked_quantile(np.swapaxes(iqs, 1, 2), measured.T, rules.within.percentile)
    lines = correlate(field, iqs, rules.correlation)
    fillable, tried = _fillable(field, steps, known, rules)
    rule, single = rules.correlation, (known == 1)[:, field.dimension_of]
    penalty = np.where(single, rule.penalty_single, rule.penalty)
    margin = np.where(single, rule.margin_single, rule.margin)
    mean = average[:, :, field.dimension_of]
    missing = (steps == NONE) & fillable
    estimate, residual = _predict(field, iqs, lines)
    careful = np.clip(np.minimum(estimate - penalty * residual, mean - margin), LOWEST, HIGHEST)
    # the penalty is a known bias of the careful value, so its square belongs to the error
    put((missing & tried)[None], careful, residual * np.sqrt(1 + penalty**2), CORRELATION)
    within = np.clip(np.fmin(np.where(tried | single, mean - margin, mean), caps[:, None, :]), LOWEST, HIGHEST)
    put(np.isnan(values) & missing, within, rules.error.within, WITHIN)
    return Filled(values, steps, errors, donors, average, known, caps, lines, capability)


def find_donors(field: Field) -> NDArray[np.int64]:
    """Return, per missing benchmark, the nearest ancestor that was measured on it (-1 = none).

    A model without any score of its own inherits nothing: it would be its predecessor under another name.
    """
    donors = np.full(field.measured.shape, -1)
    for place in range(field.ancestors.shape[1]):
        ancestor = field.ancestors[:, place]
        has = field.measured[ancestor] & (ancestor >= 0)[:, None]
        donors = np.where((donors < 0) & has, ancestor[:, None], donors)
    return np.where(field.measured | ~field.measured.any(axis=1, keepdims=True), -1, donors)


def assumed_zero(field: Field) -> Flags:
    """Say where a missing score is taken as zero: hard benchmarks always, some only for early releases.

    On benchmarks that have a peer estimate the zero needs other evidence in the dimension, or an early release. A
    model without any score gets no zeros either.
    """
    zero = (field.released[:, None] < field.zero_before[None, :]) & field.measured.any(axis=1, keepdims=True)
    early = field.released < _early(field)
    evidence = (field.measured @ field.members > 0)[:, field.dimension_of]
    return np.asarray(zero & (~field.by_peers[None, :] | evidence | early[:, None]))


def peer_groups(field: Field, column: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """Return for one benchmark the targets, the candidate peers, and how close they are in kind (inf = barred).

    Targets have no source value in the dimension. Peers were measured, released no later and are alike in
    reasoning; nearest are those of the same provider and line, then provider and tier, provider, tier, all others.
    """
    same = field.dimension_of == field.dimension_of[column]
    targets = np.flatnonzero(~field.measured[:, same].any(axis=1))
    peers = np.flatnonzero(field.measured[:, column])
    barred = (field.released[peers] > field.released[targets][:, None]) | (
        field.reasoning[peers] != field.reasoning[targets][:, None]
    )
    provider = field.provider[peers] == field.provider[targets][:, None]
    line = field.line[peers] == field.line[targets][:, None]
    tier = field.tier[peers] == field.tier[targets][:, None]
    kind = np.select([provider & line, provider & tier, provider, tier], [0.0, 1.0, 2.0, 3.0], 4.0)
    return targets, peers, np.where(barred, np.inf, kind)


def peer_keys(kind: Array, capability: Array, targets: NDArray[np.int64], peers: NDArray[np.int64]) -> Array:
    """Return the order of peers, draws × targets × peers: first by kind, then by distance in capability."""
    distance = np.abs(capability[:, targets, None] - capability[:, None, peers])
    return np.asarray(1000.0 * kind + np.where(np.isnan(distance), np.inf, distance))


def peer_estimates(field: Field, iqs: Array, capability: Array, rule: PeerRule) -> Array:
    """Return lower-tail peer estimates, NaN wherever the rule does not apply or peers are too few."""
    found = np.full(iqs.shape, np.nan)
    for column in np.flatnonzero(field.by_peers).tolist():
        targets, peers, kind = peer_groups(field, column)
        if targets.size == 0 or peers.size == 0:
            continue
        nearest = smallest(peer_keys(kind, capability, targets, peers), rule.count)
        quartile = masked_quantile(iqs[:, None, peers, column], nearest, rule.percentile)
        found[:, targets, column] = np.where(nearest.sum(axis=-1) >= rule.minimum, quartile, np.nan)
    return found


def correlate(field: Field, iqs: Array, rule: CorrelationRule) -> Correlations:
    """Regress every benchmark on every other of its dimension, over the models that have both."""
    centred = np.where(field.measured, iqs - 100.0, 0.0)
    flags = field.measured.astype(float)
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
    same = (field.dimension_of[:, None] == field.dimension_of) & ~np.eye(len(field.benchmarks), dtype=bool)
    varied = (var_x > 1e-9) & (var_y > 1e-9)
    usable = same & (n >= rule.minimum_overlap) & varied & (np.nan_to_num(shrunk) > 0)

    def kept(values: Array) -> Array:
        return np.where(usable, values, 0.0)

    return Correlations(
        overlap=n,
        shrunk=kept(shrunk),
        weight=kept(n * shrunk**2),
        slope=kept(slope),
        intercept=kept(mean_y + 100.0 - slope * (mean_x + 100.0)),
        residual=kept(residual),
    )


def no_correlations(iqs: Array) -> Correlations:
    """Return regressions of which none is usable, for fillings that do without."""
    size = iqs.shape[2]
    none = np.zeros((iqs.shape[0], size, size))
    return Correlations(none[0], none, none, none, none, none)


def _predict(field: Field, iqs: Array, lines: Correlations) -> tuple[Array, Array]:
    """Return the weighted prediction and its residual standard deviation, NaN without a usable predictor."""
    flags, known = field.measured.astype(float), np.where(field.measured, iqs, 0.0)
    total = flags @ lines.weight
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = (flags @ (lines.weight * lines.intercept) + known @ (lines.weight * lines.slope)) / total
        residual = flags @ (lines.weight * lines.residual) / total
    return np.where(total > 0, estimate, np.nan), np.where(total > 0, residual, 0.0)


def _capability(field: Field, values: Array) -> Array:
    """Return each model's mean benchmark IQ outside the dimensions that use peers, NaN if it has none."""
    barred = np.isin(field.dimension_of, field.dimension_of[field.by_peers])
    return _mean(values[:, :, ~barred], axis=2)


def known_in(field: Field, values: Array) -> tuple[NDArray[np.int64], Array]:
    """Return per model and dimension how many benchmarks have a value so far, and their mean."""
    flags = ~np.isnan(values)
    known = flags[0] @ field.members
    with np.errstate(invalid="ignore", divide="ignore"):
        average = np.where(flags, values, 0.0) @ field.members / known
    return known.astype(np.int64), average


def _fillable(field: Field, steps: Steps, known: NDArray[np.int64], rules: Rules) -> tuple[Flags, Flags]:
    """Say, per model and benchmark, whether missing ones may be filled, and whether correlation is tried first."""
    minimum = np.array([rule.minimum for rule in rules.dimensions.values()])
    sourced = (steps == SOURCE) @ field.members > 0
    tried = sourced & ((minimum > 1) | (known <= rules.correlation.up_to))
    direct = rests_on_scores(field, steps) & ((known >= minimum) | sourced)
    enough = direct | _peers_only(field, steps) | _zeros_only(field, steps, rules)
    return enough[:, field.dimension_of], tried[:, field.dimension_of]


def rests_on_scores(field: Field, steps: Steps) -> Flags:
    """Say which dimensions of a model have a source value of its own or of a predecessor."""
    return np.asarray(np.isin(steps, (SOURCE, PREDECESSOR)) @ field.members > 0)


def _peers_only(field: Field, steps: Steps) -> Flags:
    return np.asarray((steps == PEERS) @ field.members > 0)


def _zeros_only(field: Field, steps: Steps, rules: Rules) -> Flags:
    """Say where assumed zeros of an early release fill the dimension on their own."""
    suffice = np.array([rule.zeros_suffice for rule in rules.dimensions.values()])
    early = (field.released < _early(field))[:, None]
    return np.asarray(((steps == ZERO) @ field.members > 0) & suffice & early)


def _early(field: Field) -> int:
    """Return the day before which releases get assumed zeros on some benchmarks (0 = no such rule)."""
    return int(field.zero_before[field.zero_before < ALWAYS].max(initial=0))


def _mean(values: Array, axis: int) -> Array:
    count = (~np.isnan(values)).sum(axis=axis)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(values, axis=axis) / np.where(count > 0, count, np.nan))
