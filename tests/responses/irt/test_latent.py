"""Several abilities on covariates: one ability, every rotation, known truth, and errors that include the items."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from benchmarks.irt_rated import draw_rated
from mensura.core.errors import MensuraError
from mensura.responses import Survey, fit_categories, fit_dimensions, regress_abilities
from mensura.responses.irt import dimension_items
from mensura.responses.irt.latent import AbilityLikelihoods, PlacedLikelihoods, regress
from tests.responses.test_dimensions import drawn_in
from tests.responses.test_regression import rated_school


@pytest.fixture(scope="module")
def rated():
    """1,000 subjects; two abilities of sd 1 that correlate by 0.5 and rise by 0.5 and 0.3 with schooling."""
    wide, pairs, truth = draw_rated("graded", 2, np.random.default_rng(7))
    return wide, pairs, wide.select("subject", schooling=pl.Series(truth[-1]))


@pytest.fixture(scope="module")
def fitted(rated):
    """The confirmatory fit of these ratings, which most tests regress."""
    wide, pairs, _ = rated
    return fit_dimensions(wide, pairs, model="graded")


def likelihoods(fit):
    data, items, places = fit.answers
    return PlacedLikelihoods.of(data.right, data.trials, items, places)


def test_one_dimension_is_the_regression_of_one_ability(monkeypatch):
    """The same items on nodes of every subject and on one grid: coefficients, spread, information, posteriors."""
    monkeypatch.setattr(dimension_items, "SLOPE_SD", 1e4)
    monkeypatch.setattr(dimension_items, "INTERCEPT_SD", 1e4)
    wide, people = rated_school(2)
    pairs = pl.DataFrame({"item": wide.columns[1:], "dimension": "all"})
    fit = fit_dimensions(wide, pairs, model="graded")
    plain = fit_categories(wide, model="graded", prior="none")
    values = np.column_stack([fit.answers.items.slopes, fit.answers.items.intercepts])
    items = replace(plain.bank.parameters, values=values)
    x, weights = np.column_stack([np.ones(800), people["schooling"].to_numpy()]), np.ones(800)
    one = regress(AbilityLikelihoods.of_categories(plain.answers, items), x, weights)
    known = likelihoods(fit)
    first = regress(known, x, weights)
    several = regress(known.around(first.mean, first.variance), x, weights)
    assert several.values == pytest.approx(one.values, abs=2e-4)
    assert several.information == pytest.approx(one.information, rel=2e-3, abs=0.2)
    assert several.mean == pytest.approx(one.mean, abs=1e-3)
    assert several.scores.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-2)
    table = regress_abilities(fit, None, people, on=["schooling"], draws=1)
    assert table.regression["estimate"].to_list() == pytest.approx(several.coefficients[:, 0].tolist(), abs=1e-4)


@pytest.mark.slow
def test_effects_spread_and_plausible_values_come_back(rated, fitted):
    people = rated[2]
    found = regress_abilities(fitted, None, people, on=["schooling"])
    assert found.regression.columns == ["dimension", "term", "estimate", "se", "low", "high"]
    effect = dict(found.regression.filter(term="schooling").select("dimension", "estimate").iter_rows())
    assert effect == pytest.approx({"d1": 0.5, "d2": 0.3}, abs=0.08)
    left = dict(zip(["11", "12", "22"], found.residuals["covariance"], strict=True))
    assert left == pytest.approx({"11": 0.75, "12": 0.35, "22": 0.91}, abs=0.08)
    assert found.explained == pytest.approx((0.25 + 0.09) / 2.0, abs=0.04)
    assert found.plausible.shape == (2000, 12)
    for name, size in effect.items():
        values = found.plausible.filter(dimension=name)
        slopes = [np.polyfit(people["schooling"], values[f"pv{one}"], 1)[0] for one in range(1, 11)]
        assert np.mean(slopes) == pytest.approx(size, abs=0.02)
        assert values["pv1"].std() == pytest.approx(1.0, abs=0.06)
    both = [found.plausible.filter(dimension=name)["pv1"].to_numpy() for name in effect]
    assert np.corrcoef(both)[0, 1] == pytest.approx(0.5, abs=0.08)


@pytest.mark.slow
def test_right_answers_in_two_dimensions_are_regressed():
    wide, pairs, truth = draw_rated("2pl", 2, np.random.default_rng(9))
    people = wide.select("subject", schooling=pl.Series(truth[-1]))
    found = regress_abilities(fit_dimensions(wide, pairs), None, people, on=["schooling"], draws=1)
    rows = found.regression.filter(term="schooling")
    assert rows["estimate"].to_list() == pytest.approx([0.5, 0.3], abs=0.1)
    assert all(0.02 < error < 0.05 for error in rows["se"])


@pytest.mark.slow
def test_every_rotation_has_the_same_effects_on_items(rated):
    """Slopes and effects turn together: what schooling does to the logit of an item stays."""
    wide, _, people = rated
    effects = []
    for rotation in ("none", "varimax", "oblimin"):
        fit = fit_dimensions(wide, 2, model="graded", rotation=rotation)
        found = regress_abilities(fit, None, people, on=["schooling"], draws=1)
        slopes = fit.items.pivot(on="dimension", index="item", values="discrimination").drop("item").to_numpy()
        effects.append(slopes @ found.regression.filter(term="schooling")["estimate"].to_numpy())
    assert effects[1] == pytest.approx(effects[0], abs=2e-3)
    assert effects[2] == pytest.approx(effects[0], abs=2e-3)


@pytest.mark.slow
def test_a_regression_moves_with_its_items_as_it_says():
    """The change of the gradient with each slope and intercept is that of small differences."""
    wide, pairs, *_ = drawn_in(2, 2, subjects=200, items=6)
    fit = fit_dimensions(wide, pairs)
    known = likelihoods(fit)
    x, weights = np.column_stack([np.ones(200), np.linspace(-1.0, 1.0, 200)]), np.linspace(0.5, 1.5, 200)
    found = regress(known, x, weights, abilities=2)
    changes = known.item_changes(x, weights, found)
    assert changes.shape == (7, 12)
    small = 1e-2
    for column, place in enumerate(np.argwhere(known.items.estimated)):
        step = np.zeros(known.items.estimated.shape)
        step[tuple(place)] = small
        ends = []
        for sign in (-1.0, 1.0):
            moved = PlacedLikelihoods.of(known.right, known.trials, known.items.moved(sign * step), known.places)
            mean = moved.posterior(x @ found.coefficients, found.root)[0]
            off = mean - x @ found.coefficients
            ends.append(x.T @ (off * weights[:, None]) @ np.linalg.inv(found.covariance))
        assert (ends[1] - ends[0]).ravel() / (2 * small) == pytest.approx(changes[:4, column], abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("explored", [False, True])
def test_intervals_of_effects_on_two_abilities_hold_the_truth(explored):
    held, ratio = [], []
    for seed in range(10):
        wide, pairs, (slopes, _, effect, _, schooling) = draw_rated("graded", 2, np.random.default_rng(200 + seed), 500)
        found = {"dimensions": 2, "rotation": "oblimin"} if explored else {"dimensions": pairs}
        fit = fit_dimensions(wide, model="graded", **found)
        people = wide.select("subject", schooling=pl.Series(schooling))
        rows = regress_abilities(fit, None, people, on=["schooling"], draws=1).regression.filter(term="schooling")
        order = [0, 1]
        if explored:
            loads = fit.items.pivot(on="dimension", index="item", values="loading").drop("item").to_numpy()
            order = np.argmax(loads.T @ slopes, axis=1)
        off = rows["estimate"].to_numpy() - effect[order]
        held += (np.abs(off) < 1.645 * rows["se"].to_numpy()).tolist()
        ratio += (off / rows["se"].to_numpy()).tolist()
    assert 0.78 <= np.mean(held) <= 0.98
    assert 0.7 < np.std(ratio) < 1.3


@pytest.mark.slow
def test_clusters_and_weights_apply_to_several_dimensions(rated, fitted):
    people = rated[2]
    many = people.with_columns(
        each=pl.int_range(pl.len()), school=pl.int_range(pl.len()) // 10, w=1.0 + pl.int_range(pl.len()) % 2
    )
    plain, each, schools = (
        regress_abilities(fitted, None, people, on=["schooling"], survey=survey, draws=1).regression
        for survey in (None, Survey(many, cluster="each"), Survey(many, weights="w", cluster="school"))
    )
    assert each["se"].to_list() == pytest.approx(plain["se"].to_list(), rel=1e-9)
    plain, schools = (table.filter(term="schooling") for table in (plain, schools))
    assert schools["estimate"].to_list() == pytest.approx(plain["estimate"].to_list(), abs=0.08)
    assert schools["se"].to_list() == pytest.approx(plain["se"].to_list(), rel=0.35)


@pytest.mark.slow
def test_people_without_the_covariate_are_left_out_of_several_dimensions(rated, fitted):
    some = rated[2].with_columns(schooling=pl.when(pl.int_range(pl.len()) >= 250).then("schooling"))
    found = regress_abilities(fitted, None, some, on=["schooling"], draws=1)
    assert found.plausible["subject"].n_unique() == 750
    assert found.heading.startswith("2 abilities of 750 subjects on covariates")


def test_a_bifactor_fit_has_no_regression():
    wide, pairs, *_ = drawn_in(2, 1, subjects=100, items=8, general=True)
    fit = fit_dimensions(wide, pairs, bifactor=True)
    people = wide.select("subject", age=pl.int_range(pl.len()))
    with pytest.raises(MensuraError, match=r"regress: got a bifactor fit; expected correlated or explored dimensions"):
        regress_abilities(fit, None, people, on=["age"])


@pytest.mark.slow
def test_the_command_regresses_ratings_in_several_dimensions(mensura_command, rated, tmp_path):
    wide, _, people = rated
    wide.join(people, on="subject").head(300).write_csv(tmp_path / "ratings.csv")
    run = mensura_command(
        *("responses", "fit", tmp_path / "ratings.csv", "--model", "graded", "--dimensions", 2),
        *("--regress", "schooling", "--out", tmp_path / "fitted"),
    )
    assert run.code == 0
    table = pl.read_csv(tmp_path / "fitted" / "regression.csv")
    assert table.select("dimension", "term").rows() == [
        ("d1", "intercept"),
        ("d1", "schooling"),
        ("d2", "intercept"),
        ("d2", "schooling"),
    ]
    assert pl.read_csv(tmp_path / "fitted" / "plausible.csv").shape == (600, 12)
    assert pl.read_csv(tmp_path / "fitted" / "residuals.csv").height == 3
    assert "2 abilities of 300 subjects on covariates" in run.out
    assert "The clearest effect: schooling changes" in run.out
