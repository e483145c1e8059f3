"""Tables as a terminal shows them."""

import io
import math

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


def shown(monkeypatch, frame, width=100, **how):
    """Print a table on a terminal of so many columns; return its lines."""
    to = Console(file=io.StringIO(), width=width, markup=False, emoji=False, highlight=False)
    monkeypatch.setattr(tables, "console", to)
    tables.print_table(frame, title="T", **how)
    return to.file.getvalue().splitlines()


def test_numbers_stand_to_the_right_texts_to_the_left_and_missing_cells_are_a_dash(monkeypatch):
    frame = pl.DataFrame(
        {
            "who": ["a\x1b", "bb", "c"],
            "share": [0.125, math.nan, -math.inf],
            "most": [math.inf, None, 12.0],
            "n": [3, 14, None],
            "ok": [True, False, None],
        }
    )
    assert shown(monkeypatch, frame, digits=1) == [
        "T",
        "┏━━━━━━━┳━━━━━━━┳━━━━━━┳━━━━┳━━━━━┓",
        "┃ who   ┃ share ┃ most ┃  n ┃ ok  ┃",
        "┡━━━━━━━╇━━━━━━━╇━━━━━━╇━━━━╇━━━━━┩",
        "│ a\\x1b │   0.1 │    ∞ │  3 │ yes │",
        "│ bb    │     – │    – │ 14 │ no  │",
        "│ c     │    -∞ │ 12.0 │  – │ –   │",
        "└───────┴───────┴──────┴────┴─────┘",
    ]


def test_rows_beyond_the_wanted_are_counted(monkeypatch):
    frame = pl.DataFrame({"a": ["x", "y", "z"]})
    assert shown(monkeypatch, frame, rows=2)[-2:] == ["└───┘", "… and 1 more row (all of them with --out or --json)"]
    assert shown(monkeypatch, frame, rows=1)[-1] == "… and 2 more rows (all of them with --out or --json)"
    assert shown(monkeypatch, frame, rows=3)[-1] == shown(monkeypatch, frame)[-1] == "└───┘"


def test_a_number_cut_at_the_data_says_so_in_rarity_percentile_and_iq_alone(monkeypatch):
    frame = pl.DataFrame({"who": ["a", "b"], "iq": [150.0, 99.0], "n": [7.0, 8.0]})
    cut = frame.with_columns(one_in=pl.Series([2330.0, 2.0]), at_least=pl.Series([True, False]))
    assert [line.split("│")[1:-1] for line in shown(monkeypatch, cut, digits=0)[4:6]] == [
        [" a   ", " at least 150 ", " 7 ", " at least 2330 "],
        [" b   ", "           99 ", " 8 ", "             2 "],
    ]
    plain = shown(monkeypatch, frame.with_columns(at_least=pl.Series([True, False])), digits=0)
    assert "at_least" in plain[2] and "at least" not in plain[4]


def test_the_spare_columns_go_one_by_one_the_first_named_first(monkeypatch):
    frame = pl.DataFrame({"key": ["k"], "one": ["1"], "two": ["2"], "six": ["6"]})
    whole = len("┃ key ┃ one ┃ two ┃ six ┃")
    for width, columns in ((whole, "key one two six"), (whole - 1, "key one six"), (whole - 7, "key one")):
        lines = shown(monkeypatch, frame, width, spare=("two", "six", "elsewhere"))
        assert lines[2].replace("┃", "").split() == columns.split()
        gone = [name for name in frame.columns if name not in columns.split()]
        said = f"Left out for want of width: {', '.join(gone)} (all columns with --out or --json, or a wider terminal)"
        assert " ".join(" ".join(lines[6:]).split()) == (said if gone else "")


def test_the_first_columns_that_tell_rows_apart_stand_in_every_part(monkeypatch):
    values = {"value_one": [1, 1, 1], "value_two": [2, 2, 2]}
    for keys, opening in (
        ({"a": ["x", "y", "z"], "b": ["x", "y", "z"]}, ["a"]),
        ({"a": ["x", "x", "y"], "b": ["x", "y", "y"]}, ["a", "b"]),
        ({"a": ["x", "x", "y"], "b": ["x", "x", "y"]}, ["a"]),  # texts alone do not: one
        ({"a": [1, 2, 3], "b": ["x", "y", "z"]}, ["a"]),
        ({"a": ["x", "x", "x"], "b": [1, 2, 3]}, ["a"]),
    ):
        parts = [line for line in shown(monkeypatch, pl.DataFrame(keys | values), 26) if line.startswith("┃")]
        heads = [line.replace("┃", "").split() for line in parts]
        assert len(heads) > 1 and all(head[: len(opening)] == opening for head in heads)
        assert sorted(name for head in heads for name in head[len(opening) :]) == sorted(
            {*keys, *values} - set(opening)
        )


def test_a_wide_cell_wraps_between_words_and_only_as_far_as_needed(monkeypatch):
    frame = pl.DataFrame({"key": ["k"], "note": ["three short words"], "more": ["two words"]})
    whole = len("│ k   │ three short words │ two words │")
    for less, rows in (
        (0, ["│ k   │ three short words │ two words │"]),
        (1, ["│ k   │ three short      │ two words │", "│     │ words            │           │"]),
        (8, ["│ k   │ three     │ two words │", "│     │ short     │           │", "│     │ words     │           │"]),
        (9, ["│ k   │ three    │ two words │", "│     │ short    │           │", "│     │ words    │           │"]),
    ):
        assert shown(monkeypatch, frame, whole - less)[4:-1] == rows


def test_widths_give_way_evenly_and_no_word_breaks_before_it_must():
    """Two columns of 10 and 8 take 18 + 2 · 3 + 1 = 25 columns of the terminal."""
    for room, widths in ((25, [10, 8]), (24, [9, 8]), (23, [8, 8]), (22, [7, 8]), (21, [7, 7]), (20, [6, 7])):
        assert tables._narrowed([10, 8], [2, 2], room) == widths
    assert tables._narrowed([10, 8], [9, 2], 20) == [9, 4]
    assert tables._narrowed([10, 8], [10, 8], 9) == [5, 5], "one word alone may break: the frame takes four"
    assert tables._narrowed([10, 8], [10, 7], 24) == [10, 7]


def test_columns_are_packed_into_parts_that_fit():
    """The first column takes its word and 4, each further one its word and 3."""
    least = {"key": 3, "a": 5, "b": 4, "c": 4}
    for width, parts in (
        (29, [["key", "a", "b", "c"]]),
        (28, [["key", "a", "b"], ["key", "c"]]),
        (22, [["key", "a", "b"], ["key", "c"]]),
        (21, [["key", "a"], ["key", "b", "c"]]),
        (20, [["key", "a"], ["key", "b"], ["key", "c"]]),
        (1, [["key", "a"], ["key", "b"], ["key", "c"]]),
    ):
        assert tables._parts(least, width, 1) == parts
    assert tables._parts(least, 22, 2) == [["key", "a", "b"], ["key", "a", "c"]]
    assert tables._parts({}, 80, 1) == []


def test_a_layout_prints_its_tables_in_order_and_an_optional_one_only_with_rows(monkeypatch):
    to = Console(file=io.StringIO(), width=60)
    monkeypatch.setattr(tables, "console", to)
    layout = {
        "second": {"title": "2 of {people}", "columns": ["b", "a"]},
        "empty": {"title": "never", "optional": True},
        "bare": {"title": "bare"},
        "first": {"title": "1", "drop": ["b", "elsewhere"]},
        "absent": {"title": "absent"},
    }
    monkeypatch.setattr(tables, "_layouts", lambda: {"mine": layout})
    frame = pl.DataFrame({"a": [1], "b": ["x"]})
    tables.show({"first": frame, "second": frame, "empty": frame.clear(), "bare": frame.clear()}, "mine", people="DEU")
    lines = to.file.getvalue().splitlines()
    assert [line for line in lines if line[0].isalnum() or line[0] == "┃"] == [
        *("2 of DEU", "┃ b ┃ a ┃"),
        "bare: none",
        *("1", "┃ a ┃"),
    ]


def test_two_neighbours_on_either_side_of_ones_own():
    ranked = pl.DataFrame({"subject": list("abcdefgh"), "iq": range(8)})
    for own, order in (("a", "abc"), ("h", "hfg"), ("d", "dbcef")):
        beside = tables.own_first(ranked, {own}, None).filter(pl.col("whose") != "top")
        assert "".join(beside["subject"]) == order
    assert tables.own_first(ranked, {"d"}, None).height == 8
    placed = ranked.with_columns(rank=pl.Series([None, *range(1, 8)]))
    assert tables.own_first(placed, {"a"}, 3).rows() == [
        *(("yours", "a", 0, None), ("next to yours", "b", 1, 1)),
        ("next to yours", "c", 2, 2),
    ]


def test_ones_own_stand_first_with_two_decimals_and_the_rest_is_counted(monkeypatch):
    to = Console(file=io.StringIO(), width=60)
    monkeypatch.setattr(tables, "console", to)
    ranked = pl.DataFrame({"subject": ["a", "b", "c"], "iq": [1.0, 0.125, 0.0]})
    tables.print_own_first(ranked, ["c"], title="T", rows=1)
    tables.print_own_first(ranked, ["z"], title="T", rows=2)
    assert to.file.getvalue().splitlines() == [
        *("T; yours first", "┏━━━━━━━┳━━━━━━┳━━━━━━━━━┳━━━━━━┓", "┃ whose ┃ rank ┃ subject ┃   iq ┃"),
        *("┡━━━━━━━╇━━━━━━╇━━━━━━━━━╇━━━━━━┩", "│ yours │    3 │ c       │ 0.00 │"),
        *("└───────┴──────┴─────────┴──────┘", "… and 2 more rows (all of them with --out or --json)"),
        *("T", "┏━━━━━━━━━┳━━━━━━┓", "┃ subject ┃   iq ┃", "┡━━━━━━━━━╇━━━━━━┩", "│ a       │ 1.00 │"),
        *("│ b       │ 0.12 │", "└─────────┴──────┘", "… and 1 more row (all of them with --out or --json)"),
    ]
