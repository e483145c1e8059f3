"""Pictures of the human scales: bases, success by demand level, the world behind one item, the open calibration."""

from pathlib import Path
from statistics import median
from typing import Any

import polars as pl

from mensura import charts
from mensura.calibration import CalibrationResult
from mensura.core.frames import read_csv, sort_highest
from mensura.evidence import Evidence
from mensura.scale import rate_interval
from mensura.site.pictures.registry import Figure, picture, worded
from mensura.study.slow_parts import observed_and_world
from mensura.study.study import Study

_SHOWN = {"gpt4o": "GPT-4o", "o1-mini": "o1-mini", "llama3d1-405b": "Llama 3.1 405B", "llama3d2-1b": "Llama 3.2 1B"}
_NAMES = Path(__file__).parents[1] / "data" / "demand_dimensions.csv"
_ALIGNMENT = _NAMES.with_name("country_alignment.csv")
FEWEST_DECIDED = 5
"""Items that a dimension must decide to get a panel."""


def _percent(share: float) -> str:
    return f"{share:.0%}"


def largest_said(drivers: pl.DataFrame) -> str:
    """Say what moves the rate most."""
    top = sort_highest(drivers, pl.col("effect").abs(), "driver").row(0, named=True)
    return f"{top['driver'].capitalize()} moves the rate most: {top['effect']:+.1f} points".replace("-", "−")


def falling_said(rates: pl.DataFrame) -> str:
    """Say in how many curves success is lower at the highest level than at the lowest."""
    curves = rates.group_by("subject", "dimension").agg(
        first=pl.col("rate").sort_by("level").first(), last=pl.col("rate").sort_by("level").last()
    )
    falls = curves.filter(pl.col("last") < pl.col("first")).height
    return f"From the lowest to the highest level success falls in {falls} of {curves.height} curves"


def aligned_said(countries: pl.DataFrame) -> str:
    """Say how the two clusters of countries differ."""
    near, far = (countries.filter(cluster=cluster) for cluster in (1, 2))
    return (
        f"From {near.height} countries the others' rates are told with a mean error of "
        f"{100 * near['cluster_mae'][0]:.1f} points, from {far.height} with {100 * far['cluster_mae'][0]:.1f}"
    )


@picture("bases")
def bases(study: Study) -> Figure:
    """The published base of every dimension."""
    points = study.evidence.bases.select("dimension", "name", base=pl.col("base").fill_null(pl.lit(10.0).pow("slope")))
    values: list[float] = points["base"].drop_nulls().to_list()
    drawing = charts.estimates(
        points.with_columns(low=None, high=None),
        label="name",
        value="base",
        x_title="Base: factor by which success falls per level",
        text=lambda base: f"{base:.2f}",
        log=True,
        rule=10.0,
    )
    finding = f"The published bases run from {min(values):.3g} to {max(values):.3g}; the scales were drawn up for 10"
    return worded("bases", drawing, finding, rows=points.to_dicts())


@picture("demand-curves")
def demand_curves(study: Study) -> Figure:
    """Success of language models by demand level, one panel per dimension."""
    rates = outcome_rates(study.evidence).filter(pl.col("subject").is_in(list(_SHOWN)))
    named = rates.with_columns(pl.col("subject").replace(_SHOWN), pl.col("dimension").replace(short_names()))
    return worded("demand-curves", charts.level_curves(named), falling_said(named))


def outcome_rates(evidence: Evidence) -> pl.DataFrame:
    """Return the success rate at each level with its 90% interval."""
    table = evidence.demand_outcomes
    low, high = rate_interval(table["correct"], table["n"])
    rate = pl.col("correct") / pl.col("n")
    return table.select("subject", "dimension", "level", rate=rate, low=pl.Series(low), high=pl.Series(high))


def short_names() -> dict[str, str]:
    """Return the short names of demand dimensions by their codes."""
    return dict(read_csv(_NAMES).select("code", "name").iter_rows())


@picture("country-alignment")
def country_alignment(study: Study) -> Figure:
    """How well whole samples are predicted from each country of PISA 2009: correlation against error."""
    countries = read_csv(_ALIGNMENT).filter(pl.col("pool") == "pisa2009_12c")
    points = countries.select(
        *(pl.col("group").str.strip_prefix("country=").alias(name) for name in ("subject", "name")),
        provider=pl.lit(None, pl.String),
        x="mae",
        y="pearson",
        status=pl.lit("measured"),
        label=True,
    )
    drawing = charts.scatter(points, x_title="mean absolute error of predicted rates", y_title="correlation r")
    rows = countries.select("mae", "pearson", "cluster", name=points["name"]).to_dicts()
    return worded("country-alignment", drawing, aligned_said(countries), rows=rows)


@picture("world-regions")
def world_regions(study: Study) -> Figure:
    """World success on the example item, by region."""
    world = study.world
    columns: dict[str, Any] = {"label": "region", "value": "rate", "x_title": "Rate of success"}
    drawing = charts.estimates(world.regions, **columns, tick=_percent, text=_percent, least=0.0)
    finding = f"What {world.observed:.0%} of PISA pupils solve, about {100 * world.rate:.1f}% of all people would"
    return worded("world-regions", drawing, finding, rows=world.regions.to_dicts(), world=world)


@picture("world-drivers")
def world_drivers(study: Study) -> Figure:
    """What moves the example's rate from the pupils to the world."""
    drivers = study.world.drivers
    columns: dict[str, Any] = {"label": "driver", "value": "effect", "x_title": "Change of the rate, percentage points"}
    drawing = charts.estimates(drivers, **columns, order=abs, rule=0.0)
    return worded("world-drivers", drawing, largest_said(drivers), rows=drivers.to_dicts())


@picture("observed-world")
def observed_world(study: Study) -> Figure:
    """Rates observed in samples against those estimated for the world, by dominant dimension."""
    rows = observed_and_world()
    gap = float((rows["world"] - rows["observed"]).mean())  # type: ignore[arg-type]
    finding = (
        f"The world is estimated {100 * abs(gap):.0f} points {'below' if gap < 0 else 'above'} those tested, "
        f"averaged over {rows.height} items"
    )
    drawing = charts.world_scatter(rows.with_columns(pl.col("dimension").replace(short_names())))
    return worded("observed-world", drawing, finding)


def _decided(made: CalibrationResult, table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the dimensions that decide enough items."""
    counts = made.stages.group_by("dimension").agg(pl.col("n").sum()).filter(pl.col("n") >= FEWEST_DECIDED)
    return table.filter(pl.col("dimension").is_in([one for one in made.items.dimensions if one in counts["dimension"]]))


def _level_panels(name: str, made: CalibrationResult, finding: str) -> Figure:
    lines = made.together.join(made.cover.select("dimension", "name"), on="dimension", maintain_order="left")
    return worded(name, charts.level_panels(made.points(), made.stages, _decided(made, lines)), finding)


@picture("calibration-levels-published")
def calibration_levels_published(study: Study) -> Figure:
    """The published procedure on the open items: its lines go through the level means."""
    made = study.abilities.published
    both = _decided(made, made.raw_lines()).drop_nulls()
    means, raw = (median(both[name].to_list()) for name in ("base", "base_raw"))
    finding = f"The median base is {means:.2f} by level means and {raw:.2f} by a regression on the items themselves"
    return _level_panels("calibration-levels-published", made, finding)


@picture("calibration-levels")
def calibration_levels(study: Study) -> Figure:
    """Estimated against annotated level on the open items, one panel per group of dimensions."""
    made = study.abilities.ours
    middle = median(made.together["base"].drop_nulls().to_list())
    finding = f"World success falls by a factor of {middle:.1f} per level in the median dimension, not by ten"
    return _level_panels("calibration-levels", made, finding)
