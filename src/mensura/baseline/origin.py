"""One population's share of a baseline: where it comes from, what models remember, and its rows of the tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from mensura.baseline.persons import QUANTILES
from mensura.baseline.recordings import UNNAMED
from mensura.baseline.registry import published_means
from mensura.core.arrays import just_above
from mensura.core.errors import counted
from mensura.people import WORLD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mensura.baseline.estimator import PoolEstimate
    from mensura.baseline.inputs import BaselineItems
    from mensura.baseline.kinds import PeopleKind
    from mensura.baseline.persons import PersonScores
    from mensura.core.arrays import Floats
    from mensura.people import Population

PEOPLE = "people"
"""The estimator where people made the estimates."""
SAME_MEAN = 0.005
"""A remembered mean this near to a published one is that one."""


@dataclass(frozen=True)
class PartOrigin:
    """What one population's estimate was made from.

    ``models``: per model its name, runs, date and prompt. ``anchors``: number of people behind each anchored item.
    ``known_mean``: mean and number of people. ``published``: sentences about published means of the benchmark.
    """

    models: tuple[Mapping[str, object], ...] = ()
    anchors: tuple[float, ...] = ()
    known_mean: tuple[float, int] | None = None
    published: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(str(model["model"]) for model in self.models)

    def sentences(self) -> list[str]:
        """Return who was asked, when, how often and with which prompt; then human data that the estimate uses."""
        asked = "; ".join(
            f"{'not named' if one['model'] == UNNAMED else one['model']} ({counted(int(str(one['runs'])), 'run')}, "
            f"{one['date'] or 'date not stated'}, prompt {one['prompt'] or 'not stated'})"
            for one in self.models
        )
        lines = [f"Estimated by: {asked}"]
        if UNNAMED in self.names:
            lines.append(
                "Nobody named the estimator, so it counts as a model whose errors are known; estimator names another"
            )
        if self.anchors:
            people = f"{min(self.anchors):,.0f} to {max(self.anchors):,.0f}"
            lines.append(f"Anchors: human rates of {counted(len(self.anchors), 'item')}, from {people} people each")
        if self.known_mean is not None:
            mean, people_asked = self.known_mean
            lines.append(f"Known mean: {mean:.1%} of {people_asked:,} people. It decides the mean below")
        return [*lines, *self.published]

    def improvements(self) -> list[str]:
        """Return what would make the estimate better, the best first."""
        ways = (
            [] if self.anchors else ["collect human rates on 20 items and give them as anchors (mensura baseline plan)"]
        )
        if PEOPLE not in self.names:
            ways += ["ask a second model"] if len(self.models) == 1 else []
            ways += ["ask each model twice"] if all(one["runs"] == 1 for one in self.models) else []
        return ways


@dataclass(frozen=True, eq=False)
class PopulationPart:
    """One population's share of a baseline.

    The joint estimate of its items, their table, draws of the mean, scores of persons, and where it comes from.
    """

    who: Population
    kind: PeopleKind
    estimate: PoolEstimate
    items: pl.DataFrame
    means: Floats
    persons: PersonScores
    origin: PartOrigin

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models asked."""
        return self.origin.names


def describe_models(rows: pl.DataFrame) -> tuple[Mapping[str, object], ...]:
    """Return per model its runs, and the date and prompt of its estimates."""
    stated = [pl.col(name).drop_nulls().unique().sort().str.join(", ") for name in ("date", "prompt")]
    return tuple(rows.group_by("model").agg(pl.col("run").n_unique().alias("runs"), *stated).sort("model").to_dicts())


def describe_memories(rows: pl.DataFrame, name: str) -> tuple[str, ...]:
    """Say which published means models remember, and what the registry has; nothing for an unknown benchmark."""
    lines = []
    memories = rows.filter(pl.col("remembered_mean").is_not_null() | pl.col("benchmark").is_not_null())
    for model, benchmark, mean in (
        memories.select("model", "benchmark", "remembered_mean").unique().sort(pl.all()).rows()
    ):
        pairs = published_means(benchmark or name)
        recalls = "recalls no human mean" if mean is None else f"remembers a human mean of {mean:.1%}"
        nearest = None if mean is None or not pairs else min(pairs, key=lambda pair: abs(pair[1] - mean))
        registered = "the registry has none" if nearest is None else f"the registry has {nearest[1]:.1%} ({nearest[0]})"
        same = nearest is not None and mean is not None and abs(nearest[1] - mean) <= just_above(SAME_MEAN)
        lines.append(
            f"{model} recognises {benchmark or 'this benchmark'} and {recalls}; {registered}"
            f"{'. Agreement with a figure that it remembers proves little' if same else ''}"
        )
    if not lines and published_means(name):
        lines.append(f"Known benchmark: {name} has published human scores, and models may remember them")
    return tuple(lines)


SMALLEST = 1e-6
"""Least rate that gets a level and a rarity."""
MODEL_COLUMNS = {
    **dict.fromkeys(("subject", "population"), pl.String),
    **dict.fromkeys(("score", "percentile", "low", "high", "one_in", "chance_passed"), pl.Float64),
}


def item_rows(items: BaselineItems, part: PopulationPart) -> pl.DataFrame:
    """Return the items of one population with their rates, levels and rarities."""
    table = items.table.select("item").join(part.items, on="item", how="left", maintain_order="left")
    rates = {name: pl.col(name).clip(SMALLEST, 1.0) for name in ("rate", "low", "high")}
    of_world = part.who.name == WORLD.name
    levels = {
        title: (0.5 - rates[name].log10()) if of_world else pl.lit(None, pl.Float64)
        for title, name in (("level", "rate"), ("level_low", "high"), ("level_high", "low"))
    }
    return table.with_columns(
        pl.lit(part.who.name).alias("population"),
        pl.col("status").fill_null("missing"),
        pl.col("remembered").fill_null(False),
        one_in=pl.min_horizontal(1 / rates["rate"], "tested"),
        at_least=rates["rate"] * pl.col("tested") < 1,
        **levels,
    ).select(
        "item",
        "population",
        "rate",
        "low",
        "high",
        "level",
        "one_in",
        "status",
        "remembered",
        "level_low",
        "level_high",
        "at_least",
    )


def population_row(part: PopulationPart) -> dict[str, object]:
    """Return the mean of one population and the percentiles of its persons."""
    low, mid, high = np.quantile(part.means, [0.05, 0.5, 0.95])
    row: dict[str, object] = {
        "population": part.who.name,
        "mean": float(mid),
        "low": float(np.clip(low, 0, 1)),
        "high": float(np.clip(high, 0, 1)),
        "items": int(part.items.height),
        "remembered": int(part.items["remembered"].sum()),
        "distance": part.kind.distance,
    }
    for name, share in QUANTILES.items():
        row[name], row[f"{name}_low"], row[f"{name}_high"] = part.persons.quantiles(share)
    return row


def model_row(part: PopulationPart, subject: str, score: float) -> tuple[object, ...]:
    """Return the place of a score among the persons of one population."""
    share, low, high = part.persons.share_below(score)
    passed = float(np.mean(score > part.means))
    rarest = 1 / part.persons.scores.shape[1]
    return (subject, part.who.name, score, 100 * share, 100 * low, 100 * high, 1 / max(1 - share, rarest), passed)
