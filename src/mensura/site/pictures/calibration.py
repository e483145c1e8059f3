"""Pictures of the open calibration: levels against levels, and its three stages."""

from __future__ import annotations

from statistics import median

import polars as pl

from mensura import charts
from mensura.calibration import CalibrationResult
from mensura.site.pictures.registry import OPEN, Figure, picture
from mensura.study.study import Study

FEWEST_DECIDED = 5
"""Items that a dimension must decide to get a panel."""


def _decided(made: CalibrationResult) -> list[str]:
    counts = made.stages.group_by("dimension").agg(pl.col("n").sum()).filter(pl.col("n") >= FEWEST_DECIDED)
    return [name for name in made.items.dimensions if name in counts["dimension"]]


@picture("calibration-levels-published")
def calibration_levels_published(study: Study) -> Figure:
    """The published procedure on the open items: its lines go through the level means."""
    made = study.abilities.published
    lines = made.together.join(made.cover.select("dimension", "name"), on="dimension", maintain_order="left")
    return Figure(
        "calibration-levels-published",
        "What a level is worth, by the published procedure",
        "Items of the open pool whose highest demand is in the group: across, the annotated level (harmonic mean, by a "
        "language model); upright, the level of the rate estimated for the world. Stars: level means. The line goes "
        "through the stars, each counting alike; base B with the interval of a bootstrap of items.",
        charts.level_panels(made.points(), made.stages, lines.filter(pl.col("dimension").is_in(_decided(made)))),
        finding=_raw_finding(made),
        source=OPEN,
    )


def _raw_finding(made: CalibrationResult) -> str:
    """Say what a regression on the items themselves would give."""
    both = made.raw_lines().filter(pl.col("dimension").is_in(_decided(made))).drop_nulls()
    means, raw = (median(both[name].to_list()) for name in ("base", "base_raw"))
    return f"The median base is {means:.2f} by level means and {raw:.2f} by a regression on the items themselves"


@picture("calibration-levels")
def calibration_levels(study: Study) -> Figure:
    """Estimated against annotated level on the open items, one panel per group of dimensions."""
    made = study.abilities.ours
    lines = made.together.join(made.cover.select("dimension", "name"), on="dimension", maintain_order="left")
    middle = median(lines["base"].drop_nulls().to_list())
    return Figure(
        "calibration-levels",
        "What a level is worth, by our calibration",
        "Items of the open pool whose highest demand is in the group: across, the annotated level (harmonic mean, by a "
        "language model); upright, the level of the rate estimated for the world, less guessing. Stars: level means; "
        "line and base B with its 90% interval: our calibration of items as they are, with errors and pools taken "
        "into account (what sets pools apart is not in the slope).",
        charts.level_panels(made.points(), made.stages, lines.filter(pl.col("dimension").is_in(_decided(made)))),
        finding=f"World success falls by a factor of {middle:.1f} per level in the median dimension, not by ten",
        source=OPEN,
    )


def _nearer(made: CalibrationResult) -> str:
    """Say how far level means lie from the diagonal before and after base and intercept are applied."""
    means = made.stages.filter(pl.col("dimension").is_in(_decided(made)))
    before, after = (
        means.select((pl.col(column) - pl.col("empirical")).abs().mean()).item() for column in ("level", "aligned")
    )
    return f"Level means lie {before:.1f} levels off the diagonal as annotated, {after:.1f} with base and intercept"


@picture("calibration-stages")
def calibration_stages(study: Study) -> Figure:
    """The three stages of the published calibration procedure, on the open items."""
    made = study.abilities.published
    return Figure(
        "calibration-stages",
        "From annotated to aligned levels",
        "The published procedure on the open pool: level means as annotated, the lines through them, and aligned by "
        "base and intercept, where they lie on the diagonal.",
        charts.calibration_stages(
            made.stages.filter(pl.col("dimension").is_in(_decided(made))).with_columns(
                pl.col("dimension").replace(dict(made.cover.select("dimension", "name").iter_rows()))
            )
        ),
        finding=_nearer(made),
        source=OPEN,
    )
