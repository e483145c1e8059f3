"""Calibration by a model's own mask: how far off estimates are that rest on the very benchmarks this model has.

For each model with gaps, well-measured models of about its level are entered again as new ones, with only the scores on
the benchmarks this model was measured on. Their other scores are known, so the error of the estimate is: its mean is
taken off the model's estimates, and where it is larger than the spread that was claimed, intervals widen. What the
joint model does not know (that tests of one kind say little about another, that models with many scores are the better
ones of their time) thus enters by experience. The joint model is fitted without the models that are entered, a part of
them at a time: what it has seen it would seem to know too well.

A maker publishes what flatters. Models whose scores were so selected are compared with well-measured ones entered with
as many scores, chosen by how far each lies above the level of its model: the best ones for every other model, for the
rest some of the better half. Nobody knows how strictly a maker chose; the spread between the two widens intervals.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Ints, Mask
from mensura.evidence import Evidence
from mensura.iq.matrix import ScoreMatrix

WELL_MEASURED = 0.45
"""Share of the benchmarks from which a model's other scores can stand in for the truth."""
ALIKE = 15.0
"""IQ points within which a well-measured model is of a model's level."""
MOST = 24
"""Models entered with one mask, nearest first; more cost time and say little more."""
_MOST_PAIRS = 12_000  # models entered for all masks together: the draws of more would not fit a small computer
_LEAST_KEPT, _LEAST_HIDDEN = 3, 3  # scores a model is entered with, and scores to check the estimate on
_LEAST_SPREAD = 0.5  # IQ points: estimates at the end of a ladder do not vary, and still are not that sure
_WORTH = 8.0  # models for which the claim (no error on average, spread as said) counts


@dataclass(frozen=True)
class Entries:
    """Well-measured models entered with other models' masks: one row per pair."""

    targets: Ints  # the model whose mask it is
    donors: Ints  # the well-measured model
    kept: Mask  # pairs × benchmarks: the scores it is entered with


@dataclass(frozen=True)
class MaskCorrection:
    """What is added to each model's estimates, in IQ points, and the factor by which they are widened."""

    shift: Floats
    factor: Floats

    def apply(self, iqs: Floats, middle: Floats | None = None) -> Floats:
        """Return drawn IQs (draws × models × benchmarks) moved and widened about their means.

        ``middle``: the means, where these are a part of all draws.
        """
        middle = iqs.mean(axis=0) if middle is None else middle
        return np.asarray(middle + self.shift[:, None] + self.factor[:, None] * (iqs - middle))

    def of(self, rows: slice) -> MaskCorrection:
        """Return the correction of some of the models."""
        return MaskCorrection(self.shift[rows], self.factor[rows])


def uncorrected(models: int) -> MaskCorrection:
    """Return the correction that changes nothing."""
    return MaskCorrection(np.zeros(models), np.ones(models))


def find_entries(matrix: ScoreMatrix, iqs: Floats, targets: Mask) -> Entries:
    """Choose for each of the ``targets`` well-measured models within 15 points of it, by estimated ``iqs``."""
    measured = matrix.measured
    level = (iqs @ matrix.members / matrix.members.sum(axis=0)).mean(axis=1)
    donors = np.flatnonzero(measured.mean(axis=1) >= WELL_MEASURED)
    gap = np.abs(level[:, None] - level[donors])
    kept = measured[:, None] & measured[donors]
    hidden = ~measured[:, None] & measured[donors]
    fits = (kept.sum(axis=2) >= _LEAST_KEPT) & (hidden.sum(axis=2) >= _LEAST_HIDDEN) & (gap <= ALIKE)
    selected = np.isin(matrix.subjects, list(matrix.selected))
    several = measured.sum(axis=1)[:, None] + _LEAST_HIDDEN <= measured[donors].sum(axis=1)
    fits = np.where(selected[:, None], several & (gap <= ALIKE), fits)
    fits &= targets[:, None] & (np.arange(len(measured))[:, None] != donors)
    nearest = np.argsort(np.argsort(np.where(fits, gap, np.inf), axis=1, kind="stable"), axis=1, kind="stable")
    most = min(MOST, max(1, _MOST_PAIRS // max(1, int(targets.sum()))))
    rows, places = np.nonzero(fits & (nearest < most))
    return Entries(rows, donors[places], _flattering(matrix, rows, donors[places], kept[rows, places], selected))


def _flattering(matrix: ScoreMatrix, rows: Ints, donors: Ints, kept: Mask, selected: Mask) -> Mask:
    """Return the masks of the pairs, those of selected models replaced by the donor's own most flattering scores."""
    there, kept, rng = matrix.measured, kept.copy(), np.random.default_rng(0)
    iqs = np.where(there, matrix.iqs, 0.0)
    above = iqs - (iqs.sum(axis=1) / np.maximum(there.sum(axis=1), 1))[:, None]
    above -= (above * there).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    for pair in np.flatnonzero(selected[rows]):
        own = np.flatnonzero(there[donors[pair]])
        best = own[np.argsort(-above[donors[pair], own], kind="stable")]
        count = int(there[rows[pair]].sum())
        if donors[pair] % 2:
            best = rng.permutation(best[: max(count, own.size // 2)])
        kept[pair] = np.isin(np.arange(kept.shape[1]), best[:count])
    return kept


def in_parts(entries: Entries, parts: int) -> list[Mask]:
    """Return which pairs belong to each part of the donors, every donor in one part only."""
    donors, place = np.unique(entries.donors, return_inverse=True)
    return [place % parts == part for part in range(min(parts, donors.size))]


def correct(matrix: ScoreMatrix, entries: Entries, iqs: Iterable[Floats]) -> MaskCorrection:
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
    count = np.bincount(entries.targets, minlength=len(matrix.subjects))

    def total(values: Floats) -> Floats:
        return np.bincount(entries.targets, values, minlength=len(matrix.subjects)).astype(np.float64)

    shift = total(error) / (count + _WORTH)
    surprise = ((error - shift[entries.targets]) / spread) ** 2
    factor = np.sqrt((total(surprise) + _WORTH) / (count + _WORTH))
    return MaskCorrection(shift, np.maximum(factor, 1.0))


_MAKERS_SHARE = 0.5
"""A model with a larger share of its scores from its maker counts as reported by the maker."""
_FEWEST_SCORES = 5
"""Scores that such a model must have: the correction was tested with five (``benchmarks.iq_selected``), and with one or
two, the models entered in its place differ too much from it."""


def reported_by_makers(evidence: Evidence) -> list[str]:
    """Return the models with five scores or more, most of them measured by their makers.

    A score whose kind nobody says counts as independent.
    """
    own = pl.col("measured_by") == "vendor"
    shares = evidence.primary_scores.group_by("subject").agg(pl.len(), share=own.fill_null(False).mean())
    return sorted(shares.filter(pl.col("share") > _MAKERS_SHARE, pl.col("len") >= _FEWEST_SCORES)["subject"])
