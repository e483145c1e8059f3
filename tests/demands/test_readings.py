"""Readings: levels that annotators gave, one row per item, dimension, annotator and repeat, from wherever they come."""

import pytest

from mensura import MensuraError
from mensura.demands import read_demands


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
