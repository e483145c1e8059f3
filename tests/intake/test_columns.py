"""Columns by meaning: usual names, names that a user maps, numbers as people write them, and impossible figures."""

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.intake.columns import facts_about_people, find_columns, parse_map, read_columns, read_rates, with_numbers


def test_columns_about_people_are_named_unless_there_is_nothing_else():
    assert facts_about_people(["Sex", "q1", "Age"]) == ["Sex", "Age"]
    assert facts_about_people(["sex", "age"]) == []


def test_a_map_names_the_column_of_each_field():
    fields = ("rate", "item")
    assert parse_map(" rate = p_correct, item=qid,", fields, "rate=p") == {"rate": "p_correct", "item": "qid"}
    assert parse_map(None, fields, "rate=p") == {}
    for wrong in ("rate", "rate=", "share=p"):
        with pytest.raises(MensuraError, match=f"--map '{wrong}': expected FIELD=COLUMN with a field of rate, item"):
            parse_map(wrong, fields, "rate=p")


def test_the_first_usual_name_counts_and_no_column_serves_twice():
    fields = {"item": ("item", "name"), "label": ("name", "title")}
    assert find_columns(["Name", "Title"], fields, {}, "t") == {"item": "Name", "label": "Title"}
    assert find_columns(["Title", "Item"], fields, {"label": "Item"}, "t") == {"item": "Item", "label": "Item"}
    assert find_columns(["doc"], {"item": ()}, {"item": "doc.id"}, "t") == {"item": "doc.id"}
    with pytest.raises(MensuraError, match="t: --map item=x: no such column; expected one of Name"):
        find_columns(["Name"], fields, {"item": "x"}, "t")
    assert find_columns(["Name"], fields, {"item": "x"}, "t", shared=("item",))["item"] == "Name"


def test_percentages_are_shares_and_words_for_missing_values_are_blank():
    table = pl.DataFrame({"qid": ["a", "b", "c"], "rate": ["40%", "0.25", "NA"]})
    read = read_columns(table, ["item", "rate"], name="t", numbers=["rate"], columns={"item": "qid"})
    assert read["rate"].to_list() == [0.4, 0.25, None]
    with pytest.raises(MensuraError, match="t: rate of item 'c' is 'NA'; expected a number"):
        read_columns(table, ["item", "rate"], name="t", needed=["rate"], numbers=["rate"], columns={"item": "qid"})


def test_words_for_success_are_shares_and_a_number_of_people_is_none():
    table = pl.DataFrame({"item": ["a", "b", "c"], "rate": ["yes", " Failed", "0.5"], "n": ["10", "40%", "5"]})
    assert read_columns(table, ["item", "rate"], name="t", numbers=["rate"])["rate"].to_list() == [1.0, 0.0, 0.5]
    with pytest.raises(MensuraError, match="t: n of item 'b' is '40%'; expected a number"):
        read_columns(table, ["item", "n"], name="t", numbers=["n"])
    with pytest.raises(MensuraError, match="t: rate of item 'a' is 'yes'; expected a number"):
        with_numbers(table, ["rate"], "t", shares=())


def test_a_missing_column_is_asked_for_with_the_nearest_name():
    with pytest.raises(MensuraError, match=r"t: missing column 'rate'; it has item, rat \(rename 'rat'\?\)"):
        read_columns(pl.DataFrame({"item": ["a"], "rat": [0.5]}), ["item", "rate"], name="t", needed=["rate"])


def test_rates_of_the_world_are_taken_from_a_table_of_populations():
    table = pl.DataFrame(
        {"item": ["a", "a", "b"], "population": ["world", "usa", "world"], "status": "ok", "rate": [0.5, 0.7, None]}
    )
    read = read_rates(table)
    assert read.select("item", "rate").rows() == [("a", 0.5)]
    assert read.columns == ["item", "pool", "rate", "low", "high", "n", "options"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"rate": 1.5}, "rate of item 'a' is 1.5; expected a share from 0 to 1"),
        ({"n": 0}, "n of item 'a' is 0; expected a number of people above 0"),
        ({"options": 1}, "options of item 'a' is 1; expected 2 or more, empty if open"),
        ({"low": 0.6}, "item 'a' has rate 0.5 outside its interval 0.6 to 1; correct low, rate or high"),
        ({"high": 0.4}, "item 'a' has rate 0.5 outside its interval 0 to 0.4; correct low, rate or high"),
    ],
)
def test_an_impossible_figure_is_named(row, message):
    with pytest.raises(MensuraError, match=f"rates: {message}"):
        read_rates(pl.DataFrame({"item": ["a"], "rate": [0.5]} | {name: [value] for name, value in row.items()}))


def test_ends_of_the_ranges_are_allowed():
    table = pl.DataFrame({"item": ["a", "b"], "rate": [0.0, 1.0], "low": [0.0, 1.0], "high": [0.0, 1.0], "options": 2})
    assert read_rates(table)["rate"].to_list() == [0.0, 1.0]


def test_an_item_has_one_rate_or_one_in_each_pool():
    table = pl.DataFrame({"item": ["a", "a"], "pool": ["x", "y"], "rate": [0.5, 0.6]})
    assert read_rates(table, one_pool=False).height == 2
    with pytest.raises(MensuraError, match="rates: item 'a' has 2 rates"):
        read_rates(table)
