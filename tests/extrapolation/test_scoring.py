"""Metrics agree with SciPy; clusters and differential items are found where they were put."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from mensura.extrapolation import cases_of
from mensura.extrapolation.breakdown import differential_items
from mensura.extrapolation.methods import single_item
from mensura.extrapolation.scoring import ScoredCase, agreement, mean_correlation, trials_of
from mensura.extrapolation.slices import _between
from tools.embed_validation import k_means


def test_the_mean_of_correlations_leaves_out_those_that_are_not_defined():
    assert np.isnan(mean_correlation(np.array([np.nan])))
    assert mean_correlation(np.array([0.5, np.nan, 0.5])) == pytest.approx(0.5)


def test_agreement_by_hand():
    found = agreement(np.array([0.2, 0.6]), np.array([0.3, 0.4]), np.array([0.1, 0.5]), np.array([0.35, 0.7]))
    assert found["mae"] == pytest.approx(0.15)
    assert found["rmse"] == pytest.approx(np.sqrt(0.025))
    assert found["bias"] == pytest.approx(0.05)
    assert found["coverage"] == 0.5


def test_k_means_separates_two_clouds():
    rng = np.random.default_rng(1)
    points = np.concatenate([rng.normal(0, 0.2, (15, 2)), rng.normal(3, 0.2, (10, 2))])
    label = k_means(points, 2)
    assert len(set(label[:15])) == 1
    assert len(set(label[15:])) == 1
    assert label[0] != label[20]


def test_a_planted_item_is_named_and_classed(new_pool):
    cases = cases_of(new_pool(seed=3, interaction=0.02, n=2000))
    rate = cases[0].task.rate.copy()
    rate[7] = np.clip(rate[7] - 0.25, 0.05, 0.9)
    found = differential_items([replace(cases[0], task=replace(cases[0].task, rate=rate)), *cases[1:]])
    first = found.row(0, named=True)
    assert (first["item"], first["group"], first["size"]) == ("i007", "country=CHL", "C")
    assert first["difference"] < 0
    assert found.filter(pl.col("group") != "country=CHL").is_empty()


def test_false_discoveries_are_controlled_as_in_scipy(pool, monkeypatch):
    import mensura.extrapolation.breakdown as breakdown

    monkeypatch.setattr(breakdown, "FALSE_SHARE", 1.0)
    monkeypatch.setattr(breakdown, "MODERATE", 0.0)
    found = differential_items(cases_of(pool))
    p = 2 * stats.norm.sf((found["difference"] / found["se"]).abs().to_numpy())
    assert found["q"].to_numpy() == pytest.approx(stats.false_discovery_control(p), rel=1e-6)


def test_an_item_has_the_mean_of_the_draws_that_hid_it_and_draws_may_lack_answers():
    truth, focal = np.array([0.2, 0.5, 0.9]), np.array([0.3, 0.6, 0.8])
    task = SimpleNamespace(rate=focal)
    case = SimpleNamespace(covariate="c", group="g", items=list("abz"), task=task, truth=truth)
    hidden = np.array([[True, True, False], [True, False, False]])
    rate = np.array([[0.4, 0.7, 0.0], [0.6, 0.0, 0.0]])
    scored = ScoredCase(SimpleNamespace(case=case), rate, rate - 0.1, rate + 0.1, hidden)
    assert scored.table()["rate"].to_list() == pytest.approx([0.5, 0.7, None])
    assert scored.table()["error"].to_list() == pytest.approx([0.3, 0.2, None])
    silent = replace(scored, rate=np.where(hidden, [[0.4, 0.7, 0.0], [np.nan] * 3], rate))
    assert silent.metrics()["mae"] == pytest.approx(0.2)


def predicted_by_place(trial):
    """Predictions that name their own task and item: task k says 0.1 (k + 1) + 0.01 item, with an interval of 0.05."""
    found = []
    for place, task in enumerate(trial.tasks):
        rate = np.broadcast_to(0.1 * (place + 1) + 0.01 * np.arange(task.size), task.links.shape)
        found.append(SimpleNamespace(rate=rate, low=rate - 0.05, high=rate + 0.05))
    return found


def test_folds_are_put_together_each_item_as_predicted_while_hidden(new_pool):
    cases = cases_of(new_pool(seed=3, items=12))
    trial = trials_of("slices", cases, links=4, draws=3, rng=np.random.default_rng(1))[0]
    assert trial.is_partition
    scored = ScoredCase.of(trial, predicted_by_place(trial))
    fold = np.argmax(trial.hidden, axis=0)
    wanted = 0.1 * (fold + 1) + 0.01 * np.arange(12)
    assert scored.rate[0] == pytest.approx(wanted) and scored.rate.shape == (1, 12)
    assert scored.low[0] == pytest.approx(wanted - 0.05) and scored.high[0] == pytest.approx(wanted + 0.05)
    assert scored.hidden.all() and scored.answered
    table = scored.table()
    assert table.columns == ["covariate", "group", "item", "focal", "reference", "rate", "low", "high", "error"]
    truth = cases[0].truth
    assert table["error"].to_list() == pytest.approx(np.abs(wanted - truth).tolist())
    assert table["focal"].to_list() == pytest.approx(cases[0].task.rate.tolist())
    assert scored.identity_error == pytest.approx(np.abs(cases[0].task.rate - truth).mean())


def test_draws_of_links_are_scored_on_the_items_that_each_hides(new_pool):
    cases = cases_of(new_pool(seed=3, items=12))
    trial = trials_of("linked", cases, links=4, draws=3, rng=np.random.default_rng(1))[0]
    assert not trial.is_partition
    scored = ScoredCase.of(trial, predicted_by_place(trial))
    assert scored.rate.shape == (3, 12) and (scored.hidden == trial.hidden).all()
    assert scored.hidden.sum(axis=1).tolist() == [8, 8, 8]
    error = np.abs(0.1 + 0.01 * np.arange(12) - cases[0].truth)
    assert scored.metrics()["mae"] == pytest.approx(np.mean([error[row].mean() for row in trial.hidden]))
    table = scored.table()
    times = trial.hidden.sum(axis=0)
    assert table["error"].to_list() == pytest.approx([e if n else None for e, n in zip(error, times, strict=True)])


def test_metrics_leave_out_items_without_an_answer(new_pool):
    cases = cases_of(new_pool(seed=3, items=12))
    trial = trials_of("slices", cases, links=4, draws=3, rng=np.random.default_rng(1))[0]
    scored = ScoredCase.of(trial, predicted_by_place(trial))
    some = scored.rate.copy()
    some[0, :5] = np.nan
    rest = replace(scored, rate=some)
    assert rest.metrics()["mae"] == pytest.approx(np.abs(some[0, 5:] - cases[0].truth[5:]).mean())
    assert rest.answered and not replace(scored, rate=np.full_like(some, np.nan)).answered


def test_one_item_is_a_pool():
    pool = single_item(0.4, 250, 4, "mathematics")
    assert pool.name == "item" and pool.items.row(0) == ("item", "mathematics", 4)
    rates = pool.rates_of("all")
    assert rates.select("item", "rate", "n").row(0) == ("item", 0.4, 250)


def test_groupings_differ_by_what_noise_does_not_explain():
    """Two levels of two items each and one of a single item, which tells nothing."""
    residuals, noise = np.array([0.3, 0.5, -0.2, -0.4, 9.0]), np.array([0.02, 0.04, 0.02, 0.02, 0.02])
    features = np.array([[1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 0, 1]])
    found = _between(residuals, noise, features, ["sex", "sex", "age"])
    assert found == {"sex": pytest.approx((0.4**2 - 0.03 / 2 + 0.3**2 - 0.02 / 2) / 2)}
