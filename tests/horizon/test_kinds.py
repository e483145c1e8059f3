"""Kinds of human times from their descriptions, and the people behind them."""

import polars as pl
import pytest

from mensura.horizon.kinds import ESTIMATE, FIRST, LEAST, MEASURED, MODEL, RANGE, kind_of, people_behind


@pytest.mark.parametrize(
    ("how", "minutes", "kind"),
    [
        ("Measured baseline", 4.0, MEASURED),
        ("mean of three attempts", 4.0, MEASURED),
        (None, 4.0, MEASURED),
        ("expert estimate", 4.0, ESTIMATE),
        ("LLM guess", 4.0, MODEL),
        ("first solve, recorded", 4.0, FIRST),
        ("gave up: at least", 4.0, LEAST),
        ("bucket of the first", 4.0, RANGE),
        ("measured", None, RANGE),
        ("folklore", 4.0, "folklore"),
    ],
)
def test_the_first_kind_whose_word_is_there_counts(how, minutes, kind):
    table = pl.DataFrame({"how": [how], "minutes": [minutes]}, schema={"how": pl.String, "minutes": pl.Float64})
    assert table.select(kind_of()).item() == kind


def test_people_are_counted_as_given_else_as_the_words_say():
    how = ["mean of three", "Median of 12 people", "average of some", "measured", "mean of three"]
    table = pl.DataFrame({"how": how, "people": [None, None, None, None, 5]})
    assert table.select(people_behind()).to_series().to_list() == [3.0, 12.0, None, None, 5.0]
