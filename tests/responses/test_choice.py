"""Which columns are items, which outcomes are missing, and what is right: files as statistics programs leave them."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.responses import AnswerChoice, fit_categories, read_responses


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    columns = {f"q{at}": rng.integers(0, 2, 60) for at in range(4)}
    facts = {"id": range(60), "sex": rng.integers(0, 2, 60), "age": rng.integers(18, 70, 60)}
    return pl.DataFrame({**facts, **columns})


def test_columns_named_like_facts_about_people_are_no_items_and_the_log_says_so(people):
    table = read_responses(people)
    assert table.items["item"].to_list() == ["q0", "q1", "q2", "q3"]
    assert table.log["what"].to_list() == ["column sex", "column age"]
    assert "--set items" in table.log["rule"][0]


@pytest.mark.parametrize("name", ["isFemale", "cov_sex", "Age group", "Geschlecht", "treatment"])
def test_facts_have_many_names(people, name):
    assert read_responses(people.rename({"sex": name})).items.height == 4


def test_a_fact_that_is_named_is_an_item(people):
    table = read_responses(people, choice=AnswerChoice("q*,sex"))
    assert table.items["item"].to_list() == ["sex", "q0", "q1", "q2", "q3"]


def test_a_group_may_be_made_by_a_fact(people):
    assert set(read_responses(people, by="sex").groups) == {"0", "1"}


def test_letters_become_right_and_wrong_by_a_key_and_codes_missing():
    letters = pl.DataFrame({"id": list("abc"), "m1": ["B", "c", "X"], "m2": ["A", "A", "D"], "m3": [3, 1, 9]})
    key = {"item": ["m1", "m2", "m3"], "answer": ["B", "A", "3"]}
    table = read_responses(letters, choice=AnswerChoice(absent="X,9", key=key))
    assert dict(table.items.select("item", "rate").iter_rows()) == pytest.approx({"m1": 0.5, "m2": 2 / 3, "m3": 0.5})
    assert table.items["n"].to_list() == [2, 3, 2]
    with pytest.raises(MensuraError, match="key: no row for item 'm3'"):
        read_responses(letters, choice=AnswerChoice(key={"item": ["m1", "m2"], "key": ["B", "A"]}))


def test_long_tables_of_the_item_response_warehouse_are_read_as_they_are(people):
    long = people.unpivot(index="id", on=["q0", "q1", "q2"], variable_name="item", value_name="resp")
    long = long.with_columns(rt=pl.lit(1.5), cov_sex=pl.lit(1))
    assert read_responses(long).items["item"].to_list() == ["q0", "q1", "q2"]
    chosen = read_responses(long, choice=AnswerChoice("q0,q1", absent="0"))
    assert chosen.items["item"].to_list() == ["q0", "q1"] and chosen.items["rate"].to_list() == [1.0, 1.0]


def test_ratings_take_the_same_choice(people):
    rng = np.random.default_rng(1)
    rated = people.select("id", "sex").with_columns(pl.Series(f"r{at}", rng.integers(1, 6, 60)) for at in range(4))
    coded = rated.with_columns(r0=pl.when(pl.col("id") % 7 == 0).then(6).otherwise("r0"))
    fit = fit_categories(coded, choice=AnswerChoice("r*", absent="6"))
    assert fit.items["categories"].to_list() == [5, 5, 5, 5]


def test_missing_values_that_a_file_of_spss_declares_are_missing(people, tmp_path, mensura_command):
    statistics = pytest.importorskip("pyreadstat")
    pandas = pytest.importorskip("pandas")
    coded = people.with_columns(q0=pl.when(pl.col("id") % 10 == 0).then(9).otherwise("q0"))
    frame = pandas.DataFrame(coded.to_dict(as_series=False))
    statistics.write_sav(frame, str(tmp_path / "people.sav"), missing_ranges={"q0": [9]})
    assert read_responses(tmp_path / "people.sav").items["n"].to_list() == [54, 60, 60, 60]
    done = mensura_command("responses", "fit", tmp_path / "people.sav", "--set", "items=q*", "--model", "rasch")
    assert done.code == 0 and "60 subjects × 4 items" in done.out
