"""Two forms with common items: one goes onto the scale of the other, with errors that hold the truth."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.responses import FitOptions, fit_responses, link_fits
from mensura.responses.linking import _FINDERS as METHODS
from tests.responses.conftest import draw

QUIET = FitOptions(checks=False)


@pytest.fixture(scope="module")
def base():
    return fit_responses(draw(500, 20, seed=1).wide, options=QUIET)


@pytest.mark.parametrize("method", METHODS)
def test_a_scale_that_was_moved_and_stretched_is_found_exactly(base, method):
    """θ = 1.5 θ′ − 0.4: discriminations and difficulties on the other scale follow, and the link undoes it."""
    items = base.items.with_columns(pl.col("discrimination") * 1.5, (pl.col("difficulty") + 0.4) / 1.5)
    subjects = base.subjects.with_columns((pl.col("ability") + 0.4) / 1.5, pl.col("se") / 1.5)
    found = link_fits(replace(base, items=items, subjects=subjects), base, method=method)
    row = found.coefficients.row(0, named=True)
    assert (row["slope"], row["intercept"]) == pytest.approx((1.5, -0.4), abs=1e-5)
    assert found.items["difference"].abs().max() < 1e-4
    assert found.subjects["ability"].to_list() == pytest.approx(base.subjects["ability"].to_list(), abs=1e-4)
    assert (found.subjects["se"] > base.subjects["se"]).all(), "the errors of the link are added"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.slow
def test_two_samples_with_common_items_are_linked_within_the_errors(method):
    """Another sample, 0.7 above and with a spread of 0.8, took twelve of the items and eight of its own."""
    off = []
    for seed in range(6):
        one = draw(900, 20, seed=seed)
        slope, intercept = one.slope.copy(), one.intercept.copy()
        other = draw(900, 20, seed=seed + 50, mean=0.7, sd=0.8, slope=slope, intercept=intercept)
        names = {f"i{at}": f"own{at}" for at in range(12, 20)}
        new = fit_responses(other.wide.rename(names), options=QUIET)
        found = link_fits(new, fit_responses(one.wide, options=QUIET), method=method)
        row = found.coefficients.row(0, named=True)
        assert row["items"] == 12
        off += [(row["slope"] - 0.8) / row["se_slope"], (row["intercept"] - 0.7) / row["se_intercept"]]
    assert np.max(np.abs(off)) < 3.5
    assert 0.3 < np.std(off) < 1.7


def test_an_item_that_moved_is_named(base):
    moved = pl.when(pl.col("item") == "i3").then(pl.col("difficulty") + 3).otherwise("difficulty").alias("difficulty")
    found = link_fits(replace(base, items=base.items.with_columns(moved)), base, method="haebara")
    assert found.items.sort(pl.col("z").abs(), descending=True)["item"][0] == "i3"
    assert any("1 common items moved" in said and "i3" in said for said in found.warnings)


def test_fits_without_common_items_and_unknown_methods_are_refused(base):
    other = replace(base, items=base.items.with_columns(item="x" + pl.col("item")))
    with pytest.raises(MensuraError, match="the fits have 0 common items; expected 3 or more"):
        link_fits(other, base)
    with pytest.raises(MensuraError, match="expected one of mean-sigma, haebara, stocking-lord"):
        link_fits(base, base, method="magic")


def test_no_link_knows_more_than_the_means_of_its_samples():
    """Each scale has its zero at the mean of 400 subjects; even known items would leave their sampling error."""
    slope, intercept = np.linspace(0.7, 1.5, 15), np.linspace(-1.5, 1.5, 15)
    base = draw(400, 15, seed=100, slope=slope, intercept=intercept)
    new = draw(400, 15, seed=200, mean=0.5, sd=1.2, slope=slope, intercept=intercept)
    fits = [fit_responses(one.wide, options=QUIET) for one in (new, base)]
    row = link_fits(*fits, method="mean-sigma").coefficients.row(0, named=True)
    least = np.sqrt((1.2**2 + 1.0) / 400)
    assert least < row["se_intercept"] < 2.0 * least


@pytest.mark.parametrize("method", ["haebara", "stocking-lord"])
@pytest.mark.parametrize("seed", [0, 5, 9])
def test_few_answers_leave_the_link_open_and_overflow_nothing(method, seed):
    """Five persons and three items: steps of draws once ran beyond all numbers."""
    rng = np.random.default_rng(seed)
    new, base = (
        fit_responses({"subject": [f"p{i}" for i in range(5)]} | {f"q{j}": rng.integers(0, 2, 5) for j in range(3)})
        for _ in range(2)
    )
    linked = link_fits(new, base, method=method)
    row = linked.coefficients.row(0, named=True)
    assert 0.01 <= row["slope"] <= 100 and abs(row["intercept"]) <= 50
    assert np.isfinite([row["se_slope"], row["se_intercept"], *linked.subjects["ability"]]).all()
