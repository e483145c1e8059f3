"""Harmonisation: stated rules, and a log of what was left out."""

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.people import HarmonisingRules, ItemPool, harmonise, read_points, screen

EASY = HarmonisingRules(min_answers=1)


def scored(values, rules=EASY, **facts):
    items = pl.DataFrame([{"item": "q", **facts}])
    answers = pl.DataFrame({"person": range(len(values)), "q": values}, strict=False)
    return harmonise("p", items, answers, rules=rules).responses["q"].to_list()


@pytest.mark.parametrize(
    ("credit", "expected"), [("full", [0, 0, 0, 1, None]), ("half", [0, 0, 1, 1, None]), ("any", [0, 1, 1, 1, None])]
)
def test_partial_credit_collapses_by_the_stated_rule(credit, expected):
    assert scored([0, 1, 2, 4, None], HarmonisingRules(credit, min_answers=1), max_points=4) == expected


def test_omitted_is_wrong_and_not_reached_is_no_answer():
    rules = HarmonisingRules(absent=["7", "8"], omitted=["9"], min_answers=1)
    assert scored([1, 0, 7, 8, 9], rules) == [1, 0, None, None, 0]
    assert scored(["1", "0", "7", "8", "9"], rules) == [1, 0, None, None, 0]


def test_choices_are_scored_by_the_key_in_any_case():
    assert scored(["A", "b", "B", None, ""], answer="b") == [0, 1, 1, None, None]
    assert scored([1, 2, 3], answer="2", scoring="choice") == [0, 1, 0]


def test_a_key_in_words_beside_scored_answers_changes_nothing():
    assert scored([1, 0, 1], answer="the chancellor, by law") == [1, 0, 1]


def test_several_right_answers_are_an_ambiguous_key_unless_allowed():
    with pytest.raises(MensuraError, match="ambiguous key"):
        scored(["a", "b", "c"], answer="a|c")
    assert scored(["a", "b", "c"], HarmonisingRules(min_answers=1, several_keys=True), answer="a|c") == [1, 0, 1]


def test_undeclared_codes_are_never_read_as_points():
    with pytest.raises(MensuraError, match="9 points without any below it"):
        scored([0, 1, 9])
    with pytest.raises(MensuraError, match=r"9\.0 points of at most 1"):
        scored([0, 1, 9], max_points=1)
    with pytest.raises(MensuraError, match="'r' is neither a number of points nor a declared code"):
        scored(["0", "1", "r"])


def test_every_exclusion_is_logged_with_its_reason():
    items = pl.DataFrame(
        {
            "item": ["good", "picture", "thin", "nokey", "twokeys", "gone"],
            "needs_picture": [False, True, False, False, False, False],
            "scoring": [None, None, None, "choice", "choice", None],
            "answer": [None, None, None, None, "a,b", None],
        }
    )
    people = 40
    answers = pl.DataFrame(
        {
            "person": range(people),
            "good": [1, 0] * 20,
            "picture": [1, 0] * 20,
            "thin": [1] + [None] * (people - 1),
            "nokey": ["a", "b"] * 20,
            "twokeys": ["a", "b"] * 20,
        }
    )
    pool = harmonise("p", items, answers)
    assert pool.items["item"].to_list() == ["good"]
    assert dict(pool.exclusions.select("id", "reason").iter_rows()) == {
        "picture": "needs a picture",
        "thin": "1 answers, fewer than 30",
        "nokey": "no key",
        "twokeys": "ambiguous key: more than one right answer",
        "gone": "no column of answers",
    }
    assert "5 exclusions" in str(pool)


def test_pictures_may_stay():
    assert scored([1, 0], HarmonisingRules(pictures=True, min_answers=1), needs_picture=True) == [1, 0]


def test_bad_rules_and_duplicate_persons_are_refused():
    with pytest.raises(MensuraError, match="credit: got 'most'; expected one of full, half, any"):
        HarmonisingRules("most")
    with pytest.raises(MensuraError, match="both as absent and as omitted"):
        HarmonisingRules(absent=["9"], omitted=["9"])
    with pytest.raises(MensuraError, match="person 1 occurs more than once"):
        harmonise("p", pl.DataFrame({"item": ["q"]}), pl.DataFrame({"person": [1, 1], "q": [0, 1]}))


def test_screening_a_pool_of_published_rates():
    items = pl.DataFrame({"item": ["a", "b", "c"], "needs_picture": ["False", "True", "False"]})
    rates = pl.DataFrame({"item": ["a", "b", "c"], "group": ["all"] * 3, "n": [100, 100, 12], "rate": [0.5, 0.5, 0.5]})
    pool = screen(ItemPool.from_rates("p", items, rates))
    assert pool.items["item"].to_list() == ["a"]
    assert pool.rates["item"].to_list() == ["a"]
    assert pool.exclusions.rows() == [("item", "b", "needs a picture"), ("item", "c", "12 answers, fewer than 30")]


@pytest.mark.parametrize(
    ("values", "facts", "expected"),
    [
        ([2.0, 0.0, None], {"max_points": 2}, [1, 0, None]),
        ([True, False, None], {}, [1, 0, None]),
        ([" 1 ", "0", "NA"], {}, [1, 0, None]),
        ([1, 2, 3], {"answer": "2"}, [0, 1, 0]),  # numbers beside a number: choices
        (["1", "3", "2"], {"answer": "1,3", "scoring": "points", "max_points": 3}, [0, 1, 0]),
        (["b ", "B.", None], {"answer": "B", "scoring": "choice"}, [1, 0, None]),
        ([0, 1, 2, 3], {}, [0, 0, 0, 1]),  # the largest number that was seen is full credit
        ([0, 0, None], {}, [0, 0, None]),
        ([0.5, 1.0, 0.0], {"max_points": 1}, [0, 1, 0]),
    ],
)
def test_answers_become_right_wrong_or_nothing(values, facts, expected):
    assert scored(values, **facts) == expected


def test_an_omitted_code_counts_as_wrong_also_where_it_is_a_word_for_missing():
    rules = HarmonisingRules(omitted=["NA", "A"], absent=["."], min_answers=1)
    assert scored(["1", "NA", ".", "0"], rules) == [1, 0, None, 0]
    assert scored(["a", "A", "B"], rules, answer="a", scoring="choice") == [1, 0, 0]


@pytest.mark.parametrize(("points", "most"), [([-1, 0, 1], None), ([0, 1, 3], 2)])
def test_points_beyond_the_range_of_an_item_are_refused(points, most):
    with pytest.raises(MensuraError, match=r"item 'q': .* points of at most"):
        scored(points, max_points=most)


def test_codes_of_zero_and_one_are_read_as_codes():
    rules = HarmonisingRules(absent=["1"], min_answers=1)
    assert scored([0, 1, 0], rules) == [0, None, 0]


def test_thirty_answers_are_enough_and_29_are_not():
    answers = pl.DataFrame({"person": range(30), "a": [1] * 30, "b": [1] * 29 + [None]})
    pool = harmonise("p", {"item": ["a", "b"]}, answers)
    assert pool.items["item"].to_list() == ["a"]
    assert pool.exclusions.rows() == [("item", "b", "29 answers, fewer than 30")]
    with pytest.raises(MensuraError, match=r"no item is left after harmonisation \(29 answers, fewer than 30\)"):
        harmonise("p", {"item": ["b"]}, answers)
    with pytest.raises(MensuraError, match="no column of answers"):
        harmonise("p", {"item": ["c"]}, answers)


def test_keys_of_two_signs_name_several_answers_and_longer_ones_a_text():
    assert scored(["a1", "b"], HarmonisingRules(min_answers=1, several_keys=True), answer="a1;b2") == [1, 0]
    assert scored(["yes/no", "no"], answer="yes/no") == [1, 0]


def test_points_leave_choices_out_and_codes_blank():
    answers = pl.DataFrame({"person": [1, 2, 3], "q": ["2", "9", "7"], "r": ["a", "b", None], "s": [1.0, None, 0.0]})
    points = read_points(answers, HarmonisingRules(absent=["9"], omitted=["7"]))
    assert points.columns == ["subject", "q", "s"]
    assert points.rows() == [(1, 2, 1), (2, None, None), (3, 0, 0)]


def test_screening_keeps_answers_and_earlier_exclusions():
    answers = pl.DataFrame({"person": range(40), "a": [1, 0] * 20, "b": [1] + [None] * 39})
    pool = ItemPool.from_answers("p", {"item": ["a", "b"]}, answers)
    kept = screen(pool)
    assert kept.responses.columns == ["person", "a"]
    assert kept.exclusions.rows() == [("item", "b", "1 answers, fewer than 30")]
    again = screen(kept, HarmonisingRules(min_answers=41))
    assert again.items.is_empty() and again.exclusions["id"].to_list() == ["b", "a"]
    assert pool.items.height == 2
