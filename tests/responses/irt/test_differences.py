"""Items that differ between groups, bend or ask for something else are found, others are left alone."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.responses import FitOptions, fit_responses, place_among
from mensura.responses.irt.differences import RightAnswers, compare_items, discovery_rates
from mensura.responses.irt.fitting import start
from mensura.responses.irt.namespace import namespace
from mensura.responses.irt.priors import Priors
from mensura.responses.irt.shards import of_matrix
from tests.responses.conftest import draw


def two_groups(shift, seed=1):
    people = draw(700, 25, seed=seed, name="p")
    models = draw(500, 25, seed=seed + 1, mean=0.8, slope=people.slope, intercept=people.intercept + shift, name="m")
    return pl.concat(
        [people.wide.with_columns(group=pl.lit("people")), models.wide.with_columns(group=pl.lit("models"))]
    )


def easier_for_one_group(seed, people, items, by):
    """Answers of two groups of equal size, and the same for tests; the first item is easier for the second group."""
    rng = np.random.default_rng(seed)
    focal = np.arange(people) >= people // 2
    easier = by * focal[:, None] * (np.arange(items) == 0)
    logit = 1.2 * rng.normal(size=(people, 1)) - np.linspace(-1, 1, items) + easier
    right = (rng.random((people, items)) < 1 / (1 + np.exp(-logit))).astype(np.uint8)
    held = of_matrix(right, None, focal.astype(int))
    return right, RightAnswers(namespace(double=True), held, Priors(None, None, None, None))


def test_an_item_that_chance_flags_does_not_leave_the_link():
    """The statistic of the first item is that with all others as the link, as mirt's is."""
    right, answers = easier_for_one_group(19, 600, 6, 1.2)
    both, own = np.arange(6), np.array([6, *range(1, 6)])
    alike = answers.solve(start("2pl", right.mean(axis=0), 2), [both, both])
    first_differs = answers.solve(alike.parameters.of_items([*both, 0]), [both, own])
    table = compare_items(answers, alike.parameters, ["a", "b"], pl.Series([f"i{k}" for k in range(6)]))
    assert table.filter("flagged")["item"].to_list() == ["i0", "i4"], "i4 by chance"
    assert table["x2"][0] == pytest.approx(2 * (first_differs.posterior - alike.posterior), abs=0.01)


def test_a_difference_that_crosses_at_the_mean_is_large():
    """An item of another discrimination is as easy on average: easier for the able, harder for the others."""
    slope = np.ones(6)
    people = draw(1000, 6, seed=2, slope=slope, intercept=np.zeros(6), name="p")
    slope[2] = 3.5
    models = draw(1000, 6, seed=3, slope=slope, intercept=np.zeros(6), name="m")
    groups = [one.wide.with_columns(group=pl.lit(name)) for one, name in ((people, "people"), (models, "models"))]
    row = fit_responses(pl.concat(groups), options=FitOptions(checks=False)).dif.row(2, named=True)
    assert abs(row["difference"]) < 0.43 and row["p_nonuniform"] < 0.01
    assert row["class"] == "C" and row["flagged"]


@pytest.mark.parametrize("seed", [2, 25])
def test_two_groups_are_fitted_in_a_few_passes(seed):
    """Steps that led too far were shortened and lengthened in turn: one of these fits took all 60 passes."""
    right, answers = easier_for_one_group(seed, 400, 8, 1.0)
    alike = answers.solve(start("2pl", right.mean(axis=0), 2), [np.arange(8), np.arange(8)])
    own = np.array([8, *range(1, 8)])
    first_differs = answers.solve(alike.parameters.of_items([*range(8), 0]), [np.arange(8), own])
    assert alike.converged and first_differs.converged
    assert len(alike.history) < 20 and len(first_differs.history) < 20


def test_q_values_are_those_of_benjamini_and_hochberg():
    assert discovery_rates(np.array([0.01, 0.04, 0.03, 0.5])) == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])


@pytest.mark.slow
def test_items_that_differ_between_groups_are_found_with_sign_and_size():
    shift = np.zeros(25)
    shift[[2, 5, 9]] = -1.2, 1.0, -1.2
    fit = fit_responses(two_groups(shift), options=FitOptions(checks=False))
    flagged = fit.dif.filter("flagged")
    assert set(flagged["item"]) == {"i2", "i5", "i9"}
    found = dict(flagged.select("item", "difference").iter_rows())
    assert found["i2"] == pytest.approx(-1.2, abs=0.5)
    assert found["i5"] == pytest.approx(1.0, abs=0.5)
    gaps = dict(flagged.select("item", "gap").iter_rows())
    assert gaps["i2"] < 0 < gaps["i5"]
    assert set(flagged["class"]) <= {"B", "C"}
    uniform, size = fit.dif.filter(pl.col("p_nonuniform") >= 0.05), pl.col("difference").abs()
    expected = pl.when(size < 0.43).then(pl.lit("A")).when(size < 0.64).then(pl.lit("B")).otherwise(pl.lit("C"))
    assert uniform.filter(pl.col("class") != expected).is_empty()
    assert uniform.filter(pl.col("flagged") != ((pl.col("q") < 0.05) & (size >= 0.43))).is_empty()
    assert fit.dif["q"].to_list() == pytest.approx(discovery_rates(fit.dif["p"].to_numpy()).tolist())
    assert any("3 of 25 items differ" in said for said in fit.checks["said"])


def test_alike_groups_are_left_alone():
    fit = fit_responses(two_groups(np.zeros(25), seed=5), options=FitOptions(checks=False))
    assert fit.dif.height == 25
    assert fit.dif["flagged"].sum() <= 1
    assert (fit.dif["p"] < 0.05).mean() < 0.2


def test_a_second_dimension_is_said():
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=(2, 900))
    base = draw(900, 24, seed=4)
    ability = np.where(np.arange(24)[None, :] < 12, first[:, None], second[:, None])
    right = rng.random((900, 24)) < 1 / (1 + np.exp(-(1.3 * ability + base.intercept)))
    names = {f"i{at}": right[:, at].astype(int) for at in range(24)}
    two = fit_responses(pl.DataFrame({"subject": base.wide["subject"], **names}))
    assert two.checks["said"][0].startswith("More than one dimension (clearly)")
    assert fit_responses(base.wide).checks["said"][0].startswith("One dimension suffices")


def test_an_item_off_its_curve_is_found():
    truth = draw(3000, 30, seed=6)
    rng = np.random.default_rng(1)
    flat = np.where(np.abs(truth.ability) < 0.8, 0.9, 0.15)  # right in the middle, wrong at both ends
    wide = truth.wide.with_columns(odd=pl.Series((rng.random(3000) < flat).astype(int)))
    fit = fit_responses(wide, options=FitOptions(checks=False))
    worst = fit.items.sort("fit", descending=True).row(0, named=True)
    assert worst["item"] == "odd"
    assert worst["fit"] > 0.1
    assert worst["fit_q"] < 0.001
    assert (fit.items.filter(pl.col("item") != "odd")["fit_q"] < 0.05).sum() <= 3


def test_ability_becomes_percentile_and_iq_among_people():
    fit = fit_responses(two_groups(np.zeros(25), seed=7), options=FitOptions(dif=False, checks=False))
    placed = place_among(fit, group="people")
    row = placed.subjects.row(5, named=True)
    assert row["iq"] == pytest.approx(100 + 15 * row["ability"], abs=1e-6)
    assert row["percentile"] == pytest.approx(100 * (1 - row["rate"]))
    assert row["low"] < row["rate"] < row["high"]
    assert row["iq_low"] < row["iq"] < row["iq_high"]
    models = placed.subjects.filter(pl.col("group") == "models")["iq"].mean()
    assert models == pytest.approx(100 + 15 * 0.8, abs=2.5)
    with pytest.raises(MensuraError, match="expected one of people, models"):
        place_among(fit, group="martians")
    with pytest.raises(MensuraError, match="one of the two"):
        place_among(fit)


def test_rates_of_a_population_place_it_and_subjects_among_it():
    """People of whom only success rates are known, half a standard deviation below those who were tested."""
    truth = draw(1500, 30, seed=8)
    fit = fit_responses(truth.wide, options=FitOptions(checks=False))
    others = draw(4000, 30, seed=9, mean=-0.5, sd=1.4, slope=truth.slope, intercept=truth.intercept)
    rates = pl.DataFrame(
        {"item": [f"i{at}" for at in range(30)], "rate": [others.wide[f"i{at}"].mean() for at in range(30)], "n": 4000}
    )
    placed = place_among(fit, rates=rates, name="world")
    world = placed.population.row(0, named=True)
    assert world["mean"] == pytest.approx(-0.5, abs=0.12)
    assert world["sd"] == pytest.approx(1.4, abs=0.3)
    assert placed.subjects["population"][0] == "world"
    near = placed.subjects.with_columns(fit.subjects["se"]).filter(pl.col("ability").abs() < 0.3)
    z = (near["ability"] - world["mean"]) / world["sd"]
    errors = (near["se"] ** 2 + world["se_mean"] ** 2 + (z * world["se_sd"]) ** 2).sqrt()
    width = (near["iq_high"] - near["iq_low"]) / (2 * 1.645 * 15 * errors / world["sd"])
    assert width.median() == pytest.approx(1, abs=0.1), (
        "errors of the ability, of the people's mean and of their spread"
    )
    with pytest.raises(MensuraError, match="at least 5 are needed"):
        place_among(fit, rates=rates.head(3))


def test_groups_without_a_common_item_are_refused_and_such_subjects_named():
    one, other = draw(60, 8, seed=1, name="p").wide, draw(40, 8, seed=2, name="m").wide
    apart = other.rename({f"i{at}": f"j{at}" for at in range(8)})
    with pytest.raises(MensuraError, match="group 'm' shares no item with group 'p'"):
        fit_responses([one.with_columns(group=pl.lit("p")), apart.with_columns(group=pl.lit("m"))])
    fit = fit_responses([one, apart], options=FitOptions(checks=False))
    assert any("40 subjects share no item with the others (m0, m1" in said for said in fit.warnings)
    linked = fit_responses([one, apart.with_columns(i0=other["i0"])], options=FitOptions(checks=False))
    assert not any("share no item" in said for said in linked.warnings)


def test_a_difference_that_few_answers_leave_open_has_no_class():
    """Eight models: the errors of a difference are above 0.64 logits, so that its size says nothing."""
    people = draw(400, 20, seed=1, name="p")
    models = draw(8, 20, seed=2, slope=people.slope, intercept=people.intercept, name="m")
    both = [people.wide.with_columns(group=pl.lit("p")), models.wide.with_columns(group=pl.lit("m"))]
    dif = fit_responses(pl.concat(both), model="rasch", options=FitOptions(checks=False)).dif
    assert dif.filter(pl.col("class").is_null() != (pl.col("se") > 0.64)).is_empty()
    assert dif["class"].null_count() > 10
    assert not dif["flagged"].any()
