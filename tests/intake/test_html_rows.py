"""Rows of tables in web pages: what is shown counts, cells that span repeat, and a page that breaks off is refused."""

import pytest

from mensura.core.errors import MensuraError
from mensura.intake.html_rows import html_rows

HEAD = "<tr><th>Model</th><th>Score</th></tr>"


def rows(body, columns=("Model", "Score")):
    return [(row.line, dict(row.cells)) for row in html_rows(f"<table>{body}</table>", frozenset(columns), "page")]


def cells(body):
    return [list(row.values()) for _, row in rows(HEAD + body)]


def test_rows_have_the_line_they_begin_on_and_blank_ones_are_left_out():
    body = f"{HEAD}\n<tr><td>A</td><td>1.50</td></tr>\n<tr><td> </td><td></td></tr>\n<tr><td>B<td>2"
    assert rows(body) == [(2, {"Model": "A", "Score": "1.50"}), (4, {"Model": "B", "Score": "2"})]


def test_markup_within_a_cell_is_a_space_and_what_is_not_shown_is_dropped():
    assert cells("<tr><td>Big<br>One</td><td><b>4</b>2<script>99</script><style>7</style></td></tr>") == [
        ["Big One", "42"]
    ]
    assert cells("<tr><td>A<div>x</div>y</td><td>&lt;5&nbsp;%</td></tr>") == [["A x y", "<5 %"]]


def test_cells_that_span_rows_and_columns_are_repeated():
    assert cells("<tr><td rowspan=2>A</td><td>1</td></tr><tr><td>2</td></tr><tr><td>B</td><td>3</td></tr>") == [
        ["A", "1"],
        ["A", "2"],
        ["B", "3"],
    ]
    assert cells("<tr><td>A</td><td rowspan=2>1</td></tr><tr><td>B</td></tr>") == [["A", "1"], ["B", "1"]]
    assert cells("<tr><td colspan=2>both</td></tr>") == [["both", "both"]]


def test_the_header_may_stand_below_a_title_and_other_tables_do_not_count():
    assert rows(f"<tr><td>Results</td></tr>{HEAD}<tr><td>A</td><td>1</td></tr>")[0][1] == {"Model": "A", "Score": "1"}
    nested = f"<tr><td><table>{HEAD}<tr><td>A</td><td>1</td></tr></table></td></tr>"
    assert [row for _, row in rows(nested)] == [{"Model": "A", "Score": "1"}]


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("<table><tr><td>x</td></tr></table>", "no table has the columns Model, Score"),
        (f"<table>{HEAD}</table><table>{HEAD}</table>", "2 tables have the columns Model, Score"),
        (f"<table>{HEAD}<tr><td>A", "breaks off inside a table"),
        (f"<table>{HEAD}</table><script>", "breaks off inside"),
        (f"<table>{HEAD}<tr><td>A</td><td>1</td><td>2</td></tr></table>", "3 cells under a header of 2"),
        (f"<table>{HEAD}<tr><td colspan=0>A</td></tr></table>", "line 1: a cell spans '0'; expected 1 to 500"),
        (f"<table>{HEAD}<tr><td rowspan=two>A</td></tr></table>", "a cell spans 'two'"),
    ],
)
def test_a_page_that_is_not_understood_is_refused(page, message):
    with pytest.raises(MensuraError, match=message):
        html_rows(page, frozenset(("Model", "Score")), "page")
