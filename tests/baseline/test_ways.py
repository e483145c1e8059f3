"""Ways to ask language models: how a reply becomes estimates."""

import json

import numpy as np
import pytest

from mensura.baseline.ways import WAYS, find_way, fit_rates, published, read_persons, read_reply
from mensura.core.arrays import expit
from mensura.core.errors import MensuraError
from mensura.llm import UnreadableError


def test_marks_of_persons_may_be_text():
    persons = [{"person": "a cook", "answers": {"i1": str(n % 2), "i2": n % 2 == 0}} for n in range(20)]
    rows = read_persons(json.dumps({"persons": persons})).value
    assert [row["estimate"] for row in rows[:2]] == pytest.approx([50, 50])


def test_rates_of_simulated_persons_are_closer_than_their_shares():
    rng = np.random.default_rng(1)
    true = expit(rng.normal(0.5, 0.8, 400))
    right = rng.binomial(20, true)
    rate, low, high = fit_rates(right, np.full(400, 20))
    assert np.abs(rate - true).mean() < np.abs(right / 20 - true).mean()
    assert 0.85 < ((low < true) & (true < high)).mean() < 0.95


def test_the_answers_of_one_item_are_counted_with_half_an_answer_on_either_side():
    """One item is the pool's mean: 15 of 20 are 15.5 of 21; its interval has the variance kept of 1 / (n p (1 − p))."""
    p = 15.5 / 21
    noise = 1 / (20 * p * (1 - p))
    half = 1.6448536 * (0.05 / (0.05 + noise) * noise) ** 0.5
    rate, low, high = fit_rates(np.array([15.0]), np.array([20.0]))
    centre = np.log(p / (1 - p))
    assert (rate[0], low[0], high[0]) == pytest.approx(
        (p, expit(np.array(centre - half)), expit(np.array(centre + half)))
    )


def test_rates_are_drawn_to_the_mean_of_the_pool_by_their_noise():
    right, n = np.array([2.0, 18.0, 18.0]), np.array([20.0, 20.0, 200.0])
    smooth = (right + 0.5) / (n + 1)
    x, noise = np.log(smooth / (1 - smooth)), 1 / (n * smooth * (1 - smooth))
    between = x.var() - noise.mean()
    mean = np.average(x, weights=1 / (between + noise))
    rate, low, high = fit_rates(right, n)
    assert rate == pytest.approx(expit(mean + between / (between + noise) * (x - mean)))
    assert (low < rate).all() and (rate < high).all()


def persons(count, **answers):
    return [{"person": f"p{k}", "answers": {label: given(k) for label, given in answers.items()}} for k in range(count)]


def test_an_item_needs_five_persons_and_rows_come_in_percent():
    some = persons(20, i1=lambda k: k % 2, i2=lambda k: int(k < 4) if k < 4 else None, i3=lambda k: "x")
    rows = read_persons(json.dumps({"persons": some, "rationale": "guessed"})).value
    assert [row["item"] for row in rows] == ["i1", "\0memory"]
    rate, low, high = (100 * float(one[0]) for one in fit_rates(np.array([10.0]), np.array([20.0])))
    assert (rows[0]["estimate"], rows[0]["low"], rows[0]["high"]) == pytest.approx((rate, low, high))
    five = read_persons(json.dumps({"persons": persons(5, i1=lambda k: k % 2), "rationale": "guessed"}))
    assert (five.value[0]["item"], five.rationale) == ("i1", "guessed")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (persons(4, i1=lambda k: k % 2), "has 4 persons with answers; expected 20"),
        (persons(20, i1=lambda _: 1, i2=lambda _: 0), "all 20 persons give the same answers"),
        (persons(20, i1=lambda _: "yes"), "no item has answers of 0 or 1"),
        ("none", "has 0 persons"),
    ],
)
def test_answers_of_persons_that_say_nothing_are_unreadable(given, words):
    with pytest.raises(UnreadableError, match=words):
        read_persons(json.dumps({"persons": given}))


def test_all_persons_may_agree_on_easy_items_alone():
    assert read_persons(json.dumps({"persons": persons(20, i1=lambda _: 1, i2=lambda _: 1)})).value[0]["estimate"] > 90


@pytest.mark.parametrize(
    ("stated", "share"),
    [
        (67.5, 0.675),
        (0.4, 0.4),
        (1, 1),
        (100, 1.0),
        (0, 0),
        (101, None),
        (-1, None),
        ("67", None),
        (True, None),
        (None, None),
    ],
)
def test_a_published_mean_is_read_in_percent_or_as_a_share(stated, share):
    reply = {"persons": persons(5, i1=lambda k: k % 2), "benchmark": " MMLU ", "published_mean": stated}
    assert published(read_persons(json.dumps(reply)).value) == ("MMLU", share)


def test_a_reply_has_its_rows_and_its_memory_and_is_refused_without_an_estimate():
    row = {"item": "i1", "estimate": 40, "low": 30, "high": 55}
    reply = {"benchmark": "", "published_mean": None, "answers": [row, {**row, "item": "i2", "low": 45}]}
    rows = read_reply(json.dumps(reply)).value
    assert [one["item"] for one in rows] == ["i1", "i2", "\0memory"]
    assert published(rows) == (None, None)
    assert published("no rows") == (None, None)
    with pytest.raises(UnreadableError, match="the interval does not hold the estimate"):
        read_reply(json.dumps({**reply, "answers": [{**row, "low": 45}]}))


def test_ways_are_found_by_name_and_differ_in_hash_and_suffix():
    assert find_way("direct").chunk == 75 and find_way("direct").suffix == ""
    assert find_way("persons").chunk == 25 and find_way("persons").suffix
    assert len({way.hash for way in WAYS.values()}) == 2
    assert all(len(way.hash) == 12 for way in WAYS.values())
    with pytest.raises(MensuraError, match="asking"):
        find_way("nobody")
