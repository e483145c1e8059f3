"""Which models a chart shows: publication status, model type, tier, line, generation and override, all as data.

Every model stays in the tables; the policy decides only what is drawn by default. ``data/policy.csv`` holds the rules,
``data/overrides.csv`` what differs for single models.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl

from mensura.errors import MensuraError
from mensura.frames import read_csv

_DATA = Path(__file__).parent / "data"
_OVERRIDES = ("publication", "type", "generation", "display")


@dataclass(frozen=True)
class Policy:
    """The rules of ``policy.csv`` and the exceptions of ``overrides.csv``."""

    flagship_generations: int
    smaller_generations: int
    timeline_tier: int
    top_labs: tuple[str, ...]
    labels: int
    overrides: pl.DataFrame


@cache
def load_policy(folder: Path = _DATA) -> Policy:
    """Read the policy files of a folder."""
    rules = dict(read_csv(folder / "policy.csv", infer_schema=False).select("setting", "value").iter_rows())
    schema = dict.fromkeys(("subject", *_OVERRIDES, "reason"), pl.String)
    overrides = read_csv(folder / "overrides.csv", schema=schema).with_columns(
        pl.col("generation").cast(pl.Int64, strict=False)
    )
    try:
        return Policy(
            flagship_generations=int(rules["current_generations_flagship"]),
            smaller_generations=int(rules["current_generations_smaller"]),
            timeline_tier=int(rules["minimum_tier"]),
            top_labs=tuple(rules["top_labs"].split(";")),
            labels=int(rules["per_chart"]),
            overrides=overrides,
        )
    except (KeyError, ValueError) as fault:
        raise MensuraError(f"{folder / 'policy.csv'}: setting missing or not a number: {fault}") from fault


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
        charted=pl.col("scored") & shown.otherwise(pl.col("public") & recent),
        on_timeline=pl.col("scored") & shown.otherwise(pl.col("public") & pl.col("general") & timeline),
    )


def frontier_lines(points: pl.DataFrame) -> pl.DataFrame:
    """Return the checkpoints of each provider's line: models at or above everything the provider had before."""
    ordered = points.sort("provider", "released", "value")
    best = pl.col("value").cum_max().over("provider")
    return ordered.filter(pl.col("value") >= best).select("provider", "released", "value")
