"""The human ladder in words: who stands above whom, and what a mark says, from a few places."""

from types import SimpleNamespace

import polars as pl

from mensura.site.pages.people import anchor_rows
from mensura.site.pictures.passed import human_ladder, human_ladder_beside, ladder_finding, ladder_rows

PLACES = pl.DataFrame(
    [
        ("pupils", "people", "NAEP", "measured, share", "Knowledge", 3.0, 2.0, 5.0, 40.0),
        ("pupils", "people", "NAEP", "measured, share", "Attention", 9.0, None, None, 2.0),
        ("pupils", "people", "NAEP", "measured, share", "Logic", None, None, None, 1.0),
        ("Qwen", "AI", "NAEP", "measured", "Knowledge", 120.0, 30.0, 5000.0, 40.0),
        ("Llama", "AI", "NAEP", "measured", "Knowledge", 2.0, None, None, 40.0),
        ("Qwen", "AI", "NAEP", "measured", "Attention", 9.0, None, None, 2.0),
        ("candidates", "people", "ENEM", "implied by parameters", "Knowledge", 2.0, None, None, 7.0),
        ("o1", "AI", "ADeLe", "measured", "Knowledge", 1e4, None, None, 99.0),
    ],
    schema=["subject", "kind", "test", "origin", "dimension", "one_in", "low", "high", "items"],
    orient="row",
).with_columns(provider=pl.lit("Alibaba"), at_least=pl.col("one_in") >= 1e4, note=pl.lit(""))
QUALITY = (("published", "Published calibration: 9 lines."), ("open", "Open calibration: 5 lines."))
STUDY = SimpleNamespace(abilities=SimpleNamespace(places=PLACES, beside=PLACES[:3], quality=QUALITY))


def test_the_best_system_of_a_test_is_compared_with_the_people_who_took_it():
    known = PLACES.drop_nulls("one_in")
    assert ladder_finding(known) == "The best AI system that took NAEP stands above pupils in 1 of 2 dimensions"
    assert ladder_finding(known.filter(pl.col("kind") != "people")) == "No group of people could be placed"


def test_a_mark_says_who_where_and_how_it_is_known():
    rows = ladder_rows(PLACES.drop_nulls("one_in")).rows(named=True)
    people, model, implied = rows[0], rows[2], rows[5]
    assert people["words"] == (
        "pupils on NAEP, Knowledge: 1 in 3 people, 90% 1 in 2 people to 1 in 5 people; measured, share"
    )
    assert (people["provider"], people["status"], people["href"]) == (None, "measured", "#anchors")
    assert people["card"] == "people:NAEP/pupils"
    assert (model["provider"], model["href"], model["card"]) == ("Alibaba", None, None)
    assert (implied["status"], implied["words"]) == (
        "implied",
        "candidates on ENEM, Knowledge: 1 in 2 people; implied by parameters",
    )


def test_anchors_are_people_first_with_where_they_are_rarest():
    found = anchor_rows(STUDY)
    assert [(row["kind"], row["subject"]) for row in found] == [
        *(("people", "candidates"), ("people", "pupils"), ("AI", "o1"), ("AI", "Qwen"), ("AI", "Llama"))
    ]
    pupils = found[1]
    assert (pupils["items"], pupils["placed"], pupils["rarest"]) == ("43", 2, "1 in 9 people in Attention")


def test_who_is_rarer_than_the_data_can_tell_is_at_least_so_rare():
    rarest = next(row["rarest"] for row in anchor_rows(STUDY) if row["subject"] == "o1")
    assert rarest == "at least 1 in 10,000 people in Knowledge"
    words = ladder_rows(PLACES.drop_nulls("one_in"))["words"][-1]
    assert words.startswith("o1 on ADeLe, Knowledge: at least 1 in 10,000 people;")


def test_each_calibration_has_a_picture_of_its_own_that_says_how_well_it_predicts_people():
    ladder, other = human_ladder(STUDY), human_ladder_beside(STUDY)
    assert (ladder.title, other.title) == (
        "The human ladder, published calibration",
        "The human ladder, open calibration",
    )
    shows, said = ladder.caption.split(". ", 1)
    assert shows.startswith("People and AI systems by how rare their level is")
    assert said.startswith("Published calibration: 9 lines.")
    assert other.caption.split(". ", 1)[1].startswith("Open calibration: 5 lines.")
    assert {row["subject"] for row in other.rows} == {"pupils"}


def test_the_ladder_shows_only_dimensions_in_which_somebody_stands():
    drawn = human_ladder(STUDY).drawing.wide
    assert "in 2 dimensions" in drawn
    assert "Logic" not in drawn
