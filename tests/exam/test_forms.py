"""Forms: every item and every pair about equally often, whoever comes; the seed repeats them."""

from itertools import combinations

import numpy as np
import pytest

from mensura.exam import make_form, read_exam
from tests.exam.conftest import TOML, write_exam


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
