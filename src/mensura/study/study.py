"""Everything the report shows, computed once: each instrument run on the same evidence, joined by model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import polars as pl

from mensura.calibration import chosen_lines
from mensura.core.cache import find_kept, recall
from mensura.core.processes import Processes
from mensura.core.results import Result, set_computed
from mensura.evidence import Evidence
from mensura.evidence.passing import beyond_guessing
from mensura.iq import CostResult, IqResult, score_costs, score_iq
from mensura.scale import Calibration
from mensura.stitching import People, Stitch, information_curves, place_people, stitch
from mensura.stitching.influence import win_chances
from mensura.study.lead import Lead, find_lead
from mensura.study.leaders import OWN_SCORES, leaders_beside_people
from mensura.study.policy import PlainRows, Policy, apply_policy, list_models, load_policy
from mensura.study.slow_parts import (
    Pace,
    PlacedAbilities,
    WorldExample,
    carry_example,
    place_abilities,
    report_pace,
    watch_evidence,
)
from mensura.trends import Watch

PUBLISHED_SAID = (
    "You see AI IQ's published method: its ladders, its rules for gaps, and its status for each model (Full, Partial, "
    "Provisional, Unranked). Intervals and chances are Mensura's."
)
"""The banner of a report by the published method."""
_TESTS_NAMED = 2  # tests of a class of people that are named beside it; more are counted
_INFORMATIVE = 0.5  # share of a benchmark's largest information down to which it counts as a sensor: half its height


STUDY = "study"
"""Name of kept studies."""
DRAWS = 1000
"""Draws behind the intervals of the IQs."""
_MOST_DRAWN, _FEWEST_DRAWS = 500_000, 200
"""Largest product of models and draws, and the smallest number of draws: the memory of a laptop is the limit."""
SLOW_PARTS = ("groups", "pace", "watch", "world", "abilities")
"""Cached properties of a study that need no IQ and take seconds."""


@dataclass(frozen=True, eq=False, repr=False)
class Study(Result):
    """The results of every instrument on one evidence, each computed when it is first asked for.

    ``lines`` are the calibrated lines that levels are read with, ``method`` is how IQs are scored.
    """

    TABLES: ClassVar = ("models", "dimensions", "benchmarks", "groups", "sensors", "residuals")

    evidence: Evidence
    lines: Calibration
    method: str | None = None

    @classmethod
    def run(cls, evidence: Evidence, lines: Calibration | None = None, method: str | None = None) -> Study:
        """Return the study of an evidence; the same evidence gives the same study.

        ``lines``: what levels are read with; by default the published ones.
        ``method``: how IQs are scored, as :func:`mensura.score_iq` takes it.
        """
        return cls(evidence, chosen_lines(published=evidence.calibration) if lines is None else lines, method)

    @classmethod
    def open(
        cls, evidence: Evidence, lines: Calibration | None = None, method: str | None = None, *, led: bool = False
    ) -> Study:
        """Return the study of an evidence from the cache, where it was run before; else run all of it and keep it.

        ``led``: whoever opens it will ask who leads, which takes as long as all IQs and is then found meanwhile.
        """
        study = cls.run(evidence, lines, method)
        return recall(STUDY, study._inputs, lambda: study._computed(led=led))

    @property
    def _inputs(self) -> tuple[str, ...]:
        """Everything that the study depends on."""
        evidence = self.evidence
        facts = (evidence.fingerprint, evidence.origin, *evidence.warnings)
        return (*facts, *map(repr, self.lines), self.method or "joint")

    def _computed(self, *, led: bool) -> Study:
        """Compute everything that takes long: IQs here, and at the same time what needs no IQ in another process."""
        with Processes(1) as processes:
            others = processes.submit(_compute_parts, self.evidence, self.lines)
            if led:
                set_computed(self, lead=self._find_lead(lambda: others.result()["fit"].laplace.ranks))
            set_computed(self, **others.result())
        _ = self.models
        return self

    @cached_property
    def iq(self) -> IqResult:
        """The IQs."""
        return score_iq(self.evidence, method=self.method, draws=draws_for(self.evidence.models.height))

    @cached_property
    def costs(self) -> CostResult:
        """The costs."""
        return score_costs(self.evidence)

    @cached_property
    def fit(self) -> Stitch:
        """The models on the stitched scale."""
        return stitch(self.evidence)

    @cached_property
    def people(self) -> People:
        """The classes of people on the stitched scale."""
        return place_people(self.fit, self.evidence)

    @cached_property
    def policy(self) -> Policy:
        """Which models charts show."""
        return load_policy(self.evidence)

    @property
    def heading(self) -> str:
        """What was studied."""
        return f"Study of {self.models.height} models on {self.benchmarks.height} benchmarks"

    @property
    def shown(self) -> pl.DataFrame:
        """The models with their IQ and capability."""
        return self.models.select("name", "iq", "iq_low", "iq_high", "capability", "status")

    @cached_property
    def models(self) -> pl.DataFrame:
        """One row per model: facts, IQ, capability, EQ, cost and what the chart policy says; best IQ first.

        ``rank`` is null where a model is too new to rank; ``p_first`` is its chance of being first; ``own`` counts the
        dimensions behind which the model's own scores stand; ``shown`` is "measured" when they are most of the seven,
        else "estimated".
        """
        return list_models(self)

    @property
    def capabilities(self) -> pl.DataFrame:
        """Models on the stitched scale: subject, capability, low, high."""
        return self.fit.capabilities

    @property
    def scale_said(self) -> str:
        """What a reader should know of the scale that every page stands on; nothing by Mensura's own method."""
        return PUBLISHED_SAID if self.iq.method == "published" else ""

    @cached_property
    def place_in_charts(self) -> pl.DataFrame:
        """Which models charts show, of those that have an IQ: subject, generation, charted, on_timeline."""
        return apply_policy(self.evidence.models, self.iq.exact.drop_nulls("exact")["subject"], self.policy)

    @cached_property
    def ranked(self) -> pl.DataFrame:
        """The models that are ranked, best first (:mod:`mensura.scale.ranking`)."""
        return self.models.drop_nulls("rank")

    @property
    def ranked_iqs(self) -> pl.DataFrame:
        """The ranked models with their IQs alone: neither capability nor cost is computed."""
        return list_models(self, "rank").drop_nulls("rank")

    @cached_property
    def too_new(self) -> pl.DataFrame:
        """The models that are too new to rank, with what a rank would need (``missing``)."""
        facts = self.models.select("subject", "name", "provider", "released")
        return self.iq.not_ranked.join(facts, on="subject", maintain_order="left")

    @cached_property
    def capability_ranks(self) -> pl.DataFrame:
        """Ranks on the stitched scale, with each model's chance of being first (:mod:`mensura.scale.ranking`)."""
        return self.fit.laplace.ranks

    @cached_property
    def dimensions(self) -> pl.DataFrame:
        """Dimension IQs; ``shown`` is "measured" from two measured benchmarks on, "inherited" or "estimated" else.

        One own source alone is no measurement of a dimension.
        """
        shown = (
            pl.when(pl.col("measured") >= OWN_SCORES)
            .then(pl.lit("measured"))
            .when(pl.col("inherited") > pl.col("estimated"))
            .then(pl.lit("inherited"))
            .otherwise(pl.lit("estimated"))
        )
        return self.iq.dimensions.with_columns(shown=shown)

    @cached_property
    def lead(self) -> Lead | None:
        """Who leads, and how sure that is by each way of reckoning; kept by itself, as few commands ask for it."""
        return self._find_lead(lambda: self.capability_ranks)

    def _find_lead(self, stitched: Callable[[], pl.DataFrame]) -> Lead | None:
        return recall("lead", self._inputs, lambda: find_lead(self.iq, stitched))

    @cached_property
    def rows(self) -> PlainRows:
        """Plain rows of the tables, for pages that ask model by model."""
        return PlainRows(self)

    @cached_property
    def leaders(self) -> pl.DataFrame:
        """The best model on each test, beside comparable people: the one table that headline and pages read."""
        return leaders_beside_people(self.evidence)

    @cached_property
    def abilities(self) -> PlacedAbilities:
        """AI systems and people on the calibrated human scales."""
        return place_abilities(self.evidence, self.lines)

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
    def benchmark_names(self) -> dict[str, str]:
        """Names for people of the benchmarks."""
        return dict(self.evidence.benchmarks.select("benchmark", "name").iter_rows())

    @cached_property
    def groups(self) -> pl.DataFrame:
        """Classes of people on the stitched scale: group, status, benchmarks, capability, low, high, spread."""
        return self.people.table

    @cached_property
    def over_people(self) -> dict[tuple[str, str], dict[str, float]]:
        """For each test and group of people, the chance that each model that took the test scores above them.

        A model that did no better than guessing has none.
        """
        placed = set(self.fit.data.subjects)
        takers: dict[str, list[str]] = {}
        for benchmark, subject in beyond_guessing(self.evidence).select("benchmark", "subject").iter_rows():
            if subject in placed:
                takers.setdefault(benchmark, []).append(subject)
        return {
            (row["benchmark"], row["group"]): win_chances(
                self.fit, takers.get(row["benchmark"], []), row["benchmark"], row["score"], row["stderr"]
            )
            for row in self.people.tests.drop_nulls("verdict").iter_rows(named=True)
        }

    @cached_property
    def class_names(self) -> dict[str, str]:
        """Classes of people with the tests they took: never a group without its test."""
        names = {}
        for row in self.people.table.iter_rows(named=True):
            tests = [self.benchmark_names.get(one, one) for one in row["benchmarks"].split(", ")]
            on_tests = " and ".join(tests) if len(tests) <= _TESTS_NAMED else f"{len(tests)} tests"
            names[row["group"]] = f"{row['group']} on {on_tests}"
        return names

    @cached_property
    def sensors(self) -> pl.DataFrame:
        """The range of capability in which each benchmark has a good part of its largest information."""
        curves = information_curves(self.fit).with_columns(most=pl.col("information").max().over("benchmark"))
        titles = self.evidence.benchmarks.select("benchmark", "name")
        return (
            curves.filter(pl.col("information") >= _INFORMATIVE * pl.col("most"))
            .group_by("benchmark", maintain_order=True)
            .agg(
                pl.col("capability").min().alias("low"),
                pl.col("capability").sort_by("information").last().alias("peak"),
                pl.col("capability").max().alias("high"),
            )
            .join(titles, on="benchmark", maintain_order="left")
        )

    @cached_property
    def residuals(self) -> pl.DataFrame:
        """Measured score minus what capability alone predicts: subject, benchmark, residual."""
        return self.fit.residuals.select("subject", "benchmark", residual="above")

    @cached_property
    def dimension_names(self) -> dict[str, str]:
        """Names for people of the IQ dimensions, in the order of the method."""
        return {key: rule.name for key, rule in self.iq.rules.dimensions.items()}

    @cached_property
    def pace(self) -> Pace:
        """The pace of all releases and the forecast of the frontier."""
        return report_pace(self.fit, self.evidence)

    @cached_property
    def watch(self) -> Watch | None:
        """The acceleration watch over the releases of the evidence; None where they are too few to watch."""
        return watch_evidence(self.evidence)

    @cached_property
    def world(self) -> WorldExample:
        """One item carried to the world population."""
        return carry_example()

    @cached_property
    def providers(self) -> list[str]:
        """Providers, those with most charted models first."""
        counted = self.models.filter("charted").group_by("provider").agg(pl.len().alias("models"))
        return counted.sort("models", "provider", descending=[True, False])["provider"].to_list()

    def charted(self, *needed: str, timeline: bool = False) -> pl.DataFrame:
        """Return the models a chart shows, those that have every column ``needed``; other parts are not computed."""
        shown = "on_timeline" if timeline else "charted"
        return self.having(*needed, shown).filter(shown)

    def having(self, *needed: str) -> pl.DataFrame:
        """Return all models that have every column ``needed``; other parts are not computed."""
        return list_models(self, *needed).drop_nulls(list(needed))


def draws_for(models: int) -> int:
    """Return the number of draws behind the intervals of so many models, in twenties: whole rounds of chains."""
    return min(DRAWS, max(_FEWEST_DRAWS, _MOST_DRAWN // max(1, models) // 20 * 20))


def _compute_parts(evidence: Evidence, lines: Calibration) -> dict[str, Any]:
    """Return what takes long and needs no IQ, by name."""
    study = Study(evidence, lines)
    return {name: getattr(study, name) for name in ("fit", "people", *SLOW_PARTS)}


def open_piecewise(evidence: Evidence, method: str | None = None) -> Study:
    """Return the kept study of an evidence; without one, a study that computes only what is asked of it."""
    study = Study.run(evidence, method=method)
    kept: tuple[Study] | None = find_kept(STUDY, study._inputs)
    return study if kept is None else kept[0]
