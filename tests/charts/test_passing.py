"""Rows of groups who were passed: letter, years, dumbbell, and what stands where people are ahead."""

import re
from datetime import date

import pytest

from mensura.charts.passing import PassingRow, draw_passing
from mensura.charts.plot import Mark


def model(name, day, score):
    return Mark(name, "OpenAI", float(day.toordinal()), score, subject=name.lower(), detail=f"{score:g}%")


LEVEL, FIRST, BEST = (
    model(*one)
    for one in (("Alpha", date(2024, 1, 1), 60), ("Beta", date(2025, 1, 1), 70), ("Gamma", date(2026, 1, 1), 90))
)


def drawn(width=1200.0, **changed):
    row = {
        "kind": "passed",
        "name": "Nurses",
        "test": "Quiz, 50%",
        "level": LEVEL,
        "first": FIRST,
        "best": BEST,
        "chance": "over 99%",
        "people": (50.0, 40.0, 60.0),
        "grade": "B",
        "meaning": "people counted",
    }
    titles = {"passed": "Passed: 1", "not passed": "Not passed: 1"}
    settings = {"start": date(2023, 1, 1), "today": date(2026, 1, 1), "titles": titles, "description": "Who."}
    return str(draw_passing([PassingRow(**row | changed)], **settings).draw(width))


def places(svg, label):
    """Where the sign of a mark stands, and how large it is."""
    mark = re.search(rf'aria-label="{label}".*?translate\(([\d.]+),([\d.]+)\)', svg)
    return float(mark[1])


@pytest.mark.parametrize("width", [1200.0, 358.0])
def test_later_is_right_on_the_bar_and_better_is_right_on_the_dumbbell(width):
    svg = drawn(width)
    assert places(svg, "Alpha, first level, January 2024") < places(svg, "Beta, first above, January 2025")
    assert places(svg, "Beta, first surely above, 70%") < places(svg, "Gamma, best now, 90%")
    assert ">Passed: 1<" in svg and ">Not passed" not in svg


def test_a_letter_is_full_for_counted_people_outlined_else_and_dashed_where_judged():
    box = r'<rect x="0.5"[^>]*fill="([^"]*)" stroke="([^"]*)"([^>]*)/>'
    full, outlined, judged = (re.search(box, drawn(grade=letter)) for letter in "BCE")
    assert full[1] == full[2] and outlined[1] != outlined[2]
    assert "dasharray" in judged[3] and "dasharray" not in outlined[3]
    assert re.search(box, drawn(grade="")) is None


def test_people_who_are_ahead_have_no_model_on_their_bar():
    svg = drawn(kind="not passed", level=None, first=None, people=(95.0, None, None), test="Quiz, 95%", chance="4%")
    assert "people are ahead" in svg and "first above" not in svg
    assert re.search(r'text-anchor="end"[^>]*>90%<', svg), "the best model's score stands left of its mark"


def test_a_model_without_a_score_of_its_own_has_no_mark_on_the_dumbbell():
    svg = drawn(best=Mark("Gamma", None, 1.0))
    assert "best now, " not in svg and "first surely above, " not in svg


def test_a_test_without_0_and_100_percent_says_its_scores_and_draws_no_dumbbell():
    elo = Mark("Gamma", "OpenAI", BEST.x, 0.0, subject="gamma", detail="2,069 Elo")
    svg = drawn(358.0, test="Votes, 1,300 Elo", people=(None, None, None), first=None, best=elo)
    assert ">people 1,300 Elo, best now 2,069 Elo<" in svg
    assert "best now, " not in svg and ">0%<" not in svg


@pytest.mark.parametrize(("score", "named"), [(50.0, True), (8.5, False)])
def test_the_end_of_a_phone_axis_is_named_where_no_number_stands(score, named):
    assert (">0%<" in drawn(358.0, test=f"Quiz, {score:g}%", people=(score, None, None))) == named


def test_the_number_of_people_stands_left_of_their_whole_range():
    ranges = ((71.0, None, None), (71.0, 41.0, 90.0))
    drawings = [drawn(people=people, test="Quiz, 71%") for people in ranges]
    plain, spread = (float(re.search(r'<text x="([\d.]+)"[^>]*>71%<', svg)[1]) for svg in drawings)
    assert plain - spread == pytest.approx(0.30 * 250, abs=0.2), "30 of 100 percent of an axis of 250 pixels"
