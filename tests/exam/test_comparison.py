"""People and models compared: rates on the same items, one scale, place among people, errors in common, effort."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from mensura.exam.adaptive import FEWEST
from mensura.exam.comparison import (
    _difference,
    _expected,
    _model_row,
    _people_row,
    agreement_among,
    compare_languages,
    error_agreement,
    scale,
)
from mensura.exam.rates import AnswerMatrix, MeanRate
from mensura.exam.report import _expected_mean
from mensura.exam.weights import LEAST_SHOWN


def test_errors_that_fall_on_the_same_items_agree_and_independent_ones_do_not():
    rng = np.random.default_rng(0)
    hard = rng.random(400) < 0.5
    people = np.tile(~hard, (20, 1)).astype(float)
    given = np.ones_like(people, dtype=bool)
    taken = np.ones(400, dtype=bool)
    assert error_agreement((~hard).astype(float), taken, people, given) == pytest.approx(1.0)
    assert error_agreement(hard.astype(float), taken, people, given) < -0.9
    assert abs(error_agreement((rng.random(400) < 0.5).astype(float), taken, people, given)) < 0.15
    assert agreement_among(people, given) == pytest.approx(1.0)


@pytest.mark.parametrize("persons", range(2, 30))
def test_where_all_are_right_throughout_there_is_no_agreement_on_errors(persons):
    """Six weights of 1/6 add up to one less a last bit: such a sum must not pass for disagreement."""
    people = np.ones((persons, 3))
    given = np.ones_like(people, dtype=bool)
    assert np.isnan(error_agreement(np.ones(3), np.ones(3, dtype=bool), people, given))


def test_the_row_of_people_counts_people_alone():
    exam = SimpleNamespace(settings=SimpleNamespace(study=SimpleNamespace(pay_per_hour=12.0)))
    rows = [("people", "right", 1.0, 10.0), ("people", "blank", 0.0, 20.0), ("models", "right", 1.0, 1.0)]
    scored = pl.DataFrame(rows, schema=["kind", "outcome", "score", "seconds"], orient="row")
    row = _people_row(exam, scored, MeanRate(0.5, 0.2, 0.8, 0.1, 2))
    assert row["no_answer"] == 0.5
    assert row["seconds_per_right"] == 30.0
    assert row["cost_per_right"] == pytest.approx(0.1)


def test_agreement_is_cohens_kappa_weighted_by_the_items_in_common():
    """One person: 4 common items, same on 3; rates 2/4 and 3/4 give ½ by chance, so kappa is (¾ − ½) / (1 − ½)."""
    people, score = np.array([[1.0, 1.0, 0.0, 0.0, 1.0]]), np.array([1.0, 1.0, 1.0, 0.0, 0.0])
    given, taken = np.array([[True] * 5]), np.array([True] * 4 + [False])
    assert error_agreement(score, taken, people, given) == pytest.approx(0.5)
    assert error_agreement(score, taken, np.array([[0.5, 0.6, 0.49, 0.0, 1.0]]), given) == pytest.approx(0.5)
    two = np.array([[1.0, 1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0, 0.0]])
    both = np.array([[True] * 5, [True, True, False, False, False]])
    same, chance = (4 * 0.75 + 2 * 0.5) / 6, (4 * 0.5 + 2 * 0.5) / 6
    assert error_agreement(score, taken, two, both) == pytest.approx((same - chance) / (1 - chance))
    assert np.isnan(error_agreement(score, np.zeros(5, dtype=bool), people, given))


def test_agreement_among_people_is_of_each_with_all_others():
    people = np.array([[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]])
    given = np.ones_like(people, dtype=bool)
    assert agreement_among(people, given) == pytest.approx((0 + 0 - 1) / 3)


def model_rows(*rows):
    names = ["subject", "item", "repeat", "outcome", "score", "cost", "seconds"]
    types = {"score": pl.Float64, "cost": pl.Float64, "seconds": pl.Float64}
    return pl.DataFrame(rows, schema=names, schema_overrides=types, orient="row")


def test_the_row_of_a_model_counts_items_and_not_their_repeats():
    """Rates 1, ½ and 0 of three items from two repeats; the fourth item has no score."""
    own = model_rows(
        ("m", "a", 0, "right", 1.0, 0.02, 1.0),
        ("m", "b", 0, "right", 1.0, 0.02, 2.0),
        ("m", "c", 0, "wrong", 0.0, None, 3.0),
        ("m", "a", 1, "right", 1.0, 0.02, None),
        ("m", "b", 1, "wrong", 0.0, None, 1.0),
        ("m", "c", 1, "wrong", 0.0, None, 2.0),
        ("m", "d", 0, "ungraded", None, None, None),
    )
    exam = SimpleNamespace(scored=[SimpleNamespace(item=name) for name in "abcd"])
    answers = AnswerMatrix(np.array([[1.0, 0, 0, 1], [1, 1, 0, 0]]), np.ones((2, 4), dtype=bool), np.ones(2))
    place = {"percentile": 40.0, "one_in": 2.5, "at_least": False, "low": 0.5, "high": 0.8}
    row = _model_row(exam, own, answers, place)
    assert (row["rate"], row["n"], row["kind"]) == (0.5, 3, "models")
    assert row["low"] < 0.5 < row["high"]
    assert row["spread"] == pytest.approx(abs(2 / 3 - 1 / 3) / 2**0.5)
    assert row["cost_per_right"] == pytest.approx(0.06 / 3)
    assert row["seconds_per_right"] == pytest.approx(9 / 3)
    assert (row["percentile_low"], row["percentile_high"]) == (pytest.approx(20.0), pytest.approx(50.0))
    assert (row["people_rate"], row["difference"]) == (pytest.approx(0.5), pytest.approx(0.0))
    alone = _model_row(exam, own.filter(repeat=0), answers, {})
    assert alone["spread"] is None and "percentile" not in alone
    none = _model_row(exam, own.filter(item="d"), answers, {})
    assert np.isnan(none["rate"]) and none["n"] == 0 and none["cost_per_right"] is None and "difference" not in none


def test_a_difference_counts_items_as_a_sample_of_such_items():
    """Each of 200 alike people answers all items: the error is that of the differences between items."""
    rate = np.array([0.2, 0.4, 0.6, 0.8])
    people = (np.arange(200)[:, None] % 10 < 10 * rate).astype(float)
    answers = AnswerMatrix(people, np.ones((200, 4), dtype=bool), np.ones(200))
    score = np.array([0.5, 0.4, 1.0, np.nan])
    found = _difference(score, answers)
    gap = score[:3] - rate[:3]
    assert (found["people_rate"], found["difference"]) == pytest.approx((0.4, gap.mean()))
    least = 2.919986 * gap.std(ddof=1) / 3**0.5
    half = (found["difference_high"] - found["difference_low"]) / 2
    assert least <= half < 1.1 * least
    assert _difference(np.array([1.0, np.nan, np.nan, np.nan]), answers) == {}


def test_silent_people_are_those_who_left_it_blank_or_were_late():
    exam = SimpleNamespace(settings=SimpleNamespace(study=SimpleNamespace(pay_per_hour=None)))
    rows = [("people", outcome, 0.0, 5.0) for outcome in ("blank", "late", "wrong", "wrong")]
    row = _people_row(
        exam,
        pl.DataFrame(rows, schema=["kind", "outcome", "score", "seconds"], orient="row"),
        MeanRate(0, 0, 1, 0.1, 2),
    )
    assert row["no_answer"] == 0.5
    assert row["seconds_per_right"] is row["cost_per_right"] is None


def outcomes(people, models=0, items=6, right=lambda person, item: item < person % 7):
    """Return right and wrong answers of people and models to all items."""
    takers = [(f"p{n}", "people", n) for n in range(people)] + [(f"m{n}", "models", n + 1) for n in range(models)]
    rows = [(name, kind, f"q{item}", float(right(n, item))) for name, kind, n in takers for item in range(items)]
    return pl.DataFrame(rows, schema=["subject", "kind", "item", "score"], orient="row")


def test_a_few_people_are_no_scale():
    few = scale(outcomes(FEWEST - 1), dict.fromkeys([f"p{n}" for n in range(FEWEST - 1)], 1.0))
    assert few.fit is None and few.among.is_empty() and few.dif.is_empty()
    assert len(few.warnings) == 1 and f"a common scale needs {FEWEST}" in few.warnings[0]


def test_models_are_placed_among_the_people_by_their_own_answers():
    """A model that is right throughout lies above one that is never right; two models tell no items that favour."""
    answers = outcomes(40, 2).with_columns(
        score=pl.when(pl.col("subject") == "m0").then(1.0).when(pl.col("subject") == "m1").then(0.0).otherwise("score")
    )
    scaled = scale(answers, dict.fromkeys([f"p{n}" for n in range(40)], 1.0))
    ability = dict(scaled.fit.subjects.filter(group="models").select("subject", "ability").iter_rows())
    people = scaled.fit.subjects.filter(group="people")["ability"]
    assert ability["m1"] < people.min() < people.max() < ability["m0"]
    assert "models that sat the exam: 2; items that favour a kind are named from 3 on" in scaled.warnings
    assert scaled.dif.is_empty()
    place = dict(scaled.among.select("subject", "percentile").iter_rows())
    assert place["m0"] > 80 > 20 > place["m1"]


def test_answers_that_no_fit_tells_apart_name_the_reason():
    alike = outcomes(40, 3, right=lambda person, item: True)
    scaled = scale(alike, dict.fromkeys([f"p{n}" for n in range(40)], 1.0))
    assert scaled.fit is None
    assert scaled.warnings[0].startswith("no common scale: ")


def test_one_language_is_compared_with_none():
    exam = SimpleNamespace(languages=["en", "fr"], scored=[])
    assert compare_languages(exam, pl.DataFrame({"subject": ["p0"]}), outcomes(1), {})[0].is_empty()
    kept = pl.DataFrame(
        {"subject": [f"p{n}" for n in range(LEAST_SHOWN + 2)], "sat_in": ["en"] * LEAST_SHOWN + ["fr"] * 2}
    )
    assert compare_languages(exam, kept, outcomes(LEAST_SHOWN + 2), {})[0].is_empty()


def alike_bank():
    """An adaptive exam whose rate on all items is the ability itself."""
    return SimpleNamespace(bank=SimpleNamespace(chances=lambda ability: np.asarray(ability)[None]))


def placed(*rows):
    subjects = pl.DataFrame(rows, schema=["subject", "group", "ability", "low", "high"], orient="row")
    return SimpleNamespace(fit=SimpleNamespace(subjects=subjects))


def test_a_model_of_an_adaptive_exam_has_the_rate_that_its_ability_predicts():
    scaled = placed(("m", "models", 0.7, 0.6, 0.9), ("p", "people", 0.1, 0.0, 0.2))
    row = {"rate": 0.7, "low": 0.6, "high": 0.9}
    assert _expected(alike_bank(), "m", None, scaled) == pytest.approx(row)
    half = (0.15**2 + (1.6448536 * 0.1) ** 2) ** 0.5
    ends = {"people_rate": 0.5, "difference": 0.2, "difference_low": 0.2 - half, "difference_high": 0.2 + half}
    assert _expected(alike_bank(), "m", MeanRate(0.5, 0.3, 0.7, 0.1, 9), scaled) == pytest.approx(row | ends)
    assert _expected(alike_bank(), "p", None, scaled) == {}
    assert _expected(alike_bank(), "m", None, SimpleNamespace(fit=None)) == {}


def test_the_mean_of_people_of_an_adaptive_exam_is_weighted_and_counts_the_error_of_abilities():
    scaled = placed(*[(name, "people", rate, rate - 0.1, rate + 0.1) for name, rate in (("a", 0.4), ("b", 0.8))])
    of_ability = (0.2 / (2 * 1.6448536)) ** 2
    se = ((0.03 + of_ability) * 10) ** 0.5 / 4
    mean = _expected_mean(alike_bank(), scaled, {"a": 1.0, "b": 3.0})
    assert mean == pytest.approx((0.7, 0.7 - 1.6448536 * se, min(1.0, 0.7 + 1.6448536 * se), se, 2))
    assert _expected_mean(alike_bank(), scaled, {"a": 1.0}) is None
    assert _expected_mean(alike_bank(), SimpleNamespace(fit=None), {"a": 1.0, "b": 1.0}) is None
    certain = placed(*[(name, "people", 0.98, 0.5, 1.0) for name in "ab"])
    assert _expected_mean(alike_bank(), certain, {"a": 1.0, "b": 1.0}).high == 1.0
    hopeless = placed(*[(name, "people", 0.02, 0.0, 0.5) for name in "ab"])
    assert _expected_mean(alike_bank(), hopeless, {"a": 1.0, "b": 1.0}).low == 0.0


def test_weights_move_the_scale_of_people_and_no_single_ability():
    people = outcomes(40)
    names = [f"p{n}" for n in range(40)]
    plain = scale(people, dict.fromkeys(names, 1.0)).fit
    able = set(plain.subjects.filter(pl.col("ability") > 0)["subject"])
    weighted = scale(people, {name: 3.0 if name in able else 0.5 for name in names}).fit
    assert weighted.groups["mean"][0] > plain.groups["mean"][0] + 0.3
    assert weighted.subjects.equals(plain.subjects)


def test_languages_are_compared_item_by_item_in_the_order_of_the_exam():
    """The second item is easy in one language only; of items with few answers no rate is shown."""
    rows, n = [], 2 * LEAST_SHOWN
    for person in range(2 * n):
        hard = person >= n
        rows += [(f"p{person}", "z", float(person % 2)), (f"p{person}", "a", float(not hard))]
        rows += [(f"p{person}", "few", 1.0)] if person == 0 else []
    scored = pl.DataFrame(
        [(who, "people", *rest) for who, *rest in rows], ["subject", "kind", "item", "score"], orient="row"
    )
    people = [f"p{person}" for person in range(2 * n)]
    kept = pl.DataFrame({"subject": people, "sat_in": ["en"] * n + ["fr"] * n})
    exam = SimpleNamespace(
        languages=["en", "fr"],
        scored=[SimpleNamespace(item=name) for name in ("z", "a", "few")],
        settings=SimpleNamespace(language="en"),
    )
    table, _ = compare_languages(exam, kept, scored, dict.fromkeys(people, 1.0))
    assert table.select("item", "language", "n", "rate").rows() == [
        *(("z", "en", n, 0.5), ("z", "fr", n, 0.5)),
        *(("a", "en", n, 1.0), ("a", "fr", n, 0.0)),
        *(("few", "en", 1, None), ("few", "fr", 0, None)),
    ]


def test_a_person_with_one_common_item_counts_for_one_item():
    """Persons with four items (same on 3, rates ½ and ¾: chance ½) and one item (same, both right: chance 1)."""
    people = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
    given = np.array([[True] * 4, [True, False, False, False]])
    same, chance = (4 * 0.75 + 1) / 5, (4 * 0.5 + 1) / 5
    kappa = error_agreement(np.array([1.0, 1.0, 1.0, 0.0]), np.ones(4, dtype=bool), people, given)
    assert kappa == pytest.approx((same - chance) / (1 - chance))
