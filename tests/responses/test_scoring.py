"""New people and models on the items of a fit: their own abilities, on a scale that stays as it was."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.responses import fit_responses, place_among, read_responses, score_new
from mensura.responses.adaptive import Aim
from tests.responses.conftest import draw


@pytest.fixture(scope="module")
def drawn():
    return draw(1500, 24, seed=5, name="p")


@pytest.fixture(scope="module")
def fit(drawn):
    return fit_responses(read_responses(drawn.wide.head(1400)), model="2pl")


def test_new_people_get_the_abilities_that_a_fit_with_them_gives(drawn, fit):
    """A hundred people who were not in the fit, on its scale: the same as if they had been in it."""
    answers = read_responses(drawn.wide.tail(100))
    placed = score_new(fit, answers, aim=Aim(0.0, 1.0)).subjects
    both = fit_responses(read_responses(drawn.wide), model="2pl").subjects
    joined = placed.join(both, on="subject", suffix="_joint")
    assert joined.height == 100
    assert np.abs(joined["ability"] - joined["ability_joint"]).max() < 0.1
    truth = pl.Series(drawn.ability[1400:])
    inside = (placed["low"] < truth) & (truth < placed["high"])
    assert 0.8 < inside.mean() < 0.98


def test_a_model_is_placed_among_the_people_of_the_fit(fit):
    """All right is above all wrong, and the model need not have taken every item."""
    items = fit.items["item"].to_list()
    rows = [("good", item, 1) for item in items] + [("bad", item, 0) for item in items[:10]]
    new = read_responses(pl.DataFrame(rows, schema=["subject", "item", "correct"], orient="row"))
    placed = place_among(score_new(fit, new), group=fit.reference).subjects
    iq = dict(placed.select("subject", "iq").iter_rows())
    assert iq["good"] > 125
    assert iq["bad"] < 85
    assert placed["subject"].to_list() == ["good", "bad"]


def test_items_of_a_log_go_by_their_id(fit):
    item = fit.items["item"][3]
    plain, logged = (
        score_new(fit, read_responses(pl.DataFrame({"subject": ["m"], "item": [name], "correct": [1]}))).subjects
        for name in (item, f"task:{item}")
    )
    assert plain.equals(logged)
    assert plain["n"].to_list() == [1]


def test_answers_to_other_items_are_refused(fit):
    with pytest.raises(MensuraError, match="m: none of its items is in the bank; expected 'i0' or one of 23 others"):
        score_new(fit, read_responses(pl.DataFrame({"subject": ["m"], "item": ["zz"], "correct": [1]})))
    known = fit.items["item"][0]
    table = pl.DataFrame({"subject": ["m", "other"], "item": [known, "zz"], "correct": [1, 1]})
    with pytest.raises(MensuraError, match="other: none of its items is in the bank"):
        score_new(fit, read_responses(table))
