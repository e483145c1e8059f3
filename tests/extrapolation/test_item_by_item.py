"""As published: one item per call, in up to 27 variants of the prompt; the mean of the answers is the estimate."""

import numpy as np
import pytest

from mensura.core.errors import MensuraError
from mensura.extrapolation.item_by_item import Answers, CallPlan, ask_adaptively, effects_design, levels_of

REFUSED = [({"width": 0}, "width"), ({"width": 1.5}, "width"), ({"repeats": 0}, "repeats"), ({"budget": 0.5}, "budget")]


def test_a_variant_is_repeated_only_after_all_others():
    calls = CallPlan(repeats=2).calls(item=4, done=0, more=54)
    assert sorted(variant for _, variant, repeat in calls if repeat == 0) == list(range(27))
    assert [repeat for _, _, repeat in calls] == [0] * 27 + [1] * 27


@pytest.mark.parametrize(("settings", "word"), REFUSED)
def test_plans_that_make_no_sense_are_refused(settings, word):
    with pytest.raises(MensuraError, match=word):
        CallPlan(**settings)


def test_items_start_at_different_triples_and_never_exceed_the_plan():
    plan = CallPlan(variants=9, repeats=2)
    assert [plan.calls(item, 0, 3)[0][1] for item in range(4)] == [0, 3, 6, 0]
    assert plan.calls(1, 8, 3) == [(1, 2, 0), (1, 3, 1), (1, 4, 1)]
    assert len(plan.calls(0, 16, 5)) == 2
    assert plan.calls(0, 18, 5) == []


def test_a_plan_opens_with_two_triples_where_a_width_is_asked_and_within_its_budget():
    assert CallPlan(repeats=2).opening == CallPlan(repeats=2).most == 54
    assert CallPlan(width=0.1).opening == 6
    assert CallPlan(width=0.1, budget=2.5).opening == 2
    assert CallPlan(width=0.1, budget=40).opening == 6
    assert CallPlan(budget=1).opening == 1
    for settings in ({"variants": 0}, {"width": 1.0}, {"budget": float("nan")}):
        with pytest.raises(MensuraError, match=next(iter(settings))):
            CallPlan(**settings)


def test_the_design_has_effects_that_add_up_to_0_over_the_levels():
    names = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"), ("c", "x"), ("c", "y")]
    design = effects_design(names)
    assert design[:, 0].tolist() == [1, 1, 0, 0, -1, -1]
    assert design[:, 1].tolist() == [0, 0, 1, 1, -1, -1]
    assert design[:, 2].tolist() == [1, -1, 1, -1, 1, -1]


def test_variants_that_an_item_was_not_asked_in_do_not_push_it():
    """Variant x adds 0.1, variant y takes 0.1: items asked in one of them alone still get their own mean."""
    design = effects_design([("x",), ("y",)])
    level = np.array([0.3, 0.5, 0.7, 0.4])
    asked = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (3, 1)]
    item, variant = np.array(asked).T
    answers = Answers(item, variant, level[item] + 0.1 - 0.2 * variant)
    assert levels_of(answers, 5, design).rate == pytest.approx([*level, np.nan], nan_ok=True)


def test_an_item_shares_the_spread_of_all_as_four_degrees_of_freedom():
    """Deviations of ±d around each mean: variance (4 s² + Σ) / (4 + n − 1), error √(variance / n), Student reach."""
    item = np.array([0, 0, 1, 1, 1])
    answers = Answers(item, np.zeros(5, dtype=int), np.array([0.4, 0.6, 0.5, 0.5, 0.8]))
    levels = levels_of(answers, 3, effects_design([("x",)]))
    squares = np.array([2 * 0.1**2, 2 * 0.1**2 + 0.2**2])
    common = squares.sum() / (5 - 2)
    error = np.sqrt((4 * common + squares) / (4 + np.array([1, 2])) / np.array([2, 3]))
    assert levels.rate == pytest.approx([0.5, 0.6, np.nan], nan_ok=True)
    assert levels.error == pytest.approx([*error, np.nan], nan_ok=True)
    assert levels.half[:2] == pytest.approx(error * np.array([2.015048, 1.943180]))
    assert levels.n.tolist() == [2, 3, 0]


def test_only_items_whose_answers_disagree_are_asked_again():
    """Item 0 always answers 50%, item 1 swings: both get the two opening triples, the second all there are."""
    plan = CallPlan(variants=27, repeats=1, width=0.1)
    design, seen = effects_design([("x",)] * 27), []

    def ask(calls):
        seen.append(len(calls))
        return np.array([0.5 if item == 0 else 0.1 + 0.8 * (variant % 2) for item, variant, _ in calls])

    answers, made = ask_adaptively(ask, 2, plan, design)
    assert made[1] == 27
    assert made[0] < 27
    assert len(answers.rate) == made.sum() == sum(seen)
    assert seen[0] == 12
    assert seen[-1] == 3
    _, within = ask_adaptively(ask, 2, CallPlan(width=0.1, budget=8), design)
    assert within.sum() == 16
    assert within[0] < within[1]


def test_calls_that_fail_count_and_leave_no_answer():
    design = effects_design([("x",)] * 27)
    answers, made = ask_adaptively(
        lambda calls: np.full(len(calls), np.nan), 2, CallPlan(variants=3, repeats=2), design
    )
    assert made.tolist() == [6, 6]
    assert len(answers.rate) == 0
