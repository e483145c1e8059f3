"""Rows of JSON found by paths: steps, picks from lists, figures as they were printed, and their lines."""

import pytest

from mensura.core.errors import MensuraError
from mensura.intake.json_rows import DEEPEST, PathStep, json_rows, read_path

BOARD = """\
{"boards": [
  {"name": "Lite", "results": []},
  {"name": "Verified", "results": [
    {"model": "A", "score": 41.50, "open": true, "tags": ["Model: a-1", "Org: Acme", "Model: a-2"]},
    {"model": "B", "score": 1e2, "open": false, "warning": null,
     "cost": {"usd": 3}}
  ]}
]}"""
RESULTS = "boards[name=Verified].results"


def test_a_path_is_keys_with_picks():
    assert read_path("boards[name=Verified].results", "m") == (
        PathStep("boards", "name", "Verified"),
        PathStep("results", "", ""),
    )
    assert read_path("tags[Model: *]", "m") == (PathStep("tags", "", "Model: "),)
    assert read_path("", "m") == ()
    for wrong in ("a..b", "a[x=1", "a[x=1]b", ".a"):
        with pytest.raises(MensuraError, match="is no path; expected keys joined by dots"):
            read_path(wrong, "m")
    for nothing in ("a[]", "a[x]", "a[x=]", "a[*]"):
        with pytest.raises(MensuraError, match="picks nothing"):
            read_path(nothing, "m")


def test_figures_stay_as_they_were_printed_and_rows_have_their_line():
    first, second = json_rows(BOARD, RESULTS, frozenset({"model", "score", "open", "cost.usd"}), "page")
    assert (first.line, first.cells) == (4, {"model": "A", "score": "41.50", "open": "yes"})
    assert (second.line, second.cells) == (5, {"model": "B", "score": "1e2", "open": "no", "cost.usd": "3"})


def test_texts_of_a_list_are_picked_by_their_beginning():
    first, second = json_rows(BOARD, RESULTS, frozenset({"tags[Model: *]"}), "page")
    assert (first.cells, second.cells) == ({"tags[Model: *]": "a-1 + a-2"}, {})


def test_a_column_that_is_null_is_there_and_one_that_no_row_has_is_refused():
    rows = json_rows(BOARD, RESULTS, frozenset({"warning"}), "page")
    assert [row.cells for row in rows] == [{}, {}]
    with pytest.raises(MensuraError, match="no row has 'points'; the source may have changed its format"):
        json_rows(BOARD, RESULTS, frozenset({"points"}), "page")


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ('{"a": 1,\n oops}', "", "page, line 2: not JSON"),
        ('[{"a": 1,\n "a": 2}]', "", "page, line 1: the key 'a' occurs twice"),
        ('[\n{"a": {}, "b": 1},\n{"c": {"d": 1, "d": 1}}]', "", "page, line 3: the key 'd' occurs twice"),
        ('[{"a": NaN}]', "", "NaN is not a JSON value"),
        ('{"a": [1]}', "a", r"'a' \(rows.path\) is not a list of objects"),
        ('{"a": 1}', "", r"'the whole' \(rows.path\) is not a list of objects"),
        ('[{"a": {"b": 1}}]', "", "page, line 1: 'a' contains a table; expected a value"),
        ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), "", f"nested deeper than {DEEPEST} levels"),
        ('{"x": [{"n": "1"}, {"n": "1"}]}', "x[n=1].rows", "2 elements of 'x' have n = '1'; expected one"),
    ],
)
def test_what_is_no_table_is_refused(text, path, message):
    with pytest.raises(MensuraError, match=message):
        json_rows(text, path, frozenset({"a"}), "page")


def test_brackets_within_texts_are_no_levels():
    text = '[{"a": "' + "[" * (DEEPEST + 1) + '"}]'
    assert json_rows(text, "", frozenset({"a"}), "page")[0].cells == {"a": "[" * (DEEPEST + 1)}
