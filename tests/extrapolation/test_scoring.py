"""Metrics agree with SciPy; clusters and differential items are found where they were put."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from mensura.extrapolation import cases_of
from mensura.extrapolation.breakdown import differential_items
from mensura.extrapolation.scoring import ScoredCase, agreement, mean_correlation
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
