"""The design: forms are balanced and repeatable, the earliest time limit counts, the plan keeps its promise."""

import math
from itertools import combinations

import numpy as np
import pytest

from mensura.core.errors import MensuraError
from mensura.exam import make_form, read_exam
from mensura.exam.design import PlanTerms, choose_items, deadline, full_form, person_variance, plan_exam, rules_text
from tests.exam.conftest import TOML, write_exam

ITEMS = "item,text,key,section\na,A?,x,one\nb,B?,x,one\nc,C?,x,two\n"
SECTIONS = '[[sections]]\nname = "one"\ntitle = "First"\nminutes = 2\n[[sections]]\nname = "two"\ntitle = "Second"\n'


def bank(tmp_path, n, k, **more):
    settings = "".join(f"{name} = {value}\n" for name, value in {"items_per_person": k, **more}.items())
    toml = settings + TOML.replace('order = "fixed"\n', "").replace("shuffle_options = false\n", "")
    rows = "".join(f"q{number:02d},Text {number},a | b | c | d,a,\n" for number in range(n))
    return read_exam(
        write_exam(tmp_path / "bank", toml, f"item,text,options,key,check\n{rows}look,Choose a,a | b,a,yes\n")
    )


@pytest.fixture
def forms(tmp_path):
    exam = bank(tmp_path, 30, 10)
    taken = []
    for number in range(90):
        form = make_form(exam, number, [form.items for form in taken])
        taken.append(form)
    return exam, taken


def test_items_are_given_equally_often_and_pairs_nearly(forms):
    exam, taken = forms
    names = [item.item for item in exam.scored]
    given = {name: sum(name in form.items for form in taken) for name in names}
    assert set(given.values()) == {30}
    pairs = [sum(a in form.items and b in form.items for form in taken) for a, b in combinations(names, 2)]
    assert np.mean(pairs) == pytest.approx(90 * 10 * 9 / (30 * 29))
    assert min(pairs) >= 5
    assert np.std(pairs) < 1.3  # 2.6 if forms were drawn at random


def test_everybody_gets_every_attention_check_but_never_first(forms):
    _, taken = forms
    assert all(form.items.count("look") == 1 and form.items[0] != "look" and len(form.items) == 11 for form in taken)


def test_the_seed_repeats_a_form_and_persons_differ(forms):
    exam, taken = forms
    assert make_form(exam, 4, [form.items for form in taken[:4]]) == taken[4]
    orders = {tuple(form.options["look"]) for form in taken}
    assert orders == {(0, 1), (1, 0)}
    first = {form.items[0] for form in taken}
    assert len(first) > 15


def test_dropouts_are_made_up_for(tmp_path):
    """People who left after three items leave gaps; the next ones get the items that were missed."""
    exam = bank(tmp_path, 12, 6)
    taken = [make_form(exam, number).items[:3] for number in range(8)]
    for number in range(8, 40):
        taken.append(make_form(exam, number, taken).items)
    given = [sum(item.item in form for form in taken) for item in exam.scored]
    assert max(given) - min(given) <= 1


def test_sections_keep_their_order_and_options_their_own_where_asked(tmp_path):
    toml = TOML.replace('order = "fixed"\n', "").replace("shuffle_options = false\n", "")
    toml += '[[sections]]\nname = "two"\ntitle = "2"\n[[sections]]\nname = "one"\ntitle = "1"\n'
    rows = "".join(f"q{n},Text,a | b | c | none of these,a,{('one', 'two')[n % 2]},yes\n" for n in range(8))
    exam = read_exam(write_exam(tmp_path / "parts", toml, f"item,text,options,key,section,keep_order\n{rows}"))
    form = make_form(exam, 3)
    assert [exam.by_name[name].section for name in form.items] == ["two"] * 4 + ["one"] * 4
    assert all(order == [0, 1, 2, 3] for order in form.options.values())


@pytest.fixture
def timed(tmp_path):
    return lambda rules: read_exam(write_exam(tmp_path / "timed", TOML + rules + SECTIONS, ITEMS))


def test_a_sections_time_begins_with_the_first_of_its_items(timed):
    exam = timed("[time]\nminutes = 10\n")
    shown = {"a": 100.0, "b": 160.0, "c": 300.0}
    assert deadline(exam, 90.0, shown, "b") == 100.0 + 120.0
    assert deadline(exam, 90.0, shown, "c") == 90.0 + 600.0


def test_an_items_time_begins_when_it_is_shown(timed):
    exam = timed("[time]\nseconds_per_item = 30\n")
    assert deadline(exam, 0.0, {"c": 50.0}, "c") == 80.0
    assert deadline(exam, 0.0, {"a": 50.0}, "a") == 80.0


def test_without_limits_there_is_no_end(exam):
    assert deadline(exam, 0.0, {}, "half") == math.inf
    assert rules_text(exam) == "There is no time limit."


def test_the_rules_are_told_in_words(timed):
    assert rules_text(timed("[time]\nminutes = 10\nseconds_per_item = 30\n")) == (
        "You have 10 minutes for all questions. You have 30 seconds for each question. "
        "You have 2 minutes for the part “First”."
    )


def test_the_promised_variance_is_that_of_simulated_people():
    rng = np.random.default_rng(0)
    difficulty = np.linspace(-2.0, 2.0, 24)
    chances = 1.0 / (1.0 + np.exp(-(rng.normal(size=(20_000, 1)) - difficulty)))
    rates = chances.mean(axis=0)
    for k in (4, 12, 24):
        forms = np.array([rng.permutation(24)[:k] for _ in range(20_000)])
        right = rng.random((20_000, 24)) < chances
        means = (np.take_along_axis(right, forms, 1) - rates[forms]).mean(axis=1)
        assert person_variance(rates, k) == pytest.approx(means.var(), rel=0.06)


def test_half_the_width_takes_four_times_the_people():
    exam = read_exam("example")
    wide, narrow = (plan_exam(exam, PlanTerms(precision)).plan for precision in (0.06, 0.03))
    pairs = wide.join(narrow, on=["items", "items_per_person"])
    assert np.allclose(pairs["people_right"] / pairs["people"], 4.0, rtol=0.05)
    assert (narrow["half_width"] <= 0.03).all()


def test_a_fee_without_pay_is_refused():
    with pytest.raises(MensuraError, match=r"fee: got 0\.33, a share of pay_per_hour; give pay_per_hour too"):
        PlanTerms(0.03, fee=0.33)
    assert PlanTerms(0.03, pay_per_hour=12.0, fee=0.33).fee == 0.33


def test_pay_and_fee_make_the_cost_and_the_cheapest_comes_first():
    plan = plan_exam(read_exam("example"), PlanTerms(0.05, 60.0, 12.0, 0.25)).plan
    assert plan["cost"].is_sorted()
    first = plan.row(0, named=True)
    assert first["answers_per_item"] == pytest.approx(
        first["people"] * first["items_per_person"] / first["items"], abs=0.06
    )
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


def test_practice_comes_first_ratings_last_and_neither_counts(kinds):
    assert [item.item for item in kinds.scored] == ["capital", "share", "song"]
    assert make_form(kinds, 1).items == ("try", "capital", "share", "song", "sure", "mood")
    assert full_form(kinds, 0).items == ("capital", "share", "song", "sure", "mood")
    shuffled = kinds.settings.model_copy(update={"order": "shuffled", "shuffle_options": True})
    for number in range(20):
        form = make_form(type(kinds)(kinds.folder, shuffled, kinds.items), number)
        assert form.items[0] == "try"
        assert form.options["sure"] == [0, 1, 2]


def test_a_plan_follows_the_variance_of_people_and_of_items_that_nobody_answers(tmp_path):
    """Of 20 items people get ten: the others add (0.6 · ¼)² · ½ / 10 to the variance of the mean."""
    exam = bank(tmp_path, 20, 10)
    rates = {item.item: 0.5 for item in exam.scored}
    plan = plan_exam(exam, PlanTerms(0.08, 30.0, 12.0, 0.25), rates).plan
    assert set(plan.select("items", "items_per_person").iter_rows()) == {
        *((20, k) for k in (5, 10, 12, 15, 20)),
        *((10, k) for k in (5, 10)),
    }
    row = plan.filter(items=10, items_per_person=5).row(0, named=True)
    of_person, unseen = person_variance(np.full(20, 0.5), 5), 0.5 * 0.15**2 / 10
    people = math.ceil(of_person / ((0.08 / 1.6448536) ** 2 - unseen))
    half = 1.6448536 * (of_person / people + unseen) ** 0.5
    assert row == {
        "items": 10,
        "items_per_person": 5,
        "people": people,
        "answers_per_item": people / 2,
        "half_width": pytest.approx(half),
        "minutes": 4.5,
        "hours": pytest.approx(people * 4.5 / 60),
        "cost": pytest.approx(people * 4.5 / 60 * 12 * 1.25),
    }
    assert plan.filter(items=20, items_per_person=5)["people"][0] == math.ceil(of_person / (0.08 / 1.6448536) ** 2)


def test_the_best_design_is_said_in_one_line(tmp_path):
    exam = bank(tmp_path, 8, 8)
    plan = plan_exam(exam, PlanTerms(0.1, 60.0, 30.0))
    best = plan.plan.row(0, named=True)
    assert plan.heading == (
        f"±0.1 (90%): {best['people']} people with {best['items_per_person']} of 8 items each, "
        f"{best['hours']:.1f} hours, cost {best['cost']:,.0f}; rates unknown, taken as 0.5"
    )
    free = plan_exam(exam, PlanTerms(0.1))
    assert "cost" not in free.heading
    assert free.plan["hours"].is_sorted() and free.plan["cost"].null_count() == free.plan.height
    none = plan_exam(exam, PlanTerms(0.001))
    assert none.heading == "No design reaches ±0.001 with fewer than 100,000 people"
    for rate in (0.0, 1.0):
        with pytest.raises(MensuraError, match="rates: one is not between 0 and 1; expected the share of people"):
            plan_exam(exam, PlanTerms(0.1), {"q00": rate})


def test_between_people_of_one_ability_alike_items_differ_by_chance_alone():
    """With one item the variance is that of a single answer, whoever gives it."""
    assert person_variance(np.array([0.5]), 1) == pytest.approx(0.25)
    assert person_variance(np.full(7, 0.5), 1) == pytest.approx(0.25)
    assert person_variance(np.array([0.2]), 1) == pytest.approx(0.16, rel=0.02)
    between = person_variance(np.array([0.5]), 10**9)
    assert person_variance(np.array([0.5]), 4) == pytest.approx(between + (0.25 - between) / 4)
