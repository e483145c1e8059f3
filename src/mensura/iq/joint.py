"""Filling gaps from one model of all scores: draws of what full measurement would give, read off the ladders."""

from dataclasses import dataclass, replace

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask
from mensura.iq.matrix import ScoreMatrix
from mensura.iq.relatives import condition
from mensura.iq.rules import ImputationRule, IqRules
from mensura.iq.same_gaps import Entries, GapCorrection, correct, find_entries, in_parts
from mensura.iq.sampler import STATES_KEPT, WHOLE_ROUNDS, Sampled, sample
from mensura.iq.waterfall import JOINT, NONE, SOURCE, Filled, run_waterfall

POINT_DRAWS = 400
"""Draws behind a plain scoring, whose values are their means; a composite then errs by about 0.15 from sampling."""
_CELLS = 500_000
"""Values worked on at once: draws × models × benchmarks; a few megabytes, which a processor's memory holds."""
_ROUNDS = 20  # of draws for a model without one of its scores: their mean then errs by about 0.1
_LEAST_SPREAD = 1e-6  # IQ points, so that nothing is divided by 0
_PARTS = 4  # parts of the well-measured models left out of a fit in turn, each fit keeping most of what is known


@dataclass(frozen=True)
class JointDraws:
    """Scores drawn as log odds, whatever the ladders: all models', and well-measured ones' under others' masks."""

    log_odds: Floats  # draws × models × benchmarks, measured ones as they are
    entries: Entries
    entered: Floats  # draws × pairs × benchmarks
    begun: Sampled | None = None  # chains from which the draws for intervals go on


def draw_log_odds(
    matrix: ScoreMatrix, draws: int, rng: np.random.Generator, begun: Sampled | None = None
) -> tuple[Floats, np.random.Generator]:
    """Draw every missing score as log odds (draws × models × benchmarks), and return the generator after it.

    Measured scores stay as they are. ``begun``: chains that began with this generator and go on.
    """
    sampled, after = (_sample(matrix, draws, rng), rng) if begun is None else begun.longer(draws)
    own = rng.spawn(1)[0]  # so that what relatives say leaves every other draw as it is
    return condition(sampled.draws, matrix.measured, matrix.shares, matrix.relatives, own), after


def point_draws(matrix: ScoreMatrix, rule: ImputationRule, n: int = 0) -> JointDraws:
    """Return the draws behind a plain scoring: always the same for the same scores.

    ``n``: draws for intervals, which the same chains give where these are whole rounds of all of them.
    """
    shared = n if n % WHOLE_ROUNDS == 0 else 0
    begun = _sample(matrix, min(shared or POINT_DRAWS, POINT_DRAWS), np.random.default_rng(0))
    sampled, rng = begun.longer(POINT_DRAWS)
    draws, _ = draw_log_odds(matrix, POINT_DRAWS, np.random.default_rng(0), begun=sampled)
    targets = rule.suffices(matrix.scored) & rule.same_gaps
    entries = find_entries(matrix, matrix.read(draws.mean(axis=0)), targets)
    return JointDraws(draws, entries, _enter(matrix, entries, sampled, rng), begun if shared else None)


def fill_drawn(
    matrix: ScoreMatrix, rule: ImputationRule, drawn: Floats, correction: GapCorrection, middle: Floats
) -> Filled:
    """Fill gaps by the IQs of drawn scores, for the models with enough scores of their own; measured IQs stay.

    Estimates are corrected by what the model's gaps do to well-measured models (:mod:`mensura.iq.same_gaps`).
    ``middle``: the means of all draws, of which these are a part, about which draws are widened.
    """
    new = _estimated(matrix, rule)
    read = np.where(matrix.doubtful, drawn, matrix.read(_log_odds(matrix), beyond=True))
    iqs = np.where(new, correction.apply(drawn, middle), read)
    return _filled(matrix, new, iqs, np.zeros((1, *new.shape)), correction)


def complete_jointly(matrix: ScoreMatrix, rule: ImputationRule, drawn: JointDraws | None = None) -> Filled:
    """Fill every missing benchmark IQ by the mean of its draws, which may be given where scores did not change.

    ``errors`` of the result are the standard deviations of the draws. Some models are read at a time: the draws of
    thousands, each as an IQ several times over, would not fit a small computer.
    """
    drawn = point_draws(matrix, rule) if drawn is None else drawn
    correction = correct(matrix, drawn.entries, map(matrix.read, drawn.entered))
    new = _estimated(matrix, rule)
    means, errors, factor = np.empty(new.shape), np.empty(new.shape), np.empty(len(new))
    for rows in at_once(len(new), drawn.log_odds[:, 0].size):
        log_odds, part = drawn.log_odds[:, rows], correction.of(rows)
        read = matrix.read(log_odds, beyond=True)
        factor[rows] = np.maximum(part.factor, _least_factor(matrix, log_odds, read))
        read = np.clip(np.where(new[rows], part.apply(read), read), *matrix.ends)
        iqs = np.where(new[rows] | matrix.doubtful[rows], read, matrix.iqs[rows])
        widened = (factor[rows] / part.factor)[:, None] * iqs.std(axis=0)
        means[rows], errors[rows] = iqs.mean(axis=0), np.where(new[rows], widened, 0.0)
    return _filled(matrix, new, means[None], errors[None], replace(correction, factor=factor))


def _least_factor(matrix: ScoreMatrix, log_odds: Floats, read: Floats) -> Floats:
    """Return by how much each model's draws must widen to spread as their log odds do at the usual steepness.

    Ladders are flat near their ends, where draws would otherwise spread least and scores tell least.
    """
    spread, local = ((values * matrix.shares).sum(axis=2).std(axis=0) for values in (log_odds, read))
    least = np.maximum(matrix.steepness * spread, local)
    return np.asarray(least / np.maximum(local, _LEAST_SPREAD))


def at_once(length: int, size: int, most: int | None = None) -> list[slice]:
    """Return the parts of an axis that are worked on one after another, ``size`` being the values behind each place.

    ``most``: places of a part at most.
    """
    step = max(1, min(_CELLS // max(1, size), length if most is None else most))
    return [slice(start, start + step) for start in range(0, length, step)]


def _estimated(matrix: ScoreMatrix, rule: ImputationRule) -> Mask:
    """Tell which values are estimated: those not measured of models with enough scores of their own."""
    return np.asarray(~matrix.measured & rule.suffices(matrix.scored)[:, None])


def _filled(matrix: ScoreMatrix, new: Mask, iqs: Floats, errors: Floats, correction: GapCorrection) -> Filled:
    measured = matrix.measured
    steps = np.select([measured, new], [SOURCE, JOINT], NONE).astype(np.int8)
    return Filled(iqs, steps, errors, np.full(measured.shape, -1), correction)


def _sample(matrix: ScoreMatrix, draws: int, rng: np.random.Generator) -> Sampled:
    parents = matrix.ancestors[:, 0] if matrix.ancestors.shape[1] else np.full(len(matrix.subjects), -1)
    known = _log_odds(matrix), _regressors(matrix), matrix.dimension_of, parents
    return sample(*known, draws, rng, matrix.doubt.among(matrix.measured))


def _enter(matrix: ScoreMatrix, entries: Entries, sampled: Sampled, rng: np.random.Generator) -> Floats:
    """Draw the scores of entered models, a part of them at a time, by fits that have not seen them."""
    eta = np.where(entries.kept, _log_odds(matrix)[entries.donors], np.nan)
    doubt = np.where(matrix.measured, sampled.readings.doubt, 0.0)[entries.targets]
    regressors = _regressors(matrix)[entries.donors]
    entered = np.empty((STATES_KEPT, *eta.shape))
    for part in in_parts(entries, _PARTS):
        unseen = np.isin(np.arange(len(matrix.subjects)), entries.donors[part])
        entered[:, part] = sampled.without(unseen, rng).draw_new(eta[part], doubt[part], regressors[part], rng)
    return entered


def draw_without_each(matrix: ScoreMatrix, row: int, own: Ints) -> Floats:
    """Return a model's mean IQs when it is new and has all its scores, then all but each of ``own`` in turn.

    Rows are these cases, columns the benchmarks; a score that is there keeps its IQ.
    """
    rng = np.random.default_rng(0)
    sampled = _sample(matrix, STATES_KEPT, rng)
    unseen = sampled.without(np.arange(len(matrix.subjects)) == row, rng)
    eta = np.repeat(_log_odds(matrix)[[row]], own.size + 1, axis=0)
    eta[1 + np.arange(own.size), own] = np.nan
    doubt = np.repeat(np.where(matrix.measured[row], sampled.readings.doubt[row], 0.0)[None], len(eta), axis=0)
    regressors = np.repeat(_regressors(matrix)[[row]], len(eta), axis=0)
    drawn = [matrix.read(unseen.draw_new(eta, doubt, regressors, rng)).mean(axis=0) for _ in range(_ROUNDS)]
    return np.asarray(np.where(np.isnan(eta), np.mean(drawn, axis=0), matrix.iqs[row]))


def _log_odds(matrix: ScoreMatrix) -> Floats:
    """Return the measured scores as log odds, NaN where there is none."""
    return np.where(matrix.measured, matrix.doubt.odds, np.nan)


def _regressors(matrix: ScoreMatrix) -> Floats:
    """Return what is known of models besides scores, centred: release (in standard deviations), reasoning."""
    released = matrix.released - matrix.released.mean()
    return np.column_stack([released / max(float(released.std()), 1.0), matrix.reasoning - matrix.reasoning.mean()])


def fill_benchmarks(
    matrix: ScoreMatrix, iqs: Floats, rules: IqRules, noise: Floats | None = None, drawn: JointDraws | None = None
) -> Filled:
    """Fill a stack of benchmark IQs (draws × models × benchmarks) by the waterfall, or one table by the joint model.

    ``noise`` holds standard normal deviates of the same shape; imputed values then vary by their standard error.
    ``drawn``: the draws of the joint model, where scores did not change.
    """
    if rules.imputation.is_joint:
        return complete_jointly(matrix, rules.imputation, drawn)
    return run_waterfall(matrix, iqs, rules, noise)
