"""Adaptive testing: fewer items than by chance for the same error, honest intervals, content and exposure."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.responses import Aim, ItemBank, next_items, select_items


def bank_of(items=120, seed=0, **more):
    rng = np.random.default_rng(seed)
    table = {
        "item": [f"{'ab'[at % 2]}:{at}" for at in range(items)],
        "discrimination": np.exp(rng.normal(0, 0.4, items)),
        "difficulty": rng.normal(0, 1.2, items),
    }
    return ItemBank.from_table(table | more)


def test_information_is_slope_squared_over_four_at_the_difficulty():
    bank = ItemBank.from_table({"item": ["x"], "discrimination": [2.0], "difficulty": [0.7]})
    assert bank.information(np.array([0.7]))[0, 0] == pytest.approx(1.0)
    assert bank.chances(np.array([0.7]))[0, 0] == pytest.approx(0.5)
    guessed = ItemBank.from_table({"item": ["x"], "discrimination": [2.0], "difficulty": [0.7], "guessing": [0.2]})
    assert guessed.chances(np.array([0.7]))[0, 0] == pytest.approx(0.6)
    assert guessed.information(np.array([0.7]))[0, 0] < 1.0


def test_the_first_item_is_the_most_informative_over_the_prior():
    table = {"item": ["weak", "far", "good"], "discrimination": [0.3, 2.0, 1.8], "difficulty": [0.0, 4.0, 0.2]}
    bank = ItemBank.from_table(table)
    found = next_items(bank, {})
    assert found.next["item"].to_list() == ["good"]
    assert found.standing["n"][0] == 0
    assert select_items(bank, 1).form["item"].to_list() == ["good"]


def sequential(bank, ability, rng, aim, choice):
    answers = {}
    for _ in range(len(bank.items)):
        found = next_items(bank, answers, aim=aim, choice=choice)
        if found.standing["done"][0]:
            break
        item = found.next["item"][0]
        chance = bank.chances(np.array([ability]))[bank.items.index(item), 0]
        answers[item] = (float(rng.random() < chance), 1.0)
    return found.standing.row(0, named=True)


@pytest.mark.parametrize(("choice", "share"), [("best", 0.75), ("spread", 0.95)])
@pytest.mark.slow
def test_sequential_tests_stop_early_and_hold_the_truth(choice, share):
    bank, rng, aim = bank_of(), np.random.default_rng(1), Aim(sd=1.0, delta=0.45)
    abilities = rng.normal(size=40)
    ends = [sequential(bank, ability, rng, aim, choice) for ability in abilities]
    assert all(end["high"] - end["low"] <= 0.9 + 1e-9 for end in ends)
    inside = np.mean([end["low"] <= ability <= end["high"] for end, ability in zip(ends, abilities, strict=True)])
    assert inside >= 0.78
    average = float(np.mean(bank.information(np.array([0.0]))))
    at_random = ((1.645 / 0.45) ** 2 - 1.0) / average
    assert np.mean([end["n"] for end in ends]) < share * at_random


def test_content_is_balanced_and_exposure_drawn():
    bank = bank_of()
    form = select_items(bank, 20).form
    assert dict(form.group_by("content").len().iter_rows()) == {"a": 10, "b": 10}
    assert form["error"].is_sorted(descending=True)
    answers = {"a:0": (1.0, 1.0), "a:2": (1.0, 1.0)}
    assert set(next_items(bank, answers, count=2).next["content"]) == {"b"}
    drawn = {next_items(bank, {}, exposure=np.random.default_rng(seed)).next["item"][0] for seed in range(12)}
    assert len(drawn) > 1


def test_items_that_are_unsure_widen_the_interval():
    sure, unsure = bank_of(), bank_of(se_discrimination=np.full(120, 0.3), se_difficulty=np.full(120, 0.3))
    answers = dict.fromkeys(sure.items[:40], (1.0, 1.0))
    one, other = (next_items(bank, answers).standing for bank in (sure, unsure))
    assert one["ability"][0] == other["ability"][0]
    assert other["high"][0] - other["low"][0] > 1.05 * (one["high"][0] - one["low"][0])


def test_the_first_items_find_the_subject_and_the_rest_are_spread_along_the_difficulties():
    bank = ItemBank.from_table(
        {"item": [str(at) for at in range(200)], "discrimination": [1.5] * 200, "difficulty": np.linspace(-3, 3, 200)}
    )
    difficulty = np.linspace(-3, 3, 200)
    answers = {}
    for _ in range(45):
        item = next_items(bank, answers).next["item"][0]
        answers[item] = (float(difficulty[int(item)] < 0.0), 1.0)
    where = difficulty[[int(item) for item in answers]]
    information = bank.information(np.array([next_items(bank, answers).standing["ability"][0]]))[:, 0]
    assert np.all(np.abs(where[:5]) < 1.7)
    assert np.abs(where[5:]).max() > 2.4
    share = np.sqrt(information)[np.abs(difficulty) < 1.0].sum() / np.sqrt(information).sum()
    assert np.mean(np.abs(where[5:]) < 1.0) == pytest.approx(share, abs=0.08)
    best = next_items(bank, answers, count=3, choice="best").next["item"].to_list()
    left = [at for at in np.argsort(-information) if str(at) not in answers]
    assert {int(item) for item in best} <= set(left[:6])


def test_a_batch_holds_different_items_and_more_than_there_are_are_not_asked():
    bank = bank_of(12)
    batch = next_items(bank, {}, count=9).next["item"]
    assert batch.n_unique() == 9
    assert next_items(bank, {}, count=40).next["item"].n_unique() == 12
    assert next_items(bank, {}, count=40, choice="best").next.height == 12


def test_a_form_is_spread_by_information_and_its_beginning_is_a_form():
    bank = bank_of(200)
    spread, best = (select_items(bank, 40, choice=choice).form for choice in ("spread", "best"))
    assert best["error"][-1] < spread["error"][-1]
    nodes = np.linspace(-6, 6, 401)
    weight = np.exp(-0.5 * (nodes / 1.5) ** 2)
    density = np.sqrt(bank.information(nodes)) @ weight
    hard = bank.chances(np.zeros(1))[:, 0] < 0.5
    chosen = [hard[bank.items.index(item)] for item in spread["item"]]
    assert np.mean(chosen) == pytest.approx(density[hard].sum() / density.sum(), abs=0.08)
    assert np.mean(chosen[:10]) == pytest.approx(density[hard].sum() / density.sum(), abs=0.16)


def test_items_that_few_have_answered_are_warned_of():
    few, many = (next_items(bank_of(n=[count] * 120), {}).warnings for count in (17, 500))
    assert "calibrated on about 17 answers" in few[0]
    assert many == ()


def test_what_cannot_be_asked_is_refused():
    bank = bank_of(5)
    with pytest.raises(MensuraError, match="'z' is not in the bank"):
        next_items(bank, {"z": (1.0, 1.0)})
    with pytest.raises(MensuraError, match="size: got 9; expected 1 to 5"):
        select_items(bank, 9)
    with pytest.raises(MensuraError, match="'x' occurs twice; remove one"):
        ItemBank.from_table({"item": ["x", "x"], "discrimination": [1, 1], "difficulty": [0, 0]})
    with pytest.raises(MensuraError, match="delta 0 must be above 0"):
        Aim(delta=0.0)
    with pytest.raises(MensuraError, match="items have none"):
        select_items(bank, 2, content={"a:0": "x"})
    with pytest.raises(MensuraError, match="choice: got 'any'; expected one of spread, best"):
        next_items(bank, {}, choice="any")
    with pytest.raises(MensuraError, match="count: got 0"):
        next_items(bank, {}, count=0)
    every = dict.fromkeys(bank.items, (1.0, 1.0))
    short = next_items(bank, every, aim=Aim(delta=0.01))
    assert short.standing["left"][0] is None
    assert short.heading.endswith("after 5 items: even all items left are too few")
    assert isinstance(next_items(bank, every).next, pl.DataFrame)
