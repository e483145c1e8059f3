"""Several abilities on covariates: one ability, every rotation, known truth, and errors that include the items."""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pytest

from benchmarks.irt_rated import draw_rated
from mensura.responses import Survey, fit_categories, fit_dimensions, regress_abilities
from mensura.responses.irt import dimension_items
from mensura.responses.irt.latent import AbilityLikelihoods, PlacedLikelihoods, draw_values, regress, value_scores
from tests.responses.test_dimensions import drawn_in
from tests.responses.test_regression import rated_school


@pytest.fixture(scope="module")
def rated():
    """1,000 subjects; two abilities of sd 1 that correlate by 0.5 and rise by 0.5 and 0.3 with schooling."""
    wide, pairs, truth = draw_rated("graded", 2, np.random.default_rng(7))
    return wide, pairs, wide.select("subject", schooling=pl.Series(truth[-1]))


@pytest.fixture(scope="module")
def confirmed(rated):
    return fit_dimensions(*rated[:2], model="graded")


@pytest.fixture(scope="module")
def few(rated):
    """The first 300 subjects: their fit, and what is known of them."""
    wide, pairs, people = rated
    return fit_dimensions(wide.head(300), pairs, model="graded"), people.head(300)


def likelihoods(fit):
    data, items, places = fit.answers
    return PlacedLikelihoods.of(data.answered, items, places)


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
    several = regress(known, x, weights)
    assert several.values == pytest.approx(one.values, abs=2e-4)
    assert several.information == pytest.approx(one.information, rel=2e-3, abs=0.2)
    assert several.mean == pytest.approx(one.mean, abs=1e-3)
    assert several.scores.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-2)
    table = regress_abilities(fit, None, people, on=["schooling"], draws=1)
    assert table.regression["estimate"].to_list() == pytest.approx(several.coefficients[:, 0].tolist(), abs=1e-4)


@pytest.mark.slow
def test_effects_spread_and_plausible_values_come_back(rated, confirmed):
    fit, people = confirmed, rated[2]
    found = regress_abilities(fit, None, people, on=["schooling"], draws=3)
    assert found.regression.columns == ["dimension", "term", "estimate", "se", "low", "high"]
    effect = dict(found.regression.filter(term="schooling").select("dimension", "estimate").iter_rows())
    assert effect == pytest.approx({"d1": 0.5, "d2": 0.3}, abs=0.08)
    left = dict(zip(["11", "12", "22"], found.residuals["covariance"], strict=True))
    assert left == pytest.approx({"11": 0.75, "12": 0.35, "22": 0.91}, abs=0.08)
    assert found.explained == pytest.approx((0.25 + 0.09) / 2.0, abs=0.04)
    assert found.plausible.shape == (2000, 5)
    for name, size in effect.items():
        values = found.plausible.filter(dimension=name)
        slopes = [np.polyfit(people["schooling"], values[f"pv{one}"], 1)[0] for one in range(1, 4)]
        assert np.mean(slopes) == pytest.approx(size, abs=0.03)
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
        fit = fit_dimensions(wide.head(250), 2, model="graded", rotation=rotation)
        found = regress_abilities(fit, None, people, on=["schooling"], draws=1)
        slopes = fit.items.pivot(on="dimension", index="item", values="discrimination").drop("item").to_numpy()
        effects.append(slopes @ found.regression.filter(term="schooling")["estimate"].to_numpy())
    assert effects[1] == pytest.approx(effects[0], abs=2e-3)
    assert effects[2] == pytest.approx(effects[0], abs=2e-3)


@pytest.mark.slow
def test_a_regression_moves_with_its_items_as_it_says():
    """The change of the gradient with each slope and intercept is that of small differences."""
    wide, pairs, *_ = drawn_in(2, 2, subjects=200, items=6)
    fit = fit_dimensions(wide, pairs, prior="weak")
    known = likelihoods(fit)
    x, weights = np.column_stack([np.ones(200), np.linspace(-1.0, 1.0, 200)]), np.linspace(0.5, 1.5, 200)
    found = regress(known, x, weights)
    changes = known.item_changes(x, weights, found)
    assert changes.shape == (7, 12)
    small = 1e-2
    for column, place in enumerate(np.argwhere(known.items.estimated)):
        step = np.zeros(known.items.estimated.shape)
        step[tuple(place)] = small
        ends = []
        for sign in (-1.0, 1.0):
            moved = PlacedLikelihoods.of(known.answers, known.items.moved(sign * step), known.places)
            mean = moved.posterior(x @ found.coefficients, found.root)[0]
            off = mean - x @ found.coefficients
            ends.append(x.T @ (off * weights[:, None]) @ np.linalg.inv(found.covariance))
        assert (ends[1] - ends[0]).ravel() / (2 * small) == pytest.approx(changes[:4, column], abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("explored", [False, True])
def test_intervals_of_effects_on_two_abilities_hold_the_truth(explored):
    held, ratio = [], []
    for seed in range(4):
        wide, pairs, (slopes, _, effect, _, schooling) = draw_rated("graded", 2, np.random.default_rng(200 + seed), 250)
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
    assert np.mean(held) >= 0.75
    assert 0.5 < np.sqrt(np.mean(np.square(ratio))) < 1.4


@pytest.mark.slow
def test_clusters_and_weights_apply_to_several_dimensions(few):
    fit, people = few
    many = people.with_columns(
        each=pl.int_range(pl.len()), school=pl.int_range(pl.len()) // 10, w=1.0 + pl.int_range(pl.len()) % 2
    )
    plain, each, schools = (
        regress_abilities(fit, None, people, on=["schooling"], survey=survey, draws=1).regression
        for survey in (None, Survey(many, cluster="each"), Survey(many, weights="w", cluster="school"))
    )
    assert each["se"].to_list() == pytest.approx(plain["se"].to_list(), rel=1e-9)
    plain, schools = (table.filter(term="schooling") for table in (plain, schools))
    assert schools["estimate"].to_list() == pytest.approx(plain["estimate"].to_list(), abs=0.08)
    assert schools["se"].to_list() == pytest.approx(plain["se"].to_list(), rel=0.35)


@pytest.mark.slow
def test_people_without_the_covariate_are_left_out_of_several_dimensions(few):
    fit, people = few
    some = people.with_columns(schooling=pl.when(pl.int_range(pl.len()) >= 100).then("schooling"))
    found = regress_abilities(fit, None, some, on=["schooling"], draws=1)
    assert found.plausible["subject"].n_unique() == 200
    assert found.heading.startswith("2 abilities of 200 subjects on covariates")


@pytest.fixture(scope="module")
def testlets():
    """Three passages; the general ability rises by 0.6 with schooling, that of one passage by 0.4.

    The items of a passage differ in how much they ask for its own ability. If all had the same ratio of slopes, effects
    could move from the general ability to all own ones without any change of the answers.
    """
    rng = np.random.default_rng(11)
    schooling, own, steep = rng.normal(size=1000), np.arange(18) % 3, np.arange(18) // 3 % 2
    effect, sd = np.array([0.6, 0.4, 0.0, 0.0]), np.sqrt([0.64, 0.84, 1.0, 1.0])
    ability = schooling[:, None] * effect + rng.normal(size=(1000, 4)) * sd
    slopes = np.column_stack([np.full(18, 1.5), *((0.5 + 1.5 * steep) * (own == one) for one in range(3))])
    right = (ability @ slopes.T + rng.normal(0, 0.7, 18) + rng.logistic(size=(1000, 18)) > 0.0).astype(int)
    wide = pl.DataFrame({"subject": np.arange(1000).astype(str), **{f"i{at}": right[:, at] for at in range(18)}})
    pairs = pl.DataFrame({"item": wide.columns[1:], "dimension": [f"p{one}" for one in own]})
    return fit_dimensions(wide, pairs, bifactor=True), wide.select("subject", schooling=pl.Series(schooling)), effect


@pytest.mark.slow
def test_effects_on_a_general_and_on_own_abilities_come_back(testlets):
    fit, people, effect = testlets
    found = regress_abilities(fit, None, people, on=["schooling"], draws=3)
    rows = found.regression.filter(term="schooling")
    assert rows["dimension"].to_list() == ["general", "p0", "p1", "p2"]
    assert rows["estimate"].to_list() == pytest.approx(effect.tolist(), abs=0.12)
    assert np.all(np.abs(rows["estimate"].to_numpy() - effect) < 2.6 * rows["se"].to_numpy())
    assert all(0.02 < error < 0.1 for error in rows["se"])
    apart = found.residuals.filter(pl.col("dimension") != pl.col("other"))
    assert apart["covariance"].to_list() == [0.0] * 6
    draws = found.plausible.filter(dimension="general").join(people, on="subject", maintain_order="left")
    slopes = [np.polyfit(draws["schooling"], draws[f"pv{one}"], 1)[0] for one in range(1, 4)]
    assert np.mean(slopes) == pytest.approx(rows["estimate"][0], abs=0.06)


@pytest.mark.slow
def test_a_bifactor_regression_is_that_of_correlated_abilities_kept_independent(testlets):
    """With one passage, general and own ability are two abilities of one grid: likelihoods have the same posteriors."""
    fit, people, _ = testlets
    known = likelihoods(fit)
    keep = np.arange(60)
    items, own = known.items, known.answers._replace(right=known.answers.right[keep])
    places = type(known.places)(known.places.mean[keep], known.places.covariance[keep])
    small = PlacedLikelihoods.of(own, items, places)
    x = np.column_stack([np.ones(60), people["schooling"].to_numpy()[:60]])
    middle, root = x @ np.array([[0.0, 0.1, 0.0, 0.2], [0.5, 0.3, 0.0, -0.2]]), np.diag([0.8, 0.9, 1.0, 1.1])
    mean, covariance = small.posterior(middle, root)
    at, weight = np.polynomial.hermite_e.hermegauss(13)
    grid = np.stack([one.ravel() for one in np.meshgrid(*[at] * 4, indexing="ij")], axis=1)
    mass = np.prod(np.stack(np.meshgrid(*[weight] * 4, indexing="ij")), axis=0).ravel()
    for row in range(5):
        theta = middle[row] + grid @ root
        z = theta @ items.slopes.T + items.intercepts.ravel()
        like = np.exp(z @ own.right[row] - np.logaddexp(0.0, z).sum(axis=1)) * mass
        like /= like.sum()
        assert mean[row] == pytest.approx(like @ theta, abs=0.01)
        off = theta - like @ theta
        assert covariance[row] == pytest.approx((off * like[:, None]).T @ off, abs=0.01)


@pytest.mark.slow
def test_a_bifactor_regression_moves_with_its_items_as_it_says(testlets):
    """The change of the gradient with slopes and intercepts of each part is that of small differences."""
    fit, people, _ = testlets
    known = likelihoods(fit)
    x = np.column_stack([np.ones(1000), people["schooling"].to_numpy()])
    found = regress(known, x, np.ones(1000))
    known = found.likelihoods
    changes, small = known.item_changes(x, np.ones(1000), found), 1e-2
    places = np.argwhere(known.items.estimated)
    assert changes.shape == (12, len(places))
    for column in (0, 1, 2, 25, 53):
        step, ends = np.zeros(known.items.estimated.shape), []
        step[tuple(places[column])] = small
        for sign in (-1.0, 1.0):
            moved = PlacedLikelihoods.of(known.answers, known.items.moved(sign * step), known.places)
            mean, variance = moved.posterior(x @ found.coefficients, found.root)
            off = mean - x @ found.coefficients
            moments = variance + off[:, :, None] * off[:, None, :]
            ends.append(value_scores(x, off, moments, found.root, known.entries).sum(axis=0))
        assert (ends[1] - ends[0]) / (2 * small) == pytest.approx(changes[:, column], rel=0.03, abs=0.5)


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


@dataclass(frozen=True)
class Known:
    """Normal likelihoods of two abilities: where each subject's answers put them, with one error for both."""

    at: np.ndarray
    error: float
    entries: tuple

    def posterior(self, middle, root):
        prior = np.linalg.inv(root @ root.T)
        covariance = np.linalg.inv(prior + np.eye(2) / self.error**2)
        mean = (middle @ prior + self.at / self.error**2) @ covariance
        return mean, np.broadcast_to(covariance, (len(mean), 2, 2)).copy()


@pytest.fixture(scope="module")
def linear():
    """Abilities on a constant and a covariate, 400 subjects, answers that place them with an error of 0.5."""
    rng = np.random.default_rng(3)
    x = np.column_stack([np.ones(400), rng.normal(size=400)])
    truth = x @ [[0.3, -0.2], [0.5, 0.1]] + rng.normal(size=(400, 2)) @ [[0.8, 0.3], [0.0, 0.6]]
    return Known(truth + 0.5 * rng.normal(size=(400, 2)), 0.5, np.tril_indices(2)), x


def test_with_normal_likelihoods_a_regression_is_that_of_least_squares(linear):
    """What answers say has the covariance of the rest plus that of their error; both are known in closed form."""
    known, x = linear
    weights = np.linspace(0.5, 1.5, 400)
    found = regress(known, x, weights)
    root = np.sqrt(weights)[:, None]
    coefficients = np.linalg.lstsq(root * x, root * known.at, rcond=None)[0]
    off = known.at - x @ coefficients
    total = (weights[:, None] * off).T @ off / weights.sum()
    assert found.coefficients == pytest.approx(coefficients, abs=1e-4)
    assert found.covariance == pytest.approx(total - 0.25 * np.eye(2), abs=1e-4)
    assert found.values[4:] == pytest.approx([np.log(found.root[0, 0]), found.root[1, 0], np.log(found.root[1, 1])])
    wanted = np.kron((weights[:, None] * x).T @ x, np.linalg.inv(total))
    assert found.information[:4, :4] == pytest.approx(wanted, rel=1e-3, abs=0.05)
    assert found.scores.sum(axis=0) == pytest.approx(np.zeros(7), abs=1e-2)
    mean, variance = known.posterior(x @ found.coefficients, found.root)
    assert found.mean == pytest.approx(mean) and found.variance == pytest.approx(variance)


def test_where_own_abilities_are_independent_the_rest_is_too(linear):
    known, x = linear
    found = regress(replace(known, entries=np.nonzero(np.eye(2))), x, np.ones(400))
    off = known.at - x @ found.coefficients
    assert found.covariance == pytest.approx(np.diag((off**2).mean(axis=0) - 0.25), abs=1e-4)
    assert len(found.values) == 6


def test_scores_of_values_are_derivatives_of_the_normal_density(linear):
    known, x = linear
    values = np.array([0.2, -0.1, 0.4, 0.3, -0.2, 0.25, 0.1])

    def density(values):
        root = np.array([[np.exp(values[4]), 0], [values[5], np.exp(values[6])]])
        rest = np.linalg.solve(root, (known.at - x @ values[:4].reshape(2, 2)).T)
        return -(rest**2).sum(axis=0) / 2 - values[4] - values[6]

    steps = 1e-5 * np.eye(7)
    wanted = np.stack([(density(values + one) - density(values - one)) / 2e-5 for one in steps], axis=1)
    off = known.at - x @ values[:4].reshape(2, 2)
    root = np.array([[np.exp(values[4]), 0], [values[5], np.exp(values[6])]])
    found = value_scores(x, off, off[:, :, None] * off[:, None, :], root, np.tril_indices(2))
    assert found == pytest.approx(wanted, abs=1e-5)


def test_plausible_values_have_the_mean_and_covariance_of_the_posteriors(linear):
    known, x = linear
    fitted = regress(known, x, np.ones(400))
    exact = draw_values(x, fitted, np.zeros((7, 7)), 300, np.random.default_rng(0))
    assert exact.shape == (400, 2, 300)
    assert np.abs(exact.mean(axis=2) - fitted.mean).max() < 0.15
    spread = np.einsum("cid,cjd->ij", exact - fitted.mean[:, :, None], exact - fitted.mean[:, :, None]) / (400 * 300)
    assert spread == pytest.approx(fitted.variance[0], rel=0.03)
    unsure = draw_values(x, fitted, 0.01 * np.eye(7), 300, np.random.default_rng(0))
    assert unsure.var(axis=2).mean() > exact.var(axis=2).mean() * 1.01
