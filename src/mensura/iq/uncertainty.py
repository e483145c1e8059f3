"""How sure the IQs are: score errors, draws of everything, intervals, ranks and pairs.

An interval is about the composite that full measurement would give, each test taken anew: what is missing is drawn from
the joint model of all scores, and every source value varies by its measurement error, so that also a model with nothing
missing has an interval. Intervals hold the middle 90 % of draws.

By the published waterfall, each draw re-runs it on the varied source values (so caps, quartiles and correlations move
too) and adds each imputed value's own error. These draws are then moved so that their median is the scored value: a
waterfall of minima sinks when it is shaken, which is no news about the model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from mensura.core.arrays import Floats
from mensura.core.errors import MensuraError
from mensura.evidence import RATE_UNITS, Evidence, distinct_scores, trials
from mensura.evidence.passing import score_variance
from mensura.iq.dimensions import score_dimensions
from mensura.iq.joint import at_once, draw_log_odds, fill_benchmarks, fill_drawn
from mensura.iq.ladders import HIGHEST, LOWEST
from mensura.iq.matrix import ScoreMatrix
from mensura.iq.rules import IqRules
from mensura.iq.same_gaps import GapCorrection
from mensura.iq.sampler import Sampled
from mensura.scale.ranking import TAIL

_CHUNK = 100  # draws worked on at once: enough to keep the processor busy, few enough for its memory
_PAIRS_NEEDED = 3  # scores of two sources before their gap says anything about a benchmark


@dataclass(frozen=True, eq=False, repr=False)
class IqDraws:
    """Composites, dimensions and benchmark IQs of many draws (first axis), models and columns as in the matrix."""

    subjects: tuple[str, ...]
    composites: Floats
    dimensions: Floats
    benchmarks: Floats  # past 70 and 160, where a score lies past its ladder's end
    below: Floats | None = None  # draws × models × (composite, dimensions): IQ points lost by stopping at 70, and
    above: Floats | None = None  # at 160

    def interval(self, part: str) -> tuple[Floats, Floats]:
        """Return the ends of the middle 90% of ``composites``, ``dimensions`` or ``benchmarks``.

        What lies past the end of a ladder says "at least" or "at most": the far end of the interval passes 160 or 70
        with it, the near end does not.
        """
        draws = getattr(self, part)
        if part == "benchmarks":
            return interval(np.minimum(draws, HIGHEST))[0], interval(np.maximum(draws, LOWEST))[1]
        if self.below is None or self.above is None:
            return interval(draws)
        below, above = (past[:, :, 0] if part == "composites" else past[:, :, 1:] for past in (self.below, self.above))
        return interval(draws - below)[0], interval(draws + above)[1]

    def centred(self, composites: Floats, dimensions: Floats, benchmarks: Floats) -> IqDraws:
        """Return the draws moved so that their medians are these values, kept within 70 and 160."""
        pairs = ((self.composites, composites), (self.dimensions, dimensions), (self.benchmarks, benchmarks))
        moved = (np.clip(draws + (centre - np.median(draws, axis=0)), LOWEST, HIGHEST) for draws, centre in pairs)
        return IqDraws(self.subjects, *moved)

    def ahead(self, subject: str, other: str) -> float:
        """Return the share of draws in which one model's composite lies above the other's."""
        first, second = (self.composites[:, self._row(name)] for name in (subject, other))
        return float(np.mean(first > second))

    def pairs(self, subject: str) -> pl.DataFrame:
        """Return, for one model, the probability that it is ahead of each other, and whether they can be told apart."""
        row = self._row(subject)
        ahead = (self.composites[:, [row]] > self.composites).mean(axis=0)
        table = pl.DataFrame({"subject": subject, "other": self.subjects, "ahead": ahead})
        kept = ~np.isnan(self.composites[0])
        kept[row] = False
        distinct = (pl.col("ahead") <= TAIL) | (pl.col("ahead") >= 1 - TAIL)
        return table.filter(pl.Series(kept)).with_columns(told_apart=distinct)

    @cached_property
    def places(self) -> dict[str, int]:
        """The column of each model, for those who ask model by model."""
        return {subject: place for place, subject in enumerate(self.subjects)}

    def _row(self, subject: str) -> int:
        row = self.places.get(subject)
        if row is None or np.isnan(self.composites[0, row]):
            raise MensuraError(
                f"subject: {subject!r} has no composite IQ, so it cannot be compared; choose a model with an IQ"
            )
        return row


def interval(draws: Floats) -> tuple[Floats, Floats]:
    """Return the ends of the middle 90 % of draws (first axis)."""
    low, high = np.percentile(draws, [100 * TAIL, 100 * (1 - TAIL)], axis=0)
    return low, high


def draw_iqs(
    matrix: ScoreMatrix,
    errors: Floats,
    rules: IqRules,
    weights: Floats,
    n: int,
    seed: int,
    correction: GapCorrection | None = None,
    begun: Sampled | None = None,
) -> IqDraws:
    """Draw ``n`` times.

    ``correction`` is that of the scoring whose intervals these are, where the joint model fills gaps. ``begun``: its
    chains, which go on (:class:`mensura.iq.joint.JointDraws`); their draws are written over.
    """
    if n < 1:
        raise MensuraError(f"draws: expected at least 1, got {n}")
    generator = np.random.default_rng(seed)
    if rules.imputation.is_joint:
        return _draw_jointly(matrix, errors, rules, weights, n, generator, correction, begun)
    parts = []
    for start in range(0, n, _CHUNK):
        count = min(_CHUNK, n - start)
        shape = (count, *matrix.iqs.shape)
        iqs = np.clip(matrix.iqs + errors * generator.standard_normal(shape), LOWEST, HIGHEST)
        filled = fill_benchmarks(matrix, iqs, rules, generator.standard_normal(shape))
        deviates = generator.standard_normal((count, len(matrix.subjects), len(matrix.dimensions)))
        scored = score_dimensions(matrix, filled, rules, weights, deviates)
        parts.append((scored.composites, scored.dimensions, filled.iqs.astype(np.float32)))
    composites, dimensions, benchmarks = (np.concatenate(part) for part in zip(*parts, strict=True))
    return IqDraws(matrix.subjects, composites, dimensions, benchmarks)


def _draw_jointly(
    matrix: ScoreMatrix,
    errors: Floats,
    rules: IqRules,
    weights: Floats,
    n: int,
    generator: np.random.Generator,
    correction: GapCorrection | None,
    begun: Sampled | None,
) -> IqDraws:
    """Draw what is missing from the joint model, and what was measured by its error."""
    drawn, generator = draw_log_odds(matrix, n, generator, begun)
    chunks = at_once(n, matrix.iqs.size, most=_CHUNK)
    for chunk in chunks:  # IQs take the place of the log odds, which need as much memory
        drawn[chunk] = matrix.read(drawn[chunk], beyond=True)
    middle = np.sum([drawn[chunk].sum(axis=0, dtype=np.float64) for chunk in chunks], axis=0) / n
    models = len(matrix.subjects)
    correction = correction or GapCorrection(np.zeros(models), np.ones(models), np.zeros(models))
    composites, dimensions = np.empty((n, models)), np.empty((n, models, len(matrix.dimensions)))
    columns = (len(matrix.benchmarks), 1 + len(matrix.dimensions), 1 + len(matrix.dimensions))
    benchmarks, below, above = (_single(n, models, size) for size in columns)
    means = matrix.members / matrix.members.sum(axis=0)
    means = np.column_stack([means @ weights, means])
    lowest, highest = matrix.ends
    lowest, highest = np.fmin(lowest, matrix.iqs), np.fmax(highest, matrix.iqs)
    for chunk in chunks:
        filled = fill_drawn(matrix, rules.imputation, drawn[chunk], correction, middle)
        shaken = filled.iqs + np.where(matrix.measured, errors, 0.0) * generator.standard_normal(filled.iqs.shape)
        filled = replace(filled, iqs=np.clip(shaken, lowest, highest))
        scored = score_dimensions(matrix, filled, rules, weights)
        composites[chunk], dimensions[chunk], benchmarks[chunk] = scored.composites, scored.dimensions, shaken
        below[chunk] = np.maximum(lowest - shaken, 0) @ means
        above[chunk] = np.maximum(shaken - highest, 0) @ means
    return IqDraws(matrix.subjects, composites, dimensions, benchmarks, below, above)


def _single(*shape: int) -> Floats:
    """Return an empty array of single precision, which takes half the memory."""
    return np.empty(shape, dtype=np.float32)


def score_errors(evidence: Evidence, matrix: ScoreMatrix, rules: IqRules) -> Floats:
    """Return the standard error of each source value in IQ points (models × benchmarks, NaN where missing).

    The larger of two: the binomial error of the items, where their number is known (scaled by the slope of the
    ladder), and how far sources disagree on the benchmark, which contains the former. Where neither is known the rules
    give a value.
    """
    facts = evidence.benchmarks.select("benchmark", "unit", trials())
    units = {name: (unit, items) for name, unit, items in facts.iter_rows()}
    gaps = disagreement(evidence, matrix)
    errors = np.full(matrix.iqs.shape, np.nan)
    for column, (name, ladder) in enumerate(zip(matrix.benchmarks, matrix.ladders, strict=True)):
        unit, items = units[name]
        scores = matrix.scores[:, column]
        candidates = []
        if items is not None and unit in RATE_UNITS:
            size = RATE_UNITS[unit]
            candidates.append(size * np.sqrt(score_variance(scores / size, items)) * ladder.slope(scores))
        if name in gaps:
            candidates.append(np.full(scores.shape, gaps[name]))
        largest = np.maximum.reduce(candidates) if candidates else np.full(scores.shape, rules.error.measured)
        errors[:, column] = np.where(np.isnan(scores), np.nan, largest)
    return errors


def disagreement(evidence: Evidence, matrix: ScoreMatrix) -> dict[str, float]:
    """Return, per benchmark, the error one source has if two differ as they do: root mean square gap over √2, in IQ."""
    keys = ["subject", "benchmark"]
    first = evidence.primary_scores.select(*keys, first="score")
    second = distinct_scores(evidence).filter(~pl.col("primary")).join(first, on=keys)
    gaps = {}
    for name, ladder in zip(matrix.benchmarks, matrix.ladders, strict=True):
        both = second.filter(pl.col("benchmark") == name)
        if both.height >= _PAIRS_NEEDED:
            gap = ladder.iq(both["score"].to_numpy()) - ladder.iq(both["first"].to_numpy())
            gaps[name] = float(np.sqrt(np.mean(gap**2) / 2))
    return gaps
