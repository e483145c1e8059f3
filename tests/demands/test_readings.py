"""Readings: levels that annotators gave, one row per item, dimension, annotator and repeat, from wherever they come."""

import numpy as np
import polars as pl
import pytest

from mensura import MensuraError
from mensura.demands import combine, read_demands
from mensura.demands.readings import ReadingGrid, mean_levels, refuse_unknown_dimensions


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,AS\nq1,7\n", r"'7' for item 'q1', dimension AS, is no level; expected a number from 0 to 5"),
        ("item,AS\nq1,high\n", r"'high' for item 'q1'"),
        ("item,AS\nq1,-1\n", r"'-1' for item 'q1'"),
        ("item,AS\nq1,nan\n", r"no level in it"),
        ("item,AS\nq1,\n", r"no level in it; fill the sheet"),
        ("item,AS\nq1,1\nq1,2\n", r"has two levels by 'sheet'; give repeats a column 'repeat'"),
        ("item,XX\nq1,1\n", r"expected the columns dimension and level, or a column per dimension"),
        ("name,AS\nq1,1\n", r"missing column 'item'"),
        ("item,dimension,level\n,AS,1\n", r"a level without item or dimension"),
    ],
)
def test_sheets_with_faults_say_where(tmp_path, text, message):
    path = tmp_path / "sheet.csv"
    path.write_text(text)
    with pytest.raises(MensuraError, match=message):
        read_demands(path)


def test_ids_that_look_like_numbers_stay_text(tmp_path):
    (tmp_path / "sheet.csv").write_text("item,AS\n007,1\n")
    assert read_demands(tmp_path / "sheet.csv")["item"].to_list() == ["007"]


def test_long_and_wide_tables_give_the_same_readings():
    wide = read_demands(pl.DataFrame({"item": ["a", "b"], "knc ": [2, None], "AS": ["5+", " 0.5 "]}))
    long = {"item": ["a", "a", "b"], "dimension": ["KNc", "AS", "AS"], "level": [2.0, 5.0, 0.5]}
    key = ["item", "dimension"]
    assert wide.sort(key).equals(read_demands(pl.DataFrame(long)).sort(key))
    assert set(wide["annotator"]) == {"demands"} and set(wide["repeat"]) == {0}
    assert wide.columns == ["item", "dimension", "annotator", "repeat", "level"]


def test_annotators_and_repeats_are_kept_apart():
    table = {"item": "a", "dimension": "AS", "level": [0, 5, 3], "annotator": ["x", "x", None], "repeat": [0, 1, None]}
    readings = read_demands(pl.DataFrame(table), name="mine")
    assert readings.select("annotator", "repeat", "level").rows() == [("x", 0, 0.0), ("x", 1, 5.0), ("mine", 0, 3.0)]
    with pytest.raises(MensuraError, match="item 'a', dimension AS, has two levels by 'x'"):
        read_demands(pl.DataFrame({**table, "repeat": [0, 0, 0]}))
    with pytest.raises(MensuraError, match=r"'5.1' for item 'a', dimension AS, is no level.* \(2 such cells\)"):
        read_demands(pl.DataFrame({**table, "level": [5.1, 5, 6]}))


def test_a_grid_has_a_place_for_every_reading():
    rows = [("b", "AS", "x", 0, 1.0), ("a", "AS", "x", 0, 2.0), ("a", "KNc", "y", 0, 3.0), ("a", "AS", "y", 1, 4.0)]
    grid = ReadingGrid.of(
        pl.DataFrame(rows, schema=["item", "dimension", "annotator", "repeat", "level"], orient="row")
    )
    assert (grid.items, grid.dimensions) == (("b", "a"), ("AS", "KNc"))
    assert grid.raters == (("x", 0), ("y", 0), ("y", 1))
    assert grid.rater_names == ("x", "y #1", "y #2")
    assert grid.levels.shape == (3, 2, 2) and np.isfinite(grid.levels).sum() == 4
    assert (grid.levels[0, 0, 0], grid.levels[0, 1, 0], grid.levels[1, 1, 1], grid.levels[2, 1, 0]) == (1, 2, 3, 4)


def test_readings_are_averaged_and_items_that_lack_a_dimension_left_out():
    rows = [("a", "AS", 1.0), ("a", "AS", 2.0), ("a", "KNc", 4.0), ("b", "AS", 3.0)]
    whole, warnings = mean_levels(pl.DataFrame(rows, schema=["item", "dimension", "level"], orient="row"))
    assert whole.rows() == [("a", 1.5, 4.0)]
    assert warnings == ["1 items lack a level in some dimension and are left out"]
    assert mean_levels(pl.DataFrame(rows[:3], schema=["item", "dimension", "level"], orient="row"))[1] == []


def test_an_annotator_of_two_tables_has_two_repeats():
    table = read_demands(pl.DataFrame({"item": ["a", "a"], "AS": [1, 2], "annotator": "x", "repeat": [0, 1]}))
    other = read_demands(pl.DataFrame({"item": ["a"], "AS": [3], "annotator": "y"}))
    both = combine([table, other, table.filter(repeat=1)])
    assert both.select("annotator", "repeat", "level").rows() == [
        ("x", 0, 1.0),
        ("x", 1, 2.0),
        ("y", 0, 3.0),
        ("x", 2, 2.0),
    ]
    with pytest.raises(MensuraError, match="no table given"):
        combine([])


def test_an_unknown_dimension_is_refused_with_the_nearest():
    table = pl.DataFrame({"dimension": ["AS", "knc"]})
    with pytest.raises(MensuraError, match=r"unknown dimension 'knc'; did you mean KNc\? \(expected one of AS, KNc\)"):
        refuse_unknown_dimensions(table, ["AS", "KNc"])
    with pytest.raises(MensuraError, match=r"unknown dimension 'AS' \(expected one of XYZ\)"):
        refuse_unknown_dimensions(table, ["XYZ"])
    refuse_unknown_dimensions(table, ["AS", "knc"])
