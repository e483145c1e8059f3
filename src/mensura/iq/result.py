"""The result of a scoring: tables, the arrays behind them, and what can be asked of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from mensura.evidence import Evidence, require_subject
from mensura.frames import text_table
from mensura.iq.dimensions import STATUSES, Scored, rounded
from mensura.iq.emotional import score_emotional
from mensura.iq.explanation import Explanation, explain_subject
from mensura.iq.field import Field, scores_of
from mensura.iq.ladders import Array
from mensura.iq.rules import Rules
from mensura.iq.uncertainty import Draws, draw_iqs, interval, score_errors
from mensura.iq.waterfall import SOURCE, STEPS, Filled


@dataclass(frozen=True, eq=False, repr=False)
class IqResult:
    """Every IQ of one scoring. Imputed values live only here, with their step, inputs and error.

    Tables: ``composites`` (subject, iq, low, high, scored_dimensions, status), ``dimensions`` (subject, dimension, iq,
    low, high, status), ``benchmark_iqs`` (subject, benchmark, iq, status, step), ``trail`` (all of that with scores,
    sources and errors), ``ranking`` and ``emotional``. ``low`` and ``high`` are null unless draws were asked for.
    """

    evidence: Evidence
    ladders: str
    source: str | None
    rules: Rules
    weights: Array
    field: Field
    filled: Filled
    scored: Scored
    n_draws: int = 0
    seed: int = 0

    @cached_property
    def composites(self) -> pl.DataFrame:
        """One row per model: rounded composite, its interval, scored dimensions and rank status."""
        exact = self.scored.composites[0]
        low, high = self._interval("composites", exact)
        counts = self.scored.scored.sum(axis=1)
        return pl.DataFrame(
            {
                "subject": self.field.subjects,
                "iq": pl.Series(rounded(exact), nan_to_null=True).cast(pl.Int64),
                "low": pl.Series(low, nan_to_null=True),
                "high": pl.Series(high, nan_to_null=True),
                "scored_dimensions": counts,
                "status": [self.rules.status.of(int(count)) for count in counts],
            }
        )

    @cached_property
    def dimensions(self) -> pl.DataFrame:
        """One row per model and dimension that has a value: its IQ (not rounded), interval and status."""
        values = self.scored.dimensions[0]
        low, high = self._interval("dimensions", values)
        return self._long(values, self.field.dimensions, "dimension").with_columns(
            low=_picked(low, values),
            high=_picked(high, values),
            status=pl.Series(STATUSES).gather(self.scored.statuses[~np.isnan(values)]),
        )

    @cached_property
    def benchmark_iqs(self) -> pl.DataFrame:
        """One row per model and benchmark that has a value: its IQ, whether measured or imputed, and the step."""
        values = self.filled.iqs[0]
        steps = self.filled.steps[~np.isnan(values)]
        return self._long(values, self.field.benchmarks, "benchmark").with_columns(
            status=pl.Series(["imputed", "measured"]).gather((steps == SOURCE).astype(np.int64)),
            step=pl.Series(STEPS).gather(steps),
        )

    @cached_property
    def ranking(self) -> pl.DataFrame:
        """Models with a composite, best first: rank with interval, and the composite before rounding."""
        exact = self.scored.composites[0]
        order = np.argsort(-exact, kind="stable")[: int((~np.isnan(exact)).sum())]
        low = high = np.full(exact.shape, np.nan)
        if self.n_draws:
            low, high = interval(self.drawn.ranks)
        return pl.DataFrame(
            {
                "rank": np.arange(1, order.size + 1),
                "subject": pl.Series(self.field.subjects).gather(order),
                "exact": exact[order],
                "rank_low": pl.Series(low[order], nan_to_null=True).round(0).cast(pl.Int64),
                "rank_high": pl.Series(high[order], nan_to_null=True).round(0).cast(pl.Int64),
            }
        )

    @cached_property
    def trail(self) -> pl.DataFrame:
        """Every benchmark IQ with all that stands behind it: score, unit, source, date, step, donor and errors."""
        values = self.filled.iqs[0]
        low, high = self._interval("benchmarks", values)
        there = ~np.isnan(values)
        error = np.where(self.field.measured, self.errors, self.filled.errors[0])
        donors = self.filled.donors[there]
        names = pl.Series([*self.field.subjects, None])
        sources = scores_of(self.evidence, self.source).select(
            "subject", "benchmark", "score", "unit", "source", "date", "note"
        )
        dimension = pl.Series(self.field.dimensions).gather(self.field.dimension_of)
        return (
            self.benchmark_iqs.with_columns(
                low=_picked(low, values),
                high=_picked(high, values),
                error=error[there],
                donor=names.gather(np.where(donors < 0, len(names) - 1, donors)),
            )
            .join(pl.DataFrame({"benchmark": self.field.benchmarks, "dimension": dimension}), on="benchmark")
            .join(sources, on=["subject", "benchmark"], how="left", maintain_order="left")
        )

    @cached_property
    def emotional(self) -> pl.DataFrame:
        """Emotional reasoning: EQ, number of components, and each component."""
        return score_emotional(self.evidence, self.rules.emotional, self.source)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know: models that have dimensions enough but no composite, and why."""
        counts = self.scored.scored.sum(axis=1)
        without = np.isnan(self.scored.composites[0]) & (counts >= self.rules.dimension.minimum_scored)
        return tuple(
            f"{self.field.subjects[row]}: no composite, since no model of its time was measured in "
            + ", ".join(np.array(self.field.dimensions)[np.isnan(self.scored.dimensions[0, row])])
            for row in np.flatnonzero(without)
        )

    @cached_property
    def errors(self) -> Array:
        """Standard error of each source value in IQ points, models × benchmarks."""
        return score_errors(self.evidence, self.field, self.rules)

    def explain(self, subject: str) -> Explanation:
        """Return the whole derivation of one model's IQ as a tree."""
        require_subject(self.evidence, subject)
        return explain_subject(self, subject)

    def draws(self, n: int = 1000, seed: int = 0, advance: Callable[[], object] | None = None) -> Draws:
        """Draw IQs ``n`` times through the whole waterfall, scores and imputed values varied by their errors."""
        raw = draw_iqs(self.field, self.errors, self.rules, self.weights, n, seed, advance)
        return raw.centred(self.scored.composites[0], self.scored.dimensions[0], self.filled.iqs[0])

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the tables that ``mensura iq --out`` writes."""
        names = ("composites", "dimensions", "benchmark_iqs", "ranking", "trail", "emotional")
        return {name: getattr(self, name) for name in names}

    @cached_property
    def facts(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Rows of the trail and of the dimensions by (subject, benchmark or dimension), for explanations."""
        rows = {(row["subject"], row["dimension"]): row for row in self.dimensions.iter_rows(named=True)}
        return rows | {(row["subject"], row["benchmark"]): row for row in self.trail.iter_rows(named=True)}

    @cached_property
    def drawn(self) -> Draws:
        """The draws behind the intervals (there are none unless draws were asked for)."""
        return self.draws(self.n_draws, self.seed)

    def _interval(self, part: str, centre: Array) -> tuple[Array, Array]:
        if not self.n_draws:
            return np.full(centre.shape, np.nan), np.full(centre.shape, np.nan)
        return interval(getattr(self.drawn, part))

    def _long(self, values: Array, columns: tuple[str, ...], name: str) -> pl.DataFrame:
        rows, places = np.nonzero(~np.isnan(values))
        return pl.DataFrame(
            {
                "subject": pl.Series(self.field.subjects).gather(rows),
                name: pl.Series(columns).gather(places),
                "iq": values[rows, places],
            }
        )

    def __str__(self) -> str:
        ranked = self.ranking.height
        head = f"IQ of {ranked} models (ladders {self.ladders}, {self.source or 'primary'} scores)"
        top = self.ranking.select("rank", "subject").join(self.composites, on="subject", maintain_order="left")
        return f"{head}\n{text_table(top, digits=1)}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def _repr_html_(self) -> str:
        return self.ranking.join(self.composites, on="subject", maintain_order="left")._repr_html_()


def _picked(values: Array, where: Array) -> pl.Series:
    return pl.Series(values[~np.isnan(where)], nan_to_null=True)
