"""The final percentage of an answer: read where it is plain, refused with a reason where it is not."""

import json
import math

import pytest
from hypothesis import example, given, strategies as st

from mensura.extrapolation.percentages import read_percentage
from mensura.llm import UnreadableError

PLAIN = {
    "19%": 0.19,
    "19,5 %": 0.195,
    "0.19": 0.19,
    "0,19": 0.19,
    "one in five": 0.2,
    "1 in 1,000": 0.001,
    "3 out of 4 people": 0.75,
    "two-thirds": 2 / 3,
    "about half": 0.5,
    "I would say 12.5 percent.": 0.125,
    "19 per cent": 0.19,
    "$\\boxed{12\\%}$": 0.12,
    "Probability: .07": 0.07,
    "**Final answer: 7%**": 0.07,
    "19": 0.19,
    "0": 0.0,
    "100%": 1.0,
    "roughly one in seven (14%)": 0.14,
    "15% (90% interval 12–18%)": 0.15,
    "19% ± 3%": 0.19,
    "It falls by 10 percentage points to 25%.": 0.25,
    "<think>perhaps 50%</think>\n12%": 0.12,
    "The answer is 12%. I hope this helps!": 0.12,
    '{"rationale": "few have been to school", "percentage": 19.5}': 0.195,
    '```json\n{"rate": 0.19}\n```': 0.19,
    "In the sample 40% succeeded, and 60% of adults read well.\nFinal answer: 22%\nNote: 8 billion people.": 0.22,
}
BETWEEN = {
    "about 12–15 %": (0.12, 0.15, "range"),
    "between 12% and 15%": (0.12, 0.15, "range"),
    "12 to 15 percent": (0.12, 0.15, "range"),
    "<1%": (0.0, 0.01, "bound"),
    "less than 1 percent": (0.0, 0.01, "bound"),
    "more than 99%": (0.99, 1.0, "bound"),
}
UNREADABLE = {
    "": "empty",
    "I cannot answer this.": "refused",
    "It depends on many things.": "no share",
    "Perhaps 20% or 30%.": "several numbers",
    "20% and 30%": "several numbers",
    "20% (or maybe 30%)": "several numbers",
    "I estimate 20%. This assumes 60% literacy.": "different shares",
    "Estimate: 20%\nAnswer: 30%": "several lines",
    "10–90%": "too wide",
    "less than 30%": "too wide",
    "It rises from 30% to 35%.": "change",
    "-5%": "negative",
    "120%": "expected 0 to 100%",
    "2025": "expected 0 to 100%",
    "50/50": "no proportion",
    "1": "may be a percentage or a share",
    "1.0": "may be a percentage or a share",
    "Some 20% know this. Most others do not.": "the last sentence has no share",
    "<think>perhaps 50%": "breaks off",
    '{"percentage": 190}': "expected 0 to 100",
    '{"rate": 19}': "expected 0 to 1",
    '{"percentage": 19, "rate": 0.5}': "19.0% and 50.0%",
    '{"percentage": true}': "expected a number",
    '{"value": 19}': "no percentage",
    "10% lower": "no share",
}

PIECES = [
    "about", "12%", "0.19", "-", "–", "<", "(", ")", ".", "Answer:", "19,5", "percent", "half", "1/4", "from", "to",
    "by", "2025", "points", "cannot", "{", "}", "\n", "15 %", "one in five", "I estimate", "90% interval",
]  # fmt: skip


@pytest.mark.parametrize(("text", "rate"), PLAIN.items())
def test_plain_answers_are_read(text, rate):
    value = read_percentage(text).value
    assert value["rate"] == pytest.approx(rate)
    assert value["low"] == value["high"]


@pytest.mark.parametrize(("text", "expected"), BETWEEN.items())
def test_ranges_and_bounds_stand_for_their_middle_and_say_so(text, expected):
    low, high, form = expected
    value = read_percentage(text).value
    assert (value["low"], value["high"], value["form"]) == (pytest.approx(low), pytest.approx(high), form)
    assert value["rate"] == pytest.approx((low + high) / 2)


@pytest.mark.parametrize(("text", "reason"), UNREADABLE.items())
def test_what_can_be_read_two_ways_is_refused_with_the_reason(text, reason):
    with pytest.raises(UnreadableError, match=reason):
        read_percentage(text)


def test_the_rationale_is_what_stood_before_the_answer():
    assert read_percentage("Schooling is rare. Few remember it.\nFinal answer: 8%").rationale == (
        "Schooling is rare. Few remember it."
    )
    assert read_percentage('{"rationale": "rare", "percentage": 8}').rationale == "rare"


def check(text: str) -> None:
    """An answer is either refused with a reason or read as a share with its range; nothing else ever happens."""
    try:
        value = read_percentage(text).value
    except UnreadableError as fault:
        assert str(fault)
        return
    assert 0 <= value["low"] <= value["rate"] <= value["high"] <= 1
    assert json.loads(json.dumps(value)) == value


@given(st.text())
@example("%" * 300)
@example("1/" * 300)
@example("{" * 5000)
@example("0." + "0" * 400 + "%")
@example("9" * 5000 + "%")
@example("1 in " + "9" * 400)
def test_no_text_crashes_the_reader(text):
    check(text)


@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_no_jumble_of_the_words_answers_are_made_of_crashes_it(pieces):
    check(" ".join(pieces))
    check("".join(pieces))


@given(st.floats(0.01, 99.99), st.sampled_from(["{}%", "About {} %.", "So I estimate {} percent", "Answer: {}%"]))
def test_every_percentage_comes_back_however_it_is_dressed(percent, dress):
    text = dress.format(f"{percent:.2f}")
    assert math.isclose(read_percentage(text).value["rate"], round(percent, 2) / 100, abs_tol=1e-12)


@given(st.integers(1, 98), st.integers(1, 98), st.sampled_from([" or ", ", ", " and ", "; maybe ", " vs. "]))
def test_two_different_numbers_are_never_silently_reduced_to_one(first, second, between):
    text = f"{first}%{between}{second}%"
    if first == second:
        assert read_percentage(text).value["rate"] == first / 100
    else:
        with pytest.raises(UnreadableError):
            read_percentage(text)
