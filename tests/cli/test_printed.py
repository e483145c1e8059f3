"""What commands print: the first rows and how many more there are, or one JSON object and nothing else."""

import json

import polars as pl
import pytest
from rich.cells import cell_len

from mensura.cli.tables import TerminalTable
from tests.cli.every_command import write_country_tables


def test_strata_are_printed_in_part_and_told_whole_in_json(mensura_command, tmp_path):
    write_country_tables(tmp_path / "tables")
    told = json.loads(mensura_command("people", "strata", tmp_path / "tables", "--json").out)
    assert sum(row["population"] for row in told["strata"]) == pytest.approx(2 * 7 * 10)
    printed = mensura_command("people", "strata", tmp_path / "tables").out
    assert "World strata (thousands of people; learning 0 = 500 points)" in printed
    assert f"… and {len(told['strata']) - 20} more rows" in printed


def test_twenty_pairs_of_raters_are_printed(mensura_command, tmp_path):
    """Seven raters are 21 pairs."""
    rows = [(f"i{i}", "KNn", (i + r // 4) % 6, f"r{r}") for r in range(7) for i in range(12)]
    table = pl.DataFrame(rows, schema=["item", "dimension", "level", "annotator"], orient="row")
    table.write_csv(tmp_path / "demands.csv")
    run = mensura_command("demands", "agreement", tmp_path / "demands.csv", "--draws", 10)
    assert "… and 1 more rows" in run.out, run.err


@pytest.mark.parametrize("names", [["a"], ["model", "é", "模型"]])
def test_a_table_fits_where_its_longest_line_does(names):
    """A frame and a blank on either side of every cell: three columns a cell, and the last frame."""
    wide = sum(map(cell_len, names)) + 3 * len(names) + 1
    grid = TerminalTable("t", names, [False] * len(names), [["x"] * len(names)])
    assert (grid.fits(wide), grid.fits(wide - 1)) == (True, False)
    titles = [TerminalTable("t" * length, names, grid.right, grid.rows) for length in (wide, wide + 1)]
    assert [title.fits(100) for title in titles] == [True, False]
