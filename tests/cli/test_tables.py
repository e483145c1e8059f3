"""Tables as a terminal shows them."""

import io

import hypothesis
import polars as pl
from hypothesis import given, strategies as st
from rich.console import Console

from mensura.cli import tables

NAMES = st.text(
    alphabet=st.characters(exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp", "Mn", "Me", "Co", "Cn")),
    min_size=1,
    max_size=8,
)


@given(data=st.data(), columns=st.integers(1, 5), rows=st.integers(0, 4))
def test_a_table_that_fits_is_printed_as_rich_would_print_it(data, columns, rows):
    """Wide characters and alignment included; it takes a small part of the time."""
    words = NAMES.map(str.strip).filter(bool)
    names = data.draw(st.lists(words, min_size=columns, max_size=columns))
    right = data.draw(st.lists(st.booleans(), min_size=columns, max_size=columns))
    cells = data.draw(st.lists(st.lists(words, min_size=columns, max_size=columns), min_size=rows, max_size=rows))
    grid = tables.TerminalTable(names, right, cells)
    hypothesis.assume(grid.fits(100))
    assert printed(grid) == printed(tables._wrapping(grid, [1] * columns))


def test_title_and_names_stand_out_on_a_terminal(monkeypatch):
    to = Console(file=io.StringIO(), width=100, force_terminal=True)
    monkeypatch.setattr(tables, "console", to)
    tables.print_table(pl.DataFrame({"model": ["a"], "score": [1.0]}), title="Scores")
    shown = to.file.getvalue()
    assert "\x1b[3mScores" in shown
    assert "\x1b[1m model \x1b[0m" in shown


def printed(renderable, **settings):
    to = Console(file=io.StringIO(), width=100, markup=False, emoji=False, highlight=False, **settings)
    to.print(renderable)
    return to.file.getvalue()


def test_a_rarity_cut_at_the_people_tested_says_so_beside_its_number(monkeypatch):
    to = Console(file=io.StringIO(), width=100)
    monkeypatch.setattr(tables, "console", to)
    places = pl.DataFrame(
        {"subject": ["a", "b"], "one_in": [142.0, 4.0], "percentile": [99.3, 75.0], "at_least": [True, False]}
    )
    tables.print_table(places, title="Places")
    shown = to.file.getvalue()
    assert "at least 142.00" in shown
    assert "at_least" not in shown
    assert "at least 99.30" in shown
    assert shown.count("at least") == 2
