"""Fits: known truth comes back, with errors that say how well; every road to the likelihood ends at the same place."""

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize

import mensura
from mensura.core.errors import MensuraError
from mensura.responses import CountRules, FitOptions, fit_responses, read_responses
from mensura.responses.irt.fitting import Effort, fit_held, over, start
from mensura.responses.irt.model import Parameters
from mensura.responses.irt.namespace import namespace
from mensura.responses.irt.passes import Grid, posteriors
from mensura.responses.irt.priors import Priors
from mensura.responses.irt.shards import of_matrix
from tests.responses.conftest import as_long, draw

FREE = Priors(None, None, None)


def marginal(right, slope, intercept, guessing=0.0):
    """The log marginal likelihood by adaptive integration, one subject at a time."""
    total = 0.0
    for row in right:

        def density(theta, row=row):
            chance = guessing + (1 - guessing) / (1 + np.exp(-(theta * slope + intercept)))
            return np.prod(np.where(row == 1, chance, 1 - chance)) * np.exp(-(theta**2) / 2) / np.sqrt(2 * np.pi)

        total += np.log(quad(density, -9, 9, points=[-2, 0, 2], limit=200)[0])
    return total


@pytest.mark.parametrize("model", ["2pl", "3pl"])
def test_likelihood_is_the_integral(model):
    truth = draw(6, 12, seed=1)
    right = truth.wide.drop("subject").to_numpy().astype(np.uint8)
    guessing = 0.2 if model == "3pl" else 0.0
    guess = np.full(12, np.log(0.25))
    p = Parameters(model, truth.slope, truth.intercept, guess, np.zeros(1), np.ones(1))
    run = over(namespace(double=True), of_matrix(right, None, np.zeros(6, dtype=int)))
    expected = marginal(right, truth.slope, truth.intercept, guessing)
    assert run(p, Grid.over(p.mean, p.sd), False).evidence == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("model", ["2pl", "3pl"])
def test_likelihood_of_steep_items_is_the_integral(model):
    """Logits reach 60 here: a chance that is cut there and logits that are not would give more than certainty."""
    right = np.array([[1, 1, 1], [0, 0, 0], [1, 0, 0]], dtype=np.uint8)
    slope, intercept = np.array([12.0, 11.0, 10.0]), np.array([0.5, 0.0, -0.5])
    p = Parameters(model, slope, intercept, np.full(3, np.log(0.25)), np.zeros(1), np.ones(1))
    evidence = over(namespace(double=True), of_matrix(right, None, np.zeros(3, dtype=int)))(
        p, Grid(np.linspace(-5.0, 5.0, 401)), False
    ).evidence
    assert evidence == pytest.approx(marginal(right, slope, intercept, 0.2 if model == "3pl" else 0.0), abs=1e-3)


def test_maximum_is_the_one_a_general_optimiser_finds():
    truth = draw(300, 5, seed=2)
    right = truth.wide.drop("subject").to_numpy().astype(np.uint8)
    held = of_matrix(right, None, np.zeros(300, dtype=int))
    space = namespace(double=True)
    run = over(space, held)
    grid = Grid.over(np.zeros(1), np.ones(1))

    def fall(x):
        return -run(Parameters("2pl", x[:5], x[5:], np.zeros(5), np.zeros(1), np.ones(1)), grid, False).evidence

    peer = minimize(fall, np.r_[np.ones(5), np.zeros(5)], method="BFGS")
    ours = fit_held(space, held, start("2pl", right.mean(axis=0), 1), FREE, Effort(tolerance=1e-4))
    assert ours.evidence == pytest.approx(-peer.fun, abs=1e-4)
    assert np.allclose(np.r_[ours.parameters.slope, ours.parameters.intercept], peer.x, atol=2e-3)
    best, small = np.r_[ours.parameters.slope, ours.parameters.intercept], 1e-2 * np.eye(10)
    curvature = [
        [(fall(best + a + b) - fall(best + a - b) - fall(best - a + b) + fall(best - a - b)) / 4e-4 for a in small]
        for b in small
    ]
    errors = ours.information.errors().reshape(5, 2)
    assert np.allclose(errors.T.ravel(), np.sqrt(np.diag(np.linalg.inv(curvature))), rtol=0.01)


def test_truth_comes_back_and_intervals_hold_it():
    inside, items_inside = [], []
    for seed in range(8):
        truth = draw(600, 30, seed=seed)
        fit = fit_responses(truth.wide, options=FitOptions(checks=False))
        assert fit.converged
        low, high = (fit.subjects[side].to_numpy() for side in ("low", "high"))
        inside.append(np.mean((low <= truth.ability) & (truth.ability <= high)))
        error = np.abs(fit.items["discrimination"].to_numpy() - truth.slope) / fit.items["se_discrimination"].to_numpy()
        items_inside.append(np.mean(error < 1.645))
    assert np.mean(inside) == pytest.approx(0.9, abs=0.015)
    assert np.mean(items_inside) == pytest.approx(0.9, abs=0.05)
    assert np.corrcoef(fit.subjects["ability"], truth.ability)[0, 1] > 0.85


def test_rasch_has_one_discrimination_and_the_score_is_sufficient():
    truth = draw(800, 12, seed=5, slope=np.ones(12))
    fit = fit_responses(truth.wide, model="rasch", options=FitOptions(checks=False))
    assert fit.items["discrimination"].n_unique() == 1
    assert fit.items["discrimination"][0] == pytest.approx(1.0, abs=0.15)
    by_score = fit.subjects.group_by("rate").agg(pl.col("ability").max() - pl.col("ability").min())
    assert by_score["ability"].max() < 1e-3
    assert np.corrcoef(fit.items["difficulty"], -truth.intercept)[0, 1] > 0.99


def test_items_that_have_nothing_in_common_end_a_fit_with_a_word():
    """Answers shared out so that nobody has more right ones than chance gives: abilities cannot differ."""
    right = [(f"s{s}", f"i{i}", int((s * 7 + i * 5) % 11 > i)) for s in range(60) for i in range(8)]
    fit = fit_responses(pl.DataFrame(right, schema=["subject", "item", "correct"], orient="row"), model="rasch")
    assert fit.converged and fit.passes < 20
    assert any("do not show that subjects differ" in said for said in fit.warnings)
    assert fit.subjects["ability"].abs().max() < 0.1
    assert (fit.subjects["high"] - fit.subjects["low"]).min() > 3.2  # as wide as knowing nothing


def test_guessing_is_found_where_weak_subjects_guess():
    truth = draw(4000, 15, seed=6, guessing=0.25)
    fit = fit_responses(truth.wide, model="3pl", options=FitOptions(checks=False))
    assert fit.items["guessing"].mean() == pytest.approx(0.25, abs=0.05)
    assert fit_responses(truth.wide, options=FitOptions(checks=False)).log_likelihood < fit.log_likelihood


@pytest.mark.slow
def test_two_groups_stand_on_one_scale():
    one = draw(900, 30, seed=7, name="p")
    other = draw(500, 30, seed=8, mean=1.2, sd=0.6, slope=one.slope, intercept=one.intercept, name="m")
    both = pl.concat([one.wide.with_columns(group=pl.lit("people")), other.wide.with_columns(group=pl.lit("models"))])
    fit = fit_responses(both, options=FitOptions(checks=False))
    row = fit.groups.filter(pl.col("group") == "models").row(0, named=True)
    assert fit.reference == "people"
    assert abs(row["mean"] - 1.2) < 3 * row["se_mean"]
    assert abs(row["sd"] - 0.6) < 3 * row["se_sd"]
    turned = fit_responses(both, reference="models", options=FitOptions(checks=False)).groups.row(1, named=True)
    assert turned["mean"] == pytest.approx(-row["mean"] / row["sd"], rel=0.04)
    assert turned["sd"] == pytest.approx(1 / row["sd"], rel=0.04)


def test_items_shared_by_two_tests_stitch_them():
    """Each half takes its own test and ten common items; abilities of both halves are on one scale."""
    truth = draw(2000, 50, seed=9)
    half = np.arange(2000) < 1000
    wide = truth.wide
    for place in range(50):
        hidden = half if place >= 30 else ~half if place < 20 else np.zeros(2000, dtype=bool)
        wide = wide.with_columns(
            pl.when(pl.Series(hidden)).then(None).otherwise(pl.col(f"i{place}")).alias(f"i{place}")
        )
    fit = fit_responses(wide, options=FitOptions(checks=False))
    assert set(fit.subjects["n"]) == {30}
    off = fit.subjects["ability"].to_numpy() - truth.ability
    assert abs(off[half].mean() - off[~half].mean()) < 0.08
    assert np.corrcoef(fit.items["difficulty"], -truth.intercept / truth.slope)[0, 1] > 0.97


def test_k_of_n_is_what_n_rows_are():
    truth = draw(200, 12, seed=10)
    rng = np.random.default_rng(0)
    chance = 1 / (1 + np.exp(-(truth.ability[:, None] * truth.slope + truth.intercept)))
    right = rng.binomial(3, chance)
    names = [(f"s{s}", f"i{i}") for s in range(200) for i in range(12)]
    counts = pl.DataFrame(
        {"subject": [n[0] for n in names], "item": [n[1] for n in names], "correct": right.ravel() / 3, "n": 3}
    )
    single = [(s, i, int(t < right.ravel()[at])) for at, (s, i) in enumerate(names) for t in range(3)]
    repeated = pl.DataFrame(single, schema=["subject", "item", "correct"], orient="row")
    one, other = (fit_responses(table, options=FitOptions(checks=False)) for table in (counts, repeated))
    assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-3)
    assert np.allclose(one.subjects["ability"], other.subjects["ability"], atol=1e-5)
    assert one.subjects["se"].mean() < fit_responses(truth.wide, options=FitOptions(checks=False)).subjects["se"].mean()


def test_long_tests_have_narrow_posteriors_that_a_grid_would_miss():
    """20,000 items: an ability is known to about 0.015, a tenth of the nodes' distance."""
    truth = draw(60, 20_000, seed=11)
    right = truth.wide.drop("subject").to_numpy().astype(np.uint8)
    held = of_matrix(right, None, np.zeros(60, dtype=int))
    p = Parameters("2pl", truth.slope, truth.intercept, np.zeros(20_000), np.zeros(1), np.ones(1))
    from mensura.responses.irt.passes import NodeTables, shard_posteriors

    for space, close in ((namespace(double=True), 1e-6), (namespace(), 2e-4)):
        found = shard_posteriors(space, held.parts[0], NodeTables(space, p, Grid.over(p.mean, p.sd)))
        z = (found.mean - truth.ability) / np.sqrt(found.variance)
        assert np.sqrt(found.variance).max() < 0.04
        assert 0.6 < np.std(z) < 1.4
        for row in (0, 7):

            def height(theta, row=row):
                chance = 1 / (1 + np.exp(-(theta * truth.slope + truth.intercept)))
                return np.sum(np.where(right[row] == 1, np.log(chance), np.log1p(-chance))) - theta**2 / 2

            near = found.mean[row] + np.linspace(-6, 6, 121) * np.sqrt(found.variance[row])
            heights = np.array([height(theta) for theta in near])
            weight = np.exp(heights - heights.max())
            assert found.mean[row] == pytest.approx(near @ weight / weight.sum(), abs=close)
            log_sum = heights.max() + np.log(weight.sum() * (near[1] - near[0])) - 0.5 * np.log(2 * np.pi)
            assert found.evidence[row] == pytest.approx(log_sum, abs=max(0.3 if close > 1e-5 else 1e-4, 0))


@pytest.mark.slow
def test_public_verb_and_result(drawn):
    fit = mensura.fit_responses(drawn.wide)
    assert len(repr(fit).splitlines()) < 30
    assert fit.subjects.columns[:5] == ["subject", "ability", "low", "high", "n"]
    assert fit.items.columns[:4] == ["item", "discrimination", "difficulty", "guessing"]
    assert {"se_discrimination", "se_difficulty", "se_guessing", "fit"} <= set(fit.items.columns)
    chance = fit.predict("s0")
    assert chance["rate"].is_between(0, 1).all()
    assert chance["rate"].mean() == pytest.approx(fit.subjects["rate"][0], abs=0.1)
    with pytest.raises(MensuraError, match="nobody"):
        fit.predict("nobody")


def test_long_and_wide_tables_give_the_same_fit(drawn):
    some = drawn.wide.head(200)
    one, other = (fit_responses(table, options=FitOptions(checks=False)) for table in (some, as_long(some)))
    assert np.allclose(one.subjects["ability"], other.subjects["ability"], atol=1e-6)
    assert read_responses(as_long(some), rules=CountRules()).trials is None


def test_a_fit_of_many_subjects_starts_from_a_sample_and_ends_at_the_same_place(monkeypatch):
    wide = draw(800, 8, seed=3).wide
    whole = fit_responses(wide, options=FitOptions(checks=False)).items
    monkeypatch.setattr("mensura.responses.irt.fitting.SAMPLE", 180)
    sampled = fit_responses(wide, options=FitOptions(checks=False)).items
    assert sampled["difficulty"].to_list() == pytest.approx(whole["difficulty"].to_list(), abs=5e-3)
    ratio = (sampled["se_difficulty"] / whole["se_difficulty"]).to_numpy()
    assert abs(ratio - 1).max() < 0.25, "the errors are those of all subjects, learned on a sample"


def test_a_posterior_narrower_than_the_grid_is_taken_between_its_nodes():
    """Normal ones of mean m and standard deviation s: moments m and s², and a sum over nodes of s √(2π) / spacing."""
    grid = Grid(np.linspace(-5, 5, 51))
    mean, sd = np.array([0.33, -1.07, 2.0, 0.5]), np.array([0.05, 0.12, 0.08, 0.6])
    joint = -0.5 * ((grid.nodes - mean[:, None]) / sd[:, None]) ** 2
    found = posteriors(namespace("numpy"), joint, grid)
    np.testing.assert_allclose(found.mean, mean, atol=1e-6)
    np.testing.assert_allclose(found.variance, sd**2, rtol=1e-4)
    np.testing.assert_allclose(found.evidence, np.log(sd * np.sqrt(2 * np.pi) / 0.2), atol=1e-4)


def test_difficulties_are_as_wrong_as_their_errors_say():
    """Squares of errors in units of their standard errors have a mean of 1; 25 items let it vary by 0.3."""
    truth = draw(600, 25, seed=5)
    fit = fit_responses(truth.wide, options=FitOptions(checks=False))
    wrong = fit.items["difficulty"].to_numpy() + truth.intercept / truth.slope
    assert np.mean((wrong / fit.items["se_difficulty"].to_numpy()) ** 2) == pytest.approx(1.0, abs=0.9)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["rasch", "2pl", "3pl"])
def test_items_in_blocks_give_the_fit_of_all_at_once(model, monkeypatch):
    """Two groups, gaps and 20 items: blocks of seven items change nothing."""
    wide = draw(150, 20, seed=6).wide.with_columns(
        pl.when(pl.int_range(pl.len()) % 5 == 0).then(None).otherwise("i3").alias("i3"),
        group=pl.when(pl.int_range(pl.len()) < 60).then(pl.lit("g")).otherwise(pl.lit("h")),
    )
    whole = fit_responses(wide, model=model)
    monkeypatch.setattr("mensura.responses.irt.model._BLOCK_VALUES", 400)
    blocks = fit_responses(wide, model=model)
    for name, table in whole.tables().items():
        for title in table.select(pl.selectors.numeric()).columns:
            one, other = (part[title].fill_null(0.0).to_numpy() for part in (table, blocks.tables()[name]))
            assert np.allclose(one, other, atol=1e-3), f"{name}, {title}"


@pytest.mark.parametrize("model", ["rasch", "2pl"])
@pytest.mark.parametrize("answer", [0, 1])
def test_a_group_that_answers_all_items_alike_ends_far_out_with_an_error_that_says_so(model, answer):
    """Its mean and spread have no maximum of the likelihood; the fit neither runs away nor runs out of passes."""
    people = draw(40, 10, seed=1).wide.with_columns(group=pl.lit("people"))
    models = people.head(5).with_columns(
        *(pl.lit(answer, pl.Int8).alias(f"i{at}") for at in range(10)),
        group=pl.lit("models"),
        subject="m" + pl.col("subject"),
    )
    fit = fit_responses(pl.concat([people, models]), model=model)
    row = fit.groups.row(1, named=True)
    assert fit.converged and fit.passes < 60
    assert 2 < (2 * answer - 1) * row["mean"] < 8 and row["sd"] < 5
    assert row["se_mean"] > 1
    assert fit.dif["class"].null_count() == 10, "no answer says whether an item differs"


def test_subjects_who_answer_alike_do_not_hold_up_a_fit():
    """Eight models of one ability beside 150 people: nearly all information on the models' spread is missing."""
    people = draw(150, 20, seed=1, slope=np.ones(20))
    models = draw(8, 20, seed=2, mean=0.5, sd=0.01, slope=people.slope, intercept=people.intercept, name="m")
    both = pl.concat([people.wide.with_columns(group=pl.lit("p")), models.wide.with_columns(group=pl.lit("m"))])
    fit = fit_responses(both, model="rasch", options=FitOptions(checks=False))
    assert fit.converged and fit.passes < 30
    assert fit.groups["sd"][1] < 0.7


def test_a_seed_without_checks_is_refused():
    with pytest.raises(MensuraError, match="seed: got 3, but only checks draw"):
        fit_responses({"q1": [1, 0], "q2": [0, 1]}, options=FitOptions(checks=False, seed=3))
