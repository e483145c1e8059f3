"""Adaptive testing: fewer items than by chance for the same error, honest intervals, content and exposure."""

import numpy as np
import polars as pl
import pytest

from mensura.errors import MensuraError
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


def sequential(bank, ability, rng, aim):
    answers = {}
    for _ in range(len(bank.items)):
        found = next_items(bank, answers, aim=aim)
        if found.standing["done"][0]:
            break
        item = found.next["item"][0]
        chance = bank.chances(np.array([ability]))[bank.items.index(item), 0]
        answers[item] = (float(rng.random() < chance), 1.0)
    return found.standing.row(0, named=True)


def test_sequential_tests_stop_early_and_hold_the_truth():
    bank, rng, aim = bank_of(), np.random.default_rng(1), Aim(delta=0.45)
    abilities = rng.normal(size=40)
    ends = [sequential(bank, ability, rng, aim) for ability in abilities]
    assert all(end["high"] - end["low"] <= 0.9 + 1e-9 for end in ends)
    inside = np.mean([end["low"] <= ability <= end["high"] for end, ability in zip(ends, abilities, strict=True)])
    assert inside >= 0.78
    average = float(np.mean(bank.information(np.array([0.0]))))
    at_random = ((1.645 / 0.45) ** 2 - 1.0) / average
    assert np.mean([end["n"] for end in ends]) < 0.75 * at_random


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


def test_what_cannot_be_asked_is_refused():
    bank = bank_of(5)
    with pytest.raises(MensuraError, match="'z' is not in the bank"):
        next_items(bank, {"z": (1.0, 1.0)})
    with pytest.raises(MensuraError, match="size: got 9; the bank has 5 usable items"):
        select_items(bank, 9)
    with pytest.raises(MensuraError, match="'x' is there twice"):
        ItemBank.from_table({"item": ["x", "x"], "discrimination": [1, 1], "difficulty": [0, 0]})
    with pytest.raises(MensuraError, match="delta 0 must be above 0"):
        Aim(delta=0.0)
    with pytest.raises(MensuraError, match="items have none"):
        select_items(bank, 2, content={"a:0": "x"})
    every = dict.fromkeys(bank.items, (1.0, 1.0))
    assert next_items(bank, every, aim=Aim(delta=0.01)).standing["left"][0] is None
    assert isinstance(next_items(bank, every).next, pl.DataFrame)
