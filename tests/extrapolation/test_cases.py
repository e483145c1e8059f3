"""From an item pool to cases: who is extrapolated from, to whom, what public facts say of the gap, and the truth."""

import numpy as np
import polars as pl
import pytest

from mensura.extrapolation import cases_of
from mensura.people import ItemPool
from tools.embed_validation import cluster_countries


def test_countries_are_clustered_by_alignment(pool):
    cases = cases_of(pool)
    groups = [case.group for case in cases]
    summary = pl.DataFrame(
        {
            "covariate": ["country"] * 6,
            "group": groups,
            "pearson": [0.95, 0.94, 0.96, 0.1, 0.05, 0.15],
            "mae": [0.05, 0.05, 0.05, 0.2, 0.2, 0.2],
        }
    )
    found = cluster_countries(cases, summary)
    assert dict(found.select("group", "cluster").iter_rows()) == dict(zip(groups, [1, 1, 1, 2, 2, 2], strict=True))
    assert found.select("cluster", "cluster_pearson", "cluster_mae").unique(maintain_order=True).rows() == [
        (1, pytest.approx(0.95), pytest.approx(0.05)),
        (2, pytest.approx(0.1), pytest.approx(0.2)),
    ]
    assert cluster_countries(cases, summary.head(3)).is_empty()


def test_countries_that_are_all_alike_are_one_cluster(pool):
    """A method that predicts one rate everywhere leaves a second cluster without countries."""
    cases = cases_of(pool)
    groups = [case.group for case in cases]
    alike = pl.DataFrame({"covariate": ["country"] * 6, "group": groups, "pearson": [0.5] * 6, "mae": [0.1] * 6})
    found = cluster_countries(cases, alike)
    assert found["cluster"].to_list() == [1] * 6
    assert found["cluster_mae"].to_list() == pytest.approx([0.1] * 6)


def test_a_case_states_its_part_of_the_whole(pool):
    """Six countries of 400 people: a sixth each, and the rest is five groups alike."""
    task = cases_of(pool)[0].task
    assert task.share == pytest.approx(np.full(40, 1 / 6))
    assert task.concentration == pytest.approx(1 / 5)
    assert (task.n == 400).all()
    assert (task.links_n == 2400).all()


def test_a_group_as_large_as_the_whole_is_a_separate_sample(pool):
    larger = pool.rates.with_columns(n=pl.when(pl.col("group") == "country=AUS").then(9999).otherwise("n"))
    cases = cases_of(ItemPool.from_rates(pool.name, pool.items, larger.drop("correct", "se")))
    share = {case.group: float(case.task.share[0]) for case in cases}
    assert share["country=AUS"] == 0.0
    assert share["country=USA"] == pytest.approx(1 / 6)
