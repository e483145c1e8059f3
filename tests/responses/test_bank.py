"""A bank of items: abilities from answers by integrals, errors of items by hand, and which items are chosen."""

from collections import Counter

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad

from mensura.core.errors import MensuraError
from mensura.responses import Aim, ItemBank, next_items, select_items
from mensura.responses.adaptive import items_to_go
from mensura.responses.bank import Placement, difficulty_line, spread_place, turn_share

Z90 = 1.6448536269514722


def bank_of(slopes, difficulties, names=None, **more):
    items = names or [f"i{place}" for place in range(len(slopes))]
    return ItemBank.from_table({"item": items, "discrimination": slopes, "difficulty": difficulties, **more})


def test_without_answers_a_subject_stands_where_the_prior_has_it():
    place = bank_of([1.0, 2.0], [0.0, 1.0]).place(np.zeros(2), np.zeros(2), mean=0.5, sd=0.7)
    assert (place.ability, place.se, place.n) == (pytest.approx(0.5), pytest.approx(0.7), 0)


def test_an_ability_is_the_mean_of_prior_times_likelihood():
    slopes, difficulties = np.array([1.2, 0.8, 2.0, 1.0]), np.array([-1.0, 0.5, 1.0, 3.0])
    right, trials = np.array([1.0, 2.0, 0.0, 0.0]), np.array([1.0, 3.0, 1.0, 0.0])

    def density(ability):
        chance = 1 / (1 + np.exp(-slopes * (ability - difficulties)))
        return np.prod(chance**right * (1 - chance) ** (trials - right)) * np.exp(-0.5 * ((ability - 0.3) / 1.4) ** 2)

    total, first, second = (quad(lambda x, k=k: x**k * density(x), -8, 8)[0] for k in range(3))
    place = bank_of(slopes, difficulties).place(right, trials, mean=0.3, sd=1.4)
    assert place.ability == pytest.approx(first / total, abs=1e-6)
    assert place.se == pytest.approx(np.sqrt(second / total - (first / total) ** 2), abs=1e-6)
    assert place.n == 3


def test_errors_of_the_items_add_the_variance_they_give_to_the_slope():
    """One item, answered right and wrong at random: the slope a(y − P) changes with a by y − P − a(θ − b)PQ."""
    slope, difficulty, of_slope, of_difficulty = 1.5, 0.4, 0.2, 0.3
    sure, unsure = (
        bank_of([slope], [difficulty], **errors)
        for errors in ({}, {"se_discrimination": [of_slope], "se_difficulty": [of_difficulty]})
    )
    right, trials = np.array([1.0]), np.array([1.0])
    known, found = (bank.place(right, trials, mean=1.0, sd=0.8) for bank in (sure, unsure))
    chance = 1 / (1 + np.exp(-slope * (known.ability - difficulty)))
    fixed = -slope * (known.ability - difficulty) * chance * (1 - chance)
    by_slope = chance * (1 - chance + fixed) ** 2 + (1 - chance) * (-chance + fixed) ** 2
    by_difficulty = (slope**2 * chance * (1 - chance)) ** 2
    extra = known.se**4 * (by_slope * of_slope**2 + by_difficulty * of_difficulty**2)
    assert found.ability == known.ability
    assert found.se**2 - known.se**2 == pytest.approx(extra)


def test_a_bank_is_read_with_what_its_table_says():
    plain = bank_of([1.0, 1.0, 1.0], [0.0, 1.0, 2.0], n=[10, 40, 90])
    assert (plain.parameters.model, plain.answers) == ("2pl", 40.0)
    assert (plain.errors == 0).all()
    assert bank_of([1.0], [0.0]).answers is None
    guessed = bank_of([1.0, 1.0], [0.0, 1.0], guessing=[0.25, None], se_difficulty=[0.1, float("inf")])
    assert guessed.parameters.model == "3pl"
    assert guessed.chances(np.array([-50.0]))[:, 0] == pytest.approx([0.25, 0.0], abs=1e-9)
    assert guessed.errors.tolist() == [[0.0, 0.1], [0.0, 0.0]]
    assert guessed.only([1]).items == ("i1",)
    for wrong in ({"guessing": [1.0]}, {"guessing": [-0.1]}, {"discrimination": [float("nan")]}):
        with pytest.raises(MensuraError, match="guessing from 0 to below 1"):
            ItemBank.from_table({"item": ["x"], "discrimination": [1.0], "difficulty": [0.0], **wrong})


def test_contents_keep_their_shares_and_the_largest_remainder_is_rounded_up():
    """Four of seven are 4 · 4/7 = 2.3, 4 · 2/7 = 1.1 and 4 · 1/7 = 0.6 items."""
    names = ["a:1", "a:2", "a:3", "a:4", "b:1", "b:2", "c:1"]
    form = select_items(bank_of([1.0] * 7, np.linspace(-1, 1, 7), names), 4).form
    assert Counter(form["content"]) == {"a": 2, "b": 1, "c": 1}
    own = {name: "x" if name < "b" else "y" for name in names}
    assert Counter(select_items(bank_of([1.0] * 7, [0.0] * 7, names), 7, content=own).form["content"]) == {
        "x": 4,
        "y": 3,
    }
    assert set(select_items(bank_of([1.0] * 2, [0.0] * 2), 2).form["content"]) == {"all"}


def test_items_lie_along_a_line_from_hard_to_easy_in_proportion_to_their_density():
    bank = bank_of([1.0, 1.0, 1.0], [0.0, -1.0, 1.0])
    line = difficulty_line(bank, 0.0)
    assert line.tolist() == [2, 0, 1]
    density = np.array([1.0, 1.0, 2.0])
    assert [spread_place(density, line, share) for share in (0.0, 0.49, 0.51, 0.74, 0.76, 0.999, 1.0)] == [
        *(2, 2, 0, 0, 1, 1, 1)
    ]
    assert spread_place(np.array([0.0, 1.0, 0.0]), line, 0.0) == 1
    assert spread_place(np.zeros(3), line, 0.0) == 2
    shares = sorted(turn_share(turn) for turn in range(21))
    assert turn_share(0) == pytest.approx(0.618034)
    assert np.diff([0.0, *shares, 1.0]).max() < 2.7 / 21


def test_a_form_errs_by_the_mean_posterior_variance_over_its_group():
    """Three items alike: the mean of 1/(1/σ² + 3 I(θ)) over a normal group, cut off at four standard deviations."""
    aim, slope = Aim(mean=0.2, sd=0.9), 1.7
    form = select_items(bank_of([slope] * 3, [0.5] * 3), 3, aim=aim).form
    for count, error in zip((1, 2, 3), form["error"], strict=True):

        def variance(z, count=count):
            chance = 1 / (1 + np.exp(-slope * (aim.mean + aim.sd * z - 0.5)))
            return np.exp(-0.5 * z * z) / (aim.sd**-2 + count * slope**2 * chance * (1 - chance))

        mean = quad(variance, -4, 4)[0] / quad(lambda z: np.exp(-0.5 * z * z), -4, 4)[0]
        assert error == pytest.approx(Z90 * np.sqrt(mean), rel=1e-4)
    assert form["order"].to_list() == [1, 2, 3]


def test_items_that_tell_too_little_apart_are_not_chosen():
    bank = bank_of([0.0, 1.0, 2.0], [0.0, 0.0, 0.0])
    assert set(select_items(bank, 2).form["item"]) == {"i1", "i2"}
    with pytest.raises(MensuraError, match="size: got 3; expected 1 to 2"):
        select_items(bank, 3)
    with pytest.raises(MensuraError, match="size: got 0"):
        select_items(bank, 0)
    assert next_items(bank_of([0.0, -1.0, 1.0], [0.0] * 3), {}, count=3).next["item"].to_list() == ["i2"]


@pytest.mark.parametrize(
    ("wanted", "choice", "items"),
    [
        *((0.9, "best", 1), (1.4, "best", 2), (1.7, "best", 3), (1.8, "best", None)),
        *((0.6, "spread", 1), (0.7, "spread", 2), (1.4, "spread", 3), (1.7, "spread", 3), (1.8, "spread", None)),
    ],
)
def test_items_to_go_are_those_that_bring_what_is_still_wanted(wanted, choice, items):
    """Items of information 1, ½ and ¼: in proportion to √I they bring 0.67 on average, at best 1, then 1½."""
    delta = Z90 / np.sqrt(wanted + 1 / 0.5**2)
    assert items_to_go(np.array([0.5, 1.0, 0.25]), Placement(0.0, 0.5, 3), delta, choice) == items


def test_where_a_subject_stands_is_its_placement_by_the_aims_prior():
    bank, answers = bank_of([1.5] * 9, np.linspace(-2, 2, 9)), {"i0": (1.0, 1.0), "i4": (2.0, 3.0)}
    right, trials = np.zeros(9), np.zeros(9)
    right[[0, 4]], trials[[0, 4]] = [1, 2], [1, 3]
    place = bank.place(right, trials, mean=0.0, sd=1.5)
    told = next_items(bank, answers)
    row = told.standing.row(0, named=True)
    assert (row["ability"], row["n"], row["done"]) == (place.ability, 2, False)
    assert (row["low"], row["high"]) == pytest.approx((place.ability - Z90 * place.se, place.ability + Z90 * place.se))
    loose = next_items(bank, answers, aim=Aim(delta=3.0))
    assert (loose.standing["done"][0], loose.standing["left"][0]) == (True, 0)
    assert loose.heading.endswith("after 2 items: enough")
    tight = next_items(bank, answers, aim=Aim(delta=0.9))
    assert tight.heading.endswith(f"after 2 items: about {tight.standing['left'][0]} items to go")


def test_the_first_five_items_are_the_most_informative_and_no_more():
    bank = bank_of([1.5] * 60, np.linspace(-3, 3, 60))
    best, spread = (
        next_items(bank, {}, count=9, choice=choice).next["item"].to_list() for choice in ("best", "spread")
    )
    assert spread[:5] == best[:5]
    assert spread[5:] != best[5:]
    assert len(spread) == len(set(spread)) == 9
    answers = dict.fromkeys(best[:3], (1.0, 1.0))
    best, spread = (
        next_items(bank, answers, count=4, choice=choice).next["item"].to_list() for choice in ("best", "spread")
    )
    assert spread[:2] == best[:2]
    assert spread[2:] != best[2:]


def test_exposure_draws_among_three_times_as_many_of_the_best():
    bank = bank_of(np.linspace(0.5, 1.5, 30), [0.0] * 30)
    drawn = {
        next_items(bank, {}, choice="best", exposure=np.random.default_rng(seed)).next["item"][0] for seed in range(40)
    }
    assert drawn == {"i27", "i28", "i29"}


@pytest.mark.parametrize(("answers", "warned"), [(99, True), (100, False)])
def test_a_hundred_answers_to_an_item_are_enough(answers, warned):
    bank = bank_of([1.0] * 3, [0.0, 1.0, 2.0], n=[answers] * 3)
    assert bool(next_items(bank, {}).warnings) == bool(select_items(bank, 1).warnings) == warned


def test_an_empty_answer_table_has_its_columns():
    done = next_items(bank_of([1.0], [0.0]), {"i0": (1.0, 1.0)}).next
    assert done.schema == {"item": pl.String, "content": pl.String, "information": pl.Float64}
    assert done.is_empty()
