"""From stored answers to tables: outcomes, takers, attrition, and how an exam is going."""

import json

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.exam import AnswerStore, read_exam
from mensura.exam.gathering import (
    count_outcomes,
    count_steps,
    log_outcomes,
    model_outcomes,
    people_outcomes,
    people_takers,
    summarise,
    without_free_text,
)
from mensura.exam.report import report_exam
from tests.exam.conftest import TOML, write_exam
from tests.exam.invented import invent


def test_the_report_counts_ratings_and_leaves_them_out_of_rates(kinds, tmp_path):
    store = AnswerStore(tmp_path / "kinds.db", kinds)
    for number in range(6):
        code, _ = store.begin()
        store.start(store.find(code))
        answers = {
            "try": [0],
            "capital": [0],
            "share": "51",
            "song": "anthem",
            "sure": [number % 2],
            "mood": str(number),
        }
        for item, given in answers.items():
            store.answer(store.find(code), item, given, seconds=9.0)
        store.finish(store.find(code))
    outcomes = people_outcomes(kinds, store)
    takers = people_takers(kinds, store, outcomes).with_columns(seconds=9.0)
    store.close()
    made = report_exam(kinds, outcomes, takers)
    assert made.comparison["rate"].to_list() == [1.0]
    assert made.items["item"].to_list() == ["capital", "share", "song"]
    sure = made.ratings.filter(item="sure").rows()
    assert sure == [("sure", "people", "not at all", 3, 0.5, 1.5), ("sure", "people", "a little", 3, 0.5, 1.5)]
    assert made.ratings.filter(item="mood")["mean"][0] == 2.5


def test_attrition_counts_everybody_from_the_first_page_to_the_analysis(tmp_path, exam):
    store = AnswerStore(tmp_path / "answers.db", exam)
    for _ in range(9):
        store.count_visit()
    codes = [store.begin()[0] for _ in range(6)]
    for code in codes[:5]:
        store.start(store.find(code))
    for number, code in enumerate(codes[:4]):
        for item, given in (("capital", [0]), ("primes", [0]), ("half", "2.5"), ("poet", "x")):
            store.answer(store.find(code), item, given, seconds=9.0)
        store.answer(store.find(code), "look", [int(number != 1)], seconds=9.0)
        store.finish(store.find(code))
    store.forget(codes[0])
    store.close()
    again = AnswerStore(tmp_path / "answers.db", exam)
    outcomes = people_outcomes(exam, again)
    takers = people_takers(exam, again, outcomes).with_columns(seconds=9.0)
    made = report_exam(exam, outcomes, takers, steps=count_steps(again))
    again.close()
    assert dict(made.attrition.iter_rows()) == {
        "began: opened the first page": 9,
        "consented": 6,
        "deleted their answers": 1,
        "started": 4,
        "finished": 3,
        "excluded: answered too few items": 1,
        "excluded: failed attention checks": 1,
        "analysed": 2,
    }


def test_stored_answers_become_outcomes_with_blank_and_late_apart(tmp_path):
    exam = read_exam(write_exam(tmp_path / "timed", TOML + "[time]\nminutes = 1\n"))
    now = [0.0]
    store = AnswerStore(tmp_path / "a.db", exam, clock=lambda: now[0], steady=lambda: now[0])
    _, sitting = store.begin()
    store.start(sitting)
    store.answer(sitting, "capital", [0], seconds=0)
    store.answer(sitting, "look", [0], seconds=0)
    store.show(sitting, "half")
    now[0] = 70.0
    store.answer(sitting, "primes", [0, 2], seconds=3)
    outcomes = people_outcomes(exam, store)
    assert dict(outcomes.select("item", "outcome").iter_rows()) == {
        "capital": "right",
        "primes": "late",
        "half": "blank",
        "look": "wrong",
    }
    row = people_takers(exam, store, outcomes).row(0, named=True)
    assert (row["items"], row["answered"], row["late"], row["failed_checks"], row["finished"]) == (5, 2, 1, 1, False)
    store.close()


def test_the_item_at_which_a_person_stopped_was_not_reached(tmp_path, exam):
    now = [0.0]
    store = AnswerStore(tmp_path / "a.db", exam, clock=lambda: now[0], steady=lambda: now[0])
    _, sitting = store.begin()
    store.start(sitting)
    for item in ("capital", "primes", "half"):
        now[0] += 5.0
        store.show(sitting, item)
    store.answer(sitting, "capital", [0], seconds=4)
    found = lambda: dict(people_outcomes(exam, store).select("item", "outcome").iter_rows())  # noqa: E731
    assert found() == {"capital": "right", "primes": "blank"}
    store.finish(sitting)
    assert found() == {"capital": "right", "primes": "blank", "half": "blank"}
    store.close()


def test_sittings_of_another_exam_are_refused(bank, exam, tmp_path):
    outcomes, _ = invent(bank, [0.0], [0.0])
    (tmp_path / "runs").mkdir()
    outcomes.filter(pl.col("kind") == "models").write_csv(tmp_path / "runs" / "sittings.csv")
    assert model_outcomes(bank, tmp_path / "runs").height == 20
    with pytest.raises(MensuraError, match=r"'q\d+' is not in the exam"):
        model_outcomes(exam, tmp_path / "runs")
    with pytest.raises(MensuraError, match="mensura exam sit"):
        model_outcomes(exam, exam.folder)


def test_shares_of_outcomes_add_up_for_all_people_together_and_for_each_model(bank):
    outcomes, _ = invent(bank, [0.0, 1.0], [0.0, 2.0], repeats=2)
    counted = count_outcomes(outcomes)
    assert dict(counted.group_by("subject").agg(pl.col("n").sum()).iter_rows()) == {
        "people": 20,
        "model-0": 40,
        "model-1": 40,
    }
    assert counted.group_by("subject").agg(pl.col("share").sum())["share"].to_list() == pytest.approx([1.0] * 3)


def test_what_people_typed_is_left_out_and_what_models_wrote_stays(exam):
    outcomes, _ = invent(exam, [0.0], [0.0])
    shown = without_free_text(exam, outcomes)
    left = {(row["kind"], row["item"]): row["answer"] for row in shown.to_dicts()}
    assert left["people", "poet"] is None and left["people", "half"] is None
    assert left["people", "capital"] == left["models", "poet"] == "x"


def test_a_log_gives_people_their_time_and_models_their_repeats(exam, tmp_path):
    samples = [
        {"id": "capital", "epoch": epoch, "scores": {"match": {"value": value}}}
        for epoch, value in ((1, "C"), (2, "I"))
    ]
    log = {"status": "success", "eval": {"task": "small", "model": "m"}, "plan": {"steps": []}, "samples": samples}
    (tmp_path / "log.json").write_text(json.dumps(log), encoding="utf-8")
    outcomes, takers = log_outcomes(exam, tmp_path / "log.json")
    assert outcomes.select("kind", "repeat", "outcome").rows() == [("models", 0, "right"), ("models", 1, "wrong")]
    assert takers.height == 0
    log["samples"][0]["id"] = "elsewhere"
    (tmp_path / "log.json").write_text(json.dumps(log), encoding="utf-8")
    with pytest.raises(MensuraError, match="item 'elsewhere' is not in the exam; give the logs of this exam"):
        log_outcomes(exam, tmp_path / "log.json")


def test_who_is_idle_for_two_hours_has_dropped_out_at_the_last_item_shown(store, exam, clock):
    (idle, _), (done, _), _ = (store.begin() for _ in range(3))
    for code in (idle, done):
        store.start(store.find(code))
        store.show(store.find(code), "capital")
    clock.now += 120
    store.show(store.find(idle), "primes")
    store.finish(store.find(done))
    counts, tables = summarise(exam, store)
    assert counts == {"finished": 1, "dropped out": 0, "still at work": 2, "median minutes": 2.0}
    clock.now += 7200
    counts, tables = summarise(exam, store)
    assert (counts["dropped out"], counts["still at work"]) == (2, 0)
    assert dict(tables["items"].filter(pl.col("dropped_out") > 0).select("item", "dropped_out").rows()) == {"primes": 1}
    assert tables["items"]["given"].to_list() == [3] * 5
    assert tables["items"]["rate"].null_count() == 5, "rates of fewer than five people are not shown"


def test_tables_of_a_running_exam_hide_small_groups_and_name_who_failed_a_check(store, exam, clock):
    for number in range(12):
        code, sitting = store.begin()
        store.describe(sitting, {"age": "under 40"} if number < 6 else {})
        store.start(store.find(code))
        store.show(store.find(code), "capital")
        clock.now += 60.0
        store.answer(store.find(code), "capital", [number % 2], seconds=2.0 + number)
        if number == 3:
            store.answer(store.find(code), "look", [0], seconds=1.0)
    counts, tables = summarise(exam, store)
    assert counts == {"finished": 0, "dropped out": 0, "still at work": 12, "median minutes": None}
    assert tables["groups"].rows() == [("age", "declined", 6), ("age", "under 40", 6)]
    assert tables["checks"].select("failed_checks", "finished").rows() == [(1, False)]
    capital = tables["items"].filter(item="capital").row(0, named=True)
    assert (capital["given"], capital["n"], capital["rate"], capital["seconds"]) == (12, 12, 0.5, 7.5)
    assert tables["items"].filter(item="look").row(0)[1:] == (12, 1, None, None, 0)
    assert dict(tables["attrition"].iter_rows())["started"] == 12
    store.begin()
    code, sitting = store.begin()
    store.describe(sitting, {"age": "40 or older"})
    store.start(store.find(code))
    assert summarise(exam, store)[1]["groups"]["n"].to_list() == [None, 6, None]
