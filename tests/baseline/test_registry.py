"""Published scores of people on known benchmarks."""

import polars as pl
import pytest

import mensura
from mensura.baseline import find_known
from mensura.evidence.above import people_error
from mensura.stitching.passing import win_chance


def test_a_part_that_no_model_took_gives_no_warning(recwarn):
    find_known("gpqa", mensura.load())
    assert [str(one.message) for one in recwarn] == []


def test_what_was_judged_is_never_counted_as_measured():
    judged = find_known("swe_rebench", mensura.load())
    assert judged.heading == "SWE-rebench: no measured human scores, 2 judged without a test"
    assert judged.people["status"].to_list() == judged.passed["status"].to_list() == ["judged", "judged"]
    both = find_known("AIME", mensura.load())
    assert both.people["status"].to_list() == sorted(both.people["status"], key="judged".__eq__)


def test_a_benchmark_is_found_by_its_id():
    assert find_known("hle", mensura.load()).benchmark == "Humanity's Last Exam"


def test_a_score_that_two_sources_round_differently_stands_once_and_guessing_is_nobody():
    people = find_known("gpqa_diamond", mensura.load()).people
    assert people.filter(pl.col("score").is_between(81, 82)).height == 1
    assert not people["group"].str.contains("guess").any()


def test_a_known_baseline_gives_the_chances_of_the_people_page():
    """One rule for the errors of people and models: the n of people where it is known, else the items of the test."""
    evidence = mensura.load()
    fit = mensura.stitch(evidence)
    known = find_known("gpqa_diamond", evidence).passed.filter(status="measured").sort("score").row(-1, named=True)
    stderr = people_error(known["score"] / 100, "measured", 198)
    there = win_chance(fit, known["best"], "gpqa_diamond", known["score"] / 100, stderr)
    assert known["chance"] == pytest.approx(there, abs=0.02)
