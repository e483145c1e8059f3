"""The human ladder in words: who stands above whom, and what a mark says, from a few levels."""

from datetime import date
from types import SimpleNamespace

import polars as pl
import pytest

from mensura.site.pages.people import base_rows
from mensura.site.pictures.passed import (
    human_ladder,
    ladder_finding,
    ladder_rows,
    passed_figure,
    passed_words,
    percent_of,
)
from mensura.study.headlines import Passed

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
    assert (people["provider"], people["status"], people["href"]) == (None, "measured", "#ladders")
    assert people["card"] is None, "it leads to the words about the ladder"
    assert (model["provider"], model["href"], model["card"]) == ("Alibaba", None, None)
    assert (implied["status"], implied["words"]) == (
        "implied",
        "candidates on ENEM, Knowledge: level 2.0; implied by parameters",
    )


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


def group(name, days=None, chance=None, status="measured", unit="percent"):
    """Return a group on the quiz: passed by model a on a day, or with the chance of the best model, b."""
    first = None if days is None else ("a", days, 0.97)
    best = None if chance is None and days is None else ("b", 0.99 if chance is None else chance)
    level = None if days is None else ("c", days.replace(day=1))
    return Passed("quiz", name, status, 50.0, unit, 12, "paper", level, first, best)


GROUPS = [
    group("Nurses", date(2025, 3, 15)),
    group("Pupils", date(2026, 1, 15)),
    group("A panel", date(2026, 2, 20), status="panel"),
    group("Experts", date(2026, 3, 15)),
    group("Doctors", chance=0.4),
    group("Judges", chance=0.02),
    group("Monks"),
]


def passing_study():
    models = {"a": ("Ay", 60.0), "b": ("Bee", 90.0), "c": ("Cee", None)}
    grades = {
        ("quiz", one.group): letter for one, letter in zip(GROUPS, ("A", "D", None, "B", "C", "E", None), strict=True)
    }
    facts = {
        key: {"name": name, "provider": "OpenAI", "released": date(2024, 5, 1)} for key, (name, _) in models.items()
    }
    printed = {("quiz", one.group): {"low": 45.0, "high": None} for one in GROUPS}
    rows = SimpleNamespace(
        human_grades=grades,
        facts=facts,
        printed_people=printed,
        printed_scores={key: {"quiz": f"{score:g}%"} for key, (_, score) in models.items() if score},
        own_scores={key: {"quiz": score} for key, (_, score) in models.items() if score},
    )
    released = pl.DataFrame({"released": [date(2024, 5, 1), date(2026, 6, 1), None]})
    return SimpleNamespace(rows=rows, benchmark_names={"quiz": "The Quiz"}, evidence=SimpleNamespace(models=released))


def test_measured_groups_are_counted_and_those_that_cannot_be_told_are_named():
    sentence, deck = passed_words(passing_study(), GROUPS)
    assert sentence == "AI has passed three of the six groups of people who were measured on a test it took too."
    assert deck == (
        "Passed means a chance of 95% or more of scoring above them on that test. Two of those passed have a result of "
        "grade A to C. It cannot be told yet for doctors on The Quiz (40%)."
    )
    assert passed_words(passing_study(), GROUPS[2:3]) == (
        "No measured group of people took a test that a model took too.",
        "",
    )
    assert "cannot be told yet" not in passed_words(passing_study(), GROUPS[:2])[1]


OF_THREE = "Of the three groups of people that AI has passed, two were passed between"


def test_who_was_passed_is_drawn_by_verdict_and_said_by_the_last_year():
    figure = passed_figure(passing_study(), GROUPS)
    assert figure.finding == f"{OF_THREE} January 2026 and March 2026"
    spans = [(one.first[1] - one.level[1]).days for one in GROUPS if one.first and one.level]
    reached = sum(one.level is not None for one in GROUPS)
    assert max(spans) < 45, "a month"
    said = f"Models reached {reached} groups; within 1 month a model was surely above {len(spans)} of them."
    assert figure.see == said
    wide = figure.drawing.wide
    for words in ("Passed: 3 and 1 panel", "Cannot be told yet: 1", "Not passed: 1", ">40%<", "people are ahead"):
        assert words in wide, words
    assert "Ay, first above, March 2025" in wide and "Cee, first level, March 2025" in wide
    assert "Bee, best now, 90%" in wide and "no grade, no person" in wide and "Monks" not in wide
    rows = {row["group"]: row for row in figure.points}
    assert rows["Nurses"] == {
        "group": "Nurses",
        "test": "The Quiz",
        "status": "measured",
        "score": 50.0,
        "n": 12,
        "verdict": "passed",
        "first level": "c",
        "level since": "2025-03-01",
        "first above": "a",
        "above since": "2025-03-15",
        "best": "b",
        "chance": 0.99,
    }
    assert rows["Monks"]["verdict"] == "not known" and rows["Monks"]["chance"] is rows["Monks"]["best"] is None


def test_judged_groups_have_words_of_their_own_and_few_passed_ones_have_no_dates():
    judged = passed_figure(passing_study(), [group("Nurses", date(2025, 3, 15), status="judged")], "passed-judged")
    assert judged.finding == "Of 1 group whose score was only judged, 1 would be passed"
    assert passed_figure(passing_study(), GROUPS[2:4]).finding == "Few measured groups were passed so far"
    year = [group("Nurses", date(2025, 3, 15)), group("Pupils", date(2025, 3, 16)), group("Monks", date(2026, 3, 15))]
    said = f"{OF_THREE} March 2025 and March 2026"
    assert passed_figure(passing_study(), [*year[1:], GROUPS[0]]).finding == said, "a year ago is before the last year"


def test_a_unit_without_a_hundred_percent_has_no_dumbbell():
    wide = passed_figure(passing_study(), [group("Nurses", chance=0.5, unit="elo")]).drawing.wide
    assert "best now 90%" in wide and "Bee, best now" not in wide
    share = passed_figure(passing_study(), [group("Nurses", chance=0.5, unit="fraction")]).drawing.wide
    assert "Bee, best now" in share


@pytest.mark.parametrize(
    ("score", "unit", "percent"),
    [(50.0, "percent", 50.0), (0.5, "fraction", 50.0), (None, "percent", None), (1300.0, "elo", None)],
)
def test_scores_are_drawn_in_percent_where_they_are_shares(score, unit, percent):
    assert percent_of(score, unit) == percent
