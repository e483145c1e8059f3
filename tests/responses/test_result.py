"""The tables behind the pictures of a fit, by hand."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.responses import FitOptions, ItemBank, ResponseFit, fit_responses
from mensura.responses.result import curve_points, difference_points, information_points, map_points
from tests.responses.conftest import draw

Z90 = 1.6448536269514722


def fit_of(difficulties, abilities):
    """A fit with items of these difficulties (error 0.1) and groups of subjects of these abilities (error 0.2)."""
    items = pl.DataFrame({"item": [f"i{at}" for at in range(len(difficulties))], "difficulty": difficulties})
    rows = [
        (f"{group}{at}", group, ability, ability - 0.2 * Z90, ability + 0.2 * Z90)
        for group, values in abilities.items()
        for at, ability in enumerate(values)
    ]
    subjects = pl.DataFrame(rows, schema=["subject", "group", "ability", "low", "high"], orient="row")
    none = pl.DataFrame()
    items = items.with_columns(discrimination=pl.lit(1.0), se_difficulty=pl.lit(0.1))
    return ResponseFit("2pl", subjects, items, none, none, none, none, none, 0.0, 1, True)


def test_a_map_holds_items_and_subjects_with_their_intervals_in_order():
    found = map_points(fit_of([2.0, -6.0, 6.01, 0.0], {"people": [1.0, -1.0], "models": [0.5]}))
    assert found["name"].to_list() == [
        "i1",
        "i3",
        "i0",
        "people1",
        "people0",
        "models0",
    ]  # an item off any map is not on it
    assert found["kind"].to_list() == ["items"] * 3 + ["people"] * 2 + ["models"]
    assert found["value"].to_list() == [-6.0, 0.0, 2.0, -1.0, 1.0, 0.5]
    widths = (found["high"] - found["low"]).to_list()
    assert widths == pytest.approx([2 * Z90 * 0.1] * 3 + [2 * Z90 * 0.2] * 3)
    assert ((found["high"] + found["low"]) / 2).to_list() == pytest.approx(found["value"].to_list())


@pytest.mark.parametrize(("subjects", "intervals", "marks"), [(60, 60, 60), (61, 0, 61), (150, 0, 150), (451, 0, 150)])
def test_of_many_subjects_some_are_drawn_and_none_hides_behind_intervals(subjects, intervals, marks):
    abilities = np.linspace(-2, 3, subjects)
    found = map_points(fit_of([0.0], {"people": abilities[::-1]})).filter(kind="people")
    assert (found.height, found["low"].count(), found["high"].count()) == (marks, intervals, intervals)
    assert (found["value"][0], found["value"][-1]) == (-2.0, 3.0)
    assert np.diff(found["value"]) == pytest.approx(np.full(marks - 1, 5 / (marks - 1)), rel=0.4)


def test_information_of_all_items_gives_the_error_of_an_ability():
    """Two items of slope 2 have 2 · 2²/4 at their difficulty, and so an error of z/√2."""
    bank = ItemBank.from_table({"item": ["x", "y"], "discrimination": [2.0, 2.0], "difficulty": [0.0, 0.0]})
    found = information_points(bank)
    assert found["ability"].to_list() == pytest.approx(np.linspace(-4, 4, 41).tolist())
    middle = found.row(20, named=True)
    assert (middle["information"], middle["error"]) == (pytest.approx(2.0), pytest.approx(Z90 / np.sqrt(2)))
    assert found["information"].arg_max() == 20


def test_an_items_curve_runs_over_four_standard_deviations_to_both_sides():
    bank = ItemBank.from_table({"item": ["x", "y"], "discrimination": [2.0, 1.0], "difficulty": [0.0, 1.0]})
    found = curve_points(bank, "y")
    assert found["ability"].to_list() == pytest.approx(np.linspace(-4, 4, 81).tolist())
    assert found["rate"].to_list() == pytest.approx((1 / (1 + np.exp(1 - found["ability"].to_numpy()))).tolist())
    with pytest.raises(MensuraError, match=r"item: got 'z'; expected a name of items\.csv, such as 'x'"):
        curve_points(bank, "z")


def test_differences_of_one_group_have_intervals_of_ninety_percent():
    dif = pl.DataFrame(
        {"group": ["a", "b"], "item": ["x", "x"], "difference": [1.0, 2.0], "se": [0.1, 0.2], "flagged": [True, False]}
    )
    [row] = difference_points(dif, "b").to_dicts()
    assert (row["item"], row["difference"], row["flagged"]) == ("x", 2.0, False)
    assert (row["low"], row["high"]) == pytest.approx((2 - 0.2 * Z90, 2 + 0.2 * Z90))


def test_observed_rates_are_told_over_half_standard_deviations_with_wilsons_interval():
    """The ends of Wilson's interval are the rates from which the observed one lies z standard errors away."""
    found = fit_responses(draw(40, 8, seed=4).wide, options=FitOptions(checks=False)).observed
    steps = np.diff(np.unique(found["ability"].to_numpy()))
    assert steps == pytest.approx(np.full(len(steps), 0.5))
    assert 2.0 <= found["n"].min() < 4.0
    for side in ("low", "high"):
        end = found[side].to_numpy()
        away = np.abs(found["rate"].to_numpy() - end) / np.sqrt(end * (1 - end) / found["n"].to_numpy())
        assert away[(end > 1e-6) & (end < 1 - 1e-6)] == pytest.approx(Z90)
    assert (found["low"] <= found["rate"]).all()
    assert (found["rate"] <= found["high"]).all()
    assert found.group_by("item").agg(pl.col("n").sum())["n"].is_between(35, 40.01).all()
