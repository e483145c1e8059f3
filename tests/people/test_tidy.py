"""The tidy folder: items, group rates, persons and responses as tables of any format, found, read and checked."""

import polars as pl

from mensura.people.tidy import widen


def test_an_answer_that_is_left_empty_is_no_answer_and_no_second_row():
    answers = pl.DataFrame({"person": ["a", "a", "b"], "item": ["q1", "q2", "q1"], "correct": [1, None, 0]})
    assert widen(answers, ["q1", "q2"], name="answers").rows() == [("a", 1, None), ("b", 0, None)]
