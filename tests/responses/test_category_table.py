"""Answers in categories as they are read: places, shares, and what is no category."""

import numpy as np
import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.responses import fit_categories
from mensura.responses.category_table import dimension_answers, read_categories
from mensura.responses.reading import AnswerChoice
from tests.responses.test_categories import drawn_categories


def test_what_is_no_category_is_refused_with_advice():
    wide, _, _ = drawn_categories("graded", 60, 3, 3, 3)
    with pytest.raises(MensuraError, match=r"'i0' has the outcome 0.5; expected whole numbers"):
        fit_categories(wide.with_columns(i0=pl.lit(0.5)))
    with pytest.raises(MensuraError, match="'i0' has 60 different outcomes; at most 20"):
        fit_categories(wide.with_columns(i0=pl.int_range(pl.len())))
    with pytest.raises(MensuraError, match="expected one of graded, partial-credit, nominal"):
        fit_categories(wide, model="rating")


@pytest.mark.parametrize(
    ("scale", "codes"),
    [
        (range(1, 7), (8, 9)),  # do not know, no answer
        (range(1, 8), (9,)),
        (range(5), (55,)),
        (range(1, 6), (-1,)),
    ],
)
def test_outcomes_apart_from_the_others_are_asked_about(scale, codes):
    """As further categories they would be the highest or lowest ratings, of people who did not answer."""
    rng = np.random.default_rng(4)
    ratings = rng.choice(list(scale), (90, 4)).astype(float)
    ratings[:10] = rng.choice(codes, (10, 4))
    table = {"subject": np.arange(90), **{f"q{k}": ratings[:, k] for k in range(4)}}
    names = ",".join(map(str, codes))
    with pytest.raises(MensuraError, match=f"--set absent={names}, or --set absent=none if they are ratings"):
        read_categories(table)
    assert read_categories(table, choice=AnswerChoice(absent=names)).codes["value"].unique().sort().to_list() == [
        *scale
    ]
    assert read_categories(table, choice=AnswerChoice(absent="none")).codes["value"].n_unique() > len(scale)


@pytest.mark.parametrize(
    "scale", [range(-2, 3), (1, 3, 5, 7, 9), range(0, 101, 10), (1, 2, 3, 5), (0, 1, 2, 4), (8, 9)]
)
def test_scales_of_other_steps_are_not_asked_about(scale):
    ratings = np.random.default_rng(4).choice(list(scale), (90, 4))
    table = read_categories({"subject": np.arange(90), **{f"q{k}": ratings[:, k] for k in range(4)}})
    assert table.codes["value"].unique().sort().to_list() == [*scale]


def test_a_category_of_one_item_beyond_a_gap_is_asked_about():
    """A 5 among ratings from 0 to 3 may stand for a missing answer; a fifth category that others lack may not."""
    wide, *_ = drawn_categories("graded", 120, 4, 4, 3)
    coded = wide.with_columns(i1=pl.when(pl.int_range(pl.len()) < 6).then(5).otherwise("i1"))
    with pytest.raises(MensuraError, match="outcomes 5 lie apart from the others"):
        read_categories(coded)
    longer = wide.with_columns(i1=pl.when(pl.int_range(pl.len()) < 6).then(4).otherwise("i1"))
    assert read_categories(longer).codes["value"].n_unique() == 5


def test_models_that_several_dimensions_lack_are_refused():
    with pytest.raises(
        MensuraError, match=r"got 'nominal'; expected 2pl, graded, partial-credit .* slope per category"
    ):
        dimension_answers(RATED, "nominal")
    with pytest.raises(
        MensuraError, match=r"got 'rasch'; expected 2pl, graded, partial-credit for several dimensions\. C"
    ):
        dimension_answers(RATED, "rasch")


RATED = {"subject": ["a", "b", "c", "d"], "mood": [1, 3, 3, 1], "work": [2, 0, 1, None], "same": [1, 1, 1, 1]}


def test_categories_are_numbered_in_the_order_of_their_values_whatever_these_are():
    table = read_categories(RATED)
    rows = table.codes.select("item", "category", "place", "n", "share").rows()
    assert rows == [
        ("mood", "1", 0, 2, 0.5),
        ("mood", "3", 1, 2, 0.5),
        *((("work", str(value), value, 1, pytest.approx(1 / 3))) for value in range(3)),
    ]
    assert table.items.to_list() == ["mood", "work"]
    noted = {row[0]: row[1] for row in table.log.frame().rows()}
    assert noted == {"missing outcomes": 1, "items with one category": 1}
    counts = table.stacked.toarray().reshape(4, 2, 3)
    assert counts[:, 0].argmax(axis=1).tolist() == [0, 1, 1, 0]
    assert counts.sum(axis=(1, 2)).tolist() == [2, 2, 2, 1], "d left one blank"


def test_items_that_share_their_categories_have_those_that_nobody_chose():
    table = read_categories(RATED, same=True)
    assert [share.tolist() for share in table.shares] == [
        [0.0, 0.5, 0.0, 0.5],
        [pytest.approx(1 / 3), pytest.approx(1 / 3), pytest.approx(1 / 3), 0.0],
    ]


def test_the_reference_comes_first_and_must_be_a_group():
    long = {
        "subject": ["a", "a", "b", "b"],
        "group": ["x", "x", "y", "y"],
        "item": ["p", "q"] * 2,
        "value": [1, 2, 2, 1],
    }
    assert read_categories(long, by="group").groups == ["x", "y"]
    assert read_categories(long, by="group", reference="y").groups == ["y", "x"]
    with pytest.raises(MensuraError, match="reference: got 'z'; expected one of x, y"):
        read_categories(long, by="group", reference="z")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"mood": [1, 3, 3, None], "work": [1, 1, 1, 1]},
            "1 items have two categories or more; a scale needs at least two",
        ),
        ({"mood": [None] * 4, "work": [None] * 4, "same": [None] * 4}, "no outcome"),
        ({"mood": [1, 2.5, 3, 1]}, "item 'mood' has the outcome 2.5; expected whole numbers"),
    ],
)
def test_ratings_that_make_no_scale_are_refused(change, message):
    with pytest.raises(MensuraError, match=message):
        read_categories(pl.DataFrame(RATED | change, strict=False))


def test_a_fit_begins_at_the_rates_of_items_and_on_the_side_of_right():
    answers = dimension_answers({"subject": list("abcd"), "easy": [1, 1, 1, 0], "hard": [0, 0, 1, 0]}, "2pl")
    assert answers.start[:, 1] == pytest.approx([1.2 * np.log(3), -1.2 * np.log(3)])
    assert np.sum(answers.centred**2, axis=0) == pytest.approx([1, 1])
    assert (answers.exploratory(1).slopes > 0).all()
    free = np.array([[True, False], [False, True]])
    assert (answers.confirmatory(free, correlated=True).slopes != 0).tolist() == free.tolist()
