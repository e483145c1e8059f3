"""One discrimination for all items, one set of steps for all, and raters who are more or less severe."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.responses import AnswerChoice, compare_fits, fit_categories, fit_responses, regress_abilities
from mensura.responses.irt.category_curves import begin
from mensura.responses.irt.ties import tied_items

STEPS = np.array([-1.0, 0.1, 0.9])
DIFFICULTY = np.array([-0.9, -0.3, 0.0, 0.4, 0.8])
SEVERITY = np.array([-0.7, -0.1, 0.2, 0.6])
SLOPE = 1.3


def ratings(difficulty, ability, rng):
    """Ratings from 1 to 4 under the rating-scale model."""
    height = np.cumsum(SLOPE * (ability[:, None] - difficulty[:, None] - STEPS), axis=1)
    height = np.concatenate([np.zeros((len(ability), 1)), height], axis=1)
    chance = np.exp(height - height.max(axis=1, keepdims=True))
    above = np.cumsum(chance / chance.sum(axis=1, keepdims=True), axis=1)
    return 1 + (rng.random((len(ability), 1)) > above).sum(axis=1)


@pytest.fixture(scope="module")
def answers():
    rng = np.random.default_rng(1)
    ability = rng.normal(size=800)
    columns = {f"q{j}": ratings(np.full(800, b), ability, rng) for j, b in enumerate(DIFFICULTY)}
    return pl.DataFrame({"subject": [f"p{i}" for i in range(800)], **columns})


@pytest.fixture(scope="module")
def essays():
    rng = np.random.default_rng(2)
    ability = np.repeat(rng.normal(size=300), 10)
    item, rater = np.tile(np.repeat(np.arange(5), 2), 300), rng.permuted(np.tile(np.arange(4), (1500, 1)), axis=1)
    rater = rater[:, :2].ravel()
    value = ratings(DIFFICULTY[item] + SEVERITY[rater], ability, rng)
    names = {"subject": [f"p{i // 10}" for i in range(3000)], "item": [f"essay{j}" for j in item]}
    return pl.DataFrame({**names, "judge": [f"judge{r}" for r in rater], "score": value})


def test_right_and_wrong_answers_have_the_fit_of_the_rasch_model(answers):
    right = answers.with_columns((pl.col(f"q{j}") > 2).cast(pl.Int64) for j in range(5))
    rasch = fit_responses(right, model="rasch")
    for model in ("partial-credit-rasch", "rating-scale"):
        fit = fit_categories(right, model=model)
        assert fit.log_likelihood == pytest.approx(rasch.log_likelihood, abs=0.001)
        for ours, theirs in ((fit.items, rasch.items), (fit.categories, rasch.items)):
            for column in ("discrimination", "se_discrimination"):
                np.testing.assert_allclose(ours[column], theirs[column], rtol=0.002)
        np.testing.assert_allclose(fit.categories["difficulty"], rasch.items["difficulty"], atol=0.002)
        np.testing.assert_allclose(fit.categories["se_difficulty"], rasch.items["se_difficulty"], rtol=0.01)


def test_a_rating_scale_has_one_slope_and_one_set_of_steps_and_finds_the_truth(answers):
    fit = fit_categories(answers, model="rating-scale")
    assert fit.quality["parameters"][0] == 1 + 5 + 2
    assert fit.items["discrimination"].n_unique() == 1
    d = fit.categories["intercept"].to_numpy().reshape(5, 3)
    np.testing.assert_allclose(d - d[:, :1], np.tile(d[0] - d[0, 0], (5, 1)), atol=1e-9)
    b = fit.categories["difficulty"].to_numpy().reshape(5, 3)
    error = fit.categories["se_difficulty"].to_numpy().reshape(5, 3)
    assert np.all(np.abs(b - DIFFICULTY[:, None] - STEPS) < 3.5 * error)
    assert abs(fit.items["discrimination"][0] - SLOPE) < 3.5 * fit.items["se_discrimination"][0]


def test_models_that_share_less_fit_better_and_are_tested_against_each_other(answers):
    models = ("rating-scale", "partial-credit-rasch", "partial-credit", "nominal")
    fits = [fit_categories(answers, model=model, prior="none") for model in models]
    assert np.all(np.diff([fit.log_likelihood for fit in fits]) > 0)
    tests = compare_fits(fits).tests
    assert tests["df"].to_list() == [8, 12, 22, 4, 14, 10]
    assert tests["p"].to_numpy().min() > 0.001  # the smallest model is the true one


def test_severities_of_raters_have_the_truth_within_their_errors_and_mean_0(essays):
    fit = fit_categories(essays, model="rating-scale", choice=AnswerChoice(rater="judge"))
    assert fit.raters["rater"].to_list() == [f"judge{r}" for r in range(4)]
    assert fit.raters["severity"].sum() == pytest.approx(0.0, abs=1e-9)
    assert fit.raters["n"].sum() == essays.height
    off = (fit.raters["severity"].to_numpy() - SEVERITY) / fit.raters["se"].to_numpy()
    assert np.all(np.abs(off) < 3.0) and np.all(fit.raters["se"].to_numpy() < 0.1)
    assert fit.items.height == 20 and "essay0 by judge1" in fit.items["item"].to_list()
    assert "raters" in fit.tables()


def test_an_item_of_several_raters_keeps_categories_that_one_of_them_never_gave(essays):
    kind = essays.filter(~((pl.col("judge") == "judge0") & (pl.col("score") == 1)))
    fit = fit_categories(kind, model="partial-credit-rasch", choice=AnswerChoice(rater="judge"))
    assert fit.items["categories"].unique().to_list() == [4]
    assert fit.raters["severity"][0] == fit.raters["severity"].min()


def test_raters_with_items_of_their_own_are_refused(essays):
    own = essays.filter(pl.col("judge").str.slice(-1) == pl.col("item").str.slice(-1))
    with pytest.raises(MensuraError, match="raters who share items"):
        fit_categories(own, model="partial-credit-rasch", choice=AnswerChoice(rater="judge"))
    with pytest.raises(MensuraError, match="graded has no severity of raters"):
        fit_categories(essays, choice=AnswerChoice(rater="judge"))


def test_a_start_with_shared_parameters_is_the_nearest_one():
    free = begin("partial-credit", [np.array([0.2, 0.3, 0.5]), np.array([0.5, 0.3, 0.2])], 1)
    tied = tied_items(free, "rating-scale", ["q1", "q2"], None)
    assert tied.count == 4
    rise = np.diff(tied.values[:, 1:], axis=1)
    assert rise.ravel() == pytest.approx([np.diff(free.values[:, 1:], axis=1).mean()] * 2)


def test_a_regression_takes_a_fit_with_one_slope(answers):
    fit = fit_categories(answers, model="rating-scale")
    people = answers.select("subject", x=pl.Series(np.linspace(-1, 1, 800)))
    assert regress_abilities(fit, None, people, on=["x"]).regression["term"].to_list()[-1] == "x"
