"""World strata: the cells of subregion × age × attainment that a described population is made of."""

from dataclasses import replace

import polars as pl
import pytest

from mensura.people import WORLD, Ability, Population, World, cells_of
from mensura.people.strata import ATTAINMENT
from tools.build_strata import build_world


@pytest.fixture
def country_tables(tmp_path):
    ages = [0, 5, 10, 15, 20, 25, 30, 100]
    people = [(c, a, s, 10.0) for c in ("AAA", "BBB") for a in ages for s in ("F", "M")]
    pl.DataFrame(people, schema=["iso3", "age_lo", "sex", "pop_thousands"], orient="row").write_csv(
        tmp_path / "population_2025.csv"
    )
    shares = {
        15: (0.2, 0, 0, 0.8, 0, 0),
        20: (0, 0, 0, 0, 1, 0),
        25: (0, 0, 1, 0, 0, 0),
        30: (1, 0, 0, 0, 0, 0),
        100: (1, 0, 0, 0, 0, 0),
    }
    rows = [("AAA", age, sex, 5.0, *parts) for age, parts in shares.items() for sex in ("F", "M")]
    columns = ["iso3", "age_lo", "sex", "pop_thousands_2020", *(f"e_{level}" for level in ATTAINMENT)]
    pl.DataFrame(rows, schema=columns, orient="row").write_csv(tmp_path / "education_2020.csv")
    pl.DataFrame({"iso3": ["AAA", "BBB"], "un_region": ["ASIA"] * 2, "un_subregion": ["Central Asia"] * 2}).write_csv(
        tmp_path / "countries.csv"
    )
    pl.DataFrame(
        {"iso3": ["AAA", "BBB"], "hlo_hci2020": [450.0, 900.0], "hlo_hci2020_via": ["lookup", "fetch"]}
    ).write_csv(tmp_path / "quality_hlo.csv")
    return tmp_path


def test_strata_from_country_tables(country_tables):
    names = pl.DataFrame({"country": ["AAA", "BBB"], "iso2": ["AA", "BB"], "name": ["Aland", "Bland"]})
    tables = build_world(country_tables, names)
    strata = tables["strata"]
    assert strata["population"].sum() == pytest.approx(2 * 8 * 20)
    people = {(age, level): n for age, level, n in strata.select("age_low", "attainment", "population").iter_rows()}
    assert people[5, "none"] == pytest.approx(0.2 * 40)
    assert people[5, "pupil"] == pytest.approx(0.8 * 40)
    assert people[15, "lower_secondary"] == pytest.approx(0.8 * 40)
    assert people[25, "primary"] == pytest.approx(40)
    assert people[30, "primary"] == pytest.approx(40), "those of 25 to 29 in 2020 are 30 to 34 in 2025"
    assert strata["learning"].unique().to_list() == [-0.5], "only scores obtained by look-up count"
    assert tables["countries"]["learning_score"].to_list() == [450.0, None]


def small_world(*rows, links=(), income=(), **more):
    """Two countries of one subregion; ``rows``: age_low, age_high, attainment, people, learning."""
    strata = pl.DataFrame(
        [("R", "S", *row, 0.2) for row in rows],
        ["region", "subregion", "age_low", "age_high", "attainment", "population", "learning", "spread"],
        orient="row",
    )
    countries = pl.DataFrame(
        {
            "country": ["AAA", "BBB"],
            "iso2": ["AA", "BB"],
            "name": ["Aland", "Bland"],
            "subregion": ["S", "S"],
            "region": ["R", "R"],
            "population": [10.0, 30.0],
            "learning_score": [450.0, None],
        }
    )
    if income:
        countries = countries.with_columns(income=pl.Series(income, dtype=pl.Float64))
    world = World.load()
    tied = pl.DataFrame(list(links), {"subregion": pl.String, "shift": pl.Float64}, orient="row")
    return replace(world, strata=strata, countries=countries, links=tied, **more)


ADULTS = ((20, 24, "primary", 60.0, -1.0), (25, 29, "post_secondary", 40.0, 0.5))


def test_cells_of_a_subregion_have_its_people_its_middle_ages_and_its_link():
    cells = cells_of(WORLD, small_world(*ADULTS, links=[("S", 0.3)]))
    assert cells.select(
        "country", "age", "attainment", "weight", "learning", "spread", "regional", "income"
    ).rows() == [
        (None, 22.5, "primary", 0.6, -1.0, 0.2, 0.3, 3.0),
        (None, 27.5, "post_secondary", 0.4, 0.5, 0.2, 0.3, 3.0),
    ]
    assert cells_of(WORLD, small_world(*ADULTS))["regional"].to_list() == [0.0, 0.0]


def test_a_band_that_is_cut_counts_by_its_years_inside():
    part = cells_of(WORLD.with_(ages=(23, 25)), small_world(*ADULTS))
    assert part.select("age", "weight").rows() == [
        (24.0, pytest.approx(60 * 0.4 / (60 * 0.4 + 40 * 0.2))),
        (25.5, pytest.approx(40 * 0.2 / (60 * 0.4 + 40 * 0.2))),
    ]
    old = cells_of(WORLD, small_world((100, 120, "none", 1.0, 0.0)))
    assert old["age"].to_list() == [102.5], "the oldest band counts as five years"


def test_children_are_split_into_single_years():
    cells = cells_of(WORLD, small_world((10, 14, "pupil", 50.0, 0.1), (15, 19, "primary", 50.0, 0.2)))
    assert cells.sort("age").select("age", "weight").rows() == [
        *((age + 0.5, pytest.approx(0.1)) for age in range(10, 15)),
        (17.5, pytest.approx(0.5)),
    ]
    assert cells_of(WORLD.with_(attainment=("pupil",)), small_world((10, 14, "pupil", 50.0, 0.1)))["age"].len() == 5


def test_a_country_has_the_ages_of_its_subregion_and_its_own_learning():
    world = small_world(*ADULTS, income=[1.0, 3.0])
    cells = cells_of(WORLD.with_(countries=("Aland",)), world)
    assert cells.select("country", "weight", "learning", "spread", "income").rows() == [
        ("AAA", pytest.approx(0.6), -0.5, 0.0, 1.0),
        ("AAA", pytest.approx(0.4), -0.5, 0.0, 1.0),
    ]
    both = cells_of(WORLD.with_(countries=("AAA", "BBB")), world)
    assert both.group_by("country").agg(pl.col("weight").sum()).sort("country")["weight"].to_list() == [
        pytest.approx(0.25),
        pytest.approx(0.75),
    ]
    assert both.filter(country="BBB")["learning"][0] == pytest.approx(-1.0 * 0.6 + 0.5 * 0.4), "that of its subregion"
    shared = cells_of(WORLD.with_(countries=("AAA", "BBB"), shares=(3.0, 1.0)), world)
    assert shared.filter(country="AAA")["weight"].sum() == pytest.approx(0.75)
    assert cells_of(WORLD, world)["income"].to_list() == [pytest.approx((10 * 1 + 30 * 3) / 40)] * 2


def test_pupils_are_everybody_with_any_schooling():
    world = small_world((14, 14, "none", 20.0, -2.0), (14, 14, "pupil", 60.0, 0.0), (14, 14, "primary", 20.0, 1.0))
    cells = cells_of(WORLD.with_(in_school=True, ages=(14, 14)), world)
    assert cells.select("attainment", "age", "weight", "learning", "spread").rows() == [
        ("in_school", 14.5, 1.0, pytest.approx(0.25), 0.2)
    ]


def test_a_population_of_known_ability_is_one_cell():
    known = Population("club", "", ages=(20, 40), countries=("AAA",), ability=Ability(0.5, 1.1, 0.4, 0.6))
    (row,) = cells_of(known, small_world(*ADULTS)).to_dicts()
    assert row == {
        "country": "AAA",
        "region": "club",
        "subregion": "club",
        "age": 30.0,
        "attainment": "given",
        "weight": 1.0,
        "learning": 0.5,
        "spread": 1.1,
        "regional": 0.0,
        "income": 3.0,
    }
    several = known.with_(countries=("AAA", "BBB"))
    assert cells_of(several, small_world(*ADULTS))["country"].to_list() == [None]
