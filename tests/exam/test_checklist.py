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
