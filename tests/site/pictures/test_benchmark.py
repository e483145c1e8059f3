"""Pictures of one benchmark (all models with people, the ladder, the history) and of one maker over time."""

import re
from datetime import date
from types import SimpleNamespace

import polars as pl
import pytest

from mensura.site.pictures.benchmark import (
    SHOWN,
    benchmark_keys,
    benchmark_scores,
    history_figure,
    ladder_figure,
    maker_figure,
    maker_keys,
    people_on,
    said_beyond,
    said_group,
    scores_figure,
    up_to,
)


def test_a_ladder_ends_where_the_test_does():
    points = [(20.0, 100.0), (60.0, 115.0), (120.0, 145.0)]
    assert up_to(points, None) == up_to(points, 120.0) == (points, [])
    assert up_to(points, 100.0) == ([*points[:2], (100.0, 135.0)], points[2:])
    assert up_to(points, 60.0) == (points[:2], points[2:])
    assert said_beyond(points[2:], "percent").startswith(" The ladder puts IQ 145 at 120%, beyond")
    assert said_beyond([], "percent") == ""


@pytest.mark.slow
def test_bars_of_a_benchmark_are_the_sampling_error_of_its_items(study):
    """198 questions: at the low end p the score lies 1.645 √(p (1 − p) / 198) above, in percent."""
    rows = benchmark_scores(study, "gpqa_diamond").head(5)
    assert rows.height == 5
    for row in rows.iter_rows(named=True):
        end = row["low"] / 100
        assert row["score"] - row["low"] == pytest.approx(164.485 * (end * (1 - end) / 198) ** 0.5, rel=1e-3)


LADDER = {"iq70": 10.0, "iq85": 20.0, "iq100": 30.0, "iq115": 50.0, "iq130": 60.0, "iq145": 80.0, "iq160": None}


def study_of(ceiling=100.0, unit="percent", **ladder):
    """Return a study of one test with a ladder up to IQ 145 at 80, and models a to d."""
    facts = {"benchmark": ["quiz"], "name": ["The Quiz"], "unit": [unit], "ceiling": [ceiling]}
    people = [
        ("experts", "measured", 70.0, 60.0, 80.0, 1200, unit),
        ("pupils", "estimated", 40.0, None, None, None, unit),
        ("panel of three", "measured", 90.0, None, None, 3, unit),
        ("timed people", "measured", 12.0, None, None, 5, "minutes"),
    ]
    columns = ["group", "status", "score", "low", "high", "n", "unit"]
    references = pl.DataFrame(people, schema=columns, orient="row").with_columns(benchmark=pl.lit("quiz"))
    steps = pl.DataFrame(
        [{"benchmark": "quiz", **LADDER, **ladder}], schema_overrides=dict.fromkeys(LADDER, pl.Float64)
    )
    iqs = {
        "subject": list("abcd"),
        "benchmark": "quiz",
        "status": ["measured"] * 3 + ["joint"],
        "iq": [133.0, 120, 99, 80],
    }
    return SimpleNamespace(
        evidence=SimpleNamespace(benchmarks=pl.DataFrame(facts), human_references=references, ladders=steps),
        iq=SimpleNamespace(benchmark_iqs=pl.DataFrame(iqs)),
    )


def scored(scores=(64.0, 55.0, 28.0), days=("2026-03-01", "2025-02-28", "2024-06-01")):
    return pl.DataFrame(
        {
            "subject": list("abc"),
            "name": ["Ay", "Bee", "Cee"],
            "provider": ["OpenAI", "Google", None],
            "score": list(scores),
            "low": [60.0, None, 20.0],
            "high": [68.0, None, 36.0],
            "source": "board",
            "date": "2026-03",
            "released": [None if day is None else date.fromisoformat(day) for day in days],
        }
    )


def test_people_of_a_test_come_highest_first_in_its_unit_and_panels_are_named():
    groups = [(row["group"], row["status"]) for row in people_on(study_of(), "quiz")]
    assert groups == [("panel of three", "panel"), ("experts", "measured"), ("pupils", "judged")]
    assert said_group(people_on(study_of(), "quiz")[1], "percent") == "Experts, measured, n = 1,200: 70%"
    assert said_group(people_on(study_of(), "quiz")[2], "percent") == "Pupils, judged: 40%"


def test_models_of_a_test_are_drawn_with_the_people_who_are_no_panel():
    study = study_of()
    figure = scores_figure(study, "quiz", scored(), people_on(study, "quiz"))
    assert (figure.name, figure.finding) == ("scores-quiz", "Ay leads with 64%")
    assert figure.description == "Scores on The Quiz: Ay leads with 64%."
    wide = figure.drawing.wide
    marks = re.findall(r'aria-label="([^"]*)"', wide)
    assert any(mark.startswith("Ay") and "60% to 68%" in mark for mark in marks)
    assert "Experts, measured, n = 1,200: 70%" in wide and "people:quiz/pupils" in wide
    assert "panel of three" not in wide.lower() and "timed" not in wide.lower()
    assert "benchmarks/quiz.html#people" in wide and "models/a.html" in wide
    assert figure.table == (
        ["subject", "name", "provider", "score (percent)", "low", "high", "source", "date"],
        [
            ["a", "Ay", "OpenAI", 64.0, 60.0, 68.0, "board", "2026-03"],
            ["b", "Bee", "Google", 55.0, None, None, "board", "2026-03"],
            ["c", "Cee", None, 28.0, 20.0, 36.0, "board", "2026-03"],
        ],
    )
    many = pl.concat([scored().with_columns(subject=pl.format("{}{}", "subject", pl.lit(at))) for at in range(9)])
    drawn = scores_figure(study, "quiz", many, [])
    assert drawn.drawing.wide.count('class="sign"') == SHOWN == 25 and len(drawn.points) == 27


def test_scores_that_are_shares_stand_in_the_table_in_percent():
    study = study_of(unit="fraction")
    rows = scored((0.64, 0.55, 0.28)).with_columns(pl.col("low", "high") / 100)
    row = scores_figure(study, "quiz", rows, []).points[0]
    assert (row["score"], row["low"], row["high"]) == pytest.approx((64.0, 60.0, 68.0))


@pytest.mark.parametrize(
    ("best", "top", "past"),
    [
        (64.0, None, "still on it"),
        (80.0, None, "still on it"),
        (99.0, 99.0, "past its top"),
        (98.9, 99.0, "still on it"),
    ],
)
def test_a_ladder_says_whether_the_best_model_is_past_its_top(best, top, past):
    study = study_of(**({} if top is None else {"iq160": top}))
    figure = ladder_figure(study, "quiz", scored((best, 55.0, 28.0)), people_on(study, "quiz"))
    assert figure.finding == f"From score to IQ: the best model is {past}"
    assert figure.description == f"Ladder of The Quiz from 10% at IQ 70 up; the best model is {past}."
    steps = [(row["iq"], row["score"], row["status"]) for row in figure.points]
    assert steps[:2] == [(70.0, 10.0, "judged"), (85.0, 20.0, "judged")] and len(steps) == (6 if top is None else 7)


def test_the_marks_of_a_ladder_stand_at_score_and_iq_and_what_lies_beyond_is_said():
    study = study_of(ceiling=70.0)
    figure = ladder_figure(study, "quiz", scored(), [])
    labels = re.findall(r'aria-label="([^"]*)"', figure.drawing.wide)
    assert {"Ay: 64%, IQ 133", "Bee: 55%, IQ 120", "Cee: 28%, IQ 99"} <= set(labels)
    assert "The ladder puts IQ 145 at 80%, beyond what the test can give" in figure.caption
    study.evidence.ladders = study.evidence.ladders.clear()
    assert ladder_figure(study, "quiz", scored(), []) is None


def test_a_history_tells_how_far_the_record_came_in_a_year():
    """A model released 365 days before the newest one counts as of the year before, one released later does not."""
    study = study_of()
    figure = history_figure(study, "quiz", scored(), people_on(study, "quiz"))
    assert figure.finding == "The record stands at 64%, from 55% a year before"
    assert figure.description == "Scores on The Quiz by release date; the record is 64%."
    assert "Ay: 64%, released March 2026" in figure.drawing.wide
    late = history_figure(study, "quiz", scored(days=("2026-03-01", "2025-03-02", "2024-06-01")), [])
    assert late.finding == "The record stands at 64%, from 28% a year before"
    on_the_day = history_figure(study, "quiz", scored(days=("2026-03-01", "2025-03-01", "2024-06-01")), [])
    assert on_the_day.finding.endswith("from 55% a year before")
    new = history_figure(study, "quiz", scored(days=("2026-03-01", "2025-12-01", "2025-11-01")), [])
    assert new.finding == "The record stands at 64%"
    assert history_figure(study, "quiz", scored(days=("2026-03-01", None, "2024-06-01")), []) is None
    assert [row["name"] for row in figure.points] == ["Ay", "Bee", "Cee"]


def makers(*rows):
    columns = ["subject", "name", "provider", "released", "exact_iq", "well_measured"]
    models = pl.DataFrame(rows, schema=columns, orient="row", schema_overrides={"released": pl.Date})
    return models.with_columns(iq_low=pl.col("exact_iq") - 5, iq_high=pl.col("exact_iq") + 5)


def test_a_maker_has_a_picture_from_two_dated_models_on():
    rows = [
        ("n", "New", "Lab", date(2026, 1, 1), 120.0, True),
        ("o", "Old", "Lab", date(2024, 1, 1), 90.4, False),
        ("b", "Best", "Lab", date(2025, 1, 1), 131.6, True),
        ("x", "Other", "Else", date(2025, 1, 1), 140.0, True),
        ("u", "Undated", "Lab", None, 150.0, True),
    ]
    figure = maker_figure(SimpleNamespace(models=makers(*rows)), "Lab")
    assert figure.finding == "From IQ 90 (Old) to 132 (Best)"
    assert [row["name"] for row in figure.points] == ["Old", "Best", "New"]
    marks = re.findall(r'aria-label="((?:Old|Best|New): [^"]*)"', figure.drawing.wide)
    assert set(marks) == {
        *("Old: IQ 90, released January 2024", "Best: IQ 132, released January 2025"),
        "New: IQ 120, released January 2026",
    }
    assert maker_figure(SimpleNamespace(models=makers(*rows[:1], *rows[3:])), "Lab") is None
    evidence = SimpleNamespace(models=makers(*rows), benchmarks=study_of().evidence.benchmarks)
    assert list(maker_keys(evidence)) == [("Lab", "Lab"), ("Else", "Else")]
    assert list(benchmark_keys(evidence)) == [("quiz", "The Quiz")]
