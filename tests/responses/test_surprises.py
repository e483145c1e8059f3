"""Leaked items and mixed-up answers are found, and honest answers are left alone."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.responses import find_surprises
from tests.responses.conftest import draw
from tests.responses.test_ratings_everywhere import rated


def repeated(truth, repeats, leaked=(), leaks_to="s0"):
    """A long table of ``repeats`` tries per item; one subject knows the leaked items."""
    rng = np.random.default_rng(1)
    chance = 1 / (1 + np.exp(-(truth.ability[:, None] * truth.slope + truth.intercept)))
    right = rng.binomial(repeats, chance)
    right[int(leaks_to[1:]), list(leaked)] = repeats
    names = [(f"s{s}", f"i{i}") for s in range(len(truth.ability)) for i in range(len(truth.slope))]
    columns = {"subject": [s for s, _ in names], "item": [i for _, i in names]}
    return pl.DataFrame({**columns, "correct": right.ravel() / repeats, "n": repeats})


def test_leaked_items_are_listed_and_little_else():
    truth = draw(60, 80, seed=3)
    weak = f"s{np.argsort(truth.ability)[10]}"
    chance = truth.ability[int(weak[1:])] * truth.slope + truth.intercept
    hard = np.argsort(chance)[:8]
    found = find_surprises(repeated(truth, 8, leaked=hard, leaks_to=weak)).answers
    mine = found.filter(pl.col("subject") == weak)
    assert set(mine["item"]) >= {f"i{at}" for at in hard[:6]}
    assert found.height - mine.height <= 2
    assert found["q"].is_sorted() and (found["q"] < 0.05).all()
    assert (found["right"] > found["expected"]).all()


def test_honest_answers_are_left_alone():
    found = find_surprises(repeated(draw(80, 60, seed=4), 5))
    assert found.answers.height <= 2
    assert (found.subjects["q"] < 0.05).sum() <= 1


def test_person_fit_is_a_standard_normal_number_where_the_model_holds():
    z = find_surprises(draw(1500, 40, seed=5).wide).subjects["fit_z"]
    assert z.mean() == pytest.approx(0.0, abs=0.12)
    assert z.std() == pytest.approx(1.0, abs=0.08)


def test_answers_drawn_by_lot_follow_no_ability():
    truth = draw(300, 60, seed=6)
    lots = np.random.default_rng(2).permutation(60) % 2
    drawn = {f"i{at}": pl.when(pl.col("subject") == "s7").then(int(lots[at])).otherwise(f"i{at}") for at in range(60)}
    found = find_surprises(truth.wide.with_columns(**drawn)).subjects
    assert found["subject"][0] == "s7"
    assert found["q"][0] < 0.01
    assert found["fit_z"][0] < -3


def test_a_rate_is_a_share_and_a_higher_one_lists_no_less():
    truth = draw(60, 80, seed=3)
    weak = np.argsort(truth.ability)[10]
    hard = np.argsort(truth.ability[weak] * truth.slope + truth.intercept)[:8]
    table = repeated(truth, 8, leaked=hard, leaks_to=f"s{weak}")
    few, many = (find_surprises(table, rate=rate).answers for rate in (1e-3, 0.9))
    assert 0 < few.height < many.height
    assert few["q"].max() < 1e-3 < many["q"].max() < 0.9
    for rate in (0.0, 1.0, 5):
        with pytest.raises(MensuraError, match="between 0 and 1"):
            find_surprises(table, rate=rate)


@pytest.mark.parametrize("model", ["graded", "partial-credit"])
def test_ratings_turned_around_follow_no_ability(model):
    """Of honest subjects the person fit is a standard normal number; who rates high where all rate low comes first."""
    wide, _ = rated(400, 8, items=20)
    turned = np.where(np.argsort(np.argsort(wide.drop("subject").to_numpy().mean(axis=0))) < 10, 4, 1).tolist()
    drawn = wide.with_columns(
        pl.when(pl.col("subject") == "p8-7").then(turned[at]).otherwise(f"r{at}").alias(f"r{at}") for at in range(20)
    )
    found = find_surprises(drawn, model=model)
    assert found.subjects["subject"][0] == "p8-7"
    assert found.subjects["fit_z"][0] < -3
    honest = found.subjects["fit_z"][1:]
    assert (honest.mean(), honest.std()) == pytest.approx((0.0, 1.0), abs=0.15)
    assert found.answers.columns == ["subject", "group", "item", "category", "right", "n", "expected", "p", "q"]


def test_two_categories_have_the_person_fit_of_right_and_wrong_answers():
    wide = draw(400, 12, seed=7).wide
    right, rated_fit = (find_surprises(wide, model=model).subjects.sort("subject") for model in ("2pl", "graded"))
    assert rated_fit["fit_z"].to_list() == pytest.approx(right["fit_z"].to_list(), abs=1e-4)


def test_the_command_lists_odd_raters_and_refuses_rules_of_counting(mensura_command, tmp_path):
    rated(60, 9, items=5)[0].write_csv(tmp_path / "ratings.csv")
    arguments = ("responses", "surprises", tmp_path / "ratings.csv", "--model", "graded")
    done = mensura_command(*arguments)
    assert done.code == 0 and "of 60 subjects answer unlike the fit" in done.out
    refused = mensura_command(*arguments, settings={"partial": "full"})
    assert refused.code == 2 and "of no use to --model graded" in refused.err
