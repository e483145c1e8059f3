"""Pictures of abilities on the calibrated scales: AI systems and people, as rare as 1 in so many people."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from mensura import charts
from mensura.calibration import open_items
from mensura.evidence import Evidence
from mensura.site.pictures.people import short_names
from mensura.site.pictures.registry import ADELE, OPEN, Picture, picture
from mensura.study.ability import SYSTEMS, TOGETHER, observed_and_world
from mensura.study.study import Study
from mensura.study.units import rarity

_COLUMNS = ("subject", "dimension", "one_in", "low", "high", "kind", "at_least", "note")


def _rarest(rows: pl.DataFrame) -> str:
    """Say who stands where fewest people do."""
    known = rows.drop_nulls("one_in").sort("one_in", descending=True)
    if known.is_empty():
        return "Nobody could be placed among people"
    top = known.row(0, named=True)
    return f"{top['subject']} is rarest in {top['dimension']}: {rarity(top['one_in'], top['at_least'])}"


@picture("abilities")
def abilities(study: Study) -> Picture:
    """Language models on the calibrated scales."""
    return _language_models(study, "abilities", study.abilities.places, study.abilities.quality[0])


@picture("abilities-beside")
def abilities_beside(study: Study) -> Picture:
    """Language models on the scales of the other calibration."""
    return _language_models(study, "abilities-beside", study.abilities.beside, study.abilities.quality[1])


def _language_models(study: Study, key: str, places: pl.DataFrame, quality: tuple[str, str]) -> Picture:
    rows = places.filter(pl.col("subject").is_in(list(SYSTEMS.values())))
    whose, said = quality
    return Picture(
        key,
        f"Language models on human scales, {whose} calibration",
        f"{said} "
        "The ability of each model (published recipe) read off the calibrated line of its dimension: as rare as 1 in "
        "so many people of the world who solve such items. Bars: 90%, errors of ability and line together. Dashed: "
        "the median person. Derived from the ADeLe project page, CC BY-SA 4.0.",
        charts.among_people(rows.select(_COLUMNS)),
        finding=_rarest(rows),
        source=ADELE,
    )


@picture("abilities-together")
def abilities_together(study: Study) -> Picture:
    """AI systems and people on the same items."""
    places = study.abilities.places.filter(pl.col("subject").is_in(list(TOGETHER)))
    return Picture(
        "abilities-together",
        f"AI systems and people on the same items, {study.abilities.quality[0][0]} calibration",
        f"{study.abilities.quality[0][1]} "
        "Items of Brazil's national exam and of NAEP that both answered, levels judged by a language model. A group "
        "stands where it solves half of the items, guessing taken off. Hollow: people. Bars: 90%, errors of ability "
        "and line together. Dashed: the median person.",
        charts.among_people(places.select(_COLUMNS)),
        finding=_rarest(places),
        source=OPEN,
    )


@picture("observed-world")
def observed_world(study: Study) -> Picture:
    """Rates observed in samples against those estimated for the world, by dominant dimension."""
    return _observed_world(study, "observed-world", observed_and_world(), "")


def observed_pool(study: Study, pool: str) -> Picture:
    """Draw what was observed in one pool against the estimate for the world, by dominant dimension."""
    rows = observed_and_world().filter(pl.col("item").str.starts_with(f"{pool}:"))
    return _observed_world(study, f"observed-world-{pool}", rows, f", {pool}")


def pool_keys(evidence: Evidence) -> Iterable[tuple[str, str]]:
    """Return the open pools by name."""
    return ((pool, pool) for pool in open_items()["pool"].unique(maintain_order=True))


def _observed_world(study: Study, key: str, rows: pl.DataFrame, which: str) -> Picture:
    gap = float((rows["world"] - rows["observed"]).mean())  # type: ignore[arg-type]
    return Picture(
        key,
        f"What was observed, and what the world would score{which}",
        "Each dot is an item of the open pool: across, the share of the people tested who solved it (measured); "
        "upright, "
        "the share of the world estimated to (extrapolated, with its 90% interval). On the dashed line both are equal. "
        "Colour and shape: the dimension whose demand is highest, as a language model judged it; grey: several.",
        charts.world_scatter(rows.with_columns(pl.col("dimension").replace(short_names()))),
        finding=f"The world is estimated {100 * abs(gap):.0f} points {'below' if gap < 0 else 'above'} those tested, "
        f"averaged over {rows.height} items",
        source=OPEN,
    )
