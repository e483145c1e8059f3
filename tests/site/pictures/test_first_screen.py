"""The first screen: who leads in each month, who was passed, and a picture whose places hold at every width."""

import json
import re
from datetime import date
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from mensura.charts import Mark
from mensura.charts.bell import LOOKS, FirstBell
from mensura.charts.values import CROWD, crowd_above, said_above
from mensura.site.pictures.first_screen import FirstScreen
from mensura.study.headlines import Month, lead_by_month, passed_people


@pytest.fixture(scope="module")
def screen(study):
    return FirstScreen(study)


def test_the_last_month_is_today(study):
    months = lead_by_month(study)
    assert months[0].start == date(2023, 7, 1)
    ranked = study.ranked
    assert months[-1].subjects == tuple(ranked["subject"])
    assert months[-1].p_first == pytest.approx(ranked["p_first"].to_list())


def test_the_slider_names_the_month_that_it_starts_with(screen, report):
    page = (report / "index.html").read_text(encoding="utf-8")
    assert f">{screen.months[0].start:%b %Y}: releases per month</text>" in page
    assert re.findall(r"class=year>(\d+)</text>", page) == ["2025", "2026"]


def test_a_months_chance_is_the_share_of_draws_among_models_out_by_then(study):
    """By hand for March 2025."""
    month = next(one for one in lead_by_month(study) if one.start == date(2025, 3, 1))
    drawn = study.iq.drawn
    out = study.ranked.filter(study.ranked["released"] < date(2025, 4, 1))["subject"].to_list()
    assert sorted(month.subjects) == sorted(out)
    draws = drawn.composites[:, [drawn.places[name] for name in month.subjects]]
    first = np.bincount(draws.argmax(axis=1), minlength=len(out)) / len(draws)
    assert month.p_first == pytest.approx(first.tolist())


def test_the_slider_tells_what_the_page_and_the_interface_tell(screen, report):
    record = json.loads((report / "api/v1/months.json").read_text(encoding="utf-8"))["months"]
    months = screen.record()["months"]
    assert len(record) == len(months) == len(screen.months)
    assert months[-1]["sentence"] == screen.context()["sentence"]
    assert months[0]["sentence"].startswith("In July 2023, Claude 2.0 almost certainly led")
    assert record[-1]["leader"] == screen.months[-1].subjects[0]
    assert sum(record[-1]["p_first"].values()) == pytest.approx(1.0, abs=1e-3)


def test_a_thousand_people_stand_where_the_definition_of_iq_puts_them(screen):
    assert crowd_above(100) == CROWD / 2
    assert crowd_above(130) == 23
    drawing = str(screen.context()["bells"]["wide"])
    dots = {name: d.count("M") for name, d in re.findall(r'class="(crowd|reached)" d="([^"]*)"', drawing)}
    assert dots == {"crowd": CROWD, "reached": screen.context()["dark"]}


@pytest.mark.parametrize("name", LOOKS)
def test_no_two_models_of_a_row_overlap_in_any_month(screen, name):
    bell = screen._bells[name]
    for month in screen.record()["months"][::6]:
        rows = month["rows"][name]
        assert rows[: bell.look.named] == list(range(min(bell.look.named, len(rows))))
        seen = {}
        for index, row in zip(month["shown"], rows, strict=True):
            seen.setdefault(row, []).append(bell.at(bell.models[index].x))
        for places in seen.values():
            assert all(abs(a - b) > 12 for a, b in zip(sorted(places), sorted(places)[1:], strict=False))


def test_leaders_have_their_names_inside_the_picture(screen):
    for bell in screen._bells.values():
        for model in bell.models[: bell.look.named]:
            left, right = bell._label(model, bell.at)
            assert 0 <= left < right <= bell.look.width


def test_the_page_holds_the_names_of_todays_leaders_and_the_slider_brings_the_others(screen):
    record = screen.record()
    for look, drawing in screen.context()["bells"].items():
        assert str(drawing).count('class="name"') == LOOKS[look].named
        for model, (x, anchor, *_) in zip(screen._models, record["labels"][look], strict=True):
            bell = screen._bells[look]
            edge = bell.at(model.low if anchor == "end" else model.high) - bell.at(model.x)
            assert x == pytest.approx(edge - 8 if anchor == "end" else edge + 8, abs=0.06)


def test_a_name_is_text_and_never_markup():
    model = Mark("<b>&", "OpenAI", 120.0, subject="x", href="models/x.html", low=118.0, high=122.0)
    drawing = FirstBell(LOOKS["wide"], [model]).draw(("a", "b"), "about")
    assert "<b>&" not in drawing
    assert "&lt;b&gt;&amp;" in drawing


def test_passed_means_a_chance_of_95_percent(study):
    groups = passed_people(study)
    released = dict(study.models.select("subject", "released").iter_rows())
    for one in groups:
        chances = study.over_people[one.benchmark, one.group]
        sure = sorted(released[name] for name, chance in chances.items() if chance >= 0.95)
        assert (one.first[1] if one.first else None) == (sure[0] if sure else None)
    assert {one.verdict for one in groups} <= {"passed", "cannot be told", "not passed"}
    assert not any("panel" in one.group or "guessing" in one.group for one in groups)


def test_seven_questions_have_one_line_answers_without_words_of_the_method(screen):
    context = screen.context()
    assert [one["question"] for one in context["questions"]] == [
        "Who leads, and how sure?",
        "Which people are above it?",
        "Is it speeding up?",
        "How long a task?",
        "Best model for a budget?",
        "What will next year’s best model do?",
        "What can I not conclude?",
    ]
    said = " ".join(str(one["answer"]) for one in context["questions"]) + context["sentence"] + str(context["deck"])
    for word in ("capability", "steps", "effective", "own scores", "composite"):
        assert word not in said
    assert "<b>The general public on ARC-AGI-2</b> (February)" in said
    passed = context["questions"][1]
    assert str(passed["answer"]).count("(February)") == 2 and str(passed["spark"]).count(">Feb<") == 1


def small_screen(*models, months=()):
    """Return the first screen of models with IQ, chance of being first, whether measured, and day of release."""
    rows = [
        {
            "subject": name,
            "name": name.upper(),
            "provider": "OpenAI",
            "exact_iq": iq,
            "iq": round(iq),
            "p_first": chance,
        }
        | {"well_measured": full, "released": day, "iq_low": iq - 5, "iq_high": iq + 5, "measured": 9}
        for name, iq, chance, full, day in models
    ]
    study = SimpleNamespace(
        ranked=pl.DataFrame(rows), iq=SimpleNamespace(matrix=SimpleNamespace(benchmarks=["x"] * 32))
    )
    made = FirstScreen(study)
    made.months = [Month(start, ("a",), (1.0,)) for start in months]
    return made


BEST = ("a", 130.4, 0.5, True, date(2025, 3, 31))


def test_three_chances_are_named_and_the_others_are_one():
    made = small_screen(
        BEST,
        *(
            (name, 120.0, chance, name == "c", None)
            for name, chance in zip("bcde", (0.1, 0.25, None, 0.05), strict=True)
        ),
    )
    shown = made._chances([(row["subject"], row["p_first"]) for row in made._rows])
    assert [(one["name"], one["href"], one["share"], one["full"]) for one in shown] == [
        ("A", "models/a.html", 50.0, True),
        ("C", "models/c.html", 25.0, True),
        ("B", "models/b.html", 10.0, False),
        ("all 2 others", "", 15.0, True),
    ]
    assert [one["chance"] for one in shown] == ["50%", "25%", "10%", "15%"]
    four = made._chances([("a", 0.7), ("b", 0.2), ("c", 0.1), ("d", 0.05)])
    assert (four[-1]["name"], four[-1]["share"]) == ("the other one", 0.0)
    assert len(made._chances([("a", 0.7), ("b", 0.2), ("c", 0.1)])) == 3


def test_the_deck_says_how_much_of_the_leader_is_measured_and_who_leads_of_those_measured():
    made = small_screen(BEST, ("b", 128.0, 0.4, False, None))
    people = '<span class="warm">23 in 1,000 people</span>'
    reach = f"Its IQ is <b>130</b> (90%: 125 to 135), a level that about {people} reach. "
    first, second = made._rows
    assert made._deck(first, made._rows) == f"{reach}9 of its 32 tests are measured, the rest estimated."
    estimated = made._deck(second, [second, first])
    assert estimated.endswith(
        "Only 9 of its 32 tests are measured; the best model that is mostly measured is <b>A</b>, at 130."
    )
    assert made._deck(second, [second]).endswith("9 of its 32 tests are measured, the rest estimated.")
    where = f"at a level that {said_above(130)[0]} reach"
    assert (
        made._see(first, None) == f"The leader stands {where}; its mark is filled, so most of its tests are measured."
    )
    past = made._see(second, Month(date(2025, 3, 1), ("b",), (1.0,)))
    assert past.startswith("B, the best model out by March 2025, stands at a level that")
    assert past.endswith("by today’s evidence; its mark is hollow, so most of its tests are estimated.")


def test_releases_are_counted_by_month_and_earlier_ones_in_the_first():
    days = [date(2020, 5, 1), date(2024, 11, 30), date(2024, 12, 1), date(2025, 2, 1), None]
    months = [date(2024, 11, 1), date(2024, 12, 1), date(2025, 1, 1), date(2025, 2, 1), date(2025, 3, 1)]
    made = small_screen(*(("a", 120.0, 0.1, True, day) for day in days), months=months)
    assert [(one["start"], one["models"]) for one in made._releases()] == list(
        zip(months, [2, 1, 0, 1, 0], strict=True)
    )
    assert small_screen(BEST)._releases() == []


def test_without_a_ranked_model_there_is_nothing_to_draw(monkeypatch):
    made = FirstScreen(
        SimpleNamespace(ranked=pl.DataFrame(), iq=SimpleNamespace(matrix=SimpleNamespace(benchmarks=[])))
    )
    monkeypatch.setattr("mensura.site.pictures.first_screen.say_lead", lambda _: ("Nobody is ranked.", ""))
    assert made._standing(None) == {
        "sentence": "Nobody is ranked.",
        "deck": "",
        "chances": [],
        "said": ("", ""),
        "see": "",
        "dark": 0,
    }
    assert made.figures == []
