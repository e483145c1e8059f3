"""The result of a scoring: tables, the arrays behind them, and what can be asked of them."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import polars as pl

from mensura import __version__
from mensura.core.arrays import Floats, Ints, Mask
from mensura.core.errors import MensuraError, counted
from mensura.core.results import Result, set_computed
from mensura.evidence import Evidence, require_subject
from mensura.intake.scores import UNNAMED_SOURCE as USER
from mensura.iq.dimensions import STATUSES, ScoredDimensions, rounded
from mensura.iq.explanation import Explanation, Scoring, explain_subject, no_composite
from mensura.iq.matrix import ScoreMatrix, scores_of
from mensura.iq.rules import IqRules
from mensura.iq.sampler import Sampled
from mensura.iq.tables import gather_facts, pick_known, score_emotional, trace_benchmarks
from mensura.iq.uncertainty import IqDraws, draw_iqs, score_errors
from mensura.iq.waterfall import PREDECESSOR, SOURCE, STEPS, Filled
from mensura.scale.ranking import FEWEST_DIMENSIONS, FEWEST_TESTS, rank_subjects

COUNTS = ("measured", "inherited", "estimated")
"""Columns that count the benchmarks behind a value by where theirs come from."""


@dataclass(frozen=True, eq=False, repr=False)
class IqResult(Result):
    """Every IQ of one scoring. Imputed values live only here, with their step, inputs and error.

    Tables: ``composites`` (subject, iq, low, high, published, measured, inherited, estimated, scored_dimensions,
    status, lowered, missing), ``dimensions`` (subject, dimension, iq, low, high, measured, inherited, estimated,
    status), ``benchmark_iqs`` (subject, benchmark, iq, status, step), ``trail`` (all of that with scores, sources and
    errors), ``ranking`` and ``emotional``. ``low`` and ``high`` are null unless draws were asked for; ``published`` is
    the composite of the published method; ``measured``, ``inherited`` and ``estimated`` count benchmarks behind a
    value; ``lowered`` is what scores that a maker chose took off the composite; ``missing`` is what a model without an
    IQ or without a rank would need, null for all others.
    """

    TABLES: ClassVar = ("composites", "dimensions", "benchmark_iqs", "ranking", "trail", "emotional")
    DIGITS: ClassVar[int] = 1

    evidence: Evidence
    ladders: str
    source: str | None
    rules: IqRules
    weights: Floats
    matrix: ScoreMatrix
    filled: Filled
    scored: ScoredDimensions
    published: Floats  # composites by the published method, one per model
    n_draws: int
    seed: int
    begun: Sampled | None  # chains of the scoring, which go on for the draws behind the intervals

    @cached_property
    def composites(self) -> pl.DataFrame:
        """One row per model: rounded composite, interval, published one, counts, status, what a rank would need."""
        exact = self.scored.composites[0]
        low, high = self._interval("composites", exact)
        shares = zip(self.measured_share, ~np.isnan(exact), strict=True)
        ranked = self.ranked_by()
        return pl.DataFrame(
            {
                "subject": self.matrix.subjects,
                "iq": pl.Series(rounded(exact), nan_to_null=True).cast(pl.Int64),
                "low": pl.Series(low, nan_to_null=True),
                "high": pl.Series(high, nan_to_null=True),
                "published": pl.Series(rounded(self.published), nan_to_null=True).cast(pl.Int64),
                **{name: counts.sum(axis=1) for name, counts in self._counts.items()},
                "scored_dimensions": self.scored.scored.sum(axis=1),
                "status": [self.rules.status.of(float(share), composite=bool(has)) for share, has in shares],
                "lowered": self.lowered,
                "missing": pl.Series(
                    [None if ranked[row] else self._what_is_missing(row) for row in range(len(ranked))], dtype=pl.String
                ),
            }
        )

    @cached_property
    def shares(self) -> Floats:
        """What each benchmark counts for in the composite."""
        return np.asarray(self.matrix.members / self.matrix.members.sum(axis=0) @ self.weights)

    @cached_property
    def lowered(self) -> Floats:
        """IQ points by which each composite is lower because makers chose some of its scores."""
        if self.filled.correction is None:
            return np.zeros(len(self.matrix.subjects))
        return np.asarray(0.0 - self.filled.correction.chosen * (~self.matrix.measured @ self.shares))

    @property
    def exact(self) -> pl.DataFrame:
        """Composites before rounding: subject, exact (null where there is none)."""
        values = pl.Series("exact", self.scored.composites[0], nan_to_null=True)
        return pl.DataFrame({"subject": self.matrix.subjects, "exact": values})

    @cached_property
    def dimensions(self) -> pl.DataFrame:
        """One row per model and dimension that has a value: its IQ (not rounded), interval, counts and status."""
        values = self.scored.dimensions[0]
        low, high = self._interval("dimensions", values)
        return self._long(values, self.matrix.dimensions, "dimension").with_columns(
            low=pick_known(low, values),
            high=pick_known(high, values),
            **{name: pl.Series(counts[~np.isnan(values)]) for name, counts in self._counts.items()},
            status=pl.Series(STATUSES).gather(self.scored.statuses[~np.isnan(values)]),
        )

    @cached_property
    def benchmark_iqs(self) -> pl.DataFrame:
        """One row per model and benchmark that has a value: its IQ, whether measured or imputed, and the step."""
        values = self.filled.iqs[0]
        steps = self.filled.steps[~np.isnan(values)]
        return self._long(values, self.matrix.benchmarks, "benchmark").with_columns(
            status=pl.Series(["imputed", "measured"]).gather((steps == SOURCE).astype(np.int64)),
            step=pl.Series(STEPS).gather(steps),
        )

    @cached_property
    def ranking(self) -> pl.DataFrame:
        """The ranked models, best first (see :meth:`rank`)."""
        return self.rank()

    def rank(self, least: float | None = None) -> pl.DataFrame:
        """Rank the models that were measured on three tests in two dimensions, best first.

        A score that guessing explains does not count. ``least`` leaves out models measured on a smaller share of the
        benchmarks. The published method ranks by such a share alone, that of the status Partial unless given.
        Columns: rank, subject, exact (the composite before rounding), rank_low, rank_high, p_first (the chance of being
        first among all ranked), measured (benchmarks).
        """
        if least is not None and not 0 <= least <= 1:
            raise MensuraError(f"least: {least}; expected a share of the benchmarks from 0 to 1")
        exact, ranked = self.scored.composites[0], self.ranked_by(least)
        drawn = self.drawn.composites if self.n_draws else None
        facts = pl.DataFrame(
            {"subject": self.matrix.subjects, "exact": exact, "measured": self.matrix.measured.sum(axis=1)}
        )
        table = rank_subjects(self.matrix.subjects, exact, drawn, ranked)
        joined = table.join(facts, on="subject", how="left", maintain_order="left")
        return joined.select("rank", "subject", "exact", "rank_low", "rank_high", "p_first", "measured")

    def ranked_by(self, least: float | None = None) -> Mask:
        """Return which models :meth:`rank` takes."""
        exact = self.scored.composites[0]
        if self.method == "published" and least is None:
            least = self.rules.status.partial
        ranked: Mask = ~np.isnan(exact) & (self.measured_share >= (least or 0.0))
        if self.method == "published":
            return ranked
        tests, dimensions = self._tests_that_tell
        return np.asarray(ranked & (tests >= FEWEST_TESTS) & (dimensions >= FEWEST_DIMENSIONS))

    @cached_property
    def _tests_that_tell(self) -> tuple[Ints, Ints]:
        """Return for each model how many tests tell of it, and in how many dimensions."""
        tests = self.matrix.telling @ self.matrix.members
        return tests.sum(axis=1).astype(np.int64), (tests > 0).sum(axis=1)

    @cached_property
    def not_ranked(self) -> pl.DataFrame:
        """Models that are too new to rank: subject, iq, low, high, measured, missing (what a rank would need)."""
        out = np.flatnonzero(~self.ranked_by())
        return self.composites.select("subject", "iq", "low", "high", "measured", "missing")[out].sort(
            "iq", "measured", descending=True, nulls_last=True, maintain_order=True
        )

    def _what_is_missing(self, row: int) -> str:
        if np.isnan(self.scored.composites[0][row]):
            return no_composite(self.matrix, self.scored, self.rules, row)
        if self.method == "published":
            return f"scores on {self.ranked_from} benchmarks; it has {int(self.matrix.measured[row].sum())}"
        tests, dimensions = (int(count[row]) for count in self._tests_that_tell)
        needed = f"scores on {FEWEST_TESTS} tests in {FEWEST_DIMENSIONS} dimensions"
        if not tests and self.matrix.measured[row].any():
            return f"{needed}; so far it does no better than guessing"
        return f"{needed}; it has {tests} in {dimensions}"

    @cached_property
    def trail(self) -> pl.DataFrame:
        """Every benchmark IQ with all that stands behind it: score, unit, source, date, step, donor and errors."""
        bounds = self._interval("benchmarks", self.filled.iqs[0])
        scores = scores_of(self.evidence, self.source)
        return trace_benchmarks(self.benchmark_iqs, self.matrix, self.filled, self.errors, bounds, scores)

    @cached_property
    def emotional(self) -> pl.DataFrame:
        """Emotional reasoning: EQ, number of components, and each component."""
        return score_emotional(self.evidence, self.rules.emotional, self.source)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know: what the evidence assumes, and models with dimensions enough but no composite."""
        if self.rules.imputation.is_joint:
            added = self.evidence.scores.filter(pl.col("source") == USER)["subject"].unique(maintain_order=True)
            about = (text for subject in added if subject in self.matrix.rows for text in self.about_scores(subject))
            return (*self.evidence.warnings, *self.about_selection, *about)
        enough = self.scored.scored.sum(axis=1) >= self.rules.dimension.minimum_scored
        reasons: dict[str, list[int]] = {}
        for row in np.flatnonzero(np.isnan(self.scored.composites[0]) & enough):
            reasons.setdefault(no_composite(self.matrix, self.scored, self.rules, int(row)), []).append(int(row))
        without = (f"no composite for {self.matrix.listed(np.array(rows))}: {why}" for why, rows in reasons.items())
        return (*self.evidence.warnings, *without)

    def about_scores(self, subject: str) -> tuple[str, ...]:
        """Say which scores of a model tell little: those that guessing explains, of few answers, or at an end."""
        subject, matrix = self._known(subject), self.matrix
        row = matrix.row(subject)
        notes = []
        for column in np.flatnonzero(matrix.measured[row]):
            name, score = matrix.benchmarks[column], matrix.scores[row, column]
            if matrix.doubt.guessed[row, column]:
                notes.append(f"{subject}: {score:g} on {name} is no better than guessing; it says at most")
            elif matrix.doubtful[row, column]:
                read = self.filled.iqs[0, row, column]
                notes.append(
                    f"{subject}: {score:g} on {name} tells little: it has few answers or is near an end of the test; "
                    f"its IQ there is {read:.0f}, where the ladder says {matrix.iqs[row, column]:.0f}"
                )
        return tuple(notes)

    @property
    def about_selection(self) -> tuple[str, ...]:
        """Say of every model with scores that its maker chose how much its estimates were lowered."""
        if self.filled.correction is None:
            return ()
        points = zip(self.matrix.subjects, self.lowered, self.matrix.chosen.sum(axis=1), strict=True)
        return tuple(
            f"{name}: {counted(int(count), 'score')} chosen by its maker, who profits; IQ {lower:.1f} lower for that"
            for name, lower, count in sorted(points)
            if count
        )

    def why_none(self, subject: str) -> str:
        """Say why a model has no composite."""
        return no_composite(self.matrix, self.scored, self.rules, self.matrix.row(self._known(subject)))

    def _known(self, subject: str) -> str:
        """Return the subject, or name the ones that it may mean."""
        return subject if subject in self.matrix.rows else require_subject(self.evidence, subject)

    @property
    def ranked_from(self) -> int:
        """Benchmarks on which a model must be measured to be ranked by the published method."""
        return int(np.ceil(self.rules.status.partial * len(self.matrix.benchmarks)))

    @cached_property
    def measured_share(self) -> Floats:
        """Share of the benchmarks on which each model was measured."""
        return np.asarray(self.matrix.measured.mean(axis=1))

    @cached_property
    def _counts(self) -> dict[str, Ints]:
        """Benchmarks behind each dimension of each model, by where their values come from: models × dimensions.

        Estimated are all others of a dimension that has a value, also where it was filled as a whole.
        """
        measured, inherited = (
            ((self.filled.steps == step) @ self.matrix.members).astype(np.int64) for step in (SOURCE, PREDECESSOR)
        )
        size = self.matrix.members.sum(axis=0).astype(np.int64)
        estimated = np.where(~np.isnan(self.scored.dimensions[0]), size - measured - inherited, 0)
        return dict(zip(COUNTS, (measured, inherited, estimated), strict=True))

    @cached_property
    def errors(self) -> Floats:
        """Standard error of each source value in IQ points, models × benchmarks."""
        return score_errors(self.evidence, self.matrix, self.rules)

    def explain(self, subject: str) -> Explanation:
        """Return the whole derivation of one model's IQ as a tree."""
        return explain_subject(self._scoring, self._known(subject))

    def draws(self, n: int = 1000, seed: int = 0) -> IqDraws:
        """Draw every IQ ``n`` times, scores varied by their errors and missing values by theirs."""
        raw = self._draw(n, seed)
        if self.rules.imputation.is_joint:
            return raw
        return raw.centred(self.scored.composites[0], self.scored.dimensions[0], self.filled.iqs[0])

    @cached_property
    def _scoring(self) -> Scoring:
        """What explanations read; made once, for a report explains every model."""
        arrays = self.matrix, self.filled, self.scored, self.rules, self.weights, self.ladders
        return Scoring(*arrays, self.evidence.models, self.composites, gather_facts(self.dimensions, self.trail))

    @cached_property
    def drawn(self) -> IqDraws:
        """The draws behind the intervals (there are none unless draws were asked for)."""
        if self.begun is None:
            return self.draws(self.n_draws, self.seed)
        drawn = self._draw(self.n_draws, self.seed, self.begun)
        set_computed(self, begun=None)  # it takes much memory
        return drawn

    def _draw(self, n: int, seed: int, begun: Sampled | None = None) -> IqDraws:
        arrays = self.matrix, self.errors, self.rules, self.weights
        return draw_iqs(*arrays, n, seed, self.filled.correction, begun)

    def _interval(self, part: str, centre: Floats) -> tuple[Floats, Floats]:
        if not self.n_draws:
            return np.full(centre.shape, np.nan), np.full(centre.shape, np.nan)
        return self.drawn.interval(part)

    def _long(self, values: Floats, columns: tuple[str, ...], name: str) -> pl.DataFrame:
        rows, places = np.nonzero(~np.isnan(values))
        return pl.DataFrame(
            {
                "subject": pl.Series(self.matrix.subjects).gather(rows),
                name: pl.Series(columns).gather(places),
                "iq": values[rows, places],
            }
        )

    @property
    def method(self) -> str:
        """How gaps were filled: ``joint``, or ``published`` for the page's waterfall."""
        return "joint" if self.rules.imputation.is_joint else "published"

    @property
    def settings(self) -> dict[str, object]:
        """Everything the composites depend on: method, ladders, weights, draws, seed, evidence, package."""
        return {
            "imputation": self.rules.imputation.method,
            "ladders": self.ladders,
            "source": self.source,
            "weights": dict(zip(self.rules.dimensions, map(float, self.weights), strict=True)),
            "draws": self.n_draws,
            "seed": self.seed,
            "evidence": self.evidence.edition,
            "mensura": __version__,
        }

    @property
    def heading(self) -> str:
        """How many models are ranked, how many were left out, and by which method, ladders and scores."""
        how = f"method {self.method}, ladders {self.ladders}, {self.source or 'primary'} scores"
        return f"IQ of {self.ranking.height} ranked models ({how}); too new to rank: {self.left_out}"

    @property
    def left_out(self) -> int:
        """How many models have scores but no rank."""
        return self.not_ranked.height

    @property
    def shown(self) -> pl.DataFrame:
        """The composites of the ranked models, best first."""
        shown = self.ranking.select("rank", "subject").join(self.composites, on="subject", maintain_order="left")
        return shown.drop("scored_dimensions", "lowered", "missing")
