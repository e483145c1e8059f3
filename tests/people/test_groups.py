"""Groups of people: bands of covariates, and the population that a pool or one of its groups stands for."""

from dataclasses import replace

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.people import WORLD, Ability, Administration, ItemPool, World, describe, parse_ages, population_of
from mensura.people.groups import banded
from mensura.people.world import OLDEST


def test_bands_and_ages():
    ages = banded(pl.Series([10.0, 18.0, 24.9, None]), [18, 25], ["under 18", "18-24", "25+"])
    assert ages.to_list() == ["under 18", "18-24", "18-24", None]
    assert [parse_ages(text) for text in ("18-24", "50+", "under 18", "37")] == [(18, 24), (50, 120), (0, 17), (37, 37)]
    with pytest.raises(MensuraError, match="expected a form such as 18-24"):
        parse_ages("young")


def test_a_band_starts_at_its_edge_and_what_is_no_number_stays_unknown():
    values = pl.Series("score", [-1.0, 0.0, 1.0, float("nan"), 99.0])
    assert banded(values, [0, 1], ["low", "middle", "high"]).to_list() == ["low", "middle", "high", None, "high"]
    assert banded(pl.Series("n", [0, None]), [0], ["below", "above"]).to_list() == ["above", None]
    assert parse_ages(" 18–24 ") == (18, 24)


def pool_of(persons, by=("sex",), **administration):
    size = persons.height
    answers = pl.DataFrame({"person": range(size), "q": [1] * size})
    pool = ItemPool.from_answers(
        "mine", {"item": ["q"]}, answers, persons.with_columns(person=pl.int_range(size)), by=list(by)
    )
    return replace(pool, administration=Administration(**administration))


def test_a_pool_is_described_by_its_countries_with_their_answers_and_its_ages():
    persons = pl.DataFrame(
        {"CNT": ["DEU"] * 3 + ["Japan"] + ["nowhere"], "sex": ["f"] * 5, "age": [15, 15, 16, 18, 17]}
    )
    who = describe(pool_of(persons, year=2022, language="German"), World.load())
    assert dict(zip(who.countries, who.shares, strict=True)) == {"DEU": 3.0, "JPN": 1.0}
    assert (who.ages, who.in_school, who.year, who.language) == ((15, 18), True, 2022, "German")
    assert who.prose.startswith("The people tested in mine: aged 15 to 18, in ")
    assert "The test was given in" in who.prose
    older = describe(pool_of(persons.with_columns(age=pl.Series([15, 15, 16, 18, 19]))), World.load())
    assert (older.ages, older.in_school) == ((15, 19), False)
    assert "The test was given" not in older.prose


def test_countries_of_rates_come_before_those_of_persons():
    rates = pl.DataFrame(
        {"item": ["q"] * 3, "group": ["all", "country=ITA", "country=JPN"], "n": [90, 60, 30], "rate": 0.5}
    )
    who = describe(ItemPool.from_rates("mine", {"item": ["q"]}, rates), World.load())
    assert dict(zip(who.countries, who.shares, strict=True)) == {"ITA": 60.0, "JPN": 30.0}
    assert who.ages == (15, OLDEST), "adults of any age, where ages are unknown"
    assert not who.in_school
    assert "in ITA, JPN." in who.prose


def test_one_person_in_two_hundred_at_either_end_sets_no_age():
    ages = [3] + [20] * 150 + [40] * 149 + [99]
    who = describe(pool_of(pl.DataFrame({"age": ages, "sex": ["f"] * 301})), World.load())
    assert who.ages == (20, 40)
    assert who.countries == ()
    assert "aged 20 to 40, in unknown countries." in who.prose
    three = pl.DataFrame({"age": [3] * 3 + [20] * 294 + [99] * 3, "sex": ["f"] * 300})
    assert describe(pool_of(three), World.load()).ages == (3, 99), "three in three hundred do"


def test_a_pool_that_says_nothing_of_its_people_is_refused():
    for persons in ({"sex": ["f"]}, {"sex": ["f"], "age": [None]}, {"sex": ["f"], "age": ["old"]}):
        with pytest.raises(MensuraError, match="neither countries nor ages among its covariates"):
            describe(pool_of(pl.DataFrame(persons)), World.load())


def test_a_group_narrows_what_its_covariate_names_and_no_more():
    whole = WORLD.with_(countries=("ITA", "JPN"), shares=(1.0, 2.0), ability=Ability(0.0, 1.0, -0.1, 0.1))
    world = World.load()
    land = population_of("Nation=Italy", whole, world)
    assert (land.countries, land.shares, land.ability, land.ages) == (("ITA",), (), None, whole.ages)
    young = population_of("age_band=18-24", whole, world)
    assert (young.ages, young.countries, young.shares, young.ability) == ((18, 24), ("ITA", "JPN"), (1.0, 2.0), None)
    other = population_of("mother_tongue=low_land_german", whole, world)
    assert other.prose.endswith("Of these, those with mother tongue low land german.")
    assert other.with_(name=whole.name, prose=whole.prose) == whole
    assert population_of("all", whole, world) is whole
    assert population_of("note=a=b", whole, world).prose.endswith("note a=b.")


def test_newborns_are_of_age_zero():
    ages = [0] * 10 + [3] * 10
    who = describe(pool_of(pl.DataFrame({"age": ages, "sex": ["f"] * 20})), World.load())
    assert (who.ages, who.in_school) == ((0, 3), True)
