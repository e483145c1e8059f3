"""The score matrix: every model and benchmark of one scoring as arrays, models in rows, benchmarks in columns."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from mensura.core.arrays import Floats, Ints, Mask
from mensura.core.errors import MensuraError, listed_names
from mensura.evidence import Evidence, with_tries
from mensura.iq.doubt import Doubt, weigh_scores
from mensura.iq.ladders import FURTHER, HIGHEST, LOWEST, STEP, UNITS, Ladder, Metric, ladder_table, read_ladders
from mensura.iq.relatives import Relatives
from mensura.iq.rules import IqRules

ALWAYS = date.max.toordinal()
"""The day before which every release lies: benchmarks whose missing scores are zero whatever the date."""
_AVERAGE = 100.0  # IQ of the opponent where nobody has an Elo


@dataclass(frozen=True, eq=False, repr=False)
class ScoreMatrix:
    """What a scoring works on; ``scores`` and ``iqs`` are NaN where there is no source value.

    ``zero_before`` holds, per benchmark, the day (ordinal) before whose releases a missing score is taken as zero:
    the far future for benchmarks that are always zero, 0 for the others.
    """

    subjects: tuple[str, ...]
    benchmarks: tuple[str, ...]
    dimensions: tuple[str, ...]
    ladders: tuple[Ladder, ...]
    metrics: tuple[Metric, ...]
    shift: Floats  # per benchmark: IQ points added to what its ladder says, 0 unless a ladder is moved
    scores: Floats  # models × benchmarks
    iqs: Floats  # models × benchmarks
    doubt: Doubt  # what each score tells, by its number of answers and its place on the test
    dimension_of: Ints  # per benchmark
    released: Ints  # per model, as ordinal day
    reasoning: Mask  # per model
    provider: Ints  # per model, coded
    line: Ints  # per model, coded, -1 unknown
    tier: Ints  # per model
    ancestors: Ints  # models × depth, nearest first, -1 = none
    by_peers: Mask  # per benchmark
    zero_before: Ints  # per benchmark
    relatives: Relatives  # tests that are no part of the IQ, every model's scores on them
    chosen: Mask  # models × benchmarks: scores that those chose who profit from them

    @cached_property
    def measured(self) -> Mask:
        """Where there is a source value."""
        return ~np.isnan(self.iqs)

    @property
    def from_makers(self) -> Mask:
        """Which models have scores that those chose who profit from them."""
        return np.asarray(self.chosen.any(axis=1))

    @cached_property
    def doubtful(self) -> Mask:
        """Where there is a source value that tells less than a usual one."""
        return np.asarray(self.measured & self.doubt.doubtful)

    @cached_property
    def ends(self) -> tuple[Floats, Floats]:
        """The lowest and highest IQ that a score on each benchmark can give: those of its chance and its ceiling."""
        limits = zip(self.metrics, self.ladders, self.doubt.floor, self.doubt.top, strict=True)
        pairs = [ladder.iq(metric.score_of_rate(np.array(rates))) for metric, ladder, *rates in limits]
        low, high = np.array(pairs).T + self.shift
        return np.clip(low, LOWEST, HIGHEST), np.clip(high, LOWEST, HIGHEST)

    @cached_property
    def telling(self) -> Mask:
        """Where there is a source value that guessing does not explain."""
        return np.asarray(self.measured & ~self.doubt.guessed)

    @cached_property
    def zero_iq(self) -> Floats:
        """The IQ of a score of zero, per benchmark."""
        return np.array([float(ladder.iq(np.array(0.0))) for ladder in self.ladders])

    @cached_property
    def members(self) -> Floats:
        """Benchmarks × dimensions: 1 where the benchmark belongs to the dimension."""
        return np.eye(len(self.dimensions))[self.dimension_of]

    @cached_property
    def relatives_read(self) -> Mask:
        """Models × relatives: where a test that is no part of the IQ is read."""
        return self.relatives.read(self.measured)

    @cached_property
    def scored(self) -> Ints:
        """How many scores of each model tell of its IQ: on the benchmarks that count and on relatives that are read."""
        return np.asarray(self.measured.sum(axis=1) + self.relatives_read.sum(axis=1))

    @cached_property
    def shares(self) -> Floats:
        """What each benchmark weighs in the mean of all dimensions; they sum to 1."""
        size = self.members.sum(axis=0)
        return np.asarray(1 / (size[self.dimension_of] * size.size))

    def read(self, log_odds: Floats, *, beyond: bool = False) -> Floats:
        """Return the IQs of scores given as log odds (last axis: benchmarks), each off its own ladder.

        With ``beyond`` a ladder goes on past its ends for three more steps, in log odds as steep as the last one. A
        benchmark's scores are laid side by side for it: read across the rows they would take twice the time.
        """
        columns = np.ascontiguousarray(np.moveaxis(log_odds, -1, 0))
        iqs = np.empty(columns.shape)
        for column, (metric, ladder) in enumerate(zip(self.metrics, self.ladders, strict=True)):
            iqs[column] = ladder.iq(metric.score(columns[column])) + self.shift[column]
        if not beyond:
            return np.ascontiguousarray(np.moveaxis(np.clip(iqs, LOWEST, HIGHEST, out=iqs), 0, -1))
        for column, ends in enumerate(self._last_steps):
            for end, towards in zip(ends, (-STEP, STEP), strict=True):
                steps = (columns[column] - end[0]) / (end[0] - end[1])
                iqs[column] += towards * np.clip(steps, 0.0, FURTHER)
        return np.ascontiguousarray(np.moveaxis(iqs, 0, -1))

    @cached_property
    def _last_steps(self) -> list[tuple[tuple[float, float], tuple[float, float]]]:
        """Per benchmark, the log odds of the lowest two rungs and of the highest two, the end first."""
        rungs = [
            np.unique(metric.log_odds(np.array(ladder.scores)))
            for metric, ladder in zip(self.metrics, self.ladders, strict=True)
        ]
        return [((first, second), (last, before)) for first, second, *_, before, last in rungs]

    @cached_property
    def steepness(self) -> float:
        """IQ points per unit of log odds between the second rung and the last but one, as the composite weighs them."""
        rungs = zip(self.metrics, self.ladders, strict=True)
        spans = [metric.log_odds(np.array([ladder.scores[1], ladder.scores[-2]])) for metric, ladder in rungs]
        return float(self.shares @ ((HIGHEST - LOWEST - 2 * STEP) / np.diff(spans, axis=1)[:, 0]))

    def with_ladder_moved(self, column: int, points: float) -> ScoreMatrix:
        """Return the matrix as if one ladder gave this many IQ points more, within 70 and 160."""
        shift, iqs = self.shift.copy(), self.iqs.copy()
        shift[column] += points
        iqs[:, column] = np.clip(iqs[:, column] + points, LOWEST, HIGHEST)
        return replace(self, shift=shift, iqs=iqs)

    def keep(self, columns: Ints) -> ScoreMatrix:
        """Return the matrix with only these benchmarks; a dimension left without any is gone."""
        places = np.unique(self.dimension_of[columns])
        arrays = ("shift", "scores", "iqs", "chosen", "by_peers", "zero_before")
        return replace(
            self,
            benchmarks=tuple(self.benchmarks[column] for column in columns),
            dimensions=tuple(self.dimensions[place] for place in places),
            ladders=tuple(self.ladders[column] for column in columns),
            metrics=tuple(self.metrics[column] for column in columns),
            dimension_of=np.searchsorted(places, self.dimension_of[columns]),
            doubt=self.doubt.of(columns),
            **{name: getattr(self, name)[..., columns] for name in arrays},
        )

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each subject, for those who ask one by one."""
        return {subject: row for row, subject in enumerate(self.subjects)}

    def row(self, subject: str) -> int:
        """Return the row of a subject."""
        return self.rows[subject]

    def listed(self, rows: Ints) -> str:
        """Return the subjects of these rows in words, the first five by name."""
        return listed_names([self.subjects[row] for row in rows])


def build_matrix(
    evidence: Evidence, rules: IqRules, *, ladders: str | Path | pl.DataFrame, source: str | None = None
) -> ScoreMatrix:
    """Lay evidence out as arrays; ``source`` keeps only the scores of one source, else each pair's primary score."""
    used = evidence.benchmarks.filter("in_composite")
    _check_dimensions(used, rules)
    order = {name: index for index, name in enumerate(rules.dimensions)}
    used = used.with_columns(place=pl.col("dimension").replace_strict(order, return_dtype=pl.Int64)).sort(
        "place", maintain_order=True
    )
    benchmarks, models = used["benchmark"].to_list(), evidence.models
    steps = read_ladders(ladder_table(evidence, ladders), benchmarks)
    primary = scores_of(evidence, source).with_columns(by_maker=(pl.col("measured_by") == "vendor").fill_null(False))
    scores, by_maker = (
        _laid_out(primary, models["subject"].to_list(), benchmarks, name) for name in ("score", "by_maker")
    )
    iqs = np.column_stack([ladder.iq(scores[:, column]) for column, ladder in enumerate(steps)])
    missing_rules = [rule or "" for rule in used["missing_rule"]]
    metrics = tuple(
        Metric.of(unit, scores[:, j], middle=float(steps[j].score(np.array(_AVERAGE))))
        for j, unit in enumerate(used["unit"])
    )
    tries = _laid_out(with_tries(evidence, primary), models["subject"].to_list(), benchmarks, "tries")
    doubt = weigh_scores(scores, tries, metrics, *(used[name].to_list() for name in ("chance", "ceiling")))
    return ScoreMatrix(
        subjects=tuple(models["subject"]),
        benchmarks=tuple(benchmarks),
        dimensions=tuple(rules.dimensions),
        ladders=steps,
        metrics=metrics,
        shift=np.zeros(len(benchmarks)),
        scores=scores,
        iqs=iqs,
        doubt=doubt,
        dimension_of=used["place"].to_numpy(),
        released=np.array([day.toordinal() for day in models["released"]]),
        reasoning=models["reasoning"].to_numpy(),
        provider=_coded(models["provider"]),
        line=_coded(models["line"]),
        tier=models["tier"].fill_null(0).to_numpy(),
        ancestors=_ancestors(models),
        by_peers=np.array([rule.startswith("peers") for rule in missing_rules]),
        zero_before=np.array([_zero_before(rule) for rule in missing_rules]),
        relatives=_relatives(evidence, primary),
        chosen=(by_maker == 1) & (source is None),
    )


def _relatives(evidence: Evidence, scores: pl.DataFrame) -> Relatives:
    """Lay out the scores on tracked tests outside the IQ; diagnostics (emotional reasoning) stay out."""
    tracked = ~pl.col("in_composite") & (pl.col("kind") == "tracked") & pl.col("unit").is_in(UNITS)
    used = evidence.benchmarks.filter(tracked)
    names = used["benchmark"].to_list()
    laid = _laid_out(scores, evidence.models["subject"].to_list(), names)
    metrics = [Metric.of(unit, laid[:, j]) for j, unit in enumerate(used["unit"])]
    if not metrics:
        return Relatives(tuple(names), laid)
    tries = _laid_out(with_tries(evidence, scores), evidence.models["subject"].to_list(), names, "tries")
    doubt = weigh_scores(laid, tries, metrics, *(used[name].to_list() for name in ("chance", "ceiling")))
    return Relatives(tuple(names), doubt.odds, doubt)


def count_teachers(evidence: Evidence) -> dict[str, int]:
    """Return through how many models each test outside the IQ is read; one that never is has no entry."""
    part = evidence.benchmarks.filter("in_composite")["benchmark"].to_list()
    scores = evidence.primary_scores
    measured = ~np.isnan(_laid_out(scores, evidence.models["subject"].to_list(), part))
    relatives = _relatives(evidence, scores)
    return dict(zip(relatives.names, map(int, relatives.teachers(measured)), strict=True))


def scores_of(evidence: Evidence, source: str | None) -> pl.DataFrame:
    """Return one score per model and benchmark: the primary one, or that of one source."""
    if source is None:
        return evidence.primary_scores
    chosen = evidence.scores.filter(pl.col("source") == source)
    if chosen.is_empty():
        sources = ", ".join(sorted(evidence.scores["source"].unique()))
        raise MensuraError(f"source: no score comes from {source!r}; expected one of {sources}")
    return chosen


def _check_dimensions(used: pl.DataFrame, rules: IqRules) -> None:
    for benchmark, dimension in used.select("benchmark", "dimension").iter_rows():
        if dimension not in rules.dimensions:
            raise MensuraError(
                f"benchmarks.csv, {benchmark}: dimension {dimension!r} is none of the rules "
                f"({', '.join(rules.dimensions)}); correct it, or add the dimension to the rules"
            )
    empty = [name for name in rules.dimensions if name not in used["dimension"].to_list()]
    if empty:
        raise MensuraError(f"benchmarks.csv: no benchmark counts in the dimension {', '.join(empty)}; add at least one")


def _laid_out(scores: pl.DataFrame, subjects: list[str], benchmarks: list[str], column: str = "score") -> Floats:
    rows = {name: index for index, name in enumerate(subjects)}
    columns = {name: index for index, name in enumerate(benchmarks)}
    kept = scores.filter(pl.col("benchmark").is_in(benchmarks))
    matrix = np.full((len(subjects), len(benchmarks)), np.nan)
    places = zip((rows, columns), ("subject", "benchmark"), strict=True)
    at = tuple(kept[name].replace_strict(values, return_dtype=pl.Int64).to_numpy() for values, name in places)
    matrix[at] = kept[column].to_numpy()
    return matrix


def _coded(names: pl.Series) -> Ints:
    codes = {name: index for index, name in enumerate(names.unique().drop_nulls().sort())}
    return names.replace_strict(codes, default=-1, return_dtype=pl.Int64).to_numpy()


def _zero_before(rule: str) -> int:
    """Return the ordinal day before whose releases a missing score is zero."""
    if rule in ("zero", "peers-then-zero"):
        return ALWAYS
    month = re.fullmatch(r"zero-before-(\d{4})-(\d{2})", rule)
    return date(int(month[1]), int(month[2]), 1).toordinal() if month else 0


def _ancestors(models: pl.DataFrame) -> Ints:
    """Return the models each may inherit from: its line of primary predecessors first, then the secondary ones.

    Only models of the same provider count, and a non-reasoning model never inherits from a reasoning one.
    """
    rows = {name: index for index, name in enumerate(models["subject"])}
    pairs = zip(models["predecessor"], models["predecessor2"], strict=True)
    parents = [[rows[name] for name in pair if name in rows] for pair in pairs]
    provider, reasoning = models["provider"].to_list(), models["reasoning"].to_list()

    def line_of(row: int, seen: set[int]) -> list[int]:
        line = []
        for parent in parents[row]:
            if parent not in seen:
                seen.add(parent)
                line += [parent, *line_of(parent, seen)]
        return line

    lines = [
        [
            one
            for one in line_of(row, {row})
            if provider[one] == provider[row] and (reasoning[row] or not reasoning[one])
        ]
        for row in range(models.height)
    ]
    depth = max((len(line) for line in lines), default=0)
    return np.array([line + [-1] * (depth - len(line)) for line in lines], dtype=np.int64).reshape(models.height, depth)
