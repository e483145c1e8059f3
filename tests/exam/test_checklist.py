"""The reporting checklist of a human baseline, and a report's people as a pool."""

from dataclasses import replace

import polars as pl
import pytest

from mensura.exam.checklist import checklist, checklist_text, to_pool
from mensura.people import ItemPool


def test_anchors_are_what_baseline_reads_and_the_pool_what_people_reads(made, tmp_path):
    report, takers = made
    assert report.anchors.columns == ["item", "rate", "n"]
    assert report.anchors["n"].sum() == 800
    to_pool(report, takers).write(tmp_path / "pool")
    pool = ItemPool.read(tmp_path / "pool")
    assert pool.rates_of("all")["n"].sum() == 800
    assert pool.persons["age"].null_count() == 80  # 4 are too few to be shown, and the others would tell
    assert pool.rates_of("all")["rate"].to_list() == pytest.approx(report.items["rate"].to_list())


def test_the_checklist_says_what_is_known_and_what_is_not(made):
    answers = dict(checklist(made[0]).select("field", "answer").iter_rows())
    assert answers["number of people"] == "80"
    assert answers["items per person"] == "10"
    assert answers["runs per item and model"] == "2"
    assert answers["ethics review"] == answers["population meant"] == "not stated"
    assert "| ethics review | not stated |" in checklist_text(made[0])


def test_a_checklist_names_the_people_at_each_step_and_no_pay_that_nobody_stated(made):
    answers = dict(checklist(made[0]).select("field", "answer").iter_rows())
    assert answers["people at each step"].endswith("analysed 80")
    assert answers["pay"] == "not stated"
    assert answers["answers per item"] == "40 to 40", "80 people with 10 of 20 items each"


def test_a_bar_in_an_answer_opens_no_column(made):
    settings = made[0].exam.settings.model_copy(update={"tools": "pen | paper"})
    text = checklist_text(replace(made[0], exam=replace(made[0].exam, settings=settings)))
    assert "| tools allowed | pen / paper |" in text


def test_half_of_the_credit_is_right_in_a_pool_and_people_left_out_are_in_its_log(made):
    report, takers = made
    half = report.responses.with_columns(correct=pl.when(pl.col("item") == "q00").then(0.5).otherwise(0.49))
    out = pl.DataFrame({"subject": ["person-1"], "rule": ["answered too fast"]})
    pool = to_pool(replace(report, responses=half, exclusions=out), takers)
    rates = dict(pool.rates_of("all").select("item", "rate").iter_rows())
    assert rates["q00"] == 1.0 and rates["q01"] == 0.0
    assert pool.exclusions.rows() == [("person", "person-1", "answered too fast")]


def test_a_question_may_be_named_count(made):
    report, takers = made
    persons = to_pool(report, takers.rename({"age": "count"})).persons
    assert persons["count"].equals(to_pool(report, takers).persons["age"].rename("count"))


def test_the_checklist_restates_the_settings_and_counts_of_an_exam(made):
    report, _ = made
    answers = dict(checklist(report).select("field", "answer").iter_rows())
    stated = {
        "kind of evaluation": "capability",
        "mode": "text",
        "language": "en",
        "number of items": "20",
        "items given to models": "20",
        "sampling of items": "balanced forms: items and pairs about equally often",
        "weights": "none",
        "people at each step": "started 80, finished 80, analysed 80",
        "left out afterwards": "0 people, by rules stated before (exclusions.csv)",
        "items per sitting": "10",
        "randomised": "no",
        "attention checks": "0; a person may fail 0",
        "tools allowed": "none",
        "time rules": "There is no time limit.",
        "same scoring for both": "yes, one scorer; keys only",
        "demographics of the sample": "age",
        "time to completion": "median 1.7 minutes on items",  # ten items of 10 seconds
        "blank and late answers": "0",
    }
    assert {field: answers[field] for field in stated} == stated
    rate = "0.466 (0.423 to 0.510)"
    assert answers["robust to the exclusion rules"] == f"rate {rate} with the rules, {rate} without"


def test_the_checklist_of_another_exam_says_what_differs(made):
    report, _ = made
    settings = report.exam.settings
    study = settings.study.model_copy(update={"pay_per_hour": 12.5, "currency": "EUR"})
    exam = replace(
        report.exam,
        settings=settings.model_copy(
            update={
                "study": study,
                "order": "shuffled",
                "shuffle_options": True,
                "items_per_person": 20,
                "questions": [],
            }
        ),
    )
    margins = pl.DataFrame({"question": ["age", "age", "land"]})
    outcomes = pl.DataFrame(
        {"subject": ["people", "people", "m"], "outcome": ["blank", "late", "blank"], "n": [2, 3, 9]}
    )
    other = replace(
        report,
        exam=exam,
        margins=margins,
        outcomes=outcomes,
        comparison=report.comparison.filter(kind="people"),
        responses=report.responses.filter(group="people"),
        facts=report.facts | {"design_effect": 1.234, "people_rate": None},
        exclusions=pl.DataFrame({"subject": ["p", "p"], "rule": ["a", "b"]}),
    )
    answers = dict(checklist(other).select("field", "answer").iter_rows())
    stated = {
        "pay": "12.5 EUR per hour",
        "randomised": f"order of items, order of options (seed {settings.seed})",
        "sampling of items": "everybody got all items",
        "weights": "raked to age, land, design effect 1.23",
        "blank and late answers": "5",
        "items given to models": "no model took part",
        "runs per item and model": "0",
        "left out afterwards": "1 person, by rules stated before (exclusions.csv)",
        "demographics of the sample": "not asked",
        "robust to the exclusion rules": "nobody to compare",
    }
    assert {field: answers[field] for field in stated} == stated


def test_a_pool_has_the_items_of_the_exam(made):
    report, takers = made
    items = to_pool(report, takers).items
    assert items.row(4, named=True) == {
        "item": "q04",
        "domain": None,
        "text": "Text of 4",
        "n_options": 2,
        "needs_picture": False,
        "language": "en",
    }
    assert items.height == 20
