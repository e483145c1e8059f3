"""The plan: the variance it promises is the one that simulated people show; more precision costs more."""

import numpy as np
import pytest

from mensura.core.errors import MensuraError
from mensura.exam import read_exam
from mensura.exam.forms import choose_items
from mensura.exam.planning import PlanTerms, person_variance, plan_exam


def test_the_promised_variance_is_that_of_simulated_people():
    rng = np.random.default_rng(0)
    difficulty = np.linspace(-2.0, 2.0, 24)
    chances = 1.0 / (1.0 + np.exp(-(rng.normal(size=(20_000, 1)) - difficulty)))
    rates = chances.mean(axis=0)
    for k in (4, 12, 24):
        forms = np.array([rng.permutation(24)[:k] for _ in range(20_000)])
        right = rng.random((20_000, 24)) < chances
        means = (np.take_along_axis(right, forms, 1) - rates[forms]).mean(axis=1)
        assert person_variance(rates, k, 1.0) == pytest.approx(means.var(), rel=0.06)


def test_half_the_width_takes_four_times_the_people():
    exam = read_exam("example")
    wide, narrow = (plan_exam(exam, PlanTerms(precision)).plan for precision in (0.06, 0.03))
    pairs = wide.join(narrow, on=["items", "items_per_person"])
    assert np.allclose(pairs["people_right"] / pairs["people"], 4.0, rtol=0.05)
    assert (narrow["half_width"] <= 0.03).all()


def test_pay_and_fee_make_the_cost_and_the_cheapest_comes_first():
    plan = plan_exam(read_exam("example"), PlanTerms(0.05, 60.0, 12.0, 0.25)).plan
    assert plan["cost"].is_sorted()
    first = plan.row(0, named=True)
    assert first["hours"] == pytest.approx(first["people"] * (first["items_per_person"] + 2) / 60)
    assert first["cost"] == pytest.approx(first["hours"] * 12.0 * 1.25)


def test_with_estimates_fewer_items_may_be_given():
    exam = read_exam("example")
    rates = {item.item: 0.6 for item in exam.scored}
    assert plan_exam(exam, PlanTerms(0.05)).plan["items"].n_unique() == 1
    assert plan_exam(exam, PlanTerms(0.05), rates).source == "estimated"


@pytest.mark.parametrize("precision", [0.0, 0.5, -1.0])
def test_a_precision_that_means_nothing_is_refused(precision):
    with pytest.raises(MensuraError, match=r"such as 0\.03"):
        PlanTerms(precision)


def test_forms_of_the_plan_and_of_the_exam_are_the_same_design():
    taken = np.zeros((0, 20), dtype=np.float32)
    for person in range(40):
        row = np.zeros((1, 20), dtype=np.float32)
        row[0, choose_items(taken, 5, np.random.default_rng(person))] = 1.0
        taken = np.vstack([taken, row])
    assert set(taken.sum(axis=0)) == {10.0}
