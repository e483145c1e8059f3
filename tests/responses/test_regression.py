"""Abilities on covariates and difficulties on demands: known truth, closed forms, coverage."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.responses import (
    FitOptions,
    Survey,
    explain_items,
    fit_categories,
    fit_responses,
    read_responses,
    regress_abilities,
)
from tests.responses.conftest import draw

QUIET = FitOptions(checks=False)


def school(seed, subjects=800, items=15):
    """Abilities rise by 0.5 per sd of schooling and are 0.4 higher in town; their residual sd makes the total 1."""
    rng = np.random.default_rng(seed)
    schooling, town = rng.normal(size=subjects), rng.random(subjects) < 0.5
    line = 0.5 * schooling + 0.4 * (town - 0.5)
    ability = line + rng.normal(0.0, np.sqrt(1.0 - 0.25 - 0.04), subjects)
    slope, intercept = np.exp(rng.normal(0.0, 0.2, items)), rng.normal(0.0, 1.0, items)
    right = (rng.random((subjects, items)) < 1 / (1 + np.exp(-(ability[:, None] * slope + intercept)))).astype(int)
    names = [f"s{row}" for row in range(subjects)]
    wide = pl.DataFrame({"subject": names, **{f"i{at}": right[:, at] for at in range(items)}})
    people = pl.DataFrame({"subject": names, "schooling": schooling, "place": np.where(town, "town", "land")})
    return wide, people


def regressed(wide, people, **how):
    table = read_responses(wide)
    return regress_abilities(fit_responses(table, options=QUIET), table, people, **how)


def rated_school(seed, subjects=800, items=5):
    """Ratings from 0 to 3; abilities rise by 0.5 per sd of schooling."""
    rng = np.random.default_rng(seed)
    schooling = rng.normal(size=subjects)
    ability = 0.5 * schooling + rng.normal(0.0, np.sqrt(0.75), subjects)
    odds = ability[:, None] * 1.2 + rng.normal(0.0, 0.5, items) + rng.logistic(size=(subjects, items))
    rated = (odds[:, :, None] > np.array([-1.5, 0.0, 1.5])).sum(axis=2)
    names = [f"s{row}" for row in range(subjects)]
    wide = pl.DataFrame({"subject": names, **{f"i{at}": rated[:, at] for at in range(items)}})
    return wide, pl.DataFrame({"subject": names, "schooling": schooling})


def rated_effect(fit, people, **how):
    found = regress_abilities(fit, None, people, on=["schooling"], **how)
    return found, found.regression.row(by_predicate=pl.col("term") == "schooling", named=True)


def test_ratings_of_five_items_give_the_whole_effect_of_schooling():
    """The naive regression of abilities finds part of it: five ratings leave much of an ability open."""
    wide, people = rated_school(1, subjects=3000)
    fit = fit_categories(wide, model="graded")
    found, effect = rated_effect(fit, people)
    naive = np.polyfit(people["schooling"], fit.subjects["ability"], 1)[0]
    assert effect["estimate"] == pytest.approx(0.5, abs=0.04)
    assert naive < 0.43
    plausible = [np.polyfit(people["schooling"], found.plausible[f"pv{one}"], 1)[0] for one in range(1, 11)]
    assert np.mean(plausible) == pytest.approx(effect["estimate"], abs=0.02)


def test_two_categories_give_the_regression_of_right_answers():
    wide, people = school(4)
    right = regressed(wide, people, on=["schooling"]).regression
    rated = regress_abilities(fit_categories(wide, model="graded"), None, people, on=["schooling"]).regression
    assert rated["term"].to_list() == right["term"].to_list()
    assert rated["estimate"].to_numpy() == pytest.approx(right["estimate"].to_numpy(), abs=0.01)
    assert rated["se"].to_numpy() == pytest.approx(right["se"].to_numpy(), rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["graded", "partial-credit", "nominal"])
def test_intervals_of_effects_on_ratings_hold_the_truth(model):
    held = []
    for seed in range(20):
        wide, people = rated_school(seed)
        effect = rated_effect(fit_categories(wide, model=model), people, draws=1)[1]
        held.append(effect["low"] < 0.5 < effect["high"])
    assert 0.8 <= np.mean(held) <= 0.98


def test_right_answers_need_their_table():
    wide, people = school(5, subjects=100)
    with pytest.raises(MensuraError, match=r"table: got None; expected the responses that were fitted"):
        regress_abilities(fit_responses(wide, options=QUIET), None, people, on=["schooling"])


@pytest.mark.slow
def test_intervals_of_effects_hold_the_truth():
    truth, held = {"schooling": 0.5, "place: town": 0.4, "place: land": -0.4}, []
    for seed in range(16):
        found = regressed(*school(seed), on=["schooling", "place"], draws=1)
        rows = {row["term"]: row for row in found.regression.iter_rows(named=True)}
        held += [row["low"] < truth[term] < row["high"] for term, row in rows.items() if term in truth]
    assert len(held) == 32
    assert 0.8 <= np.mean(held) <= 0.98


def test_the_spread_around_the_line_and_the_share_explained_come_back():
    found = regressed(*school(1, subjects=4000), on=["schooling", "place"], draws=2)
    assert found.sd == pytest.approx(np.sqrt(0.71), abs=0.05)
    assert found.explained == pytest.approx(0.29, abs=0.04)


def test_without_covariates_the_mean_and_spread_are_those_of_the_fit():
    wide, people = school(2, subjects=2000)
    found = regressed(wide, people.with_columns(odd=pl.Series(np.arange(2000) % 2)), on=["odd"], draws=1)
    estimate = dict(found.regression.select("term", "estimate").iter_rows())
    assert estimate["intercept"] + estimate["odd"] / 2 == pytest.approx(0.0, abs=0.02)
    assert found.sd == pytest.approx(1.0, abs=0.03)


def test_plausible_values_have_the_spread_that_estimates_of_abilities_lack():
    wide, people = school(3, subjects=3000, items=8)
    table = read_responses(wide)
    fit = fit_responses(table, options=QUIET)
    found = regress_abilities(fit, table, people, on=["schooling"], draws=5)
    for name in ("pv1", "pv5"):
        assert found.plausible[name].std() == pytest.approx(1.0, abs=0.05)
    assert fit.subjects["ability"].std() < 0.9
    slope = np.polyfit(people["schooling"].to_numpy(), found.plausible["pv1"].to_numpy(), 1)[0]
    naive = np.polyfit(people["schooling"].to_numpy(), fit.subjects["ability"].to_numpy(), 1)[0]
    assert slope == pytest.approx(0.5, abs=0.06)
    assert naive < 0.4


def test_a_weight_of_two_is_the_same_subject_twice():
    wide, people = school(4, subjects=300)
    table = read_responses(wide)
    fit = fit_responses(table, options=QUIET)
    heavy = np.where(np.arange(300) % 2 == 0, 2.0, 1.0)
    survey = Survey(people.with_columns(w=pl.Series(heavy)), weights="w")
    weighted = regress_abilities(fit, table, people, on=["schooling"], survey=survey, draws=1)
    twice = [frame.filter(pl.Series(heavy == 2.0)).with_columns(pl.col("subject") + "x") for frame in (wide, people)]
    again = read_responses(pl.concat([wide, twice[0]]))
    doubled = regress_abilities(fit, again, pl.concat([people, twice[1]]), on=["schooling"], draws=1)
    assert weighted.regression["estimate"].to_list() == pytest.approx(
        doubled.regression["estimate"].to_list(), abs=1e-3
    )


def test_clusters_widen_the_error_of_what_schools_share():
    rng = np.random.default_rng(5)
    size, schools = 20, 40
    private = np.repeat(rng.random(schools) < 0.5, size).astype(float)
    ability = np.repeat(rng.normal(0.0, 0.7, schools), size) + rng.normal(0.0, 0.7, size * schools)
    base = draw(2, 20, seed=5)
    right = (rng.random((800, 20)) < 1 / (1 + np.exp(-(ability[:, None] * base.slope + base.intercept)))).astype(int)
    names = [f"s{row}" for row in range(800)]
    wide = pl.DataFrame({"subject": names, **{f"i{at}": right[:, at] for at in range(20)}})
    people = pl.DataFrame({"subject": names, "private": private, "school": np.repeat(np.arange(schools), size)})
    plain, clustered = (
        regressed(wide, people, on=["private"], survey=survey, draws=1).regression["se"][1]
        for survey in (None, Survey(people, cluster="school"))
    )
    design_effect = (clustered / plain) ** 2
    assert 5 < design_effect < 16  # 1 + 19 × 0.5 of full information, less where answers are few


def test_demands_explain_the_difficulties_they_made():
    rng = np.random.default_rng(7)
    demand = rng.integers(0, 6, 40).astype(float)
    people = draw(1500, 40, seed=7, slope=np.ones(40), intercept=2.0 - 0.8 * demand + rng.normal(0.0, 0.3, 40))
    fit = fit_responses(people.wide, options=QUIET)
    found = explain_items(fit, pl.DataFrame({"item": [f"i{at}" for at in range(40)], "volume": demand}))
    row = found.explained.filter(term="volume").row(0, named=True)
    assert row["low"] < 0.8 < row["high"]
    assert found.share > 0.9


def test_the_command_writes_both(mensura_command, tmp_path):
    wide, people = school(8, subjects=200, items=8)
    wide.join(people, on="subject").write_csv(tmp_path / "answers.csv")
    pl.DataFrame({"item": [f"i{at}" for at in range(8)], "volume": np.arange(8.0)}).write_csv(tmp_path / "demands.csv")
    run = mensura_command(
        *("responses", "fit", tmp_path / "answers.csv", "--regress", "schooling", "--regress", "place"),
        *("--explain", tmp_path / "demands.csv", "--out", tmp_path / "fitted"),
    )
    assert run.code == 0
    terms = pl.read_csv(tmp_path / "fitted" / "regression.csv")["term"].to_list()
    assert terms[:2] == ["intercept", "schooling"]
    assert pl.read_csv(tmp_path / "fitted" / "plausible.csv").shape == (200, 11)
    assert pl.read_csv(tmp_path / "fitted" / "explained.csv")["term"].to_list() == ["intercept", "volume"]
    assert "Abilities of 200 subjects on covariates" in run.out
    assert "Difficulties of 8 items on demands" in run.out


def test_covariates_that_repeat_one_another_are_refused():
    wide, people = school(9, subjects=100)
    twin = people.with_columns(twice=2 * pl.col("schooling"))
    with pytest.raises(MensuraError, match="repeat one another or never vary"):
        regressed(wide, twin, on=["schooling", "twice"])
    with pytest.raises(MensuraError, match="0 subjects have all of"):
        regressed(wide, people.with_columns(none=pl.lit(None, pl.Float64)), on=["none"])
