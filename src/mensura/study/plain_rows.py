"""What pages ask of a study model by model, found once: plain rows by their keys."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from mensura.study.units import show


@dataclass(frozen=True, eq=False)
class PlainRows:
    """Rows of a study's tables; a report of thousands of models reads each table once, not once a page."""

    study: Any  # a Study, which reads this file

    @cached_property
    def facts(self) -> dict[str, dict[str, Any]]:
        """What is known of the models besides scores, by subject: name, provider, release and so on."""
        return {row["subject"]: row for row in self.study.evidence.models.iter_rows(named=True)}

    @cached_property
    def by_subject(self) -> dict[str, dict[str, Any]]:
        """The rows of ``models`` by subject, in their order: pages ask model by model."""
        return {row["subject"]: row for row in self.study.models.iter_rows(named=True)}

    @cached_property
    def by_iq(self) -> list[dict[str, Any]]:
        """The rows of the models that have an IQ, highest first."""
        return [row for row in self.by_subject.values() if row["exact_iq"] is not None]

    @cached_property
    def iq_places(self) -> dict[str, int]:
        """Where each model with an IQ stands among them, 0 = highest."""
        return {row["subject"]: place for place, row in enumerate(self.by_iq)}

    @cached_property
    def ranked_rows(self) -> list[dict[str, Any]]:
        """The rows of the models that are ranked, highest IQ first."""
        return [row for row in self.by_iq if row["rank"] is not None]

    @cached_property
    def profiles(self) -> pl.DataFrame:
        """Dimension IQs of every model for its profile, dimensions in the method's order.

        Columns: subject, name, provider, dimension (by name), value, low, high, status, measured, benchmarks.
        """
        order = {key: place for place, key in enumerate(self.study.dimension_names)}
        dimensions: pl.DataFrame = self.study.dimensions
        return (
            dimensions.join(
                self.study.models.select("subject", "name", "provider"), on="subject", maintain_order="left"
            )
            .sort(pl.col("dimension").replace_strict(order, return_dtype=pl.Int64), maintain_order=True)
            .select(
                *("subject", "name", "provider"),
                dimension=pl.col("dimension").replace_strict(self.study.dimension_names),
                value=pl.col("iq").round(2),
                low=pl.col("low").round(2),
                high=pl.col("high").round(2),
                status="shown",
                measured="measured",
                benchmarks=pl.col("measured") + pl.col("inherited") + pl.col("estimated"),
            )
        )

    @cached_property
    def profile_rows(self) -> dict[str, list[dict[str, Any]]]:
        """The rows of ``profiles`` by subject."""
        found: dict[str, list[dict[str, Any]]] = {}
        for row in self.profiles.iter_rows(named=True):
            found.setdefault(row["subject"], []).append(row)
        return found

    @cached_property
    def tested_people(self) -> list[dict[str, Any]]:
        """Groups of people on their tests, constructed ones left out: benchmark, group, status."""
        kept: pl.DataFrame = self.study.people.tests.filter(pl.col("status").is_in(["measured", "judged", "panel"]))
        return kept.select("benchmark", "group", "status").to_dicts()

    @cached_property
    def printed_people(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Groups of people as their sources print them, by test and group."""
        rows = self.study.evidence.human_references.iter_rows(named=True)
        return {(row["benchmark"], row["group"]): row for row in rows}

    @cached_property
    def printed_scores(self) -> dict[str, dict[str, str]]:
        """Primary scores as pages write them: model → benchmark → text."""
        said: dict[str, dict[str, str]] = {}
        for row in self.study.evidence.primary_scores.select("subject", "benchmark", "score", "unit").iter_rows():
            said.setdefault(row[0], {})[row[1]] = show(row[2], row[3])
        return said

    @cached_property
    def own_scores(self) -> dict[str, dict[str, float]]:
        """Primary scores in the benchmark's unit: model → benchmark → score."""
        found: dict[str, dict[str, float]] = {}
        for subject, benchmark, score in self.study.evidence.primary_scores.select(
            "subject", "benchmark", "score"
        ).iter_rows():
            found.setdefault(subject, {})[benchmark] = score
        return found

    @cached_property
    def score_rows(self) -> dict[str, list[dict[str, Any]]]:
        """Every score by model, with the names of benchmark and source, what it is used for and its gap to the primary.

        ``shown`` and ``gap_shown`` are texts for pages.
        """
        titles = self.study.evidence.benchmarks.select("benchmark", title="name")
        sources = self.study.evidence.sources.select("source", source_name="name", url="url")
        primary = pl.col("score").filter("primary").first().over("subject", "benchmark")
        table = (
            self.study.evidence.scores.join(titles, on="benchmark", maintain_order="left")
            .join(sources, on="source", how="left", maintain_order="left")
            .with_columns(
                use=pl.when("primary").then(pl.lit("primary")).otherwise(pl.lit("second source")),
                gap=pl.when(~pl.col("primary")).then(pl.col("score") - primary),
            )
            .sort("subject", "title", "primary", descending=[False, False, True], maintain_order=True)
        )
        found: dict[str, list[dict[str, Any]]] = {}
        for row in table.iter_rows(named=True):
            row["shown"] = show(row["score"], row["unit"])
            row["gap_shown"] = "" if row["gap"] is None else show(row["gap"], row["unit"])
            found.setdefault(row["subject"], []).append(row)
        return found
