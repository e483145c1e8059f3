"""Published scores of people on known benchmarks."""

import polars as pl
import pytest

import mensura
from mensura.baseline import find_known
from mensura.baseline.registry import published_means
from mensura.stitching import place_people

TESTS = ("agents_last_exam", "aime", "arc_agi_1", "critpt", "mcp_atlas", "swe_rebench")
"""Tests whose groups have ranges, numbers of people, scores of about zero, or the very score of the best model."""


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


@pytest.mark.slow
def test_a_known_baseline_gives_the_chances_of_the_people_page():
    """One rule for who counts, what is known of people and models, and who is above whom."""
    evidence = mensura.load()
    page = place_people(mensura.stitch(evidence), evidence).tests
    compared = 0
    for there in page.filter(pl.col("benchmark").is_in(TESTS)).iter_rows(named=True):
        rows = find_known(there["benchmark"], evidence).passed.filter(group=there["group"])
        if there["reason"] is not None:
            assert rows.is_empty()
            continue
        here = rows.row(0, named=True)
        assert (here["passed_by"], here["of"], here["first"]) == (there["above"], there["models"], there["first"])
        assert here["best"] == there["best"]
        assert here["best_score"] == pytest.approx(100 * there["best_score"])
        assert here["chance"] == pytest.approx(there["chance"], abs=0.001)
        compared += 1
    assert compared == 10


@pytest.mark.parametrize(
    "name", ["hellaswag.jsonl", "hellaswag_val.jsonl", "HellaSwag-test-00000.parquet", "hellaswag"]
)
def test_a_file_is_known_by_the_name_of_its_benchmark(name):
    assert published_means(name) == published_means("HellaSwag") != []
    assert not published_means("my-hellaswag-like.csv")


@pytest.mark.parametrize("name", ["AIW", "PRMBench", "MultiChallenge", "LiveIdeaBench"])
def test_a_benchmark_that_nobody_measured_names_the_command_that_estimates(name):
    [warning] = mensura.baseline.find_known(name, mensura.load()).warnings
    assert "no study measured people" in warning and "mensura baseline ITEMS --people world" in warning
