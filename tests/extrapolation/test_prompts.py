"""The facts of an item that a prompt may hold, the published prompt in 27 variants, and the reading of its answers."""

from itertools import product

import pytest
from hypothesis import example, given, strategies as st

from mensura.extrapolation import read_percentage
from mensura.extrapolation.prompts import all_variants
from mensura.llm import UnreadableError

PLAIN = {
    "Final answer: 19%": 0.19,
    "Final answer: 19,5 %": 0.195,
    "**Final answer: 7%**": 0.07,
    "Final answer: about 12.5 percent.": 0.125,
    "The final answer is 19 per cent": 0.19,
    "final answer:\t100%": 1.0,
    "<think>perhaps 50%. Final answer: 50%</think>\nFinal answer: 12%": 0.12,
    "In the sample 40% succeeded, and 60% of adults read well.\nFinal answer: 22%\nNote: 8 billion people.": 0.22,
    "Final answer: 20%\nSo my final answer: 20 %": 0.2,
    "Few have been to school.\n19%": 0.19,
    "0%": 0.0,
    "I give my final answer below.\nFinal answer: 20%": 0.2,
}


UNREADABLE = [
    "",
    "I cannot answer this.",
    "I estimate 20%.",
    "20% and 30%",
    "Final answer: 20% or 30%",
    "Final answer: 20%\nFinal answer: 30%",
    "Final answer: 12–15 %",
    "Final answer: less than 30%",
    "Final answer: <1%",
    "Final answer: from 30% to 35%",
    "Final answer: -5%",
    "Final answer: 120%",
    "Final answer: 0.19",
    "Final answer: 1",
    "Final answer: 10% lower",
    "Final answer: one in five",
]


@pytest.mark.parametrize(("text", "rate"), PLAIN.items())
def test_plain_answers_are_read(text, rate):
    assert read_percentage(text).value == {"rate": pytest.approx(rate)}


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_can_be_read_two_ways_is_refused_with_the_way_out(text):
    with pytest.raises(UnreadableError, match="expected a line 'Final answer: NN%'"):
        read_percentage(text)


def test_an_answer_that_ends_in_thought_is_refused_even_if_a_number_stands_there():
    with pytest.raises(UnreadableError, match="breaks off while thinking; raise max_tokens"):
        read_percentage("<think>Final answer: 50%")


def test_the_rationale_is_what_stood_before_the_answer():
    assert read_percentage("Schooling is rare. Few remember it.\nFinal answer: 8%").rationale == (
        "Schooling is rare. Few remember it."
    )


@given(st.text())
@example("%" * 300)
@example("Final answer: " + "9" * 5000 + "%")
@example("final answer " * 300)
def test_no_text_crashes_the_reader(text):
    try:
        value = read_percentage(text).value
    except UnreadableError as fault:
        assert str(fault)
    else:
        assert 0 <= value["rate"] <= 1


@given(st.integers(1, 98), st.integers(1, 98), st.sampled_from([" or ", ", ", " and ", "; maybe ", " vs. "]))
def test_two_numbers_are_never_silently_reduced_to_one(first, second, between):
    with pytest.raises(UnreadableError):
        read_percentage(f"Final answer: {first}%{between}{second}%")


def test_orders_phrasings_and_numbers_are_crossed_and_balanced_from_the_start():
    variants = all_variants()
    names = [(v.order, v.phrasing, v.numbers) for v in variants]
    assert len(set(names)) == 27 and {len({name[part] for name in names}) for part in range(3)} == {3}
    for start in range(0, 27, 3):
        assert [len({name[part] for name in names[start : start + 3]}) for part in range(3)] == [3, 3, 3]
    for start, (a, b) in product((0, 9, 18), ((0, 1), (0, 2), (1, 2))):
        assert len({(name[a], name[b]) for name in names[start : start + 9]}) == 9
