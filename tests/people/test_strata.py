"""World strata: the cells of subregion × age × attainment that a described population is made of."""

import polars as pl
import pytest

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
