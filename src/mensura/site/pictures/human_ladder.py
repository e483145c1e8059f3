"""The human ladder: AI systems and named groups of people on the calibrated scales, as rows and as a radar."""

from __future__ import annotations

import polars as pl

from mensura.charts import LadderPlace, draw_human_ladder, draw_radar
from mensura.site.pictures.benchmark import group_subject
from mensura.site.pictures.registry import Figure, Picture, picture
from mensura.study.study import Study
from mensura.study.units import rarity


@picture("human-ladder")
def human_ladder(study: Study) -> Picture:
    """AI systems and groups of people, as rare as 1 in so many people, by dimension."""
    return ladder_figures(study)[0].picture


@picture("human-radar")
def human_radar(study: Study) -> Picture:
    """The human ladder as a radar."""
    return ladder_figures(study)[1].picture


def ladder_figures(study: Study) -> tuple[Figure, Figure]:
    """Return the human ladder, and the same places as a radar."""
    rows = study.abilities.places.drop_nulls("one_in")
    dimensions = study.abilities.places["dimension"].unique(maintain_order=True).to_list()
    placed = [name for name in dimensions if name in set(rows["dimension"])]
    places = [_place(row) for row in rows.iter_rows(named=True)]
    finding = _finding(rows)
    table = tuple(rows.to_dicts())
    described = f"AI systems and groups of people in {len(placed)} dimensions. {finding}."
    ladder = Figure(
        "human-ladder",
        "The human ladder",
        "Each row block is a dimension with a usable calibrated line. Across: as rare as 1 in so many people of "
        "the world "
        "(logarithmic), with the world's percentiles on top. Upright bars are groups of people, full where "
        "measured, hollow where implied by published item parameters: press one. Other marks are AI systems, "
        "coloured by maker. Lines: 90%, errors of ability and of the calibrated line together. People and models "
        "of one test "
        "answered the same items; across tests only the calibration joins them.",
        finding=finding,
        drawing=draw_human_ladder(placed, places, description=described),
        rows=table,
        source="ADeLe project page (CC BY-SA 4.0); ENEM (INEP); NAEP (NCES); calibration by Mensura and Romero et al.",
    )
    few = [name for name in placed if rows.filter(dimension=name)["subject"].n_unique() >= 4]
    radar = Figure(
        "human-radar",
        "The same as a radar",
        "For those who like radars: farther out is rarer, the inner ring is the median person. A closed line "
        "needs a place "
        "in every dimension. Intervals are in the picture above.",
        finding="The same places as a radar",
        drawing=draw_radar(few, [one for one in places if one.dimension in few], description=described),
        rows=table,
        source=ladder.source,
    )
    return ladder, radar


def _finding(rows: pl.DataFrame) -> str:
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


def _place(row: dict[str, object]) -> LadderPlace:
    people = row["kind"] == "people"
    said = rarity(_number(row["one_in"]), bool(row["at_least"]))
    label = f"{row['subject']} on {row['test']}, {row['dimension']}: {said}"
    if row["low"] is not None and row["high"] is not None:
        label += f", 90% {rarity(_number(row['low']))} to {rarity(_number(row['high']))}"
    return LadderPlace(
        str(row["subject"]),
        str(row["dimension"]),
        _number(row["one_in"]),
        None if row["low"] is None else _number(row["low"]),
        None if row["high"] is None else _number(row["high"]),
        people,
        None if people else str(row["provider"]),
        "measured" if str(row["origin"]).startswith("measured") else "implied",
        f"{label}; {row['origin']}",
        str(row["test"]),
        "#anchors" if people else "",
        group_subject(str(row["test"]), str(row["subject"])) if people else "",
    )


def _number(value: object) -> float:
    return float(value)  # type: ignore[arg-type]
