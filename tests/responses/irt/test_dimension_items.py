"""Ratings in several dimensions: published values, one dimension, two categories, brute force, known truth."""

import numpy as np
import polars as pl
import pytest

from mensura.responses import fit_categories, fit_dimensions
from mensura.responses.category_table import dimension_answers
from mensura.responses.irt import dimension_items, dimensions
from mensura.responses.irt.category_curves import CategoryItems, log_chances
from mensura.responses.irt.dimension_items import DimensionItems
from mensura.responses.irt.dimension_nodes import pass_over
from mensura.responses.irt.dimensions import fit_dimensions_held
from tests.responses.test_dimensions import drawn_in

SCIENCE = """
1111:2 1321:1 1423:1 1431:1 2111:1 2124:1 2211:1 2222:4 2223:2 2231:1 2232:1 2233:1 2243:1 2313:1 2322:2 2323:1 2332:3
2333:3 2334:2 2341:1 2343:2 2421:1 2443:2 2444:1 3111:1 3113:2 3122:2 3123:4 3132:5 3133:5 3134:3 3143:1 3144:1 3212:1
3214:1 3221:1 3222:10 3223:7 3231:1 3232:16 3233:22 3234:5 3241:1 3242:1 3243:3 3244:2 3313:2 3321:1 3322:13 3323:10
3324:2 3331:5 3332:23 3333:52 3334:8 3342:7 3343:13 3344:12 3413:1 3423:1 3432:2 3433:4 3434:4 3441:1 3442:1 3443:6
3444:3 4114:1 4122:1 4124:2 4134:1 4221:1 4223:3 4233:8 4234:2 4242:1 4244:1 4323:1 4332:2 4333:21 4334:3 4342:2 4343:5
4344:8 4432:1 4433:2 4434:3 4442:2 4443:6 4444:12
"""
"""How many of 392 people gave each pattern of answers to four statements about science (Eurobarometer 1992).

The data ``Science`` of the R packages ltm and mirt. Estimates and log likelihoods: mirt 1.45, examples of ``anova()``,
``coef()`` and ``mirt()``.
"""
ITEMS = ["comfort", "work", "future", "benefit"]
TWO_FACTORS = np.array([[-1.335, 0.097], [-0.879, 1.853], [-1.47, 1.165], [-1.722, 0.0]])
STEPS = np.array([[5.211, 2.866, -1.603], [3.704, 1.153, -2.904], [4.663, 1.957, -1.736], [3.989, 1.195, -2.044]])
OPTIMUM = np.array([[0.6065, 0.0241], [-0.0350, 0.8017], [0.3596, 0.4885], [0.7248, -0.0297]])
OBLIMIN = np.array([[0.602, 0.031], [-0.057, 0.797], [0.330, 0.515], [0.723, -0.024]])


@pytest.fixture(scope="module")
def science():
    patterns = [one.split(":") for one in SCIENCE.split()]
    rows = [[int(digit) for digit in pattern] for pattern, count in patterns for _ in range(int(count))]
    table = pl.DataFrame(rows, schema=ITEMS, orient="row")
    return table.with_columns(subject=pl.int_range(392).cast(pl.String))


@pytest.fixture
def no_priors(monkeypatch):
    monkeypatch.setattr(dimension_items, "SLOPE_SD", 1e4)
    monkeypatch.setattr(dimension_items, "INTERCEPT_SD", 1e4)


def evidence_of(answers, items):
    """The log likelihood at some items; three passes lay the nodes."""
    places = fit_dimensions_held(answers.answered, items, most=0).places
    for _ in range(3):
        sums, places = pass_over(answers.answered, items, places)
    return sums, places


def test_one_ability_has_the_likelihood_that_mirt_prints(science):
    assert fit_categories(science, prior="none").log_likelihood == pytest.approx(-1608.870, abs=1e-3)
    fit = fit_categories(science, model="partial-credit", prior="none")
    assert 2 * 16 - 2 * fit.log_likelihood == pytest.approx(3257.366, abs=3e-3)


def test_two_abilities_behind_ratings_have_the_likelihood_that_mirt_prints(science):
    answers = dimension_answers(science.select("subject", *ITEMS), "graded")
    free = np.ones((4, 2), dtype=bool)
    items = DimensionItems(TWO_FACTORS, STEPS, np.eye(2), free, False, "graded", answers.sizes)
    assert evidence_of(answers, items)[0].evidence == pytest.approx(-1601.969, abs=1e-3)


@pytest.mark.usefixtures("no_priors")
def test_two_abilities_behind_ratings_have_the_loadings_that_mirt_prints(science):
    """Four items hardly tell two abilities: at the optimum, 0.001 above mirt's likelihood, loadings differ by 0.03.

    With 15 nodes per ability and steps fifty times as short, the optimum is ``OPTIMUM``, on every processor.
    """
    fit = fit_dimensions(science.select("subject", *ITEMS), 2, model="graded", rotation="oblimin")
    assert -1601.970 < fit.log_likelihood < -1601.967
    found = fit.items.pivot(on="dimension", index="item", values="loading").select("d2", "d1").to_numpy()
    assert np.max(np.abs(found - OBLIMIN)) < 0.035
    assert fit.correlations["correlation"][0] == pytest.approx(0.511, abs=0.03)
    assert np.max(np.abs(found - OPTIMUM)) < 0.004
    assert fit.correlations["correlation"][0] == pytest.approx(0.4862, abs=0.004)


@pytest.mark.usefixtures("no_priors")
@pytest.mark.parametrize("model", ["graded", "partial-credit"])
def test_one_dimension_is_the_fit_of_categories(science, model):
    one = fit_dimensions(science, pl.DataFrame({"item": ITEMS, "dimension": "all"}), model=model)
    plain = fit_categories(science, model=model, prior="none")
    assert one.log_likelihood == pytest.approx(plain.log_likelihood, abs=2e-3)
    assert one.items["discrimination"].to_list() == pytest.approx(plain.items["discrimination"].to_list(), abs=3e-3)
    assert one.items["se"].to_list() == pytest.approx(plain.items["se_discrimination"].to_list(), rel=3e-3)
    assert one.intercepts.select("item", "category", "n", "share").equals(
        plain.categories.select("item", "category", "n", "share")
    )
    assert one.intercepts["intercept"].to_list() == pytest.approx(plain.categories["intercept"].to_list(), abs=3e-3)
    assert one.intercepts["se"].to_list() == pytest.approx(plain.categories["se_intercept"].to_list(), rel=3e-3)
    assert one.subjects["ability"].to_list() == pytest.approx(plain.subjects["ability"].to_list(), abs=3e-3)
    assert one.subjects["se"].to_list() == pytest.approx(plain.subjects["se"].to_list(), abs=3e-3)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["graded", "partial-credit"])
@pytest.mark.parametrize("kind", ["confirmatory", "exploratory", "bifactor"])
def test_two_categories_are_right_and_wrong_answers(model, kind):
    """A graded fit begins at the same values; partial credit begins elsewhere and ends as near as fits converge."""
    near = 2e-3 if model == "graded" else 3e-2
    wide, pairs, *_ = drawn_in(2, 1, subjects=300, items=8, general=kind == "bifactor")
    how = 2 if kind == "exploratory" else pairs
    right = fit_dimensions(wide, how, bifactor=kind == "bifactor")
    rated = fit_dimensions(wide, how, model=model, bifactor=kind == "bifactor")
    assert rated.log_likelihood == pytest.approx(right.log_likelihood, abs=near / 2)
    for table, columns in (("items", ["discrimination", "se"]), ("intercepts", ["intercept", "se"])):
        for column in columns:
            found, known = (getattr(fit, table)[column].to_list() for fit in (rated, right))
            assert found == known if known[0] is None else found == pytest.approx(known, abs=near)
    assert rated.correlations["correlation"].to_list() == pytest.approx(
        right.correlations["correlation"].to_list(), abs=near
    )
    assert rated.subjects["ability"].to_list() == pytest.approx(right.subjects["ability"].to_list(), abs=near)


def mixed_ratings(model, subjects=200):
    """Six items of 2, 3 and 4 categories in two dimensions, with blanks and a few second answers."""
    rng = np.random.default_rng(5)
    ability = rng.multivariate_normal([0.0, 0.0], [[1.0, 0.4], [0.4, 1.0]], subjects)
    rows = []
    for at in range(6):
        kinds = 2 + at % 3
        for subject in range(subjects):
            for _ in range(int(rng.choice([0, 1, 2], p=[0.1, 0.85, 0.05]))):
                odds = 1.2 * ability[subject, at // 3] + np.linspace(1.0, -1.0, kinds - 1) + rng.logistic()
                rows.append((f"s{subject}", f"i{at}", int(np.sum(odds > 0.0))))
    long = pl.DataFrame(rows, schema=["subject", "item", "score"], orient="row")
    pairs = pl.DataFrame({"item": [f"i{at}" for at in range(6)], "dimension": ["a"] * 3 + ["b"] * 3})
    return long, pairs, dimension_answers(long, model)


def brute_force(long, answers, items):
    """Log likelihood on a full grid, with the curves of one ability at a₁θ₁ + a₂θ₂."""
    at = np.linspace(-5.5, 5.5, 34)
    nodes = np.stack([grid.ravel() for grid in np.meshgrid(at, at, indexing="ij")], axis=1)
    inverse = np.linalg.inv(items.correlation)
    prior = np.exp(-0.5 * np.einsum("qd,de,qe->q", nodes, inverse, nodes))
    joint = {name: np.log(prior / prior.sum()) for name in long["subject"].unique()}
    tables = {}
    for place, name in enumerate(answers.items):
        size = int(items.sizes[place])
        values = np.append(1.0, items.intercepts[place, : size - 1])[None]
        curve = CategoryItems(items.model, np.array([size]), values, np.zeros(1), np.ones(1))
        tables[name] = log_chances(curve, nodes @ items.slopes[place])[0]
    for subject, item, score in long.iter_rows():
        joint[subject] = joint[subject] + tables[item][score]
    heights = np.array(list(joint.values()))
    top = heights.max(axis=1)
    return float(np.sum(top + np.log(np.sum(np.exp(heights - top[:, None]), axis=1))))


@pytest.mark.parametrize("model", ["graded", "partial-credit"])
def test_likelihood_gradient_and_errors_are_those_of_the_full_grid(model):
    long, pairs, answers = mixed_ratings(model)
    fit = fit_dimensions(long, pairs, model=model, prior="weak")
    assert fit.converged
    items = fit.answers.items
    assert fit.log_likelihood == pytest.approx(brute_force(long, answers, items), abs=0.02)  # 7 nodes per ability

    def height(step):
        moved = items.moved(step)
        prior = np.sum(moved.slopes**2) / 8.0 + np.sum(moved.intercepts**2) / 18.0
        return brute_force(long, answers, moved) - prior

    places, small = np.argwhere(items.estimated), 0.02
    units = [small * (np.arange(items.estimated.size) == place @ [items.estimated.shape[1], 1]) for place in places]
    units = [unit.reshape(items.estimated.shape) for unit in units]
    best = height(np.zeros(items.estimated.shape))
    ends = [(height(-unit), height(unit)) for unit in units]
    slope = np.array([(high - low) / (2 * small) for low, high in ends])
    bend = -np.array([(high + low - 2 * best) / small**2 for low, high in ends])
    assert np.max(np.abs(slope) / np.sqrt(bend)) < 0.05
    information = dimensions.observed_information(answers.answered, items, fit.answers.places)[0]
    assert np.diag(information)[: len(bend)] == pytest.approx(bend, rel=0.01)
    for one, other in ((0, 1), (2, 4), (5, 6)):
        both = (height(units[one] + units[other]) - ends[one][1] - ends[other][1] + best) / small**2
        assert -information[one, other] == pytest.approx(both, abs=0.02 * np.sqrt(bend[one] * bend[other]))


@pytest.mark.slow
@pytest.mark.parametrize("model", ["graded", "partial-credit"])
def test_intervals_of_ratings_in_two_dimensions_hold_the_truth(model):
    from benchmarks.irt_rated import draw_rated

    held = {"slope": [], "step": [], "ability": []}
    for seed in range(4):
        wide, pairs, (slopes, steps, _, ability, _) = draw_rated(model, 2, np.random.default_rng(100 + seed), 200)
        fit = fit_dimensions(wide, pairs, model=model)
        for name, table, column, truth in (
            ("slope", fit.items, "discrimination", slopes.T[slopes.T != 0]),
            ("step", fit.intercepts, "intercept", steps.ravel()),
            ("ability", fit.subjects, "ability", ability.T.ravel()),
        ):
            off = np.abs(table[column].to_numpy() - truth)
            held[name].append(np.mean(off < 1.645 * table["se"].to_numpy()))
    assert all(0.82 < np.mean(values) < 0.97 for values in held.values()), held


def test_steps_of_a_rare_category_stay_in_order():
    """A category that one of 300 gave: its two steps lie close together and do not cross."""
    wide, pairs, *_ = drawn_in(2, 3, subjects=300, items=8)
    rated = wide.with_columns(pl.exclude("subject") * 2).with_columns(
        i0=pl.when(pl.int_range(pl.len()) == 7).then(1).otherwise("i0")
    )
    fit = fit_dimensions(rated, pairs, model="graded")
    steps = fit.intercepts.filter(item="i0")["intercept"].to_list()
    assert fit.converged
    assert 0.0 < steps[0] - steps[1] < 0.1


def test_steps_of_two_rare_categories_begin_in_order():
    """The two highest categories were given by one of 300 each: their steps do not begin at the same place."""
    rated, _, *_ = drawn_in(2, 3, subjects=300, items=8)
    row = pl.int_range(pl.len())
    rated = rated.with_columns(i0=pl.when(row == 7).then(2).when(row == 8).then(3).otherwise("i0"))
    steps = fit_dimensions(rated, 2, model="graded").intercepts.filter(item="i0")["intercept"].to_list()
    assert steps == sorted(steps, reverse=True)


@pytest.mark.slow
def test_the_command_fits_ratings_in_several_dimensions(mensura_command, science, tmp_path):
    science.write_csv(tmp_path / "ratings.csv")
    run = mensura_command(
        *("responses", "fit", tmp_path / "ratings.csv", "--model", "graded", "--dimensions", 2),
        *("--set", "rotation=oblimin", "--out", tmp_path / "fitted"),
    )
    assert run.code == 0
    assert "graded, 2 dimensions by maximum likelihood, 392 subjects × 4 items" in run.out
    assert "Highest loadings: d1 on work" in run.out
    assert pl.read_csv(tmp_path / "fitted" / "subjects.csv").height == 784
    assert pl.read_csv(tmp_path / "fitted" / "intercepts.csv").columns == [
        *("item", "category", "intercept", "se", "n", "share")
    ]
