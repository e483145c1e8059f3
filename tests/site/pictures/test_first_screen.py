"""The first screen: who leads in each month, who was passed, and a picture whose places hold at every width."""

import json
import re
from datetime import date

import numpy as np
import pytest

from mensura.charts import Mark
from mensura.charts.bell import LOOKS, FirstBell
from mensura.charts.values import CROWD, crowd_above
from mensura.site.pictures.first_screen import FirstScreen
from mensura.study.headlines import lead_by_month, passed_people


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
