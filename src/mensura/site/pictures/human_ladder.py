"""The human ladder: AI systems and named groups of people on the calibrated scales."""

from __future__ import annotations

from typing import Any

import polars as pl

from mensura.charts import among_people
from mensura.site.pictures.benchmark import group_subject
from mensura.site.pictures.registry import Figure, picture
from mensura.study.study import Study
from mensura.study.units import rarity


@picture("human-ladder")
def human_ladder(study: Study) -> Figure:
    """AI systems and groups of people, as rare as 1 in so many people, by dimension."""
    return ladder_figure(study)


@picture("human-ladder-beside")
def human_ladder_beside(study: Study) -> Figure:
    """The human ladder by the other calibration, as a picture of its own."""
    return beside_figure(study)


def ladder_figure(study: Study) -> Figure:
    """Return the human ladder."""
    return _ladder("human-ladder", study.abilities.places, study.abilities.quality[0])


def beside_figure(study: Study) -> Figure:
    """Return the human ladder by the other calibration: never two calibrations on one axis."""
    return _ladder("human-ladder-beside", study.abilities.beside, study.abilities.quality[1])


def _ladder(key: str, table: pl.DataFrame, quality: tuple[str, str]) -> Figure:
    """Return the ladder of one calibration, with its name and how well it predicts people."""
    rows = table.drop_nulls("one_in")
    whose, said = quality
    return Figure(
        key,
        f"The human ladder, {whose} calibration",
        "People and AI systems by how rare their level is in the world, dimension by dimension. "
        f"{said} Each row block is a dimension with a usable calibrated line. Across: as rare as 1 in so many people "
        "of the world (logarithmic), with the world's percentiles on top. Upright bars are groups of people, full "
        "where measured, hollow where implied by published item parameters: press one. Other marks are AI systems, "
        "coloured by maker. Lines: 90%, errors of ability and of the calibrated line together. People and models "
        "of one test "
        "answered the same items; across tests only the calibration joins them.",
        finding=ladder_finding(rows),
        drawing=among_people(ladder_rows(rows), description=_described(rows)),
        rows=tuple(rows.to_dicts()),
        source="ADeLe project page (CC BY-SA 4.0); ENEM (INEP); NAEP (NCES); calibration by "
        + ("Mensura" if whose == "open" else "Romero et al." if whose == "published" else "the user"),
    )


def _described(rows: pl.DataFrame) -> str:
    return f"AI systems and groups of people in {rows['dimension'].n_unique()} dimensions. {ladder_finding(rows)}."


def ladder_finding(rows: pl.DataFrame) -> str:
    """Say in how many dimensions the best AI system of a test stands above the people who took the same test."""
    said = []
    for (test,), part in rows.filter(pl.col("kind") == "people").group_by("test", maintain_order=True):
        group = part["subject"][0]
        places = dict(part.select("dimension", "one_in").iter_rows())
        others = rows.filter(
            (pl.col("test") == test) & (pl.col("kind") != "people") & pl.col("dimension").is_in(list(places))
        )
        best = others.sort("one_in", descending=True).unique("dimension", keep="first", maintain_order=True)
        above = sum(one_in > places[name] for name, one_in in best.select("dimension", "one_in").iter_rows())
        if best.height:
            said.append(
                f"the best AI system that took {test} stands above {group} in {above} of {best.height} dimensions"
            )
    text = "; ".join(said) or "no group of people could be placed"
    return text[0].upper() + text[1:]


def ladder_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the places with what their marks say and where they lead."""
    people = pl.col("kind") == "people"
    said = [ladder_words(row) for row in rows.iter_rows(named=True)]
    cards = [group_subject(test, subject) for test, subject in rows.select("test", "subject").iter_rows()]
    return rows.with_columns(
        provider=pl.when(~people).then("provider"),
        status=pl.when(pl.col("origin").str.starts_with("measured") | ~people).then(pl.lit("measured")),
        href=pl.when(people).then(pl.lit("#anchors")),
        card=pl.when(people).then(pl.Series(cards, dtype=pl.String)),
        words=pl.Series(said, dtype=pl.String),
    ).with_columns(pl.col("status").fill_null("implied"))


def ladder_words(row: dict[str, Any]) -> str:
    """Say where somebody stands in a dimension, with the interval and how it is known."""
    words = f"{row['subject']} on {row['test']}, {row['dimension']}: {rarity(row['one_in'], bool(row['at_least']))}"
    if row["low"] is not None and row["high"] is not None:
        words += f", 90% {rarity(row['low'])} to {rarity(row['high'])}"
    return f"{words}; {row['origin']}"
