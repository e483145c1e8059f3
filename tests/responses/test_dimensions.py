"""Several abilities: one is the 2PL model, several come back, rotations find the simple structure."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.responses import FitOptions, Survey, fit_dimensions, fit_responses
from mensura.responses.irt import dimension_nodes
from mensura.responses.irt.dimension_items import (
    LIKE_SD,
    MEAN_SD,
    DimensionItems,
    prior_curvature,
    prior_gradient,
    rotate,
)
from mensura.responses.irt.dimension_nodes import Places, StepAnswers, pass_over
from mensura.responses.irt.dimensions import fit_dimensions_held, observed_information
from tests.responses.conftest import draw

Z90 = 1.645


def drawn_in(dimensions, seed=0, *, subjects=1000, items=24, correlation=0.5, general=False):
    """Answers to items of several dimensions; with ``general``, all items also ask for one ability."""
    rng = np.random.default_rng(seed)
    own = np.arange(items) % dimensions
    slopes = np.exp(rng.normal(0.0, 0.25, (items, 1))) * (own[:, None] == np.arange(dimensions))
    shared = np.full((dimensions, dimensions), correlation) + (1.0 - correlation) * np.eye(dimensions)
    if general:
        slopes = np.column_stack([np.exp(rng.normal(0.2, 0.2, items)), slopes])
        shared = np.eye(dimensions + 1)
    ability = rng.multivariate_normal(np.zeros(len(shared)), shared, subjects)
    intercept = rng.normal(0.0, 1.0, items)
    right = (rng.random((subjects, items)) < 1 / (1 + np.exp(-(ability @ slopes.T + intercept)))).astype(int)
    names = [f"i{place}" for place in range(items)]
    wide = pl.DataFrame({"subject": [f"s{row}" for row in range(subjects)], **dict(zip(names, right.T, strict=True))})
    return wide, pl.DataFrame({"item": names, "dimension": [f"d{one}" for one in own]}), slopes, intercept, ability


def test_one_dimension_is_the_2pl_model():
    wide = draw(600, 12, seed=2).wide
    one = fit_dimensions(wide, pl.DataFrame({"item": wide.columns[1:], "dimension": "all"}))
    plain = fit_responses(wide, options=FitOptions(checks=False))
    assert one.log_likelihood == pytest.approx(plain.log_likelihood, abs=0.5)
    assert one.items["discrimination"].to_list() == pytest.approx(plain.items["discrimination"].to_list(), abs=0.06)
    assert one.items["se"].to_list() == pytest.approx(plain.items["se_discrimination"].to_list(), rel=0.1)
    assert one.subjects["ability"].to_list() == pytest.approx(plain.subjects["ability"].to_list(), abs=0.03)
    for name in ("reliability_marginal", "reliability_empirical"):
        assert one.reliability[name][0] == pytest.approx(plain.quality[name][0], abs=0.01)


def evidence_at(right, items):
    """The log likelihood; the few passes place the nodes, the last one counts."""
    near = fit_dimensions_held(StepAnswers(right), items, most=0)
    from_there = pass_over(StepAnswers(right), items, near.places)[1]
    return pass_over(StepAnswers(right), items, from_there)[0].evidence


@pytest.mark.parametrize("shrunk", [1.0, 1e-3])
def test_nodes_that_all_subjects_share_give_the_sums_of_their_own(monkeypatch, shrunk):
    """Weights and missing answers; where posteriors are narrow, subjects keep nodes of their own."""
    wide, _, slopes, intercept, _ = drawn_in(2, subjects=700, items=12)
    rng, right = np.random.default_rng(4), wide.drop("subject").to_numpy()
    trials = (rng.random(right.shape) < 0.8).astype(int)
    answers = StepAnswers(right * trials, trials, rng.uniform(0.5, 2.0, 700))
    items = DimensionItems(slopes, intercept, np.array([[1.0, 0.3], [0.3, 1.0]]), slopes != 0, True)
    places = Places(np.zeros((700, 2)), np.tile(np.eye(2), (700, 1, 1)))
    for _ in range(3):
        own, places = pass_over(answers, items, places)
    calls = []
    chunks = dimension_nodes.chunks
    monkeypatch.setattr(dimension_nodes, "chunks", lambda *given: calls.append(1) or chunks(*given))
    near = places._replace(covariance=shrunk * places.covariance)
    shared, around = pass_over(answers, replace(items, fine=False), near)
    assert bool(calls) == (shrunk < 1.0)
    if not calls:
        for one, two in zip(shared, own, strict=True):
            assert one == pytest.approx(two, rel=1e-3, abs=0.02)
        assert around.mean == pytest.approx(places.mean, abs=2e-3)


@pytest.mark.slow
def test_intervals_of_a_confirmatory_fit_hold_the_truth():
    held, of_correlation = [], []
    for seed in range(5):
        wide, pairs, slopes, *_ = drawn_in(2, seed, subjects=400, items=16)
        fit = fit_dimensions(wide, pairs)
        truth = np.concatenate([slopes[slopes[:, one] > 0, one] for one in range(2)])
        off = np.abs(fit.items["discrimination"].to_numpy() - truth)
        held.append(np.mean(off < Z90 * fit.items["se"].to_numpy()))
        row = fit.correlations.row(0, named=True)
        of_correlation.append(row["low"] < 0.5 < row["high"])
    assert 0.82 < np.mean(held) < 0.97
    assert sum(of_correlation) >= 4


@pytest.mark.slow
def test_exploration_finds_the_dimensions_of_the_items():
    wide, _, slopes, _, ability = drawn_in(2, 3, subjects=2000, items=20, correlation=0.0)
    fit = fit_dimensions(wide, 2)
    first = fit.items.filter(dimension="d1")["loading"].to_numpy()
    second = fit.items.filter(dimension="d2")["loading"].to_numpy()
    truth = slopes / np.sqrt(1.702**2 + np.sum(slopes**2, axis=1))[:, None]
    found = np.column_stack([first, second] if first[0] > second[0] else [second, first])
    assert np.max(np.abs(found - truth)) < 0.15
    found = fit.subjects.filter(dimension="d1")["ability"].to_numpy()
    assert np.corrcoef(found, ability[:, 0 if first[0] > second[0] else 1])[0, 1] > 0.8


@pytest.mark.slow
def test_oblimin_finds_the_correlation_that_varimax_cannot():
    wide, *_ = drawn_in(2, 4, subjects=800, items=16, correlation=0.5)
    assert fit_dimensions(wide, 2, rotation="oblimin").correlations["correlation"][0] == pytest.approx(0.5, abs=0.15)
    assert fit_dimensions(wide, 2).correlations["correlation"][0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("rotation", ["varimax", "oblimin"])
def test_rotations_undo_a_turn(rotation):
    rng = np.random.default_rng(1)
    simple = np.abs(rng.normal(1.0, 0.2, (12, 3))) * (np.arange(12)[:, None] % 3 == np.arange(3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    found, correlation = rotate(simple @ turn, rotation)
    assert np.sort(np.abs(found).ravel())[:24].max() < 0.02
    assert correlation == pytest.approx(np.eye(3), abs=0.05)
    assert found @ correlation @ found.T == pytest.approx(simple @ simple.T, abs=1e-6)


def brute_force(right, values, free):
    """Log likelihood of a test at values (items × abilities + 1), and the gradient of the posterior, on a full grid."""
    at = np.linspace(-5.5, 5.5, 23)
    count = values.shape[1] - 1
    nodes = np.stack(
        [grid.ravel() for grid in np.meshgrid(*[at] * count, indexing="ij")] + [np.ones(23**count)], axis=1
    )
    prior = np.exp(-0.5 * np.sum(nodes[:, :-1] ** 2, axis=1))
    logits = nodes @ values.T
    joint = right @ logits.T - np.sum(np.log1p(np.exp(logits)), axis=1) + np.log(prior / prior.sum())
    top = joint.max(axis=1)
    weights = np.exp(joint - top[:, None])
    evidence = float(np.sum(top + np.log(weights.sum(axis=1))))
    weights /= weights.sum(axis=1, keepdims=True)
    gradient = right.T @ weights @ nodes - (weights.sum(axis=0)[:, None] / (1.0 + np.exp(-logits))).T @ nodes
    gradient[:, -1] -= values[:, -1] / 9.0
    for ability in range(count):
        kept = free[:, ability]
        covariance = LIKE_SD**2 * np.eye(int(kept.sum())) + MEAN_SD**2
        gradient[kept, ability] -= np.linalg.solve(covariance, values[kept, ability])
    return evidence, gradient[free]


def test_a_bifactor_fit_is_that_of_the_full_grid():
    """Three items of each of two passages, one of none: likelihood, estimates and errors are those of brute force."""
    wide, pairs, *_ = drawn_in(2, 1, subjects=150, items=7, general=True)
    fit = fit_dimensions(wide, pairs.head(6), bifactor=True)
    assert fit.converged
    right = wide.drop("subject").to_numpy().astype(float)
    table = fit.items.pivot(on="dimension", index="item", values="discrimination", maintain_order=True)
    found = table.join(fit.intercepts.select("item", "intercept"), on="item", maintain_order="left").drop("item")
    free = found.to_numpy().astype(float) == found.fill_null(99.0).to_numpy()
    values = found.fill_null(0.0).to_numpy()
    evidence, gradient = brute_force(right, values, free)
    assert fit.log_likelihood == pytest.approx(evidence, abs=2e-3)
    curvature = np.empty((len(gradient), len(gradient)))
    for row, place in enumerate(np.argwhere(free)):
        ends = []
        for sign in (-1.0, 1.0):
            moved = values.copy()
            moved[tuple(place)] += sign * 1e-4
            ends.append(brute_force(right, moved, free)[1])
        curvature[row] = (ends[0] - ends[1]) / 2e-4
    errors = np.sqrt(np.diag(np.linalg.inv(curvature)))
    assert np.max(np.abs(np.linalg.solve(curvature, gradient)) / errors) < 0.02
    known = fit.items.pivot(on="dimension", index="item", values="se", maintain_order=True)
    printed = known.join(fit.intercepts.select("item", "se"), on="item", maintain_order="left").drop("item")
    assert printed.to_numpy().astype(float)[free] == pytest.approx(errors, rel=5e-3)


@pytest.mark.slow
def test_a_bifactor_fit_takes_any_number_of_passages():
    wide, pairs, slopes, _, ability = drawn_in(6, 2, subjects=600, items=24, general=True)
    fit = fit_dimensions(wide, pairs, bifactor=True)
    assert (fit.converged, fit.correlations.height) == (True, 21)
    truth = slopes.T[slopes.T != 0]
    off = np.abs(fit.items["discrimination"].to_numpy() - truth)
    assert 0.8 < np.mean(off < Z90 * fit.items["se"].to_numpy()) < 0.98
    found = fit.subjects.filter(dimension="general")["ability"].to_numpy()
    assert np.corrcoef(found, ability[:, 0])[0, 1] > 0.8
    with pytest.raises(MensuraError, match=r"got 6; expected at most 4\. Merge some, or use --bifactor"):
        fit_dimensions(wide, pairs)


@pytest.mark.slow
def test_a_bifactor_fit_finds_the_general_ability():
    wide, pairs, slopes, _, ability = drawn_in(2, 5, subjects=1200, items=20, general=True)
    fit = fit_dimensions(wide, pairs, bifactor=True)
    general = fit.items.filter(dimension="general")
    assert np.mean(np.abs(general["discrimination"].to_numpy() - slopes[:, 0]) < 2.2 * general["se"].to_numpy()) > 0.85
    assert fit.correlations["correlation"].to_list() == [0.0, 0.0, 0.0]
    found = fit.subjects.filter(dimension="general")["ability"].to_numpy()
    assert np.corrcoef(found, ability[:, 0])[0, 1] > 0.75


def test_the_command_takes_a_number_or_a_file(mensura_command, tmp_path):
    wide, pairs, *_ = drawn_in(2, 6, subjects=200, items=10)
    wide.write_csv(tmp_path / "answers.csv")
    pairs.write_csv(tmp_path / "dimensions.csv")
    for given in ("2", tmp_path / "dimensions.csv"):
        run = mensura_command(
            "responses", "fit", tmp_path / "answers.csv", "--dimensions", given, "--out", tmp_path / "fitted"
        )
        assert run.code == 0
        assert pl.read_csv(tmp_path / "fitted" / "subjects.csv").height == 400
    assert pl.read_csv(tmp_path / "fitted" / "correlations.csv")["se"][0] > 0


@pytest.mark.parametrize(
    ("dimensions", "how", "message"),
    [
        (5, {}, "expected 2 to 4"),
        ("nowhere.csv", {}, "expected a number from 2 to 4 or a file"),
        (2, {"rotation": "promax"}, "expected one of varimax"),
        (pl.DataFrame({"item": ["i0", "i1"], "dimension": "d"}), {}, "none for i2"),
        (3, {}, "got 3 for 3 items; expected more items than dimensions"),
        (pl.DataFrame({"item": ["i0", "odd"], "dimension": "d"}), {}, "no answers to odd"),
        (pl.DataFrame({"item": ["i0", "i1", "i2"], "dimension": ["a", "a", "b"]}), {}, "'b' has one item"),
    ],
)
def test_dimensions_that_cannot_be_are_refused(dimensions, how, message):
    with pytest.raises(MensuraError, match=message):
        fit_dimensions(draw(60, 3, seed=1).wide, dimensions, **how)


def test_the_prior_of_a_bifactor_fit_has_alike_slopes_and_one_free_mean():
    """Gradient and curvature are those of a normal density with the covariance LIKE_SD² I + MEAN_SD² 11ᵀ."""
    free = np.column_stack([np.ones(6), np.arange(6) % 2, 1 - np.arange(6) % 2]).astype(bool)
    slopes = np.random.default_rng(3).normal(1.0, 0.5, (6, 3)) * free
    items = DimensionItems(slopes, np.linspace(-1, 1, 6), np.eye(3), free, correlated=False)
    gradient, curvature = prior_gradient(items), prior_curvature(items)
    column = np.nonzero(items.estimated)[1]
    for ability in range(3):
        own = slopes[free[:, ability], ability]
        precision = np.linalg.inv(LIKE_SD**2 * np.eye(own.size) + MEAN_SD**2)
        assert gradient[free[:, ability], ability] == pytest.approx(-precision @ own)
        assert curvature[np.ix_(column == ability, column == ability)] == pytest.approx(precision)
    assert gradient[:, 3] == pytest.approx(-items.intercepts / 9)


@pytest.mark.parametrize("model", ["2pl", "graded", "partial-credit"])
def test_predictions_of_all_subjects_have_the_mean_of_their_answers(model):
    rng = np.random.default_rng(4)
    ability = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], 300)[:, [0, 0, 0, 1, 1, 1]]
    steps = 1 if model == "2pl" else 3
    answers = (1 / (1 + np.exp(-1.5 * ability[:, :, None] - np.linspace(-1, 1, steps))) > rng.random((300, 6, 1))).sum(
        2
    )
    table = pl.DataFrame({"subject": [f"p{at}" for at in range(300)], **{f"q{at}": answers[:, at] for at in range(6)}})
    pairs = {"item": [f"q{at}" for at in range(6)], "dimension": ["a"] * 3 + ["b"] * 3}
    fit = fit_dimensions(table, pairs, model=model)
    means = np.mean([fit.predict(name).to_series(1).to_numpy() for name in table["subject"]], axis=0)
    np.testing.assert_allclose(means, answers.mean(axis=0), atol=0.05 * steps)
    with pytest.raises(MensuraError, match="'nobody'; 300 others"):
        fit.predict("nobody")


def test_a_weight_of_two_is_the_same_subject_twice():
    """Estimates agree, and so do robust errors with the two copies in one cluster."""
    wide, pairs, *_ = drawn_in(2, 5, subjects=300, items=8)
    people = wide.select("subject", w=1.0 + pl.int_range(pl.len()) % 2)
    both = pl.concat([wide, wide.filter(people["w"] == 2.0).with_columns(pl.col("subject") + "b")])
    clusters = both.select("subject", of=pl.col("subject").str.strip_suffix("b"))
    one = fit_dimensions(wide, pairs, survey=Survey(people, "w"), prior="none")
    two = fit_dimensions(both, pairs, survey=Survey(clusters, cluster="of"), prior="none")
    assert one.converged and two.converged
    assert one.log_likelihood * 1.5 == pytest.approx(two.log_likelihood, abs=1e-2)  # weights have mean 1
    for table, columns in (("items", ["discrimination", "se"]), ("intercepts", ["intercept", "se"])):
        for column in columns:
            assert getattr(one, table)[column].to_list() == pytest.approx(getattr(two, table)[column], abs=2e-3)
    assert one.correlations["correlation"].to_list() == pytest.approx(two.correlations["correlation"], abs=2e-3)
    assert one.subjects.head(5)["ability"].to_list() == pytest.approx(two.subjects.head(5)["ability"], abs=2e-3)
    assert one.log.filter(what="subjects of a survey")["rule"][0].startswith("Errors are robust")


def test_weights_enter_every_sum_of_a_bifactor_fit():
    """Gradient, information, moments, likelihood and scores are those of repeated rows."""
    wide, pairs, *_ = drawn_in(2, 1, subjects=120, items=8, general=True)
    fit = fit_dimensions(wide, pairs.head(6), bifactor=True)
    (data, items, places), twice = fit.answers, np.repeat(np.arange(120), 1 + np.arange(120) % 2)
    weighed = data.answered._replace(weights=1.0 + np.arange(120) % 2)
    repeated, around = StepAnswers(data.right[twice]), Places(places.mean[twice], places.covariance[twice])
    for one, two in zip(pass_over(weighed, items, places)[0], pass_over(repeated, items, around)[0], strict=True):
        assert one == pytest.approx(two, rel=1e-4, abs=1e-4)
    one, scores = observed_information(weighed, items, places)
    two, each = observed_information(repeated, items, around)
    assert one == pytest.approx(two, rel=1e-3, abs=1e-3)
    assert scores.sum(axis=0) == pytest.approx(each.sum(axis=0), abs=1e-3)


@pytest.mark.slow
def test_leaving_out_one_cluster_at_a_time_gives_the_errors_of_clusters():
    wide, pairs, *_ = drawn_in(2, 5, subjects=300, items=8)
    cluster = np.arange(300) % 12
    people = wide.select("subject", school=pl.Series(cluster))
    left = {f"r{one}": np.where(cluster == one, 0.0, 12 / 11) for one in range(12)}
    replicated = Survey(
        people.with_columns(**{k: pl.Series(v) for k, v in left.items()}), None, "r*", None, "jackknife1"
    )
    errors = [
        fit_dimensions(wide, pairs, prior="weak", survey=survey).items["se"].to_numpy()
        for survey in (replicated, Survey(people, cluster="school"))
    ]
    assert errors[0] == pytest.approx(errors[1], rel=0.25)
    assert np.mean(errors[0] / errors[1]) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("answer", [0, 1])
def test_answers_that_are_all_alike_measure_no_dimension(answer):
    wide = pl.DataFrame({"subject": ["a", "b"], **{f"q{item}": [answer, answer] for item in range(10)}})
    with pytest.raises(MensuraError, match="nothing distinguishes subjects"):
        fit_dimensions(wide, 2)


def test_one_cluster_gives_no_errors():
    wide = draw(40, 6, seed=3).wide
    pairs = pl.DataFrame({"item": [f"i{item}" for item in range(6)], "dimension": ["x", "y"] * 3})
    people = wide.select("subject", school=pl.lit("one"))
    with pytest.raises(MensuraError, match="one subject or cluster has no spread"):
        fit_dimensions(wide, pairs, bifactor=True, survey=Survey(people, cluster="school"))
