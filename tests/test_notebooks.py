"""Every cell of the notebooks runs in an empty folder and shows what the notebook shows."""

import json

import pytest

from tools import notebooks


@pytest.mark.slow
@pytest.mark.parametrize("path", notebooks.NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_shows_what_its_cells_give(path, tmp_path):
    told = json.loads(path.read_text(encoding="utf-8"))
    found = notebooks.run_notebook(told, tmp_path)
    assert notebooks.texts(found) == notebooks.texts(told), f"run python -m tools.notebooks --write docs/{path.name}"


def test_what_a_cell_prints_comes_before_its_last_line():
    outputs = notebooks.run_cell("x = 2\nprint('two')\nx + 1", {})
    assert [one.get("text") or one["data"]["text/plain"] for one in outputs] == [["two"], ["3"]]


def test_the_sign_of_a_zero_does_not_count():
    minus, plain = ({"cells": [{"outputs": [{"text": [f"│ {zero} ┆ -0.11 │"]}]}]} for zero in ("-0.00", "0.00 "))
    assert notebooks.texts(minus) == notebooks.texts(plain) == [["│ 0.00  ┆ -0.11 │"]]
