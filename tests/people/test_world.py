"""World tables, populations and the strata they are made of."""

from dataclasses import replace

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.people import WORLD, Ability, ItemPool, Population, World, cells_of, describe, population_of
from mensura.people.strata import ATTAINMENT
from tools.build_strata import build_world


@pytest.fixture(scope="module")
def world():
    return World.load()


def test_a_population_shows_its_name_and_description():
    assert str(WORLD).startswith("world: All people alive in the middle of 2025")


def test_strata_hold_the_whole_world_once(world):
    keys = ["subregion", "age_low", "attainment"]
    assert world.strata.select(keys).is_unique().all()
    assert world.strata["population"].sum() == pytest.approx(8.23e6, rel=0.01)
    assert set(world.strata["attainment"]) == {*ATTAINMENT, "pupil"}
    assert world.strata["subregion"].n_unique() == 22


def test_every_assumption_is_explained_and_every_learning_score_plausible(world):
    assert world.assumptions["basis"].null_count() == 0
    assert (world.assumptions["meaning"].str.len_chars() > 10).all()
    scores = world.countries["learning_score"].drop_nulls()
    assert scores.len() == 174
    assert scores.is_between(280, 600).all()


def test_countries_by_code_or_name(world):
    assert [world.country(name) for name in ("JPN", "jp", "Japan", " japan ")] == ["JPN"] * 4
    with pytest.raises(MensuraError, match=r"unknown country 'Jpan'; .* did you mean JPN"):
        world.country("Jpan")


def test_a_country_answers_to_codes_names_and_other_spellings(world):
    assert {world.country(name) for name in ("GBR", "gb", "United Kingdom", " Britain", "uk")} == {"GBR"}
    assert world.names["britain"] == "GBR"
    assert "gb" not in world.names  # in a sentence, IT and AI are words


def test_a_country_without_a_score_has_its_neighbours(world):
    near = world.strata.filter(pl.col("subregion") == "South America")
    expected = (near["learning"] * near["population"]).sum() / near["population"].sum()
    assert world.learning("Venezuela") == pytest.approx(expected)


def test_populations_by_name_and_the_packaged_world_is_the_constant(world):
    assert world.population("world") == WORLD
    assert world.population("PISA").ability.sd == pytest.approx(1.06)
    assert world.population("Kenya").countries == ("KEN",)
    with pytest.raises(MensuraError, match="unknown population 'Atlantis'; expected one of world"):
        world.population("Atlantis")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"ages": (20, 10)}, "ages must satisfy"),
        ({"countries": ("JPN",), "shares": (1.0, 2.0)}, "one share ≥ 0 per country"),
    ],
)
def test_impossible_populations_are_refused(fields, message):
    with pytest.raises(MensuraError, match=message):
        Population("p", "prose", **fields)


def test_impossible_abilities_are_refused():
    with pytest.raises(MensuraError, match="low ≤ mean ≤ high"):
        Ability(0.0, 1.0, 0.1, 0.2)
    with pytest.raises(MensuraError, match="sd must be above 0"):
        Ability(0.0, 0.0, 0.0, 0.0)


def test_cells_of_the_world_sum_to_one_and_children_are_single_years(world):
    cells = cells_of(WORLD, world)
    assert cells["weight"].sum() == pytest.approx(1)
    assert cells.filter(pl.col("age") < 15)["age"].unique().len() == 15


def test_cells_of_pupils_are_one_per_country_and_age(world):
    pupils = Population("p", "", ages=(14, 15), countries=("CHL", "JPN"), shares=(1, 3), in_school=True)
    cells = cells_of(pupils, world).sort("country", "age")
    assert cells.select("country", "age").rows() == [("CHL", 14.5), ("CHL", 15.5), ("JPN", 14.5), ("JPN", 15.5)]
    assert cells.group_by("country").agg(pl.col("weight").sum()).sort("country")["weight"].to_list() == pytest.approx(
        [0.25, 0.75]
    )
    assert cells.filter(pl.col("country") == "JPN")["learning"].to_list() == pytest.approx([0.377] * 2, abs=1e-3)


def test_cells_of_a_country_sum_to_one_whatever_the_ages(world):
    for ages in ((0, 120), (18, 24), (40, 69), (90, 120)):
        cells = cells_of(world.population("SWE").with_(ages=ages), world)
        assert cells["weight"].sum() == pytest.approx(1)
        assert cells["age"].is_between(ages[0], ages[1] + 1).all()


def test_national_strata_of_ones_own_are_used(world):
    own = pl.DataFrame(
        {
            "country": ["SWE"],
            "region": ["Europe"],
            "subregion": ["Northern Europe"],
            "age_low": [20],
            "age_high": [24],
            "attainment": ["post_secondary"],
            "population": [1.0],
            "learning": [0.3],
            "spread": [0.0],
        }
    )
    cells = cells_of(world.population("SWE"), replace(world, strata=own))
    assert cells.select("attainment", "weight", "learning").rows() == [("post_secondary", 1.0, 0.3)]


def test_nobody_of_that_description_is_an_error(world):
    with pytest.raises(MensuraError, match="unknown attainment 'doctorate'"):
        cells_of(WORLD.with_(attainment=("doctorate",)), world)
    with pytest.raises(MensuraError, match="nobody of that description"):
        cells_of(WORLD.with_(ages=(3, 3), attainment=("primary",)), world)


def test_tables_can_be_swapped_and_are_checked(world, tmp_path):
    world.assumptions.with_columns(value=pl.col("low")).write_csv(tmp_path / "assumptions.csv")
    assert World.load(tmp_path).assumptions["value"].to_list() == world.assumptions["low"].to_list()
    assert world.assume(slope=1.0).assumptions.row(0)[1:4] == (1.0, 1.0, 1.0)
    world.assumptions.filter(pl.col("assumption") != "language").write_csv(tmp_path / "assumptions.csv")
    with pytest.raises(MensuraError, match=r"no row 'language' \(1 missing\)"):
        World.load(tmp_path)
    with pytest.raises(MensuraError, match="assumption: got 'charm'"):
        world.assume(charm=1.0)
    with pytest.raises(MensuraError, match="value is outside low to high; correct its row"):
        replace(world, assumptions=world.assumptions.with_columns(low=pl.col("high") + 1))
    with pytest.raises(MensuraError, match="missing column 'spread'"):
        replace(world, strata=world.strata.drop("spread"))


def test_domains_are_read_from_words(world):
    assert world.domain("Algebra") == ("quantitative", True)
    assert world.domain("letter_number_series") == ("fluid", False)
    assert world.domain("basket weaving") is None
    assert world.domain(None) is None


def test_a_pool_describes_itself_by_its_covariates(world):
    answers = pl.DataFrame({"person": [1, 2, 3, 4], "item": ["q"] * 4, "correct": [1, 0, 1, 1]})
    persons = pl.DataFrame(
        {"person": [1, 2, 3, 4], "country": ["JPN", "JPN", "JPN", "CHL"], "age": [15.2, 15.9, 15.5, 15.1]}
    )
    pool = ItemPool.from_answers("p", pl.DataFrame({"item": ["q"]}), answers, persons)
    whole = describe(pool, world)
    assert (whole.countries, whole.shares, whole.ages, whole.in_school) == (("CHL", "JPN"), (1.0, 3.0), (15, 15), True)
    part = population_of("country=JPN", whole, world)
    assert (part.countries, part.ages, part.in_school) == (("JPN",), (15, 15), True)
    assert population_of("age_band=18-24", whole, world).ages == (18, 24)
    assert population_of("sex=female", whole, world).prose.endswith("those with sex female.")
    with pytest.raises(MensuraError, match="name the population"):
        describe(ItemPool.from_answers("p", pl.DataFrame({"item": ["q"]}), answers), world)


@pytest.mark.shared
def test_packaged_strata_are_what_the_tool_makes(world, shared):
    tables = build_world(shared / "data/world", world.countries)
    assert tables["strata"].equals(world.strata.with_columns(pl.col("age_low", "age_high").cast(pl.Int64)))
    assert tables["countries"].equals(world.countries)


@pytest.mark.parametrize(
    ("name", "ages", "school"),
    [
        ("timss-grade8", (13, 14), True),
        ("timss-grade4-2003", (9, 10), True),
        ("icar-china", (14, 16), True),
        ("naep-grade12", (17, 18), True),
        ("enem", (16, 40), False),
    ],
)
def test_samples_of_the_sources_are_populations_by_name(world, name, ages, school):
    found = world.population(name)
    assert (found.ages, found.in_school) == (ages, school)
    assert cells_of(found, world)["weight"].sum() == pytest.approx(1)


def test_younger_pupils_of_one_test_know_less(world):
    four, eight = (world.population(f"timss-grade{grade}").ability.mean for grade in (4, 8))
    assert eight - four == pytest.approx(1.02, abs=0.01), (
        "growth of 1.23 from 10 to 14, in countries that differ by 0.21"
    )
