"""Everything the report shows, computed once: each instrument run on the same evidence, joined by model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from mensura.evidence import Evidence
from mensura.iq import Cost, IqResult, measure_cost, score_iq
from mensura.site.policy import Policy, apply_policy, load_policy
from mensura.stitching import Stitch, stitch_evidence

DRAWS = 1000
"""Draws behind the intervals of the IQs."""


@dataclass(frozen=True)
class Study:
    """The results of every instrument on one evidence."""

    evidence: Evidence
    iq: IqResult
    cost: Cost
    fit: Stitch
    policy: Policy

    @classmethod
    def run(cls, evidence: Evidence, *, seed: int = 0) -> Study:
        """Run the instruments; the same evidence and seed give the same study."""
        iq = score_iq(evidence, draws=DRAWS, seed=seed)
        return cls(evidence, iq, measure_cost(evidence), stitch_evidence(evidence), load_policy())

    @cached_property
    def models(self) -> pl.DataFrame:
        """One row per model: facts, IQ, capability, EQ, cost and what the chart policy says; best IQ first."""
        iq = self.iq.composites.rename({"low": "iq_low", "high": "iq_high"})
        ranks = self.iq.ranking.select("subject", "rank", "rank_low", "rank_high", exact_iq="exact")
        capability = self.fit.capabilities.rename({"low": "capability_low", "high": "capability_high"})
        joined = self.evidence.models
        for part in (iq, ranks, capability, self.iq.emotional.select("subject", "eq"), self.cost.models):
            joined = joined.join(part, on="subject", how="left", maintain_order="left")
        shown = apply_policy(self.evidence.models, iq.drop_nulls("iq")["subject"], self.policy)
        return joined.join(shown, on="subject", maintain_order="left").sort(
            "exact_iq", "capability", descending=True, nulls_last=True, maintain_order=True
        )

    @cached_property
    def benchmarks(self) -> pl.DataFrame:
        """One row per benchmark: facts, stitched difficulty and slope, models with a score; hardest first."""
        counted = self.evidence.primary_scores.group_by("benchmark").agg(pl.len().alias("models"))
        return (
            self.evidence.benchmarks.join(self.fit.benchmarks, on="benchmark", how="left", maintain_order="left")
            .join(counted, on="benchmark", how="left", maintain_order="left")
            .with_columns(pl.col("models").fill_null(0))
            .sort("difficulty", descending=True, nulls_last=True, maintain_order=True)
        )

    @cached_property
    def dimension_names(self) -> dict[str, str]:
        """Names for people of the IQ dimensions, in the order of the method."""
        return {key: key.replace("-", " ").capitalize() for key in self.iq.rules.dimensions}

    @cached_property
    def providers(self) -> list[str]:
        """Providers, those with most charted models first."""
        counted = self.models.filter("charted").group_by("provider").agg(pl.len().alias("models"))
        return counted.sort("models", "provider", descending=[True, False])["provider"].to_list()

    def charted(self, *needed: str, timeline: bool = False) -> pl.DataFrame:
        """Return the models a chart shows, those that have every column ``needed``."""
        return self.models.filter("on_timeline" if timeline else "charted").drop_nulls(list(needed))
