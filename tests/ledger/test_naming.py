"""Rows of a source: which count, whose they are, which of several speaks for a model, and what they change."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from mensura.core.errors import EvidenceError
from mensura.intake.documents import SourceRow
from mensura.intake.names import KnownNames
from mensura.ledger import CellChange, parse_mapping
from mensura.ledger.naming import (
    ReadFigure,
    at_best_effort,
    best_rows,
    changes_of,
    kept_rows,
    model_proposals,
    named_rows,
    source_changes,
    unmatched_names,
)
from tests.ledger.small import MAPPING

NAMES = KnownNames([("big-1", "Big 1"), ("big-2", "Big 2")])
CAPTURE = SimpleNamespace(day="2026-11-15")
CELLS = {
    "models": {("big-1",): {"name": "Big 1"}, ("big-2",): {"name": "Big 2"}},
    "benchmarks": {("swe_marathon",): {}},
    "sources": {("board",): {"name": "The board"}},
    "scores": {
        ("big-1", "swe_marathon", "board"): {"score": "12", "unit": "percent", "primary": "yes", "date": "2026-01"},
        ("big-2", "swe_marathon", "lab"): {"score": "9", "unit": "percent", "primary": "yes"},
    },
}


def mapping(*more, model='column = "Model"'):
    return parse_mapping("\n".join([MAPPING.replace('column = "Model"', model), *more]))


def rows(*cells):
    return [SourceRow(line, dict(one)) for line, one in enumerate(cells, 2)]


def model_rows(*names):
    return rows(*({"Model": name} for name in names))


def test_rows_that_do_not_count_are_listed_with_the_first_reason():
    rule = mapping(
        *('[[keep]]\ncolumn = "Score"\nat_least = 5\nwhy = "too low"', '[[skip]]\ncolumn = "Agent"'),
        *('equals = ["Baseline"]', 'why = "no agent"'),
    )
    given = rows(
        {"Model": "Big 1", "Score": "5", "Agent": "x"},
        {"Model": "Big 1", "Score": "4.9", "Agent": "baseline"},
        {"Model": "Big 1", "Score": "none", "Agent": "x"},
        {"Model": "Big 1", "Score": "7", "Agent": "BASELINE"},
        {"Score": "7"},
    )
    kept, skipped = kept_rows(given, rule)
    assert [row.line for row in kept] == [2]
    assert [(one.line, one.reason) for one in skipped] == [
        (3, "too low"),
        (4, "too low"),
        (5, "no agent"),
        (6, "no model is named"),
    ]


def test_a_name_is_an_alias_of_the_mapping_a_known_name_or_strange():
    rule = mapping('[model.names]\n"The big one" = "big-2"')
    named, strange, left = named_rows(model_rows("big 1", "THE BIG ONE", "Bigg 1"), rule, NAMES)
    assert [(one.subject, one.written) for one in named] == [("big-1", "big 1"), ("big-2", "THE BIG ONE")]
    assert ([one.written for one in strange], left) == (["Bigg 1"], [])
    (unknown,) = unmatched_names([*strange, strange[0]._replace(row=SourceRow(9, {}))], NAMES)
    assert (unknown.name, unknown.lines, unknown.near[0]) == ("Bigg 1", (4, 9), "big-1")


def test_of_a_models_efforts_the_highest_counts_and_low_ones_stand_for_no_model():
    rule = mapping(model='column = "Model"\nefforts = ["high", "medium", "low"]\nleast = "medium"')
    given = model_rows("Big 1 (medium)", "Big 1 (high, 32k)", "Big 2 (low)")
    named, _, _ = named_rows(given, rule, NAMES)
    assert [(one.subject, one.base, one.effort) for one in named] == [
        ("big-1", "Big 1", "medium"),
        ("big-1", "Big 1", "high"),
        ("big-2", "Big 2", "low"),
    ]
    kept, skipped = at_best_effort(named, rule)
    assert [one.written for one in kept] == ["Big 1 (high, 32k)"]
    assert [one.reason for one in skipped] == [
        "a lower effort (medium) of big-1; line 3 has it at its highest",
        "big-2 at low effort alone; only medium or more stands for the model",
    ]


def test_the_best_row_speaks_for_a_model_and_two_that_differ_without_a_best_are_refused():
    cells = [{"Model": "Big 1", "Score": score, "Agent": f"agent {score}"} for score in ("9", "12", "n/a")]
    named, _, _ = named_rows(rows(*cells), mapping(), NAMES)
    chosen, skipped = best_rows(named, mapping(), "board")
    assert [one.row.line for one in chosen] == [3]
    assert [one.reason for one in skipped] == ["big-1 has a better row, line 3, by agent 12"] * 2
    without = replace(mapping(), best="")
    with pytest.raises(EvidenceError, match="one row for big-1; lines 2, 3, 4 differ"):
        best_rows(named, without, "board")
    assert best_rows([named[1], named[1]], without, "board")[0] == [named[1]]


def test_a_figure_that_stands_already_changes_nothing_and_a_new_one_its_date_too():
    (rule,) = mapping().figures
    same, new = (ReadFigure(rule, "big-1", value, 2, "") for value in ("12.0", "15"))
    assert changes_of([same], mapping(), CAPTURE, CELLS) == ([], {})
    key = ("big-1", "swe_marathon", "board")
    assert changes_of([new], mapping(), CAPTURE, CELLS)[0] == [
        CellChange("scores", key, "score", "12", "15", 2),
        CellChange("scores", key, "date", "2026-01", "2026-11-15", 2),
    ]


@pytest.mark.parametrize(("primary", "mine", "theirs"), [("always", "yes", "no"), ("when-none", "no", None)])
def test_a_score_beside_another_source_is_primary_as_the_mapping_says(primary, mine, theirs):
    text = MAPPING.replace("[source]\n", f'primary = "{primary}"\n[source]\n')
    rule = parse_mapping(text)
    made, _ = changes_of([ReadFigure(rule.figures[0], "big-2", "20", 5, "")], rule, CAPTURE, CELLS)
    flags = {change.row[2]: change.new for change in made if change.field == "primary"}
    assert flags == {"board": mine} | ({"lab": theirs} if theirs else {})


def test_figures_of_an_unknown_benchmark_wait_by_its_id():
    cells = {**CELLS, "benchmarks": {}}
    made, waiting = changes_of([ReadFigure(mapping().figures[0], "big-1", "15", 2, "")], mapping(), CAPTURE, cells)
    assert made == []
    assert {benchmark: changes[0].new for benchmark, changes in waiting.items()} == {"swe_marathon": "15"}


def test_a_new_source_is_entered_with_the_day_of_its_capture():
    assert list(source_changes(mapping(), CAPTURE, CELLS)) == []
    made = source_changes(mapping(), CAPTURE, {**CELLS, "sources": {}})
    assert {change.field: change.new for change in made} == {"date": "2026-11-15", "name": "The board"}


def test_a_model_nobody_knows_is_proposed_once_with_an_id_of_its_name():
    rule = mapping('[new]\nprovider = "Lab"')
    given = rows(*({"Model": name, "Lab": "Acme"} for name in ("Huge (3)", "huge 3", "Big 1")))
    _, strange, _ = named_rows(given, rule, NAMES)
    figure = ReadFigure(rule.figures[0], "", "33", 2, "")
    (one,) = model_proposals(strange, rule, CAPTURE, {"Huge (3)": [figure], "huge 3": [figure]}, CELLS)
    assert (one.row["subject"], one.row["name"], one.row["provider"]) == ("huge-3", "Huge (3)", "Acme")
    assert one.changes[0] == CellChange("scores", ("huge-3", "swe_marathon", "board"), "score", None, "33", 2)


def test_a_fact_of_a_model_changes_its_row():
    rule = mapping('[[figures]]\ninto = "models"\nfield = "tier"\ncolumn = "Tier"')
    reading = ReadFigure(rule.figures[1], "big-1", "1", 4, "")
    assert changes_of([reading], rule, CAPTURE, CELLS) == ([CellChange("models", ("big-1",), "tier", None, "1", 4)], {})
    there = {**CELLS, "models": {("big-1",): {"tier": "1.0"}}}
    assert changes_of([reading], rule, CAPTURE, there) == ([], {})


def test_a_note_that_is_gone_is_taken_away_and_a_unit_that_differs_is_written():
    (rule,) = mapping().figures
    key = ("big-1", "swe_marathon", "board")
    cells = {**CELLS, "scores": {key: {"score": "12", "unit": "fraction", "note": "old", "primary": "1"}}}
    made, _ = changes_of([ReadFigure(rule, "big-1", "12", 2, "")], mapping(), CAPTURE, cells)
    assert [(change.field, change.old, change.new) for change in made] == [
        ("unit", "fraction", "percent"),
        ("date", None, "2026-11-15"),
        ("note", "old", None),
    ]


@pytest.mark.parametrize(
    ("test", "kept"),
    [
        ('equals = ["x", "y"]', [2]),
        ('contains = "x"', [2, 3, 4, 5]),
        ('begins = "X"', [2, 3, 5]),
        ('ends = "x"', [2, 4, 5]),
    ],
)
def test_texts_are_compared_whole_or_in_part_without_case(test, kept):
    rule = mapping(f'[[keep]]\ncolumn = "Agent"\n{test}\nwhy = "other"')
    given = rows(*({"Model": "Big 1", "Agent": agent} for agent in ("x", "xa", "ax", "XX", "z")))
    assert [row.line for row in kept_rows(given, rule)[0]] == kept


def test_a_number_is_below_or_at_least():
    given = rows(*({"Model": "Big 1", "Score": score} for score in ("4.9", "5", "none")))
    for test, lines in (("below", [2, 4]), ("at_least", [3])):
        rule = mapping(f'[[keep]]\ncolumn = "Score"\n{test} = 5\nwhy = "other"')
        assert [row.line for row in kept_rows(given, rule)[0]] == lines


def test_other_columns_may_name_a_model_and_the_sources_own_are_left_out():
    rule = mapping(model='column = "Model"\nalso = ["Id"]\nsource_only = ["House Model"]')
    given = rows({"Model": "?", "Id": "big-2"}, {"Model": "house model"}, {"Model": "Big 1", "Id": "big-2"})
    named, strange, left = named_rows(given, rule, NAMES)
    assert [(one.row.line, one.subject) for one in named] == [(2, "big-2"), (4, "big-1")]
    assert strange == [] and [(one.line, one.reason) for one in left] == [
        (3, "the source's own; no model of the evidence")
    ]


def test_an_effort_in_a_column_goes_before_that_in_the_name():
    rule = mapping(model='column = "Model"\neffort = "Effort"\neffort_after = "_"')
    given = rows({"Model": "Big 1_low", "Effort": "High"}, {"Model": "Big 2", "Effort": "odd"}, {"Model": "Big 2_low"})
    named, _, _ = named_rows(given, rule, NAMES)
    assert [(one.base, one.effort) for one in named] == [("Big 1", "high"), ("Big 2", ""), ("Big 2", "low")]
