"""Who was passed, by hand: errors of people and models, chances, verdicts, guessing, and grades of results."""

from datetime import date
from statistics import NormalDist

import polars as pl
import pytest

from mensura.evidence.passing import (
    ABOUT_ZERO,
    ASSUMED_ERROR,
    NOT_PASSED,
    PASSED,
    UNKNOWN,
    UNSURE,
    chance_over,
    comparable_people,
    count_grades,
    guess_limit,
    number_word,
    people_rates,
    say_passed,
    say_solid,
    score_variance,
    verdict_of,
    who_is_above,
    why_not_comparable,
    with_grades,
)
from mensura.scale import rate_interval

GROUP = {"score": 0.5, "low": None, "high": None, "status": "measured", "n": 100, "items": 40}
SCHEMA = {"score": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "items": pl.Int64}


def people(**cells):
    table = pl.DataFrame([GROUP | cells], schema_overrides=SCHEMA)
    return people_rates(table).row(0, named=True)


def test_the_error_of_people_comes_from_the_range_else_the_people_else_the_items():
    assert people(low=0.4, high=0.7290)["stderr"] == pytest.approx(0.1)
    assert people()["stderr"] == pytest.approx((0.25 / 100) ** 0.5)
    assert people(n=None)["stderr"] == pytest.approx((0.25 / 40) ** 0.5)
    assert people(status="quoted")["stderr"] == ASSUMED_ERROR
    perfect = (21 / 22) * (1 / 22)  # one success and one failure more in 20 trials
    assert people(score=1.0)["stderr"] == pytest.approx((perfect / 100) ** 0.5)


def test_a_judged_score_of_about_zero_is_a_bound():
    judged = people(score=0.0, status="judged")
    assert (judged["bound"], judged["score"]) == ("at most", ABOUT_ZERO)
    measured = people(score=0.0)
    assert (measured["bound"], measured["score"]) == (None, 0.0)


def test_the_chance_of_being_above_is_the_normal_one_of_both_errors():
    assert chance_over(0.6, 0.03**2, 0.5, 0.04) == pytest.approx(NormalDist(0.5 - 0.6, 0.05).cdf(0))
    assert chance_over(0.5, 0.0, 0.5, 0.1) == 0.5
    assert chance_over(0.55, 0.0, 0.5, 0.0) == pytest.approx(NormalDist().cdf(2.5))  # two runs differ by 0.02
    assert 0 < chance_over(0.0, 0.0, 0.5, 0.0) < 1e-130  # exact 25 errors away


def test_verdicts_change_at_their_bounds():
    assert [verdict_of(chance) for chance in (None, 0.95, 0.949, 0.051, 0.05)] == [
        UNKNOWN,
        PASSED,
        UNSURE,
        UNSURE,
        NOT_PASSED,
    ]


def test_the_first_model_that_passed_is_the_earliest_and_the_best_need_not_be():
    models = pl.DataFrame(
        {
            "subject": ["late", "early", "undated", "below"],
            "released": [date(2026, 1, 1), date(2025, 1, 1), None, date(2024, 1, 1)],
            "score": [0.9, 0.8, 0.95, 0.4],
            "variance": [0.0] * 4,
        }
    )
    above = who_is_above(models, 0.5, 0.05)
    assert (above.models, above.above, above.first, above.passed) == (4, 3, "early", date(2025, 1, 1))
    assert (above.best, above.best_score) == ("undated", 0.95)
    nobody = who_is_above(models, 0.99, 0.05)
    assert (nobody.above, nobody.first, nobody.passed) == (0, None, None)
    assert nobody.chance < 0.5


def test_a_variance_counts_one_success_and_one_failure_more():
    assert score_variance(1.0, 8) == pytest.approx(0.9 * 0.1 / 8)
    assert score_variance(0.5, 98.0) == pytest.approx(0.25 / 98)


def test_a_score_is_guessing_where_its_interval_reaches_down_to_chance():
    """The limit of guessing and the interval are one rule."""
    for n in (5.0, 70.0, 198.0):
        limit = float(guess_limit(0.25, n))
        assert float(rate_interval(limit * n, n)[0]) == pytest.approx(0.25)


def test_groups_that_compare_with_nobody_have_a_reason():
    reasons = why_not_comparable()
    assert len(reasons) == comparable_people().filter(~pl.col("comparable")).height > 0
    assert all(reason.strip() for reason in reasons.values())


def test_counts_are_said_in_words():
    assert say_passed([PASSED, UNSURE, PASSED]).startswith("AI has passed two of the three groups of people")
    assert say_passed([]).startswith("No measured group")
    assert say_solid(["A", "D", None]) == "One of those passed has a result of grade A to C."
    assert say_solid(["A", "C", "E"]) == "Two of those passed have a result of grade A to C."
    assert [number_word(count) for count in (0, 12, 13)] == ["no", "twelve", "13"]


@pytest.mark.parametrize(
    ("row", "kind", "grade"),
    [
        (("measured", 30, "Paper; answers published", None), "measured", "A"),
        (("measured", 29, "Paper; answers published", None), "measured", "B"),
        (("measured", 10, "Paper", None), "measured", "B"),
        (("measured", 9, "Paper", None), "measured", "C"),
        (("measured", None, None, None), "measured", "C"),
        (("measured", 50, "As quoted by a blog", None), "quoted", "D"),
        (("measured", 50, "Paper", "catalogue"), "quoted", "D"),
        (("judged", 50, "Paper", None), "estimated", "E"),
        (("threshold", None, "Rules", None), "threshold", None),
    ],
)
def test_a_grade_is_how_a_result_was_obtained(row, kind, grade):
    table = pl.DataFrame([row], schema=["status", "n", "source", "seen"], orient="row")
    graded = with_grades(table.cast({"source": pl.String, "seen": pl.String, "n": pl.Int64})).row(0, named=True)
    assert (graded["kind"], graded["grade"]) == (kind, grade)
    if grade is None:
        assert graded["raised_by"] == "a score of people, not a mark that they must reach"


def test_grades_are_counted_with_the_thresholds_apart():
    graded = pl.DataFrame({"grade": ["A", "C", "C", None], "kind": [*["measured"] * 3, "threshold"]})
    assert count_grades(graded) == "A 1, B 0, C 2, D 0, E 0; 1 threshold without a letter"
    assert count_grades(graded.head(3)) == "A 1, B 0, C 2, D 0, E 0"


def test_the_grade_follows_the_short_rule():
    rows = pl.DataFrame(
        {
            "status": ["measured"] * 6 + ["judged", "threshold"],
            "n": [30, 29, 30, 9, None, 500, None, 375],
            "source": ["released data", "released data", "a paper", "a paper", "a paper", "a paper", "us", "rules"],
            "seen": ["paper", "paper", "paper", "author", "paper", "catalogue", "evidence", "paper"],
        }
    )
    graded = with_grades(rows)
    assert graded["grade"].to_list() == ["A", "B", "B", "C", "C", "D", "E", None]
    assert graded["kind"].to_list() == ["measured"] * 5 + ["quoted", "estimated", "threshold"]
    assert count_grades(graded) == "A 1, B 2, C 2, D 1, E 1; 1 threshold without a letter"
    assert graded["raised_by"].null_count() == 0


@pytest.mark.parametrize(
    ("group", "score", "stderr", "bound"),
    [
        ({"score": 0.5, "low": 0.4, "high": 0.6}, 0.5, 0.2 / 3.29, None),
        ({"score": 0.5, "status": "estimated"}, 0.5, 0.05, None),
        ({"score": 0.0, "status": "estimated"}, 0.02, 0.05, "at most"),
        ({"score": 0.0, "status": "judged"}, 0.02, 0.05, "at most"),
        ({"score": 0.0, "n": 100}, 0.0, (1 / 22 * 21 / 22 / 100) ** 0.5, None),
        ({"score": 0.5, "items": 25}, 0.5, 0.1, None),
        ({"score": 0.5, "n": 100, "items": 25}, 0.5, 0.05, None),
        ({"score": 0.5}, 0.5, 0.05, None),
    ],
)
def test_the_error_of_a_group_is_its_range_its_number_or_assumed(group, score, stderr, bound):
    usual = {"low": None, "high": None, "status": "measured", "n": None, "items": None}
    types = dict.fromkeys(("low", "high", "n", "items"), pl.Float64)
    row = people_rates(pl.DataFrame([usual | group], schema_overrides=types)).row(0, named=True)
    assert (row["score"], row["stderr"], row["bound"]) == (score, pytest.approx(stderr), bound)
