"""Correction from models with the same gaps: how far off estimates are that rest on the very benchmarks this model has.

For each model with gaps, well-measured models of about its level are entered again as new ones, with only the scores on
the benchmarks this model was measured on. Their other scores are known, so the error of the estimate is: its mean is
taken off the model's estimates, and where it is larger than the spread that was claimed, intervals widen. What the
joint model does not know (that tests of one kind say little about another, that models with many scores are the better
ones of their time) thus enters by experience. The joint model is fitted without the models that are entered, a part of
them at a time: what it has seen it would seem to know too well.

A maker publishes what flatters. In place of a model with scores that its maker reports, well-measured ones are entered
with as many scores at random, of the better half of their own, and their best ones. Nobody knows how strictly a maker
chose, but the scores tell: the best of many lie close together, scores that nobody chose do not. Entries whose scores
spread like the model's count most. How much lower they come than entries at random is taken off; a choice never raises
an estimate.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np

from mensura.core.arrays import Floats, Ints, Mask
from mensura.iq.matrix import ScoreMatrix

CHOICES = ("at random", "of the better half", "the best")
"""How a maker may choose."""
WELL_MEASURED = 0.45
"""Share of the benchmarks from which a model's other scores can stand in for the truth."""
ALIKE = 15.0
"""IQ points within which a well-measured model is of a model's level."""
MOST = 24
"""Models entered with one mask, nearest first; more cost time and say little more."""
_MOST_PAIRS = 12_000  # models entered for all masks together: the draws of more would not fit a small computer
_LEAST_KEPT, _LEAST_HIDDEN = 3, 3  # scores a model is entered with, and scores to check the estimate on
_LEAST_SPREAD = 0.5  # IQ points: estimates at the end of a ladder do not vary, and still are not that sure
_LEAST_WEIGHT = 1e-12  # keeps what is like nothing from a division by 0
_MANY = 5  # scores from which on a maker's report may as well be at random as chosen in any one other way
_LEAST_SCATTER = 0.2  # of the logarithm of a spread: donors whose spreads agree by luck say no more than others
_WORTH = 8.0  # models for which the claim (no error on average, spread as said) counts


@dataclass(frozen=True)
class Entries:
    """Well-measured models entered with other models' masks: one row per pair."""

    targets: Ints  # the model whose mask it is
    donors: Ints  # the well-measured model
    kept: Mask  # pairs × benchmarks: the scores it is entered with
    choice: Ints  # how the donor's scores were chosen, a place in CHOICES; -1 for those on the target's benchmarks
    weight: Floats  # how likely the target's maker chose in this way, going by how its scores spread; 0 for -1


@dataclass(frozen=True)
class GapCorrection:
    """What is added to each model's estimates, in IQ points, and the factor by which they are widened."""

    shift: Floats
    factor: Floats
    chosen: Floats  # the part of the shift that is due to scores which makers chose; never above 0

    def apply(self, iqs: Floats, middle: Floats | None = None) -> Floats:
        """Return drawn IQs (draws × models × benchmarks) moved and widened about their means.

        ``middle``: the means, where these are a part of all draws.
        """
        middle = iqs.mean(axis=0) if middle is None else middle
        return np.asarray(middle + self.shift[:, None] + self.factor[:, None] * (iqs - middle))

    def of(self, rows: slice) -> GapCorrection:
        """Return the correction of some of the models."""
        return GapCorrection(self.shift[rows], self.factor[rows], self.chosen[rows])


def find_entries(matrix: ScoreMatrix, iqs: Floats, targets: Mask) -> Entries:
    """Choose for each of the ``targets`` well-measured models within 15 points of it, by estimated ``iqs``."""
    measured = matrix.measured
    level = (iqs @ matrix.members / matrix.members.sum(axis=0)).mean(axis=1)
    donors = np.flatnonzero(measured.mean(axis=1) >= WELL_MEASURED)
    gap = np.abs(level[:, None] - level[donors])
    near = (gap <= ALIKE) & targets[:, None] & (np.arange(len(measured))[:, None] != donors)
    most = min(MOST, max(1, _MOST_PAIRS // max(1, int(targets.sum()))))

    def pairs(fits: Mask) -> tuple[Ints, Ints]:
        nearest = np.argsort(np.argsort(np.where(fits, gap, np.inf), axis=1, kind="stable"), axis=1, kind="stable")
        rows, places = np.nonzero(fits & (nearest < most))
        return rows, donors[places]

    kept = (measured[:, None] & measured[donors]).sum(axis=2) >= _LEAST_KEPT
    hidden = (~measured[:, None] & measured[donors]).sum(axis=2) >= _LEAST_HIDDEN
    usual = pairs(near & kept & hidden)
    several = measured.sum(axis=1)[:, None] + _LEAST_HIDDEN <= measured[donors].sum(axis=1)
    flattered = pairs(near & several & matrix.from_makers[:, None])
    common, size = measured[usual[0]] & measured[usual[1]], usual[0].size
    picks = [_pick(matrix, *flattered, choice) for choice in range(len(CHOICES))]
    weights = _likely_choices(matrix, *flattered, picks)
    others = measured[flattered[0]] & ~matrix.chosen[flattered[0]] & measured[flattered[1]]
    parts = [Entries(*usual, common, np.full(size, -1), np.zeros(size))]
    for choice, (picked, weight) in enumerate(zip(picks, weights, strict=True)):
        parts.append(Entries(*flattered, picked | others, np.full(weight.size, choice), weight))
    return Entries(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(Entries)))


def _pick(matrix: ScoreMatrix, rows: Ints, donors: Ints, choice: int) -> Mask:
    """Return for each pair as many scores of the donor as the model's maker reports, chosen in one of the ways."""
    above, rng = _above(matrix), np.random.default_rng(0)
    picked = np.zeros((rows.size, len(matrix.benchmarks)), dtype=bool)
    for pair, (row, donor) in enumerate(zip(rows, donors, strict=True)):
        own = np.flatnonzero(matrix.measured[donor])
        best = own[np.argsort(-above[donor, own], kind="stable")]
        count = int(matrix.chosen[row].sum())
        among = (own.size, max(count, own.size // 2), count)[choice]
        picked[pair, rng.permutation(best[:among])[:count]] = True
    return picked


def _likely_choices(matrix: ScoreMatrix, rows: Ints, donors: Ints, picks: list[Mask]) -> Floats:
    """Return how likely each way of choosing is for the model of each pair (ways × pairs).

    The spread of its chosen scores, as a logarithm, is compared with the mean and the scatter of its donors' spreads in
    each way. One score has no spread. Who reports fewer than five is less likely to report at random.
    """
    above, models = _above(matrix), len(matrix.subjects)
    own, count = _log_spread(above[rows], matrix.chosen[rows]), np.maximum(np.bincount(rows, minlength=models), 1)
    density = np.ones((len(picks), rows.size))
    chosen = matrix.chosen[rows].sum(axis=1)
    for way, picked in enumerate(picks):
        theirs = _log_spread(above[donors], picked)
        mean = np.bincount(rows, theirs, minlength=models) / count
        scatter = np.sqrt(np.bincount(rows, (theirs - mean[rows]) ** 2, minlength=models) / count)
        scatter = np.maximum(scatter, _LEAST_SCATTER)
        density[way] = np.where(
            chosen > 1, np.exp(-(((own - mean[rows]) / scatter[rows]) ** 2) / 2) / scatter[rows], 1.0
        )
    density[0] *= np.minimum(chosen / _MANY, 1.0)
    density += _LEAST_WEIGHT
    return np.asarray(density / density.sum(axis=0))


def _log_spread(values: Floats, there: Mask) -> Floats:
    """Return the logarithm of the standard deviation of each row's values, of those that are there."""
    count = np.maximum(there.sum(axis=1), 1)
    centre = np.where(there, values, 0.0).sum(axis=1) / count
    squares = np.where(there, (values - centre[:, None]) ** 2, 0.0).sum(axis=1)
    return np.asarray(0.5 * np.log(np.maximum(squares, _LEAST_WEIGHT) / np.maximum(count - 1, 1)))


def _above(matrix: ScoreMatrix) -> Floats:
    """Return how far each measured IQ lies above its model's mean, and that of its benchmark; 0 where there is none."""
    there = matrix.measured
    iqs = np.where(there, matrix.iqs, 0.0)
    above = np.where(there, iqs - (iqs.sum(axis=1) / np.maximum(there.sum(axis=1), 1))[:, None], 0.0)
    return np.asarray(np.where(there, above - above.sum(axis=0) / np.maximum(there.sum(axis=0), 1), 0.0))


def in_parts(entries: Entries, parts: int) -> list[Mask]:
    """Return which pairs belong to each part of the donors, every donor in one part only."""
    donors, place = np.unique(entries.donors, return_inverse=True)
    return [place % parts == part for part in range(min(parts, donors.size))]


def correct(matrix: ScoreMatrix, entries: Entries, iqs: Iterable[Floats]) -> GapCorrection:
    """Compare estimates with what was measured, and return what follows for each model.

    ``iqs`` are the draws of the entered models, each pairs × benchmarks. An error is that of the mean over the
    benchmarks hidden, each weighing what it weighs in the composite; its spread that of the draws. Intervals are never
    narrowed: a few models that did well are no licence to claim more than the joint model does.
    """
    size = matrix.members.sum(axis=0)[matrix.dimension_of]
    hidden = matrix.measured[entries.donors] & ~entries.kept
    weight = hidden / size
    weight /= weight.sum(axis=1, keepdims=True)
    truth = (np.where(hidden, matrix.iqs[entries.donors], 0.0) * weight).sum(axis=1)
    drawn = np.stack([(one * weight).sum(axis=1) for one in iqs])
    error, spread = truth - drawn.mean(axis=0), np.maximum(drawn.std(axis=0), _LEAST_SPREAD)

    def total(values: Floats) -> Floats:
        return np.bincount(entries.targets, values, minlength=len(matrix.subjects)).astype(np.float64)

    def mean(weight: Floats, worth: float) -> Floats:
        return total(weight * error) / np.maximum(total(weight) + worth, _LEAST_WEIGHT)

    usual, at_random = ((entries.choice == way).astype(np.float64) for way in (-1, 0))
    plain, chosen = mean(usual, _WORTH), np.minimum(mean(entries.weight, 0.0) - mean(at_random, 0.0), 0.0)
    weight = np.where(matrix.from_makers[entries.targets], entries.weight, usual)
    surprise = weight * ((error - mean(weight, _WORTH)[entries.targets]) / spread) ** 2
    factor = np.sqrt((total(surprise) + _WORTH) / (total(weight) + _WORTH))
    return GapCorrection(plain + chosen, np.maximum(factor, 1.0), chosen)
