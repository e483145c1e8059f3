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


@picture("human-ladder-beside")
def human_ladder_beside(study: Study) -> Picture:
    """The human ladder by the other calibration, as a picture of its own."""
    return beside_figure(study).picture


@picture("human-radar")
def human_radar(study: Study) -> Picture:
    """The human ladder as a radar."""
    return ladder_figures(study)[1].picture


def ladder_figures(study: Study) -> tuple[Figure, Figure]:
    """Return the human ladder, and the same places as a radar."""
    ladder = _ladder("human-ladder", study.abilities.places, study.abilities.quality[0])
    rows = study.abilities.places.drop_nulls("one_in")
    few = [
        name for name in _dimensions(study.abilities.places) if rows.filter(dimension=name)["subject"].n_unique() >= 4
    ]
    radar = Figure(
        "human-radar",
        "The same as a radar",
        "For those who like radars: farther out is rarer, the inner ring is the median person. A closed line "
        "needs a place "
        "in every dimension. Intervals are in the picture above.",
        finding="The same places as a radar",
        drawing=draw_radar(
            few,
            [ladder_place(row) for row in rows.iter_rows(named=True) if row["dimension"] in few],
            description=_described(rows),
        ),
        rows=ladder.rows,
        source=ladder.source,
    )
    return ladder, radar


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
        drawing=draw_human_ladder(
            _dimensions(table), [ladder_place(row) for row in rows.iter_rows(named=True)], description=_described(rows)
        ),
        rows=tuple(rows.to_dicts()),
        source="ADeLe project page (CC BY-SA 4.0); ENEM (INEP); NAEP (NCES); calibration by "
        + ("Mensura" if whose == "open" else "Romero et al." if whose == "published" else "the user"),
    )


def _dimensions(table: pl.DataFrame) -> list[str]:
    """Return the dimensions in which somebody is placed, in the order of the table."""
    there = set(table.drop_nulls("one_in")["dimension"])
    return [name for name in table["dimension"].unique(maintain_order=True) if name in there]


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


def ladder_place(row: dict[str, object]) -> LadderPlace:
    """Return one place on the ladder with its words."""
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
