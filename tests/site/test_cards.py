"""The cards of the first page, from a study of a few rows."""

from datetime import date
from types import SimpleNamespace

import polars as pl
import pytest

from mensura.site.cards import overview_cards

MODELS = pl.DataFrame(
    [
        ("a", "Ay", 130.0, 1, 30, 4.0, 8.0),
        ("b", "Bee", 128.0, 2, 28, None, 3.0),
        ("x", "Ex", 140.0, None, 3, None, None),
        ("y", "Wy", 139.0, None, 4, None, None),
        ("z", "Zed", 138.0, None, 5, None, None),
        ("w", "Double", 137.0, None, 6, None, None),
        ("l", "Low", 90.0, None, 7, 0.5, 1.0),
    ],
    schema=["subject", "name", "exact_iq", "rank", "measured", "effective_cost", "sticker_price"],
    orient="row",
).with_columns(
    iq=pl.col("exact_iq").cast(pl.Int64),
    iq_low=pl.col("exact_iq") - 2,
    iq_high=pl.col("exact_iq") + 2,
    capability=pl.lit(0.0),
    p_first=pl.lit(0.83),
)
LEADERS = pl.DataFrame(
    [
        ("Quiz", "model", "measured", "experts", 70.0, 80.0, "M"),
        ("Exam", "model", "measured", "pupils", 75.0, 85.0, "N"),
        ("Test", "people", "measured", "doctors", 95.0, 90.0, "M"),
        ("Play", "model", "judged", "players", 99.0, 99.5, "M"),
        ("None", "no comparable people", None, None, None, 9.0, "M"),
    ],
    schema=["title", "ahead", "human_status", "people", "human_score", "score", "model"],
    orient="row",
).with_columns(unit=pl.lit("percent"))
GROUPS = pl.DataFrame(
    {"group": ["x", "y", "z"], "status": ["measured", "measured", "judged"]}
    | {"capability": [0.0, 1.0, 2.0], "probability": [0.999, 0.42, 0.1]}
)


def study_of(**changed):
    pace = SimpleNamespace(slope=0.62, low=0.5, high=0.75, unit="a step")
    facts = {
        "models": MODELS,
        "ranked": MODELS.drop_nulls("rank"),
        "leaders": LEADERS,
        "groups": GROUPS,
        "class_names": {"y": "experts on two tests"},
        "pace": pace,
        "watch": SimpleNamespace(alarm=None),
    }
    return SimpleNamespace(**facts | changed)


@pytest.fixture(scope="module")
def cards():
    return overview_cards(study_of())


def test_who_leads_with_how_rare(cards):
    card = cards[0]
    assert (card["number"], card["text"], card["href"]) == ("IQ 130", "Ay", "models/a.html")
    assert card["under"] == "90% 128 to 132. By ladders that were judged, as rare as 1 in 44 people."


def test_how_sure_is_the_chance_of_being_first(cards):
    assert (cards[1]["number"], cards[1]["text"]) == ("83%", "chance that Ay is first among all 2 ranked models")
    assert cards[1]["under"] == "Next: Bee 83%."
    assert cards[1]["href"] == "compare.html?with=a&with=b"
    one = study_of(ranked=MODELS.head(1))
    assert overview_cards(one)[1]["text"] == "Nobody to compare with."


def test_people_are_those_measured_with_the_best_of_them_named(cards):
    assert cards[2]["number"] == "2 of 3"
    assert cards[2]["under"] == "Pupils on Exam, measured: 75%; N 85%. 1 tests have no comparable people."


def test_the_pace_says_whether_it_accelerates_and_who_was_passed(cards):
    assert (cards[3]["number"], cards[3]["text"]) == ("0.62", "a year by releases; 1 is a step")
    assert cards[3]["under"] == (
        "90% 0.50 to 0.75; no acceleration beyond chance. Experts on two tests: passed by now with a chance of 42%."
    )
    alarmed = study_of(watch=SimpleNamespace(alarm=date(2026, 3, 4)), groups=GROUPS.filter(status="judged"))
    assert overview_cards(alarmed)[3]["under"] == "90% 0.50 to 0.75; acceleration alarm on 2026-03-04."


def test_the_cost_is_that_of_the_cheapest_at_an_iq(cards):
    card = cards[4]
    assert card["number"] == "$3"
    assert card["text"] == "Bee: the cheapest at IQ 115 or more"
    assert card["under"] == "per million tokens in and out, list price; IQ 128 (126 to 130)."
    poor = study_of(models=MODELS.tail(1))
    assert overview_cards(poor)[4]["text"] == "No priced model reaches it."


def test_without_anybody_measured_nobody_leads():
    empty = study_of(ranked=MODELS.clear())
    assert overview_cards(empty)[0]["text"] == "No model is known well enough to be ranked."
