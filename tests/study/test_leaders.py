"""The best model on each test beside people: who is taken, and who is ahead."""

from dataclasses import replace
from datetime import date

import polars as pl

import mensura
from mensura.evidence.passing import comparable_people
from mensura.study.leaders import leaders_beside_people
from tests.iq.conftest import build_evidence


def leader(scores, *people, models=None):
    """The row of GPQA Diamond, whose people are (group, score, status, unit)."""
    evidence = build_evidence({(name, "gpqa_diamond"): score for name, score in scores.items()}, models)
    rows = [
        {"benchmark": "gpqa_diamond", "group": group, "score": score, "status": status, "unit": unit, "source": "told"}
        for group, score, status, unit in people
    ]
    references = pl.DataFrame(rows, schema=mensura.load().human_references.schema)
    found = leaders_beside_people(replace(evidence, human_references=references))
    return found.filter(benchmark="gpqa_diamond").row(0, named=True)


def test_of_equal_scores_the_model_that_came_first_leads():
    later, first = {"released": date(2026, 2, 1)}, {"released": date(2025, 2, 1)}
    row = leader({"later": 80.0, "first": 80.0, "low": 10.0}, models={"later": later, "first": first})
    assert (row["subject"], row["score"], row["people"]) == ("first", 80.0, None)


def test_people_who_were_measured_go_before_those_judged_and_the_best_of_them_counts():
    row = leader(
        {"m": 80.0},
        ("some", 60.0, "measured", "percent"),
        ("others", 70.0, "measured", "percent"),
        ("better", 90.0, "estimated", "percent"),
        ("a panel of them", 95.0, "measured", "percent"),
        ("guessing", 99.0, "constructed", "percent"),
        ("in another unit", 0.9, "measured", "fraction"),
    )
    assert (row["people"], row["human_score"], row["human_status"]) == ("others", 70.0, "measured")
    judged = leader({"m": 80.0}, ("better", 90.0, "estimated", "percent"))
    assert (judged["people"], judged["human_status"]) == ("better", "judged")


def test_people_who_scored_no_better_than_guessing_are_nobody_to_pass():
    """The Diamond set of GPQA was chosen so that people of other fields fail: 21.9% where guessing gives 25%."""
    evidence = mensura.load()
    guessing = dict(evidence.benchmarks.select("benchmark", "chance").iter_rows())
    apart = set(comparable_people().filter(~pl.col("comparable")).select("benchmark", "group").iter_rows())
    people = evidence.human_references.filter(status="measured").select("benchmark", "group", "score")
    counted = [row for row in people.iter_rows() if row[:2] not in apart]
    assert counted
    assert all(score > (guessing[benchmark] or 0.0) for benchmark, _, score in counted)
