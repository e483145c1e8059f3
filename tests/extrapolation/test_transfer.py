"""One transfer of item rates from a focal to a reference population, under any draws of the assumptions."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtr

from mensura.core.errors import MensuraError
from mensura.extrapolation.abilities import sample
from mensura.extrapolation.protocol import Task
from mensura.extrapolation.transfer import Transfer, depart
from mensura.people import WORLD, Population, World
from mensura.people.world import Ability

TABLES = World.load()


def test_departures_stay_below_those_who_can_answer():
    moved = depart(np.array([[0.85]]), np.array([[8.0]]), np.array([0.9]))
    assert 0.85 < moved[0, 0] <= 0.9
    rate, departure = np.array([[0.4, 0.4]]), np.array([[0.5, -0.5]])
    assert depart(rate, departure, np.array([0.8])) == pytest.approx(0.8 * ndtr(departure))
    assert depart(rate, np.zeros((1, 2)), np.array([0.8])) == pytest.approx(rate)


def people(name, *countries, shares=(), ages=(20, 40), **more):
    return Population(name, f"{name}.", ages=ages, countries=countries, shares=shares, **more)


def transfer(focal, reference, rate=(0.5, 0.6, 0.7), n=100.0, domain=None, **columns):
    size = len(rate)
    task = Task(
        items=pl.DataFrame({"item": [f"q{k}" for k in range(size)], **columns}),
        rate=np.array(rate, dtype=float),
        n=np.full(size, n) if np.isscalar(n) else np.array(n),
        focal=focal,
        reference=reference,
        links=np.full((1, size), np.nan),
        links_n=np.full(size, np.inf),
        share=np.zeros(size),
    )
    return Transfer(TABLES, task, domain)


ITALY, JAPAN = people("italians", "ITA"), people("japanese", "JPN")


def test_rates_are_read_with_half_an_answer_at_the_edges_and_chance_from_the_options():
    seen = transfer(
        ITALY, JAPAN, (0.0, 1.0, 0.3, 0.5), n=9.0, n_options=[None, 2, 3, 1], slope=[None, 1.5, 2, 1]
    ).observed
    assert seen.rate.tolist() == pytest.approx([0.05, 0.95, 0.3, 0.5])
    assert seen.floor.tolist() == pytest.approx([0.0, 1 / 2, 1 / 3, 0.0])
    assert seen.slope.tolist() == pytest.approx([np.nan, 1.5, 2, 1], nan_ok=True)
    assert [warning[:42] for warning in seen.warnings] == [
        "2 rates of exactly 0 or 1 read as (correct",
        "1 items are answered worse than chance: no",
    ]
    assert transfer(ITALY, JAPAN, (0.5, 0.6), n_options=[2, 2]).observed.warnings == ()
    with pytest.raises(MensuraError, match="slope must be above 0, got 0 for 'q1'"):
        _ = transfer(ITALY, JAPAN, slope=[1.0, 0.0, 2.0]).observed


def test_rates_are_drawn_as_sure_as_their_number_of_answers():
    """Jeffreys: Beta(r + ½, n − r + ½) has mean (r + ½) / (n + 1) and variance m (1 − m) / (n + 2)."""
    seen = transfer(ITALY, JAPAN, (0.3, 0.3, 0.7), n=(10.0, 1000.0, np.nan)).observed
    drawn = seen.sample(20_000, np.random.default_rng(0))
    mean = np.array([3.5 / 11, 300.5 / 1001])
    assert drawn.mean(axis=1) == pytest.approx([*mean, 0.7], abs=0.003)
    assert drawn[:2].std(axis=1) == pytest.approx(np.sqrt(mean * (1 - mean) / np.array([12, 1002])), rel=0.02)
    assert set(drawn[2]) == {0.7}


def test_two_countries_are_apart_by_the_squares_of_their_shares():
    half = people("both", "ITA", "JPN", shares=(3.0, 3.0))
    assert transfer(ITALY, JAPAN).mismatch == pytest.approx(1.0)
    assert transfer(ITALY, people("others", "ITA")).mismatch == 0
    assert transfer(ITALY, half).mismatch == pytest.approx(0.5)
    apart = transfer(ITALY, half)
    assert apart.distance(apart.reference_cells) == pytest.approx(0.5**0.5)
    everybody = transfer(ITALY, WORLD)
    assert 1.0 < everybody.distance(everybody.reference_cells) ** 2 < 1.1, (
        "(1 − share of Italy)² + Σ of others' squares"
    )
    stated = transfer(replace(ITALY, ability=Ability(0.2, 1.0, 0.1, 0.3)), half)
    assert stated.distance(stated.reference_cells) == pytest.approx(0.5**0.5), "the two halves alone"
    assert stated.mismatch == pytest.approx(0.5), "items still are as foreign"


def test_people_of_other_ages_are_as_foreign_to_an_item_as_another_country():
    older = transfer(people("young", "ITA", ages=(20, 24)), people("old", "ITA", ages=(60, 64)))
    assert older.mismatch == pytest.approx(1.0)
    partly = transfer(people("young", "ITA", ages=(20, 24)), people("any", "ITA", ages=(20, 90)))
    assert 0 < partly.mismatch < 1


def test_a_stated_mean_is_an_assumption_of_its_own():
    stated = replace(ITALY, ability=Ability(0.2, 1.0, 0.1, 0.4))
    table = transfer(stated, JAPAN).assumptions
    assert table.filter(pl.col("assumption") == "mean of italians").select("value", "low", "high").rows() == [
        (0.2, 0.1, 0.4)
    ]
    assert table.height == TABLES.assumptions.height + 1
    assert transfer(ITALY, JAPAN).assumptions.height == TABLES.assumptions.height


def test_unknown_domains_and_people_alike_are_said():
    (warning,) = transfer(ITALY, JAPAN).warnings
    assert warning.startswith("no domain was given; items are treated as literacy")
    items = pl.DataFrame({"item": ["q0", "q1", "q2"], "domain": ["mathematics", "zz", "aa"]})
    named = replace(transfer(ITALY, JAPAN), task=replace(transfer(ITALY, JAPAN).task, items=items))
    (warning,) = named.warnings
    assert warning.startswith("domain aa, zz is unknown")
    same = transfer(ITALY, replace(ITALY, name="again", prose="Others."), domain="mathematics")
    assert same.same_people
    assert [warning[:45] for warning in same.warnings] == ["the world tables know no difference between t"]
    assert not transfer(ITALY, JAPAN).same_people


def test_items_of_one_domain_and_nearly_one_slope_are_carried_together():
    items = transfer(
        ITALY, JAPAN, (0.5,) * 5, slope=[1.0, 1.04, 1.3, None, None], n_options=[None, None, None, 4, None]
    )
    groups = items._alike
    assert sorted(rows.tolist() for rows in groups.values()) == [[0, 1], [2], [3], [4]]
    slopes = {tuple(rows): kind[1] for kind, rows in groups.items()}
    assert slopes[0, 1] == 1.0
    assert slopes[2,] == pytest.approx(1.1**3)
    assert {kind[0] for kind in groups} == {("literacy", False)}


def test_people_alike_keep_their_rates_and_abler_people_have_higher_ones():
    same = transfer(ITALY, replace(ITALY, name="again", prose="Others."), (0.1, 0.5, 0.95), domain="mathematics")
    drawn = same.stated(sample(same.assumptions, 1, np.random.default_rng(0)))
    assert drawn.focal_rate[:, 0].tolist() == [0.1, 0.5, 0.95]
    assert same.rates(drawn)[:, 0] == pytest.approx([0.1, 0.5, 0.95], abs=1e-6)
    here, there = (replace(one, ability=Ability(mean, 1.0, mean, mean)) for one, mean in ((ITALY, 0.0), (JAPAN, 0.8)))
    for focal, reference, sign in ((here, there, 1), (there, here, -1)):
        moved = transfer(focal, reference, (0.2, 0.5, 0.8), domain="mathematics")
        drawn = moved.stated(sample(moved.assumptions, 1, np.random.default_rng(0)))
        assert np.all(sign * (moved.rates(drawn)[:, 0] - [0.2, 0.5, 0.8]) > 0.02)
