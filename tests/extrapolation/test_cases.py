"""From an item pool to cases: who is extrapolated from, to whom, what public facts say of the gap, and the truth."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.extrapolation import cases_of
from mensura.extrapolation.cases import pairs_of
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


def pool_of(*rows, items=6):
    """Return a pool of rows (covariate, group, n, rate), the same on every item."""
    names = [f"i{k}" for k in range(items)]
    table = [(item, *row) for row in rows for item in names]
    rates = pl.DataFrame(table, schema=["item", "covariate", "group", "n", "rate"], orient="row")
    return ItemPool.from_rates("mine", pl.DataFrame({"item": names, "text": names, "rate_abroad": 0.9}), rates)


ITALY, JAPAN, ALL = (
    ("country", "country=ITA", 100, 0.4),
    ("country", "country=JPN", 300, 0.7),
    ("all", "all", 400, 0.625),
)


def test_a_case_holds_the_rates_of_its_group_and_hides_those_of_the_whole():
    case = cases_of(pool_of(ITALY, JAPAN, ALL, ("reference", "reference=OECD", 999, 0.6)))[0]
    assert (case.group, case.covariate, case.task.kind) == ("country=ITA", "country", "country")
    assert case.task.rate.tolist() == [0.4] * 6
    assert case.truth.tolist() == [0.625] * 6
    assert np.isnan(case.task.links).all()
    assert case.task.share.tolist() == [0.25] * 6
    assert case.task.concentration == 1.0, "the rest is Japan alone"
    assert set(case.task.items.columns) == {"item", "text", "domain"}, (
        "an item table may state published rates: they stay out"
    )
    assert (case.task.focal.countries, case.task.pool) == (("ITA",), "mine")
    assert [one.group for one in cases_of(pool_of(ITALY, JAPAN, ALL, ("reference", "reference=OECD", 999, 0.6)))] == [
        "country=ITA",
        "country=JPN",
    ]


def test_links_are_the_truth_of_the_items_marked():
    case = cases_of(pool_of(ITALY, JAPAN, ALL))[1]
    mask = np.array([[True] + [False] * 5, [False] * 6])
    links = case.linked(mask).links
    assert links[0, 0] == 0.625 and np.isfinite(links).sum() == 1
    assert case.revealed.links.tolist() == [[0.625] * 6]


@pytest.mark.parametrize(("n", "items", "groups"), [(30, 5, 2), (29, 5, 1), (30, 4, 0)])
def test_a_group_counts_from_five_items_with_thirty_answers(n, items, groups):
    pool = pool_of(("country", "country=ITA", n, 0.4), JAPAN, ALL, items=items)
    if groups:
        assert len(cases_of(pool)) == groups
    else:
        with pytest.raises(MensuraError, match="no group has 5 items with 30 or more people"):
            cases_of(pool)


def test_a_pool_needs_its_whole():
    with pytest.raises(MensuraError, match="pool 'mine' has no group 'all'"):
        cases_of(pool_of(ITALY, JAPAN))


def test_pairs_go_both_ways_and_share_nobody():
    pool = pool_of(ITALY, JAPAN, ALL, ("sex", "sex=f", 200, 0.6), ("sex", "sex=m", 200, 0.65))
    pairs = pairs_of(pool, cases_of(pool))
    assert [(case.group, case.task.reference.countries) for case in pairs] == [
        ("country=ITA", ("JPN",)),
        ("country=JPN", ("ITA",)),
    ]
    first, back = pairs
    assert first.task.rate.tolist() == back.truth.tolist() == [0.4] * 6
    assert first.truth.tolist() == [0.7] * 6
    assert (first.task.links_n.tolist(), first.task.share.tolist()) == ([300.0] * 6, [0.0] * 6)
    assert first.task.concentration == 1.0
    assert first.task.offset == pytest.approx(-back.task.offset)
    assert first.task.offset[0] > 0, "pupils of Japan score higher than those of Italy"
    assert pairs_of(pool, [case for case in cases_of(pool) if case.covariate == "sex"]) == []


def test_the_shift_expected_is_that_of_the_other_groups_by_their_answers():
    """The rest of Italy's whole is Japan and Chile: its shift is the mean of the shifts to both, by answers."""
    chile = ("country", "country=CHL", 100, 0.3)
    pool = pool_of(ITALY, JAPAN, chile, ("all", "all", 500, 0.56))
    cases = cases_of(pool)
    shifts = {(case.group, case.task.reference.name): case.task.offset[0] for case in pairs_of(pool, cases)}
    mean = (300 * shifts["country=ITA", "country=JPN"] + 100 * shifts["country=ITA", "country=CHL"]) / 400
    assert cases[0].task.offset == pytest.approx(np.full(6, mean))
    assert cases[0].task.concentration == pytest.approx((300**2 + 100**2) / 400**2)


def test_a_pair_needs_five_items_in_common():
    pool = pool_of(ITALY, JAPAN, ALL, items=5)
    cases = cases_of(pool)
    assert len(pairs_of(pool, cases)) == 2
    fewer = SimpleNamespace(covariate="country", group="country=ITA", items=cases[0].items[1:], task=cases[0].task)
    assert pairs_of(pool, [fewer, cases[1]]) == []
