"""Which models a chart shows: publication status, model type, tier, line, generation and override, all as data.

Every model stays in the tables; the policy decides only what is drawn by default. The evidence holds it: its table
``chart_rules`` the rules, ``policy`` what differs for single models, ``models`` tier and line. ``mensura evidence
policy`` edits them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from mensura.evidence import TABLES, Evidence
from mensura.study.leaders import measure_own


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
        """What is said of single models, by subject: only the fields that say something."""
        rows = self.overrides.iter_rows(named=True)
        return {row["subject"]: {key: value for key, value in row.items() if value} for row in rows}


def load_policy(evidence: Evidence) -> Policy:
    """Return the policy that the evidence holds; its checks have seen to it that every rule is there."""
    rules = dict(evidence.chart_rules.select("setting", "value").iter_rows())
    return Policy(
        flagship_generations=int(rules["current_generations_flagship"]),
        smaller_generations=int(rules["current_generations_smaller"]),
        timeline_tier=int(rules["minimum_tier"]),
        top_labs=tuple(name.strip() for name in rules["top_labs"].split(";")),
        labels=int(rules["per_chart"]),
        overrides=evidence.policy,
    )


def policy_part(evidence: Evidence) -> dict[str, Any]:
    """Return the policy as a part of the method's page: its rules and their values, and what may differ for a model."""
    table = TABLES["policy"]
    rules = [
        {"rule": row["setting"].replace("_", " "), "formula": row["value"].replace(";", ", "), "source": row["about"]}
        for row in evidence.chart_rules.iter_rows(named=True)
    ]
    fields = [
        {"rule": f"for one model: {column.name}", "formula": column.about, "source": "table policy of the evidence"}
        for column in table.columns
        if column.name not in table.key
    ]
    return {
        "id": "policy",
        "title": "Which models charts show",
        "text": [
            "Every model stays in every table. What a chart shows by default follows from rules that are part of the "
            "evidence: a generation is counted within a product line of a provider, newest first; tier 0 is a flagship "
            "and below 0 are smaller models. The page of each model says whether charts show it, and by which rule.",
            f"Models with an exception of their own: {evidence.policy.height or 'none'}.",
        ],
        "rules": rules + fields,
    }


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


def list_models(study: Any, *needed: str) -> pl.DataFrame:  # noqa: ANN401
    """Return one row per model, with the parts that have the columns ``needed``; without any, all parts.

    ``study`` is a :class:`mensura.study.Study`; nothing else of it is computed. Rows are sorted by IQ where they have
    one, else by the first column needed, highest first.
    """
    asked = set(needed) - set(study.evidence.models.columns)
    known = {*CAPABILITY, *COSTS, *CHARTS}
    of_iq = not needed or bool(asked - known)
    wanted = asked if needed else known
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


def _parts(study: Any, wanted: set[str], *, of_iq: bool) -> Iterator[pl.DataFrame]:  # noqa: ANN401
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
        measured = study.dimensions.filter(pl.col("shown") == "measured")
        yield measured.group_by("subject").agg(pl.len().alias("own"))
