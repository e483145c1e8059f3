"""Pictures of the human scales: bases, success by demand level, and the world behind one item."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from mensura import charts
from mensura.calibration import open_items
from mensura.core.frames import read_csv
from mensura.evidence import Evidence
from mensura.site.pictures.registry import ADELE, OPEN, Figure, picture
from mensura.study.slow_parts import observed_and_world
from mensura.study.study import Study

_SHOWN = {"gpt4o": "GPT-4o", "o1-mini": "o1-mini", "llama3d1-405b": "Llama 3.1 405B", "llama3d2-1b": "Llama 3.2 1B"}
_Z90 = 1.6448536269514722  # the normal quantile at 0.95: between −z and z lie 90%
_NAMES = Path(__file__).parents[1] / "data" / "demand_dimensions.csv"
_ALIGNMENT = _NAMES.with_name("country_alignment.csv")


_WORLD = "Extrapolated by Mensura from tables of the world's population, schooling and international tests"


def largest_said(drivers: pl.DataFrame) -> str:
    """Say what moves the rate most."""
    top = drivers.sort(pl.col("effect").abs(), descending=True).row(0, named=True)
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
    known: list[float] = points["base"].drop_nulls().to_list()
    return Figure(
        "bases",
        "How fast success falls per level",
        "The factor by which world success falls with each annotated level of a dimension (published calibration). "
        "The original scales assumed 10 everywhere.",
        charts.bases(points),
        rows=tuple(points.to_dicts()),
        finding=f"The published bases run from {min(known):.3g} to {max(known):.3g}; the scales were drawn up for 10",
        source="Romero et al., From Human-Level AI Tales to AI Leveling Human Scales, Table 16",
    )


@picture("demand-curves")
def demand_curves(study: Study) -> Figure:
    """Success of language models by demand level, one panel per dimension."""
    return Figure(
        "demand-curves",
        "Success by demand level",
        "Share of items answered correctly among items whose highest demand is in the dimension, with 90% binomial "
        "intervals. Derived from the ADeLe project page, CC BY-SA 4.0.",
        charts.level_curves(_named(outcome_rates(study.evidence))),
        finding=falling_said(_named(outcome_rates(study.evidence))),
        source=ADELE,
    )


def outcome_rates(evidence: Evidence) -> pl.DataFrame:
    """Return the success rate at each level with its 90% Wilson interval."""
    z = _Z90
    n, p = pl.col("n"), pl.col("correct") / pl.col("n")
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * (p * (1 - p) / n + z**2 / (4 * n**2)).sqrt()
    return evidence.demand_outcomes.select(
        "subject", "dimension", "level", rate=p, low=centre - half, high=centre + half
    )


def short_names() -> dict[str, str]:
    """Return the short names of demand dimensions by their codes."""
    return dict(read_csv(_NAMES).select("code", "name").iter_rows())


def _named(rates: pl.DataFrame) -> pl.DataFrame:
    """Keep the models shown, and say models and dimensions by name where one is known."""
    return rates.filter(pl.col("subject").is_in(list(_SHOWN))).with_columns(
        pl.col("subject").replace(_SHOWN), pl.col("dimension").replace(short_names())
    )


@picture("country-alignment")
def country_alignment(study: Study) -> Figure:
    """How well whole samples are predicted from each country of PISA 2009: correlation against error."""
    countries = read_csv(_ALIGNMENT).filter(pl.col("pool") == "pisa2009_12c")
    return Figure(
        "country-alignment",
        "From which countries others can be told",
        "Success rates of the pooled sample of PISA 2009 on its items, predicted from one country's rates and public "
        "facts, by priors learned on other surveys: correlation with the observed rates against mean absolute error, "
        "two clusters by k-means. The published analysis of a language model on TIMSS had r about .59 and .02 at "
        "errors of about .14 and .15.",
        charts.alignment_clusters(countries),
        finding=aligned_said(countries),
        source="Mensura's own validation on PISA 2009; errors only",
    )


@picture("world-regions")
def world_regions(study: Study) -> Figure:
    """World success on the example item, by region."""
    world = study.world
    return Figure(
        "world-regions",
        "One item, carried to the world",
        f"An item that {world.observed:.0%} of 15-year-olds in PISA solve: about {world.rate:.1%} of all people would "
        f"({world.low:.1%} to {world.high:.1%}, 90%, extrapolated). Rates by region, with 90% intervals.",
        charts.regions(world.regions),
        rows=tuple(world.regions.to_dicts()),
        finding=f"What {world.observed:.0%} of PISA pupils solve, about {100 * world.rate:.1f}% of all people would",
        source=_WORLD,
    )


@picture("world-drivers")
def world_drivers(study: Study) -> Figure:
    """What moves the example's rate from the pupils to the world."""
    return Figure(
        "world-drivers",
        "What moves the rate",
        "Percentage points by which the rate moves when one part of the difference between PISA pupils and the world "
        "population is taken into account, averaged over all orders of adding the parts (Shapley values).",
        charts.drivers(study.world.drivers),
        rows=tuple(study.world.drivers.to_dicts()),
        finding=largest_said(study.world.drivers),
        source=_WORLD,
    )


@picture("observed-world")
def observed_world(study: Study) -> Figure:
    """Rates observed in samples against those estimated for the world, by dominant dimension."""
    return _observed_world(study, "observed-world", observed_and_world(), "")


def observed_pool(study: Study, pool: str) -> Figure:
    """Draw what was observed in one pool against the estimate for the world, by dominant dimension."""
    rows = observed_and_world().filter(pl.col("item").str.starts_with(f"{pool}:"))
    return _observed_world(study, f"observed-world-{pool}", rows, f", {pool}")


def pool_keys(evidence: Evidence) -> Iterable[tuple[str, str]]:
    """Return the open pools by name."""
    return ((pool, pool) for pool in open_items()["pool"].unique(maintain_order=True))


def _observed_world(study: Study, key: str, rows: pl.DataFrame, which: str) -> Figure:
    gap = float((rows["world"] - rows["observed"]).mean())  # type: ignore[arg-type]
    return Figure(
        key,
        f"What was observed, and what the world would score{which}",
        "Each dot is an item of the open pool: across, the share of the people tested who solved it (measured); "
        "upright, "
        "the share of the world estimated to (extrapolated, with its 90% interval). On the dashed line both are equal. "
        "Panels: the dimension whose demand is highest, as a language model judged it.",
        charts.world_scatter(rows.with_columns(pl.col("dimension").replace(short_names()))),
        finding=f"The world is estimated {100 * abs(gap):.0f} points {'below' if gap < 0 else 'above'} those tested, "
        f"averaged over {rows.height} items",
        source=OPEN,
    )
