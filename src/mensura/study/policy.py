"""Which models a chart shows: publication status, model type, tier, line, generation and override, all as data.

Every model stays in the tables; the policy decides only what is drawn by default. The evidence holds it: its table
``chart_rules`` the rules, ``policy`` what differs for single models, ``models`` tier and line. ``mensura evidence
policy`` edits them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import polars as pl

from mensura.evidence import TABLES, Evidence
from mensura.evidence.passing import beyond_guessing
from mensura.study.leaders import measure_own
from mensura.study.units import show


@dataclass(frozen=True)
class Policy:
    """The rules of the table ``chart_rules`` and the exceptions of the table ``policy``."""

    flagship_generations: int
    smaller_generations: int
    timeline_tier: int
    top_labs: tuple[str, ...]
    labels: int
    overrides: pl.DataFrame

    @cached_property
    def exceptions(self) -> dict[str, dict[str, Any]]:
        """The exceptions of single models, by subject: only the fields that are filled."""
        rows = self.overrides.iter_rows(named=True)
        return {row["subject"]: {key: value for key, value in row.items() if value} for row in rows}


def load_policy(evidence: Evidence) -> Policy:
    """Return the policy that the evidence holds; its checks make sure that every rule is there."""
    rules = dict(evidence.chart_rules.select("setting", "value").iter_rows())
    return Policy(
        flagship_generations=int(rules["current_generations_flagship"]),
        smaller_generations=int(rules["current_generations_smaller"]),
        timeline_tier=int(rules["minimum_tier"]),
        top_labs=tuple(name.strip() for name in rules["top_labs"].split(";")),
        labels=int(rules["per_chart"]),
        overrides=evidence.policy,
    )


def policy_rules(evidence: Evidence) -> list[dict[str, Any]]:
    """Return the policy as rules of the method's page: their values, what may differ for a model, and for how many."""
    table, about = TABLES["policy"], "table policy of the evidence"
    rules = [
        {"rule": row["setting"].replace("_", " "), "formula": row["value"].replace(";", ", "), "source": row["about"]}
        for row in evidence.chart_rules.iter_rows(named=True)
    ]
    rules += [
        {"rule": f"for one model: {column.name}", "formula": column.about, "source": about}
        for column in table.columns
        if column.name not in table.key
    ]
    exceptions = str(evidence.policy.height or "none")
    return [*rules, {"rule": "models with an exception of their own", "formula": exceptions, "source": about}]


def apply_policy(models: pl.DataFrame, scored: pl.Series, policy: Policy) -> pl.DataFrame:
    """Return one row per model: ``generation`` (0 is current), ``charted`` and ``on_timeline``.

    ``scored`` lists the subjects with a derived IQ; without one a model is in no IQ chart, whatever the override.
    """
    unlined = pl.coalesce("line", "subject")
    generation = (pl.col("released").rank("dense", descending=True).over("provider", unlined) - 1).cast(pl.Int64)
    rows = (
        models.select("subject", "provider", "line", "released", tier=pl.col("tier").fill_null(0), derived=generation)
        .join(policy.overrides, on="subject", how="left", maintain_order="left")
        .with_columns(
            generation=pl.coalesce("generation", "derived"),
            public=pl.col("publication").fill_null("public") == "public",
            general=pl.col("type").fill_null("general") == "general",
            scored=pl.col("subject").is_in(scored.to_list()),
        )
    )
    recent = pl.col("generation") < pl.when(pl.col("tier") >= 0).then(policy.flagship_generations).otherwise(
        policy.smaller_generations
    )
    shown = pl.when(pl.col("display") == "show").then(True).when(pl.col("display") == "hide").then(False)
    timeline = (pl.col("tier") >= policy.timeline_tier) & pl.col("provider").is_in(list(policy.top_labs))
    return rows.select(
        "subject",
        "generation",
        charted=pl.col("scored") & shown.otherwise(pl.col("public") & pl.col("general") & recent),
        on_timeline=pl.col("scored") & shown.otherwise(pl.col("public") & pl.col("general") & timeline),
    )


def frontier_lines(points: pl.DataFrame) -> pl.DataFrame:
    """Return the checkpoints of each provider's line: models at or above everything the provider had before."""
    ordered = points.sort("provider", "released", "value")
    best = pl.col("value").cum_max().over("provider")
    return ordered.filter(pl.col("value") >= best).select("provider", "released", "value")


# The table of models, joined from the parts that a question needs: facts, IQ, capability, costs, place in charts.

CAPABILITY = ("capability", "capability_low", "capability_high")
COSTS = ("sticker_price", "effective_cost", "task_efficiency", "response_time", "output_speed")
CHARTS = ("generation", "charted", "on_timeline")
_MOST = 3  # of seven dimensions: more than this many is most of them


def list_models(study: Any, *needed: str) -> pl.DataFrame:
    """Return one row per model, with the parts that have the columns ``needed``; without any, all parts.

    ``study`` is a :class:`mensura.study.Study`; nothing else of it is computed. Rows are sorted by IQ where they have
    one, else by the first column needed, highest first.
    """
    asked = set(needed) - set(study.evidence.models.columns)
    computed = {*CAPABILITY, *COSTS, *CHARTS}
    of_iq = not needed or bool(asked - computed)
    wanted = asked if needed else computed
    joined: pl.DataFrame = study.evidence.models
    for part in _parts(study, wanted, of_iq=of_iq):
        joined = joined.join(part, on="subject", how="left", maintain_order="left")
    if of_iq:
        joined = joined.with_columns(
            shown=pl.when(pl.col("own") > _MOST).then(pl.lit("measured")).otherwise(pl.lit("estimated"))
        )
    if wanted.intersection(CHARTS):
        joined = joined.join(study.place_in_charts, on="subject", maintain_order="left")
    order = [name for name in ("exact_iq", "capability") if name in joined.columns] if of_iq else [needed[0]]
    return joined.sort(order, descending=True, nulls_last=True, maintain_order=True)


def _parts(study: Any, wanted: set[str], *, of_iq: bool) -> Iterator[pl.DataFrame]:
    """Yield the parts one after another, each computed when its turn comes."""
    if of_iq:
        iq = study.iq.composites.drop("missing").rename({"low": "iq_low", "high": "iq_high"})
        yield iq.join(study.iq.exact.rename({"exact": "exact_iq"}), on="subject", maintain_order="left")
        yield study.iq.ranking.select("subject", "rank", "rank_low", "rank_high", "p_first")
        yield measure_own(study.iq)
    if wanted.intersection(CAPABILITY):
        yield study.capabilities.rename({"low": "capability_low", "high": "capability_high"})
    if of_iq:
        yield study.iq.emotional.select("subject", "eq")
    if wanted.intersection(COSTS):
        yield study.costs.costs.select("subject", *COSTS)
    if of_iq:
        yield study.dimensions.filter(pl.col("shown") == "measured").group_by("subject").agg(pl.len().alias("own"))


# What pages ask of a study model by model, looked up once: plain rows by their keys.


@dataclass(frozen=True, eq=False)
class PlainRows:
    """Rows of a study's tables; a report of thousands of models reads each table once, not once a page."""

    study: Any  # a Study, which reads this file

    @cached_property
    def facts(self) -> dict[str, dict[str, Any]]:
        """What is known of the models besides scores, by subject: name, provider, release and so on."""
        return _by_subject(self.study.evidence.models)

    @cached_property
    def by_subject(self) -> dict[str, dict[str, Any]]:
        """The rows of ``models`` by subject, in their order: pages ask model by model."""
        return _by_subject(self.study.models)

    @cached_property
    def by_iq(self) -> list[dict[str, Any]]:
        """The rows of the models that have an IQ, highest first."""
        return [row for row in self.by_subject.values() if row["exact_iq"] is not None]

    @cached_property
    def ranked_rows(self) -> list[dict[str, Any]]:
        """The rows of the models that are ranked, highest IQ first."""
        return [row for row in self.by_iq if row["rank"] is not None]

    @cached_property
    def ranked_iqs(self) -> list[float]:
        """The IQs of the models that are ranked, before rounding, highest first."""
        return [row["exact_iq"] for row in self.ranked_rows]

    @cached_property
    def beyond_guessing(self) -> set[str]:
        """The models with a score that guessing does not explain."""
        return set(beyond_guessing(self.study.evidence)["subject"])

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
        return self.profiles.rows_by_key("subject", named=True, include_key=True)

    @cached_property
    def tested_people(self) -> list[dict[str, Any]]:
        """Groups of people who are compared with models on a test: benchmark, group, status."""
        kept: pl.DataFrame = self.study.people.tests.filter(pl.col("reason").is_null())
        return kept.select("benchmark", "group", "status").to_dicts()

    @cached_property
    def printed_people(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Groups of people as their sources print them, by test and group."""
        references: pl.DataFrame = self.study.evidence.human_references
        return references.rows_by_key(["benchmark", "group"], named=True, include_key=True, unique=True)

    @cached_property
    def human_grades(self) -> dict[tuple[str, str], str | None]:
        """The letter of each human result, by test and group."""
        from mensura.baseline.human_results import grade_references  # loads what a command on models has no need of

        grades = grade_references(self.study.evidence).select("benchmark", "group", "grade")
        return {(test, group): grade for test, group, grade in grades.iter_rows()}

    @cached_property
    def own_scores(self) -> dict[str, dict[str, float]]:
        """Primary scores in the benchmark's unit: model → benchmark → score."""
        scores = self.study.evidence.primary_scores.select("subject", "benchmark", "score")
        return {subject: dict(rows) for subject, rows in scores.rows_by_key("subject").items()}

    @cached_property
    def printed_scores(self) -> dict[str, dict[str, str]]:
        """Primary scores as pages write them: model → benchmark → text."""
        units = dict(self.study.evidence.benchmarks.select("benchmark", "unit").iter_rows())
        return {
            subject: {benchmark: show(score, units[benchmark]) for benchmark, score in scores.items()}
            for subject, scores in self.own_scores.items()
        }

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
        rows: dict[str, list[dict[str, Any]]] = table.rows_by_key("subject", named=True, include_key=True)
        for row in chain.from_iterable(rows.values()):
            row["shown"] = show(row["score"], row["unit"])
            row["gap_shown"] = "" if row["gap"] is None else show(row["gap"], row["unit"])
        return rows


def _by_subject(table: pl.DataFrame) -> dict[str, dict[str, Any]]:
    return table.rows_by_key("subject", named=True, include_key=True, unique=True)
