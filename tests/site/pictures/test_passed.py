"""The human ladder in words: who stands above whom, and what a mark says, from a few levels."""

from types import SimpleNamespace

import polars as pl

from mensura.site.pages.people import anchor_rows, base_rows
from mensura.site.pictures.passed import human_ladder, ladder_finding, ladder_rows

PLACES = pl.DataFrame(
    [
        ("pupils", "people", "NAEP", "measured, share", "Knowledge", 2.0, 1.5, 2.5, 40.0),
        ("pupils", "people", "NAEP", "measured, share", "Attention", 3.0, None, None, 12.0),
        ("pupils", "people", "NAEP", "measured, share", "Logic", None, None, None, 1.0),
        ("Qwen", "AI", "NAEP", "measured", "Knowledge", 4.2, 3.9, 4.6, 40.0),
        ("Llama", "AI", "NAEP", "measured", "Knowledge", 1.0, None, None, 40.0),
        ("Qwen", "AI", "NAEP", "measured", "Attention", 3.0, None, None, 12.0),
        ("candidates", "people", "ENEM", "implied by parameters", "Knowledge", 2.0, None, None, 17.0),
        ("o1", "AI", "ADeLe", "measured", "Knowledge", 5.0, None, None, 99.0),
    ],
    schema=["subject", "kind", "test", "origin", "dimension", "level", "low", "high", "items"],
    orient="row",
).with_columns(provider=pl.lit("Alibaba"), note=pl.lit(""))
STUDY = SimpleNamespace(abilities=SimpleNamespace(places=PLACES))


def test_the_best_system_of_a_test_is_compared_with_the_people_who_took_it():
    known = PLACES.drop_nulls("level")
    assert ladder_finding(known) == "The best AI system that took NAEP stands above pupils in 1 of 2 dimensions"
    assert ladder_finding(known.filter(pl.col("kind") != "people")) == "No group of people could be placed"


def test_a_mark_says_who_where_and_how_it_is_known():
    rows = ladder_rows(PLACES.drop_nulls("level")).rows(named=True)
    people, model, implied = rows[0], rows[2], rows[5]
    assert people["words"] == "pupils on NAEP, Knowledge: level 2.0, 90% 1.5 to 2.5; measured, share"
    assert (people["provider"], people["status"], people["href"]) == (None, "measured", "#anchors")
    assert people["card"] == "people:NAEP/pupils"
    assert (model["provider"], model["href"], model["card"]) == ("Alibaba", None, None)
    assert (implied["status"], implied["words"]) == (
        "implied",
        "candidates on ENEM, Knowledge: level 2.0; implied by parameters",
    )


def test_anchors_are_people_first_with_their_highest_level():
    found = anchor_rows(STUDY)
    assert [(row["kind"], row["subject"]) for row in found] == [
        *(("people", "candidates"), ("people", "pupils"), ("AI", "o1"), ("AI", "Qwen"), ("AI", "Llama"))
    ]
    pupils = found[1]
    assert (pupils["items"], pupils["placed"], pupils["highest"]) == ("53", 2, "3.0 in Attention")


def test_the_ladder_claims_levels_and_no_rarity():
    ladder = human_ladder(STUDY)
    assert ladder.title == "The human ladder, in demand levels"
    assert "level 4" in ladder.drawing.wide and "1 in" not in ladder.drawing.wide
    assert "in 2 dimensions" in ladder.drawing.wide
    assert "Logic" not in ladder.drawing.wide


def test_published_bases_stand_beside_those_of_open_items():
    volume = next(row for row in base_rows() if row["name"] == "volume")
    assert (volume["published"], volume["interval"]) == (31.95, "1.13–1.98")
    assert round(volume["base"], 1) == 1.5
