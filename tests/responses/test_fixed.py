"""Fixed-item calibration: known items set the scale; new items and groups are found on it."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.responses import FitOptions, fit_responses
from tests.responses.conftest import draw


@pytest.fixture(scope="module")
def world():
    """The items of a first group, and a stronger, wider second group who took them."""
    truth = draw(3000, 10, seed=1)
    later = draw(2000, 10, seed=2, mean=0.8, sd=1.4, slope=truth.slope, intercept=truth.intercept)
    items = {"item": [f"i{at}" for at in range(10)], "discrimination": truth.slope}
    return truth, later, pl.DataFrame(items | {"difficulty": -truth.intercept / truth.slope})


@pytest.mark.parametrize("known", [5, 10])
def test_known_items_stay_and_place_the_group_and_the_new_items(world, known):
    truth, later, items = world
    fit = fit_responses(later.wide, options=FitOptions(checks=False, fixed=items.head(known)))
    assert fit.converged
    assert fit.items["discrimination"].to_list()[:known] == pytest.approx(truth.slope[:known].tolist(), abs=1e-9)
    assert fit.items["se_difficulty"].to_numpy()[:known].max() < 0.01
    row = fit.groups.row(0, named=True)
    assert row["mean"] == pytest.approx(0.8, abs=3 * row["se_mean"]) and 0.01 < row["se_mean"] < 0.1
    assert row["sd"] == pytest.approx(1.4, abs=3 * row["se_sd"])
    new = fit.items.tail(10 - known)
    off = (new["difficulty"].to_numpy() - items["difficulty"].to_numpy()[known:]) / new["se_difficulty"].to_numpy()
    assert np.all(np.abs(off) < 3.5)
    assert np.mean(fit.subjects["ability"].to_numpy()) == pytest.approx(0.8, abs=0.1)
    assert fit.quality["parameters"][0] == 2 * (10 - known) + 2


def test_rasch_items_and_other_groups_are_found_on_the_scale_of_known_ones():
    one = draw(1500, 8, seed=3, slope=np.ones(8))
    other = draw(1500, 8, seed=4, mean=-0.5, slope=np.ones(8), intercept=one.intercept, name="t")
    both = pl.concat([one.wide.with_columns(group=pl.lit("a")), other.wide.with_columns(group=pl.lit("b"))])
    known = {"item": ["i0", "i1", "i2"], "discrimination": [1.0] * 3, "difficulty": (-one.intercept[:3]).tolist()}
    fit = fit_responses(both, model="rasch", options=FitOptions(checks=False, fixed=known))
    assert fit.groups["mean"].to_list() == pytest.approx([0.0, -0.5], abs=0.15)
    assert fit.items["discrimination"].to_list() == pytest.approx([1.0] * 8)
    assert not fit.dif.height
    with pytest.raises(MensuraError, match="several discriminations"):
        fit_responses(both, model="rasch", options=FitOptions(fixed=known | {"discrimination": [1.0, 2.0, 1.0]}))


def test_a_command_fixes_the_items_of_another_fit(world, tmp_path, mensura_command):
    _, later, items = world
    items.write_csv(tmp_path / "items.csv")
    later.wide.head(500).write_csv(tmp_path / "later.csv")
    how = ("--set", f"fix={tmp_path / 'items.csv'}", "--out", tmp_path / "fixed")
    done = mensura_command("responses", "fit", tmp_path / "later.csv", *how)
    assert done.code == 0, done.err
    assert pl.read_csv(tmp_path / "fixed" / "groups.csv")["mean"][0] == pytest.approx(0.8, abs=0.3)
    with pytest.raises(MensuraError, match="none of its items was answered"):
        fit_responses(later.wide, options=FitOptions(fixed=items.with_columns(item="x" + pl.col("item"))))
