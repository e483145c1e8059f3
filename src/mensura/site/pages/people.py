"""The human ladder: AI systems and named groups of people on the calibrated scales, and how those are made."""

from __future__ import annotations

import polars as pl

from mensura.site.pages.page import Page, figures_of
from mensura.site.pictures import ladder_figures
from mensura.site.sections import passing_section, people_section
from mensura.study.study import Study
from mensura.study.units import rarity, show


def people(study: Study) -> Page:
    """Rows are dimensions, groups of people are anchors, models are dots."""
    names = ("calibration-levels", "calibration-stages", "observed-world", "country-alignment")
    ladder, radar = ladder_figures(study)
    return Page(
        "people.html",
        "People: the human ladder",
        "Which people, exactly? Groups with their test, their number and how their score came about; models "
        "beside them, "
        "as rare as 1 in so many people.",
        "people.html",
        {
            "pictures": [ladder, radar, *figures_of(study, *names)],
            "anchors": _anchors(study),
            "sections": [passing_section(study), people_section(study)],
        },
        scripts=("charts", "table"),
        shared=("1 in how many people?", (ladder.finding,)),
    )


def _anchors(study: Study) -> list[dict[str, object]]:
    """Return who stands on the ladder: test, how the score came about, items, dimensions in which they are placed."""
    table = (
        study.abilities.places.group_by("subject", "kind", "test", "origin", maintain_order=True)
        .agg(
            pl.col("items").sum().alias("items"),
            pl.col("one_in").count().alias("placed"),
            pl.col("one_in").max().alias("rarest"),
            pl.col("dimension").sort_by("one_in", nulls_last=False).last().alias("where"),
        )
        .sort("kind", "test", descending=[True, False])
    )
    return [
        {
            **row,
            "kind": "people" if row["kind"] == "people" else "AI",
            "items": show(row["items"], "iq"),
            "rarest": "–" if row["rarest"] is None else f"{rarity(row['rarest'])} in {row['where']}",
        }
        for row in table.iter_rows(named=True)
    ]
