"""Tables of item response models on small drawn answers beside the approved ones."""

import numpy as np
import polars as pl
import pytest

from mensura.responses import (
    Aim,
    FitOptions,
    Survey,
    compare_fits,
    explain_items,
    find_surprises,
    fit_categories,
    fit_responses,
    link_fits,
    next_items,
    place_among,
    read_responses,
    regress_abilities,
    score_new,
    select_items,
)
from tests.approved_tables import assert_approved
from tests.responses.conftest import draw

BY = 3e-3


@pytest.fixture(scope="module")
def answers():
    """Two hundred people and forty models, who are abler, on ten items, of which the third is easier for models."""
    people = draw(200, 10, seed=21, name="p")
    moved = people.intercept + np.where(np.arange(10) == 2, 1.5, 0.0)
    models = draw(40, 10, seed=22, mean=0.7, sd=0.8, name="m", slope=people.slope, intercept=moved)
    tables = people.wide.with_columns(group=pl.lit("people")), models.wide.with_columns(group=pl.lit("models"))
    return pl.concat(tables)


@pytest.fixture(scope="module")
def fit(answers):
    return fit_responses(answers, model="2pl")


def approve(name, fit):
    for title, table in fit.tables().items():
        if "difference" in table.columns:  # where all in a group are right, a difference has no end: digits do not last
            table = table.filter(pl.col("se") < 100)
        assert_approved(f"responses/{name}_{title}", table if table.height < 30 else table[::20], by=BY)


def test_two_parameters_with_checks_and_groups(fit):
    approve("2pl", fit)


def test_one_slope_for_all_items(answers):
    approve("rasch", fit_responses(answers, model="rasch", options=FitOptions(checks=False)))


@pytest.mark.parametrize("model", ["graded", "partial-credit", "nominal", "rating-scale"])
def test_items_of_several_categories(model):
    rng = np.random.default_rng(5)
    level = 1.5 + rng.normal(size=(150, 1)) + rng.normal(size=(150, 5))
    value = np.clip(np.round(level), 0, 3).astype(int)
    rated = pl.DataFrame({"subject": [f"p{i}" for i in range(150)], **{f"q{j}": value[:, j] for j in range(5)}})
    approve(model, fit_categories(rated, model=model))


def test_places_among_people_and_invariance(fit):
    placed = place_among(fit, group="people")
    assert_approved("responses/among", placed.subjects.filter(group="models")[::4], by=BY)
    rates = {"item": [f"i{at}" for at in range(10)], "rate": np.linspace(0.8, 0.3, 10), "n": [300] * 10}
    carried = place_among(fit, rates=rates)
    assert_approved("responses/among_rates", carried.subjects[::20], by=BY)


def test_new_subjects_links_and_surprises(fit, answers):
    new = draw(8, 10, seed=31, mean=0.5, name="n").wide
    scored = score_new(fit, new)
    assert_approved("responses/new", scored.subjects, by=BY)
    other = fit_responses(answers.tail(160), model="2pl", options=FitOptions(checks=False))
    linked = link_fits(other, fit)
    assert_approved("responses/linked", linked.coefficients, by=BY)
    assert_approved("responses/linked_items", linked.items, by=BY)
    assert_approved("responses/linked_subjects", linked.subjects[::20], by=BY)
    found = find_surprises(answers)
    assert_approved("responses/surprises", found.answers, by=BY)
    assert_approved("responses/surprising_subjects", found.subjects[::20], by=BY)


def test_the_next_items_and_a_short_form(fit):
    bank = fit.bank
    step = next_items(bank, {"i0": (1, 1), "i3": (0, 1), "i7": (2, 3)}, count=3, aim=Aim())
    assert_approved("responses/next", step.next, by=BY)
    assert_approved("responses/standing", step.standing, by=BY)
    form = select_items(bank, 4)
    for title, table in form.tables().items():
        assert_approved(f"responses/form_{title}", table if table.height < 30 else table[::10], by=BY)


def test_regressions_on_people_and_on_demands(fit, answers):
    rng = np.random.default_rng(9)
    people = pl.DataFrame(
        {"subject": answers["subject"], "age": rng.normal(40, 10, 240), "town": rng.random(240) < 0.5}
    )
    table = read_responses(answers)
    regressed = regress_abilities(fit, table, people, on=["age", "town"])
    for title, rows in regressed.tables().items():
        assert_approved(f"responses/regressed_{title}", rows if rows.height < 30 else rows[::20], by=BY)
    demands = {"item": [f"i{j}" for j in range(10)], "level": [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]}
    explained = explain_items(fit, demands)
    for title, rows in explained.tables().items():
        assert_approved(f"responses/explained_{title}", rows, by=BY)


def test_weights_replicates_and_comparison(answers, fit):
    rng = np.random.default_rng(2)
    people = answers.filter(group="people").drop("group")
    weights = pl.DataFrame(
        {"subject": people["subject"], "w": rng.uniform(0.5, 2, 200), "school": np.arange(200) // 10}
    )
    options = FitOptions(checks=False)
    weighed = fit_responses(people, survey=Survey(weights, weights="w", cluster="school"), options=options)
    assert_approved("responses/weighed_items", weighed.items, by=BY)
    rasch, plain = (fit_responses(people, model=model, options=options) for model in ("rasch", "2pl"))
    for title, rows in compare_fits([rasch, plain]).tables().items():
        assert_approved(f"responses/compared_{title}", rows, by=BY)
