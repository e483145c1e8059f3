"""Consistency of tables, one broken row each: units, order, circles and complete rules."""

import polars as pl
import pytest

from mensura.evidence.checks import RawTable
from mensura.evidence.consistency import consistency_faults
from mensura.evidence.schema import CHART_SETTINGS

BENCHMARKS = pl.DataFrame({"benchmark": ["b", "e"], "unit": ["percent", "elo"], "chance": None, "ceiling": None})


def faults(**tables):
    """Row, column and expectation of each fault in the tables given; those named by ``_`` only support them."""
    raws = {name: RawTable(name, frame.cast(pl.String)) for name, frame in tables.items() if name[0] != "_"}
    given = {name.removeprefix("_"): frame for name, frame in tables.items()}
    return [(fault.row, fault.column, fault.expected) for fault in consistency_faults(raws, given)]


def scores(*rows):
    schema = {"subject": pl.String, "benchmark": pl.String, "score": pl.Float64, "unit": pl.String}
    schema |= {"stderr": pl.Float64, "primary": pl.Boolean}
    return pl.DataFrame([("m", *row) for row in rows], schema=schema, orient="row")


def test_a_score_lies_in_the_range_of_its_unit_and_its_unit_converts_to_that_of_its_benchmark():
    table = scores(
        ("b", 100.0, "percent", 50.0, True),
        ("b", 100.1, "percent", None, None),
        ("b", 1.1, "fraction", 0.51, None),
        ("b", 1500.0, "elo", None, None),
        ("b", 0.5, "fraction", None, None),
    )
    assert faults(scores=table, _benchmarks=BENCHMARKS) == [
        (3, "score", "a percent from 0 to 100"),
        (4, "score", "a fraction from 0 to 1"),
        (4, "stderr", "at most 0.5, as the unit is"),
        (5, "unit", "percent, the unit of this benchmark, or one that converts to it"),
    ]


def test_a_model_has_one_primary_score_on_a_benchmark():
    one = ("b", 50.0, "percent", None)
    table = scores((*one, True), (*one, False), (*one, True), ("e", 1500.0, "elo", None, True), (*one, None))
    assert faults(scores=table, _benchmarks=BENCHMARKS) == [
        (4, "primary", "at most one primary row for a model and benchmark")
    ]


def test_scores_of_people_lie_between_their_ends():
    columns = {"score": [50.0, 50.0, 50.0, 50.0], "low": [50.0, 51.0, None, -1.0], "high": [50.0, None, 49.0, None]}
    table = pl.DataFrame(columns | {"unit": ["percent"] * 4})
    assert faults(human_references=table) == [
        (5, "low", "a percent from 0 to 100"),
        (3, "score", "low ≤ score ≤ high"),
        (4, "score", "low ≤ score ≤ high"),
    ]


def test_a_ladder_rises_from_level_to_level():
    levels = {f"iq{iq}": [float(iq)] for iq in (70, 85, 100, 115, 130, 145, 160)}
    assert faults(ladders=pl.DataFrame(levels)) == []
    flat = pl.DataFrame(levels | {"iq115": [100.0]})
    assert faults(ladders=flat) == [(2, "iq115", "more than 100.0 (iq100): a ladder must rise")]


def test_chance_is_below_the_ceiling():
    table = BENCHMARKS.with_columns(chance=pl.Series([25.0, 0.0]), ceiling=pl.Series([25.0, 10.0]))
    assert faults(benchmarks=table) == [(2, "chance", "less than the ceiling")]
    above = table.with_columns(ceiling=pl.Series([100.5, 10.0]))
    assert faults(benchmarks=above) == [(2, "ceiling", "a percent from 0 to 100")]


def test_no_more_are_right_than_were_asked():
    assert faults(demand_outcomes=pl.DataFrame({"n": [4, 4], "correct": [4, 5]})) == [
        (3, "correct", "at most n, the number of items")
    ]


@pytest.mark.parametrize(
    ("parents", "rows"),
    [([None, "a", "b", "c"], []), (["c", "a", "b", "c"], [2, 3, 4]), (["a", None, None, None], [2])],
)
def test_models_that_follow_each_other_in_a_circle_are_named_and_those_behind_them_not(parents, rows):
    table = pl.DataFrame({"subject": list("abcd"), "predecessor": parents}, schema_overrides={"predecessor": pl.String})
    assert [row for row, *_ in faults(models=table)] == rows


def test_every_rule_of_a_chart_is_there_and_a_whole_number():
    rules = pl.DataFrame(
        {"setting": CHART_SETTINGS, "value": ["3" if one != "top_labs" else "A" for one in CHART_SETTINGS]}
    )
    assert faults(chart_rules=rules) == []
    (gone,) = faults(chart_rules=rules.tail(-1))
    assert gone == (0, "setting", f"a row {CHART_SETTINGS[0]}; every rule has one")
    wrong = rules.with_columns(value=pl.when(pl.col("setting") != "top_labs").then(pl.lit("2.5")).otherwise("value"))
    assert {what for _, _, what in faults(chart_rules=wrong)} == {"a whole number"}
    assert len(faults(chart_rules=wrong)) == len(CHART_SETTINGS) - ("top_labs" in CHART_SETTINGS)
