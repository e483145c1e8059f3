"""The page of people: bases in words, and which groups stand in which section."""

import polars as pl

from mensura.evidence import slug
from mensura.site.pages.people import ahead_section, base_rows, incomparable_section, registry_rows, untaken_section


def test_a_benchmark_says_plainly_when_nobody_measured_people(report, study):
    """Against the tables themselves: the references with their status, and the registry of human results."""
    took = set(study.evidence.human_references.filter(pl.col("status").is_in(["measured", "panel"]))["benchmark"])
    registered = {row["key"] for row in registry_rows(study)}
    said = set()
    for benchmark in study.benchmarks["benchmark"]:
        page = (report / "benchmarks" / f"{slug(benchmark)}.html").read_text(encoding="utf-8")
        if "Nobody measured people on this test" in page:
            said.add(benchmark)
            assert "People who took it" not in page
    assert said == set(study.benchmarks["benchmark"]) - took - registered
    assert {"ifbench", "designarena_frontend", "eq_bench_3", "aa_omniscience"} <= said
    assert "gpqa_diamond" not in said


def row_of(chance=None, reason=None, status="measured, n = 40, grade B"):
    return {"chance": chance, "reason": reason, "status": status}


def test_groups_whom_the_best_model_is_likelier_below_come_surest_first():
    section = ahead_section([row_of(0.3), row_of(0.9), row_of(0.1), row_of(None)])
    assert [row["chance"] for row in section["table"]["rows"]] == [0.1, 0.3]


def test_tests_that_no_model_took_show_counted_people_with_the_best_grade_and_most_of_them():
    row = {"page": None, "benchmark": "Quiz", "part": ""}
    rows = [{**row, "grade": grade, "n": n} for grade, n in (("B", 9), ("A", 5), ("A", 50), ("C", 900), ("B", None))]
    shown = untaken_section([*rows, {**row, "grade": "A", "n": 999, "page": "benchmarks/quiz.html"}])["table"]["rows"]
    assert [(one["grade"], one["n"]) for one in shown] == [("A", 50), ("A", 5), ("B", 9), ("B", None)]
    assert len(untaken_section(rows * 9)["table"]["rows"]) == 8, "the registry has all"


def test_only_scores_that_look_comparable_are_listed_with_why_they_are_not():
    rows = [
        row_of(reason="other items"),
        row_of(),
        *(row_of(reason="x", status=f"{word}, grade E") for word in ("judged", "constructed", "panel")),
    ]
    assert incomparable_section(rows)["table"]["rows"] == rows[:1]


def test_a_base_has_its_interval_in_words():
    for row in base_rows():
        low, high = map(float, row["interval"].split("–"))
        assert (low, high) == (round(row["low"], 2), round(row["high"], 2))
