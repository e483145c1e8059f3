"""All items of one focal group in one prompt, in chunks; answers taken apart item by item, each with an interval."""

import json

import pytest
from hypothesis import given, strategies as st

from mensura.extrapolation.whole_pool import SCHEMA, ItemEstimate, match, read_estimates
from mensura.llm import UnreadableError

_json = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5) | st.sampled_from(["i1", "i2"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["item", "estimate", "low", "high", "answers"]), inner, max_size=5)
    ),
    max_leaves=12,
)


def answer(*rows: tuple[str, float, float, float]) -> str:
    names = ("item", "estimate", "low", "high")
    return json.dumps({"rationale": "a shift", "answers": [dict(zip(names, row, strict=True)) for row in rows]})


def test_the_schema_accepts_what_the_reader_reads_and_refuses_what_it_does_not():
    jsonschema = pytest.importorskip("jsonschema")
    good = json.loads(answer(("i1", 20, 10, 30)))
    jsonschema.validate(good, SCHEMA)
    for broken in (
        {},
        {"rationale": "", "answers": [{"item": "i1", "estimate": 20}]},
        json.loads(answer(("i1", 120, 1, 2))),
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, SCHEMA)


def test_estimates_come_back_as_rates_in_their_places():
    rows = read_estimates("Here you are:\n```json\n" + answer(("i2", 20, 10, 30), ("i1", 55.5, 50, 60)) + "\n```").value
    assert match(rows, 2).estimates == {0: ItemEstimate(0.555, 0.5, 0.6), 1: ItemEstimate(0.2, 0.1, 0.3)}


def test_a_figure_counts_as_remembered_only_where_the_model_says_true():
    row = {"item": "i1", "estimate": 50, "low": 40, "high": 60}
    for stated, remembered in ((True, True), (False, False), ("yes", False), (None, False)):
        rows = read_estimates(json.dumps({"answers": [row | {"remembered": stated}]})).value
        assert match(rows, 1).estimates[0].remembered is remembered


def test_missing_double_unknown_and_unsound_items_are_named_and_none_is_guessed():
    text = answer(
        ("i1", 20, 10, 30), ("i1", 25, 10, 30),  # twice, differently
        ("i2", 40, 35, 45), ("i2", 40, 35, 45),  # twice, the same
        ("i3", 40, 50, 60), ("i9", 10, 5, 15), ("i4", 101, 90, 101),
    )  # fmt: skip
    found = match(read_estimates(text).value, 5)
    assert list(found.estimates) == [1]
    assert "twice" in found.faults[0] and "interval" in found.faults[2]
    assert "outside 0 to 100" in found.faults[3] and found.faults[4] == "missing"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("I cannot tell.", "no JSON"),
        ('{"answers": [', "no JSON"),
        ('{"answers": [{"item": "i1"}', "no valid JSON"),
        ('{"rows": []}', "no list"),
        ('{"answers": []}', "expected one row per item"),
        ('{"answers": "i1: 20%"}', "no list"),
    ],
)
def test_answers_without_rows_are_refused(text, reason):
    with pytest.raises(UnreadableError, match=reason):
        read_estimates(text)


@given(_json, st.integers(0, 4))
def test_no_json_crashes_the_reader_and_every_item_is_accounted_for(value, size):
    try:
        rows = read_estimates(json.dumps({"answers": value})).value
    except UnreadableError:
        return
    found = match(json.loads(json.dumps(rows)), size)
    assert sorted([*found.estimates, *found.faults]) == list(range(size))
    assert all(0 <= one.low <= one.rate <= one.high <= 1 for one in found.estimates.values())


@given(st.text())
def test_no_text_crashes_the_reader(text):
    try:
        assert isinstance(read_estimates(text).value, list)
    except UnreadableError as fault:
        assert str(fault)


def test_numbers_may_be_written_as_text():
    text = json.dumps({"answers": [{"item": "i1", "estimate": "83%", "low": "70", "high": " 90.5 %"}]})
    assert match(read_estimates(text).value, 1).estimates[0] == ItemEstimate(0.83, 0.7, 0.905)
