"""Parts of the first screen: short answers, people as landmarks, the jagged view, signs for lines of text."""

import math
import re
from datetime import date
from types import SimpleNamespace

import polars as pl
import pytest

from mensura.charts import Reference
from mensura.site.pictures import first_parts
from mensura.site.pictures.first_parts import (
    how_fast,
    how_long,
    jagged_view,
    people_marks,
    said_share,
    thinned,
    what_it_costs,
    who_leads,
    who_was_passed,
)
from mensura.study.headlines import Passed


def test_a_share_of_people_is_said_in_people():
    assert said_share(137) == "7 in 1,000 people"
    assert said_share(100) == "50 in 100 people"


def test_the_pace_without_a_known_test_is_said_as_a_gain_with_its_interval():
    """A pace of about zero would be any number of years, of either sign."""
    study = SimpleNamespace(
        pace=SimpleNamespace(slope=0.1, low=-0.05, high=0.3, unit="the distance from a to b", since=date(2023, 11, 1)),
        watch=None,
        fit=SimpleNamespace(
            capabilities=pl.DataFrame({"subject": "a", "capability": [1.0]}),
            data=SimpleNamespace(benchmarks=("own_test",)),
        ),
        evidence=SimpleNamespace(models=pl.DataFrame({"subject": ["a", "b"], "name": ["Ay", "Bee"]})),
    )
    assert "A year brings 0.10 (-0.05 to 0.30) of the distance from Ay to Bee." in how_fast(study)["answer"]


def test_a_small_share_is_said_in_thousandths_and_a_smaller_one_in_millionths():
    """One in ten people reach 119.2, two in a thousand 143.2."""
    assert said_share(119.2) == "10 in 100 people" and said_share(119.3) == "99 in 1,000 people"
    assert said_share(143.1) == "2 in 1,000 people" and said_share(143.3) == "1,947 in a million people"


def test_the_leader_is_named_and_the_others_have_their_chances():
    chances = [{"name": "A", "chance": "60%"}, {"name": "B", "chance": "30%"}, {"name": "C", "chance": "10%"}]
    assert who_leads("A & co lead.", chances) == {
        "answer": "<b>A &amp; co lead.</b> By the joint model: B 30%, C 10%.",
        "spark": "odds",
    }
    assert who_leads("A leads.", chances[:1]) == {"answer": "<b>A leads.</b> ", "spark": "odds"}
    assert who_leads("Nobody.", [])["spark"] == ""


def group(name, score=50.0, benchmark="quiz", first=None):
    best = ("b", 0.99)
    return Passed(benchmark, name, "measured", score, "percent", 9, "paper", None, first, best)


def test_groups_passed_in_the_newest_year_are_named_with_their_month(monkeypatch):
    groups = [
        group("nurses", first=("a", date(2026, 2, 1), 0.96)),
        group("pupils", benchmark="gpqa", first=("a", date(2026, 2, 28), 0.96)),
        group("judges", first=("a", date(2026, 7, 15), 0.96)),
        group("monks", first=("a", date(2025, 12, 31), 0.96)),
        group("doctors"),
    ]
    monkeypatch.setattr(first_parts, "passed_people", lambda _: groups)
    models = pl.DataFrame({"released": [date(2026, 9, 1), date(2024, 1, 1), None]})
    study = SimpleNamespace(models=models, benchmark_names={"quiz": "Quiz-Verified", "gpqa": "GPQA Diamond"})
    told = who_was_passed(study)
    assert told["answer"] == (
        "Passed in 2026: <b>Nurses on Quiz</b> (February), <b>Pupils on GPQA</b> (February), <b>Judges on Quiz</b> "
        "(July). Not surely passed: Doctors on Quiz-Verified."
    )
    marks = [float(x) + 4 for x in re.findall(r'<path d="M([\d.]+),10h8l-4,12z"', told["spark"])]
    months = {name: float(x) for x, name in re.findall(r'<text x="([\d.]+)"[^>]*>(Feb|Jul|2026)<', told["spark"])}
    assert months["Feb"] == pytest.approx((marks[0] + marks[1]) / 2, abs=0.1)
    assert months["Jul"] == pytest.approx(marks[2], abs=0.1) and months["2026"] == 210
    month = (marks[2] - marks[0]) / (5 + 14 / 31)
    assert marks[1] - marks[0] == pytest.approx(27 / 31 * month, abs=0.2), "a month is as long as its days"
    assert 'aria-hidden="true"' in told["spark"] and 'class="spark"' in told["spark"]
    assert 'viewBox="0 0 210 40"' in told["spark"] and 'x2="210.0" y2="22.0"' in told["spark"]
    monkeypatch.setattr(first_parts, "passed_people", lambda _: groups[:1])
    assert "Not surely" not in who_was_passed(study)["answer"]
    monkeypatch.setattr(first_parts, "passed_people", lambda _: groups[3:])
    assert who_was_passed(study) == {"answer": "<b>No measured group, in 2026.</b>", "spark": ""}
    nothing = SimpleNamespace(models=models.tail(1))
    assert who_was_passed(nothing)["answer"] == "<b>No measured group, in any year.</b>"


def watched(statistics, alarm=None):
    looks = pl.DataFrame({"statistic": statistics, "boundary": [2.0] * len(statistics)})
    return SimpleNamespace(watch=SimpleNamespace(looks=looks, alarm=alarm))


def test_the_watch_is_a_line_of_two_years_under_its_alarm_line(monkeypatch):
    monkeypatch.setattr(first_parts, "year_sentence", lambda _: "Half a unit a year.")
    quiet = how_fast(watched([9.0] * 6 + [None] + [0.0] * 23 + [1.0]))
    assert quiet["answer"] == "<b>Not beyond chance.</b> Half a unit a year."
    alarm = how_fast(watched([1.0, 3.0], date(2026, 3, 4)))
    assert alarm["answer"].startswith("<b>Yes: the alarm sounded in March 2026.</b>")

    def line(told):
        path = re.search(r'<path d="M([^"]+)" fill="none"', told["spark"])[1]
        points = [tuple(map(float, point.split(","))) for point in path.split("L")]
        return points, float(re.search(r'<line x1="0.0" y1="([\d.]+)"', told["spark"])[1])

    points, bound = line(quiet)
    assert len(points) == 24 and (points[0][0], points[-1][0]) == (4.0, 200.0)
    assert bound < points[-1][1] < points[0][1] == 38.0, "lower is smaller"
    points, bound = line(alarm)
    assert points[1][1] < bound < points[0][1]
    assert f'cx="200.0" cy="{points[1][1]}" r="3.5"' in alarm["spark"]
    assert 'viewBox="0 0 210 40"' in alarm["spark"] and 'stroke-width="1.75"' in alarm["spark"]
    assert ">alarm line<" in alarm["spark"]
    assert "Too few releases to tell." in how_fast(SimpleNamespace(watch=None))["answer"]


def test_prices_rise_in_steps_and_both_kinds_are_said():
    models = pl.DataFrame(
        {"name": ["Small", "Big"], "iq": [118, 126], "effective_cost": [1.0, 16.0], "sticker_price": [2.0, None]}
    )
    told = what_it_costs(SimpleNamespace(models=models))
    assert told["answer"] == (
        "<b>IQ 115 from $1 (Small), 125 from $16 (Big)</b>, per 1M tokens in and out, counting the work a task takes. "
        "By list price: IQ 115 from $2 (Small)."
    )
    dots = [tuple(map(float, at)) for at in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', told["spark"])]
    assert [x for x, _ in dots] == sorted(x for x, _ in dots) and dots[0][0] == 4.0 and dots[-1][0] == 200.0
    assert [y for _, y in dots] == [35.0] * 6 + [5.0] * 2, "90 to 115 cost one dollar, 120 and 125 sixteen"
    steps = re.search(r'<path d="M([^"]+)" fill="none"', told["spark"])[1].split("L")
    assert 'viewBox="0 0 210 40"' in told["spark"] and 'stroke-width="1.75"' in told["spark"]
    assert len(steps) == 15 and steps[11:13] == [f"{dots[6][0]},35.0", f"{dots[6][0]},5.0"]
    none = SimpleNamespace(models=models.with_columns(effective_cost=pl.lit(None, pl.Float64)))
    assert what_it_costs(none) == {"answer": "<b>No model has a price.</b>", "spark": ""}


def test_people_stand_at_the_iq_of_their_score_on_the_ladder_of_their_test(monkeypatch):
    ladder = SimpleNamespace(benchmark="gpqa", scores=[10.0, 40.0, 90.0], iq=lambda score: score + 60)
    tests = pl.DataFrame({"benchmark": ["gpqa", "quiz"], "dimension": ["science", "trust"]})
    study = SimpleNamespace(
        iq=SimpleNamespace(matrix=SimpleNamespace(ladders=[ladder])),
        evidence=SimpleNamespace(benchmarks=tests),
        benchmark_names={"gpqa": "GPQA Diamond"},
    )
    scores = {"low": 10.0, "mid": 55.0, "top": 90.0, "above": 89.5}
    groups = [group(name, score, "gpqa") for name, score in scores.items()]
    monkeypatch.setattr(first_parts, "passed_people", lambda _: [*groups, group("others")])
    marks = people_marks(study)
    assert [(mark.label, mark.value, mark.note) for mark in marks["science"]] == [
        *(("Mid", 115.0, "GPQA"), ("Above", 149.5, "GPQA"))
    ], "at an end of its ladder a score says no more than at least or at most"
    assert list(marks) == ["science"]
    assert marks["science"][0].href.endswith("benchmarks/gpqa.html#people")
    assert marks["science"][0].subject == "people:gpqa/mid"


def test_landmarks_are_the_highest_with_room_between_them():
    places = {"a": 103.0, "b": 103.1, "c": 106.0, "d": 106.1, "e": 120.0, "f": 130.0, "g": 127.1}
    kept = thinned([Reference(name, value, note="Quiz") for name, value in places.items()])
    assert [(one.label, one.note) for one in kept] == [
        *(("f", "130 on Quiz, one test"), ("e", "120 on Quiz, one test"), ("d", "106 on Quiz, one test"))
    ]
    assert [one.label for one in thinned([Reference("a", 103.0), Reference("b", 103.1), Reference("c", 106.1)])] == [
        *("c", "b")
    ]


def jagged_study():
    rows = [
        ("a", "science", 130.0, 2, 1, 0), ("a", "trust", 110.4, 1, 0, 4), ("a", "odd", None, 0, 0, 0),
        ("b", "science", 100.0, 2, 0, 0), ("b", "trust", 150.0, 2, 0, 0),
        ("c", "science", 120.0, 2, 0, 0), ("c", "trust", 118.0, 2, 0, 0),
        ("d", "trust", 118.0, 2, 0, 0),
    ]  # fmt: skip
    columns = ["subject", "dimension", "iq", "measured", "inherited", "estimated"]
    table = pl.DataFrame(rows, schema=columns, orient="row").with_columns(low=pl.col("iq") - 5, high=pl.col("iq") + 5)
    return SimpleNamespace(
        dimensions=table,
        dimension_names={"trust": "Reliability", "science": "Science"},
        iq=SimpleNamespace(matrix=SimpleNamespace(ladders=[], benchmarks=["x"] * 32)),
        evidence=SimpleNamespace(benchmarks=pl.DataFrame({"benchmark": ["quiz"], "dimension": ["trust"]})),
    )


def ranked(subject, well_measured):
    row = {"subject": subject, "name": subject.upper(), "provider": "OpenAI", "well_measured": well_measured}
    return row | {"exact_iq": 120.0, "iq": 120, "iq_low": 115.0, "iq_high": 125.0, "measured": 7}


def test_the_jagged_view_opens_with_the_measured_model_of_the_widest_gap(monkeypatch):
    monkeypatch.setattr(first_parts, "passed_people", lambda _: [])
    rows = [ranked("c", True), ranked("b", False), ranked("a", True), ranked("d", True)]
    view = jagged_view(jagged_study(), rows)
    assert [one["name"] for one in view.models] == ["C", "B", "A"], "one dimension is no profile"
    assert view.chosen == 2
    chosen = view.models[2]
    assert chosen["sentence"] == "A is 130 in science and 110 in reliability: the same model, 20 points apart."
    assert chosen["see"] == "The same model is 110 in reliability and 130 in science: one number hides 20 points."
    assert chosen["deck"] == (
        "Its one number is <b>120</b> (90%: 115 to 125), the mean of the seven. 7 of its 32 tests are measured."
    )
    assert jagged_view(jagged_study(), rows[:2]).chosen == 0
    assert jagged_view(jagged_study(), rows[1:2]).chosen == 0, "an estimated one where none is measured"
    wide = view.draw(1200.0)
    assert wide.index(">Reliability<") < wide.index(">Science<"), "in the order of the method"
    assert "A, Science: IQ 130, 90% 125 to 135" in wide and "2 of 3 tests" in wide and "1 of 5 tests" in wide
    assert set(view.drawn) == set(view.frames) == set(view.record()) == {"wide", "mid", "narrow"}
    assert all(frame.endswith("></svg>") and "<path" not in frame for frame in view.frames.values())
    nothing = jagged_view(jagged_study(), [])
    assert (nothing.models, nothing.drawn, nothing.chosen) == ([], {}, 0)


def test_the_longest_task_of_each_kind_stands_on_an_axis_from_a_minute_to_four_days(monkeypatch):
    rows = {
        "security": {"p50": 60.0, "p50_low": 15.0, "p50_high": None, "provider": "OpenAI"},
        "science": {"p50": None, "p50_low": 480.0, "p50_high": None, "provider": "Google"},
        "software": {"p50": 1.0, "p50_low": None, "p50_high": 480.0, "provider": None},
    }
    trend = pl.DataFrame({"x": [1]})
    monkeypatch.setattr(first_parts, "task_horizons", lambda: SimpleNamespace(best=rows.get, trend=trend))
    monkeypatch.setattr(first_parts, "horizon_sentence", lambda: "An hour.")
    monkeypatch.setattr(first_parts, "pace_words", lambda: "It doubles")
    told = how_long()
    assert told["answer"] == "<b>An hour.</b> It doubles."
    signs = [tuple(map(float, at)) for at in re.findall(r"translate\(([\d.]+),([\d.]+)\)", told["spark"])]
    words = {text: float(x) for x, text in re.findall(r'<text x="([\d.]+)"[^>]*>(1 min|1 h|a day)<', told["spark"])}
    assert signs == [(words["1 h"], 6.0), (words["a day"], 15.0), (4.0, 24.0)]
    unit = (words["1 h"] - 4.0) / math.log(60)
    assert words["a day"] == pytest.approx(4 + unit * math.log(480), abs=0.2)
    assert pytest.approx(4 + unit * math.log(4 * 480), abs=0.3) == 206, "four working days are the end"
    bars = [
        (float(a), float(b)) for a, b in re.findall(r'<line x1="([\d.]+)" y1="[\d.]+" x2="([\d.]+)"', told["spark"])
    ]
    assert bars[0][1] == bars[1][1] == 206.0 and bars[2] == (4.0, words["a day"])
    monkeypatch.setattr(first_parts, "task_horizons", lambda: SimpleNamespace(best=rows.get, trend=trend.clear()))
    assert how_long()["answer"] == "<b>An hour.</b> "
