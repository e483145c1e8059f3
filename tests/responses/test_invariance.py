"""Percentiles among people need items that behave alike for people and models: where they do, and not."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from mensura.responses import FitOptions, check_invariance, fit_responses, place_among
from tests.responses.conftest import draw

ITEMS = 40
PLACES = ["rate", "low", "high", "one_in", "percentile", "iq", "iq_low", "iq_high"]


def world(spread, models=60, seed=0):
    """People and models whose items differ in difficulty by this many logits (standard deviation)."""
    rng = np.random.default_rng(seed)
    people = draw(600, ITEMS, seed=seed, name="p")
    shifted = people.intercept + rng.normal(0, spread, ITEMS)
    others = draw(models, ITEMS, seed=seed + 1, mean=0.8, sd=0.8, name="m", slope=people.slope, intercept=shifted)
    tables = [people.wide.with_columns(group=pl.lit("people")), others.wide.with_columns(group=pl.lit("models"))]
    return fit_responses(tables, model="rasch", options=FitOptions(checks=False))


def test_where_items_behave_alike_models_are_placed_among_people():
    placed = place_among(world(0.0), group="people")
    (check,) = placed.invariance
    assert check.verdict == "alike"
    assert check.low <= 0.1 and check.high <= 0.5
    assert check.agreement > 0.95
    assert placed.subjects["iq"].null_count() == 0
    assert placed.warnings == () or "behave" not in placed.warnings[0]


@pytest.mark.slow
def test_where_items_behave_differently_no_model_has_a_percentile_and_the_reason_is_said():
    placed = place_among(world(1.2), group="people")
    (check,) = placed.invariance
    assert check.verdict == "different"
    assert check.low < 1.2 < check.high
    assert 0.45 < check.beyond < 0.75
    models = placed.subjects.filter(group="models")
    assert models.select(PLACES).null_count().row(0) == (models.height,) * len(PLACES)
    assert not models["at_least"].any()
    assert placed.subjects.filter(group="people")["iq"].null_count() == 0
    assert placed.warnings[0].startswith("items behave differently for models and people: differences spread by")
    assert "no rarity, percentile or IQ of models is printed" in placed.warnings[0]


@pytest.mark.slow
def test_few_models_leave_the_question_open_and_say_so():
    placed = place_among(world(0.0, models=6), group="people")
    assert placed.invariance[0].verdict == "open"
    assert placed.subjects["iq"].null_count() == 0
    power = placed.invariance[0].power
    assert power < 0.8
    assert placed.warnings[0].startswith("whether items behave alike for models and people cannot be told")
    assert f"a spread of 0.5 would be found with a power of {power:.0%}" in placed.warnings[0]


def test_the_spread_is_found_and_a_wrong_refusal_is_rare():
    rng = np.random.default_rng(5)
    refused, inside = 0, 0
    for true in (0.3, 0.9):
        for _ in range(100):
            se = rng.uniform(0.2, 0.5, 60)
            table = pl.DataFrame({"item": range(60), "difference": rng.normal(0.2, np.hypot(true, se)), "se": se})
            check = check_invariance(table)
            inside += check.low <= true <= check.high
            refused += (check.verdict == "different") == (true < 0.5)
    assert refused <= 6  # of 200 worlds with spreads on either side of the bar
    assert 0.83 <= inside / 200 <= 0.97


def test_rates_of_people_are_tested_against_the_models_own_difficulties():
    truth = draw(1500, 30, seed=8)
    fit = fit_responses(truth.wide, options=FitOptions(checks=False))
    rng = np.random.default_rng(4)
    other = draw(4000, 30, seed=9, slope=truth.slope, intercept=truth.intercept + rng.normal(0, 1.5, 30))
    rates = {
        "item": [f"i{at}" for at in range(30)],
        "rate": [other.wide[f"i{at}"].mean() for at in range(30)],
        "n": 4000,
    }
    placed = place_among(fit, rates=pl.DataFrame(rates), name="world")
    assert placed.invariance[0].verdict == "different"
    assert placed.subjects["percentile"].null_count() == placed.subjects.height
    without_n = place_among(fit, rates=pl.DataFrame(rates).drop("n"), name="world")
    assert "untested: 5 items with errors are needed" in without_n.warnings[0]


@pytest.mark.parametrize("items", [0, 4])
def test_too_few_items_test_nothing(items):
    table = pl.DataFrame({"item": range(items), "difference": [3.0] * items, "se": [0.1] * items}, strict=False)
    assert check_invariance(table).verdict == "open"


@pytest.mark.parametrize("errors", [np.full(40, 0.5), np.linspace(0.2, 0.9, 12)])
def test_the_power_is_the_share_of_worlds_in_which_a_spread_of_half_a_logit_is_found(errors):
    rng = np.random.default_rng(1)
    drawn = rng.normal(0.0, np.hypot(0.5, errors), (2000, len(errors)))
    weight = errors**-2.0
    middle = drawn @ weight / weight.sum()
    found = ((drawn - middle[:, None]) ** 2 @ weight) > stats.chi2.isf(0.05, len(errors) - 1)
    table = pl.DataFrame({"item": range(len(errors)), "difference": drawn[0], "se": errors})
    assert check_invariance(table).power == pytest.approx(found.mean(), abs=0.03)


def test_no_difference_among_few_answers_shows_nothing():
    table = pl.DataFrame({"item": range(8), "difference": [0.4, -0.4] * 4, "se": [0.6] * 8})
    check = check_invariance(table)
    assert check.power < 0.5
    assert check.verdict == "open"


@pytest.mark.parametrize(("p", "verdict"), [(0.04, "different"), (0.07, "open")])
def test_items_differ_surely_below_a_chance_of_one_in_twenty(p, verdict):
    """Differences whose squares add up to the quantile of χ² that leaves p, with standard errors of 0.9 logits."""
    shape = np.array([2.0, -2.0, 1.0, -1.0, 0.0])
    squares = stats.chi2.isf(p, len(shape) - 1)
    table = pl.DataFrame({"item": list("abcde"), "difference": 0.9 * shape * np.sqrt(squares / 10), "se": [0.9] * 5})
    found = check_invariance(table)
    assert found.p == pytest.approx(p)
    assert (found.verdict, found.spread > 0.5) == (verdict, True)
