"""Levels are taken from answers, or refused with the reason; nothing crashes, nothing is guessed."""

import json

import hypothesis.strategies as st
import pytest
from hypothesis import given

from mensura.demands.protocols import level_of, read_level, read_object
from mensura.llm import UnreadableError


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("Long thought with 3 steps.\n\nThe level of QLl that this item demands is: 2", 2),
        ("The level of QLl that this item demands is: **4**.", 4),
        ("The level of QLl that this item demands is 5+", 5),
        ("It takes 12 steps.\n\nThus, the level is 3.", 3),
        ("So I would rate it 3 out of 5.", 3),
        ("My score: 2/5", 2),
        ("On the scale from 0 to 5 this is a 1", 1),
        ("On the scale (0-5): 4", 4),
        ("2. Conclusion\n\n3. The level is 0", 0),
        ("Level 1 would miss a step; the level is 2", 2),
        ("Level: 3.0", 3),
    ],
)
def test_free_reasoning(text, level):
    assert read_level(text).value == {"level": level}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("I cannot help with that.", "no number"),
        ("Some thoughts.\n\n2. Conclusion", "no number"),
        ("The level is 2-3", "range"),
        ("The level is 2 or 3", "range"),
        ("The level is 2.5", "no whole number"),
        ("The level is 2,5", "no whole number"),
        ("The level is 7", "expected 0 to 5"),
        ("The level is -1", "no whole number"),
        ("It is " + "9" * 400, "expected 0 to 5"),
        ("The level of AS that this item demands is: 6", "expected 0 to 5"),
        ("The level is 4\n\nI hope this helps.", "no number"),
    ],
)
def test_what_is_no_level_is_refused_with_the_reason(text, reason):
    with pytest.raises(UnreadableError, match=reason):
        read_level(text)


def test_the_reasoning_is_kept():
    assert read_level("Because of this.\n\nThe level is 3").rationale == "Because of this."
    assert read_object('{"why": "so", "levels": {}}').rationale == "so"


@pytest.mark.parametrize(
    "text",
    [
        '{"levels": {"AS": 1}}',
        'Here you are:\n```json\n{"levels": {"AS": 1}}\n```\nAnything else?',
        'First {"levels": {"AS": 4}}, no, rather {"levels": {"AS": 1}}',
        'A brace { that opens nothing, then {"levels": {"AS": 1}}',
    ],
)
def test_the_last_object_counts_fenced_or_bare(text):
    assert read_object(text).value == {"levels": {"AS": 1}}


@pytest.mark.parametrize("text", ["", "none", "[1, 2]", '{"levels": {"AS": 1', '"{}'])
def test_without_an_object_there_is_no_value(text):
    if text == '"{}':
        assert read_object(text).value == {}
        return
    with pytest.raises(UnreadableError, match="no JSON object"):
        read_object(text)


def test_a_deep_nest_is_refused_not_crashed():
    with pytest.raises(UnreadableError):
        read_object('{"a":' * 100_000)


def test_a_name_given_twice_contradicts_itself():
    value = read_object('{"levels": {"AS": 1, "AS": 3, "CL": 2, "CL": 2}}').value
    assert value["levels"]["CL"] == 2
    with pytest.raises(UnreadableError, match="is no level"):
        level_of(value["levels"]["AS"])


@pytest.mark.parametrize(("value", "level"), [(0, 0), (5, 5), (3.0, 3), ("4", 4), (" 5+ ", 5)])
def test_levels_in_objects(value, level):
    assert level_of(value) == level


@pytest.mark.parametrize("value", [True, None, [], {}, 2.5, "high", "", 6, -1, float("nan"), float("inf"), 10**30, "²"])
def test_what_is_no_level_in_objects(value):
    with pytest.raises(UnreadableError):
        level_of(value)


@given(st.text(max_size=200))
def test_any_text_gives_a_level_or_a_reason(text):
    for read in (read_level, read_object):
        try:
            reading = read(text)
        except UnreadableError as fault:
            assert str(fault)
        else:
            json.dumps(reading.value)
            if read is read_level:
                assert reading.value["level"] in range(6)


@given(st.text('0123456789.,-–/ +levelisof5(){}:\n"', max_size=60))
def test_texts_made_of_levels_and_marks(text):
    for read in (read_level, read_object):
        try:
            read(text)
        except UnreadableError:
            continue


@given(
    st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5), st.lists, max_leaves=4)
)
def test_any_value_is_a_level_or_refused(value):
    try:
        assert level_of(value) in range(6)
    except UnreadableError as fault:
        assert str(fault)
