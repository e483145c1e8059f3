"""Adaptive calls: balanced variants, effects taken out, calls where answers disagree."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mensura.extrapolation.item_by_item import Answers, CallPlan, ask_adaptively, effects_design, levels_of
from mensura.extrapolation.prompts import all_variants

NAMES = [(v.order, v.phrasing, v.numbers) for v in all_variants()]
DESIGN = effects_design(NAMES)


def simulated(items: int, *, noise=0.05, effects=0.0, seed: int = 0):
    """Return the items' true means over all variants and a function that answers calls with noise around them."""
    rng = np.random.default_rng(seed)
    mean = rng.uniform(0.3, 0.7, items)
    effect = DESIGN @ (effects * rng.normal(size=DESIGN.shape[1]))
    spread = np.broadcast_to(np.asarray(noise, dtype=float), (items,))

    def ask(calls):
        item, variant, _ = np.array(calls).T
        return mean[item] + effect[variant] + spread[item] * rng.normal(size=len(calls))

    return mean, ask


def test_without_a_width_every_variant_is_asked_as_often_as_planned():
    _, ask = simulated(4)
    answers, made = ask_adaptively(ask, 4, CallPlan(variants=27, repeats=2), DESIGN)
    assert made.tolist() == [54] * 4
    assert np.bincount(answers.variant).tolist() == [8] * 27


def test_the_mean_of_a_full_plan_is_the_mean_of_its_answers_effects_or_not():
    _, ask = simulated(6, effects=0.05)
    answers, _ = ask_adaptively(ask, 6, CallPlan(), DESIGN)
    plain = [answers.rate[answers.item == k].mean() for k in range(6)]
    assert levels_of(answers, 6, DESIGN).rate == pytest.approx(plain, abs=1e-12)


def test_effects_of_wording_do_not_push_items_asked_in_few_variants():
    mean, ask = simulated(200, noise=0.001, effects=0.08)
    one_each = [(item, item % 27, 0) for item in range(200)] + [(item, (item + 5) % 27, 0) for item in range(200)]
    item, variant, _ = np.array(one_each).T
    answers = Answers(item, variant, ask(one_each))
    plain = np.array([answers.rate[answers.item == k].mean() for k in range(200)])
    fitted = levels_of(answers, 200, DESIGN).rate
    assert np.abs(plain - mean).mean() > 0.05
    assert np.abs(fitted - mean).mean() < 0.002


def test_calls_go_where_answers_disagree_and_stop_where_the_interval_is_narrow():
    noise = np.where(np.arange(40) < 10, 0.15, 0.01)
    _, ask = simulated(40, noise=noise)
    plan = CallPlan(width=0.06, repeats=5)
    answers, made = ask_adaptively(ask, 40, plan, DESIGN)
    assert made[:10].mean() > 4 * made[10:].mean()
    narrow = 2 * levels_of(answers, 40, DESIGN).half <= plan.width
    assert np.all(narrow | (made == plan.most))


@pytest.mark.parametrize("noise", [0.03, 0.12])
def test_intervals_hold_the_mean_over_all_variants_as_often_as_they_say(noise):
    inside = []
    for seed in range(60):
        mean, ask = simulated(30, noise=noise, effects=0.03, seed=seed)
        answers, _ = ask_adaptively(ask, 30, CallPlan(variants=27, repeats=1, budget=6, width=1e-6), DESIGN)
        found = levels_of(answers, 30, DESIGN)
        inside.append(np.abs(found.rate - mean) <= found.half)
    assert 0.87 <= np.mean(inside) <= 0.94


def test_a_budget_is_never_passed():
    _, ask = simulated(20, noise=0.2)
    _, made = ask_adaptively(ask, 20, CallPlan(width=0.01, repeats=5, budget=10.5), DESIGN)
    assert made.sum() == 210


def test_unreadable_answers_count_as_calls_and_leave_an_item_without_answers_empty():
    answers, made = ask_adaptively(
        lambda calls: np.full(len(calls), np.nan), 3, CallPlan(width=0.05, repeats=1), DESIGN
    )
    assert made.tolist() == [27] * 3
    assert np.isnan(levels_of(answers, 3, DESIGN).rate).all()


def test_single_answers_everywhere_have_no_known_error_and_are_never_called_narrow():
    answers = Answers(np.arange(3), np.zeros(3, dtype=np.int64), np.array([0.2, 0.3, 0.4]))
    found = levels_of(answers, 3, DESIGN)
    assert found.rate.tolist() == [0.2, 0.3, 0.4] and np.isnan(found.half).all()


@given(st.integers(1, 5), st.integers(1, 27), st.integers(1, 3))
def test_any_plan_asks_each_question_at_most_once(items, variants, repeats):
    plan = CallPlan(variants=variants, repeats=repeats, width=0.05)
    seen: list[tuple[int, int, int]] = []

    def ask(calls):
        seen.extend(calls)
        return np.full(len(calls), 0.5)

    ask_adaptively(ask, items, plan, effects_design(NAMES[:variants]))
    assert len(seen) == len(set(seen)) <= items * plan.most


def test_items_start_at_different_variants_so_that_few_calls_use_them_all():
    _, ask = simulated(9)
    for width in (None, 1e-6):
        answers, made = ask_adaptively(ask, 9, CallPlan(budget=3, width=width), DESIGN)
        assert sorted(answers.variant.tolist()) == list(range(27))
        assert made.tolist() == [3] * 9
