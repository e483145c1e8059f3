"""The tidy folder: items, group rates, persons and responses as tables of any format, found, read and checked."""

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.people.tidy import check_items, check_persons, check_rates, read_items, read_tables, widen


def test_an_answer_that_is_left_empty_is_no_answer_and_no_second_row():
    answers = pl.DataFrame({"person": ["a", "a", "b"], "item": ["q1", "q2", "q1"], "correct": [1, None, 0]})
    assert widen(answers, ["q1", "q2"], name="answers").rows() == [("a", 1, None), ("b", 0, None)]


def test_columns_come_in_the_order_of_the_items_and_persons_in_that_of_the_answers():
    answers = pl.DataFrame({"person": ["b", "a", "b"], "item": ["new", "q2", "q1"], "correct": ["1", "0", "0"]})
    table = widen(answers, ["q1", "q2", "never asked"], name="answers")
    assert table.columns == ["person", "q1", "q2", "new"]
    assert table.rows() == [("b", 0, None, 1), ("a", None, 0, None)]
    assert set(table.dtypes[1:]) == {pl.Int8}
    numbered = widen(pl.DataFrame({"person": [7, 3], "item": [1, 2], "correct": [True, False]}), ["1", "2"], name="x")
    assert numbered.rows() == [(7, 1, None), (3, None, 0)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"correct": [1, 2, 0]}, r"got 2 \(person a, item 'q2'\)"),
        ({"correct": [1, -1, 0]}, "must be 0, 1 or empty, got -1"),
        ({"correct": [1.0, 0.5, 0.0]}, "got 0.5"),
        ({"correct": ["1", "b", "0"]}, "got 'b'"),
        ({"item": ["q1", "q1", "q1"]}, "person a answers item 'q1' more than once; keep one row"),
        ({"item": ["q1", None, "q1"]}, "1 rows without item"),
        ({"person": [None, None, "b"]}, "2 rows without person"),
    ],
)
def test_answers_that_cannot_be_read_are_refused_by_row(change, message):
    table = {"person": ["a", "a", "b"], "item": ["q1", "q2", "q1"], "correct": [1, 0, 0], **change}
    with pytest.raises(MensuraError, match=message):
        widen(pl.DataFrame(table, strict=False), ["q1", "q2"], name="answers")


def test_answers_without_a_row_are_refused():
    none = pl.DataFrame(schema={"person": pl.String, "item": pl.String, "correct": pl.Int64})
    with pytest.raises(MensuraError, match="answers: no rows; add at least one answer"):
        widen(none, ["q1"], name="answers")


def test_items_have_names_of_their_own():
    items = check_items(
        pl.DataFrame({"item": [1, 2], "n_options": ["4", "many"], "needs_picture": ["yes", "no"]}), name="items"
    )
    assert items["item"].to_list() == ["1", "2"]
    assert items["n_options"].to_list() == [4, None]
    assert items["needs_picture"].to_list() == [True, False]
    assert items["domain"].to_list() == [None, None]
    with pytest.raises(MensuraError, match="items: item 'a' occurs more than once"):
        check_items(pl.DataFrame({"item": ["a", "b", "a"]}), name="items")
    with pytest.raises(MensuraError, match="persons: 1 rows without person"):
        check_persons(pl.DataFrame({"person": ["a", None]}), name="persons")


def rates_of(**columns):
    return check_rates(pl.DataFrame({"item": "q", "group": "sex=f", "n": [100], **columns}), name="rates")


def test_what_follows_from_other_numbers_is_filled_in():
    """40 of 100: rate 0.4, standard error √(0.4 × 0.6 / 100); 0.404 of 100 are 40 right."""
    table, warnings = rates_of(n_correct=[40])
    row = table.row(0, named=True)
    assert (row["covariate"], row["rate"], row["se"]) == ("sex", 0.4, pytest.approx(0.0489898))
    assert (table["n"].dtype, table["correct"].dtype, warnings) == (pl.Int64, pl.Int64, [])
    assert rates_of(rate=[0.404])[0]["correct"][0] == 40
    assert rates_of(rate=[0.4], se=[0.2])[0]["se"][0] == 0.2
    assert rates_of(rate=[0.4], country=["x"])[0].columns[-1] == "country"


@pytest.mark.parametrize(
    ("rate", "weighted"), [(0.4159, False), (0.4161, True), (0.3841, False), (0.3839, True), (0.4999, True)]
)
def test_a_rate_beyond_rounding_is_taken_for_a_weighted_one(rate, weighted):
    """Of 100 answers: 0.006 and one answer are rounding, 0.1 is the most a weight explains."""
    table, warnings = rates_of(n_correct=[40], rate=[rate])
    assert table["rate"][0] == rate
    assert bool(warnings) == weighted
    with pytest.raises(MensuraError, match="rate and n_correct / n disagree; 1 rows break this"):
        rates_of(n_correct=[40], rate=[0.5001])


def test_a_table_needs_a_rate_or_counts_and_one_row_for_each_group():
    with pytest.raises(MensuraError, match="needs column 'n_correct' or 'rate'; it has item, group, n"):
        rates_of()
    twice = pl.DataFrame({"item": ["q", "q"], "group": "all", "covariate": ["all", "other"], "n": 9, "rate": 0.5})
    assert check_rates(twice, name="rates")[0].height == 2
    with pytest.raises(MensuraError, match="an item has two rows for one group; 2 rows"):
        check_rates(twice.with_columns(covariate=pl.lit("all")), name="rates")
    edges = pl.DataFrame({"item": ["a", "b"], "group": "all", "n": 9, "rate": [0.0, 1.0]})
    assert check_rates(edges, name="rates")[0]["correct"].to_list() == [0, 9]


def test_a_folder_without_rates_or_answers_is_refused(tmp_path):
    with pytest.raises(MensuraError, match="no folder; expected one with items"):
        read_tables(tmp_path / "none")
    (tmp_path / "items.csv").write_text("item\nq1\n", encoding="utf-8")
    with pytest.raises(MensuraError, match="neither group_rates nor responses"):
        read_tables(tmp_path)
    assert read_items(tmp_path)["item"].to_list() == read_items(tmp_path / "items.csv")["item"].to_list() == ["q1"]
    (tmp_path / "responses.csv").write_text("person,item,correct\n1,q1,1\n1,q2,0\n1,q3,\n", encoding="utf-8")
    tables, warnings = read_tables(tmp_path)
    assert tables["items"]["item"].to_list() == ["q1", "q2", "q3"]
    assert warnings == ["2 items without a row in the item table, so without a domain: q2, q3"]
    (tmp_path / "group_rates.csv").write_text(
        "item,covariate,group,n,n_correct,rate\n" + "".join(f"r{i},all,all,9,3,\n" for i in range(7)), encoding="utf-8"
    )
    first, second = read_tables(tmp_path)[1]
    assert first == "7 items without a row in the item table, so without a domain: r0, r1, r2, r3, r4 and 2 more"
    assert second.startswith("2 items without")
    with pytest.raises(MensuraError, match="add one"):
        (tmp_path / "empty").mkdir()
        read_items(tmp_path / "empty")


def test_a_table_of_rates_has_its_columns_first_and_in_order():
    table, _ = check_rates(pl.DataFrame({"x": ["?"], "rate": [0.4], "n": [10], "group": "all", "item": "q"}), name="r")
    assert table.columns == ["item", "covariate", "group", "n", "correct", "rate", "se", "x"]
    assert table.row(0)[:6] == ("q", "all", "all", 10, 4, 0.4)
