"""Weights, clusters and replicates of ratings: closed forms, and agreement of two ways to the same error."""

import json

import numpy as np
import polars as pl
import pytest

from mensura.responses import Survey, fit_categories
from mensura.responses.irt.category_curves import MODELS
from tests.responses.test_categories import drawn_categories


@pytest.mark.parametrize("model", MODELS)
def test_a_weight_of_two_is_the_same_rating_twice(model):
    wide = drawn_categories(model, 400, 6, 3, seed=3)[0]
    heavy = np.where(np.arange(400) % 3 == 0, 2, 1)
    survey = Survey(pl.DataFrame({"subject": wide["subject"], "w": heavy}), weights="w")
    weighted = fit_categories(wide, model=model, survey=survey, prior="none")
    again = wide.filter(pl.Series(heavy == 2)).with_columns(subject=pl.col("subject") + "-again")
    twice = fit_categories(pl.concat([wide, again]), model=model, prior="none")
    for column in ("discrimination", "intercept"):
        assert weighted.categories[column].to_list() == pytest.approx(twice.categories[column].to_list(), abs=0.01)
    assert weighted.log_likelihood * heavy.mean() == pytest.approx(twice.log_likelihood, rel=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_robust_errors_of_ratings_are_those_of_the_model_where_it_holds(model):
    wide = drawn_categories(model, 2500, 6, 3, seed=4)[0]
    plain = fit_categories(wide, model=model)
    alike = Survey(pl.DataFrame({"subject": wide["subject"], "w": 1.0}), weights="w")
    robust = fit_categories(wide, model=model, survey=alike)
    ratio = robust.categories["se_intercept"].to_numpy() / plain.categories["se_intercept"].to_numpy()
    assert ratio.mean() == pytest.approx(1.0, abs=0.05)
    assert robust.categories["intercept"].to_list() == pytest.approx(plain.categories["intercept"].to_list(), abs=1e-6)


@pytest.mark.slow
def test_leaving_out_schools_gives_the_errors_of_clusters():
    """Schools of people with like abilities: half of the variance is between them."""
    wide, _, ability = drawn_categories("graded", 600, 6, 3, seed=5)
    order = np.argsort(ability + np.random.default_rng(5).normal(0.0, 1.0, 600))
    school = np.empty(600, dtype=int)
    school[order] = np.arange(600) // 15
    left_out = {f"r{one}": np.where(school == one, 0.0, 1.0) for one in range(40)}
    people = pl.DataFrame({"subject": wide["subject"], "school": school, **left_out})
    designs = Survey(people, cluster="school"), Survey(people, replicates="r*", replication="jackknife1")
    robust, jackknife = (
        fit_categories(wide, model="graded", survey=one).categories["se_intercept"].to_numpy() for one in designs
    )
    plain = fit_categories(wide, model="graded").categories["se_intercept"].to_numpy()
    assert np.mean(jackknife / robust) == pytest.approx(1.0, abs=0.15)
    assert np.mean(robust / plain) > 1.3


def test_the_command_takes_the_weights_of_ratings(mensura_command, tmp_path):
    wide = drawn_categories("graded", 300, 5, 3, seed=6)[0]
    wide.with_columns(w=pl.Series(np.linspace(0.5, 1.5, 300))).write_csv(tmp_path / "rated.csv")
    run = mensura_command("responses", "fit", tmp_path / "rated.csv", "--model", "graded", "--weights", "w", "--json")
    assert run.code == 0, run.err
    answer = json.loads(run.out)
    assert "w" not in {row["item"] for row in answer["items"]}
    assert answer["log"][-1]["rule"].startswith("Errors are robust")


def test_the_command_regresses_the_abilities_behind_ratings(mensura_command, tmp_path):
    wide, _, ability = drawn_categories("graded", 300, 6, 3, seed=6)
    wide.with_columns(schooling=np.round(10 + 2 * ability, 1)).write_csv(tmp_path / "rated.csv")
    asked = ("responses", "fit", tmp_path / "rated.csv", "--model", "graded", "--regress", "schooling")
    found = json.loads(mensura_command(*asked, "--json").out)
    effect = {row["term"]: row for row in found["regression"]}["schooling"]
    assert effect["low"] < 0.5 < effect["high"]
    assert len(found["plausible"]) == 300
    assert "Abilities of 300 subjects on covariates" in " ".join(mensura_command(*asked).out.split())
