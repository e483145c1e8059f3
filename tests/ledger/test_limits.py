"""Every limit of moving evidence: the last that is taken, and the first that is refused."""

import json
from string import ascii_lowercase

import pytest

import mensura
from mensura.intake import documents as rows, html_rows, json_rows
from mensura.intake.documents import RowLayout
from mensura.ledger import Unmatched, Update, extract_update, parse_mapping, read_mapping
from mensura.ledger.extraction import read_rows
from tests.ledger.small import ANN, MAPPING, WHEN, score, update

COLUMNS = frozenset({"Model", "Score"})
HEAD = "<table><tr><th>Model</th><th>Score</th></tr>"


def refuses(words, call, *given, **options):
    with pytest.raises(mensura.MensuraError, match=words):
        call(*given, **options)


def read(text, form, **layout):
    return read_rows(text.encode(), RowLayout(form, **layout), COLUMNS, "it")


def test_a_line_has_a_number_that_every_program_counts_exactly():
    """Up to 2⁵³ − 1, for changes and in lists alike."""
    last = 2**53 - 1
    changed = update(score("big-1", "swe_marathon", "12", "15", line=last))
    listed = Update(title="t", source="board", unmatched=(Unmatched("model", "x", (0, last), ()),))
    for one, words in ((changed, "expected a line number of the capture"), (listed, "must be a list of line numbers")):
        assert Update.parse(one.text()) == one
        for wrong in (last + 1, -1, "true", "1.0"):
            refuses(words, Update.parse, one.text().replace(str(last), str(wrong)))


def test_a_name_has_a_hundred_characters_and_a_reason_a_hundred_and_eighty(ledger):
    for size, name in ((1, "n"), (100, "n" * 100)):
        ident = ledger.add_capture(b"x" * size, source="board", address="a", by=name, when=WHEN)
        assert ledger.capture(ident).by == name
    for name in ("", " ", "n" * 101, "a\tb"):
        refuses("expected a name of at most 100", ledger.add_capture, b"y", source="s", address="a", by=name, when=WHEN)
    assert ledger.policy_edit("big-1", {"display": "hide"}, reason="r" * 180).changes
    refuses("at most 180", ledger.policy_edit, "big-1", {"display": "hide"}, reason="r" * 181)


def test_a_title_has_three_hundred_characters(ledger):
    refuses("expected one printable line of 300", ledger.apply, update(title="t" * 301), **ANN)
    refuses("expected one printable line of 300", ledger.apply, update(title=" "), **ANN)
    made = ledger.apply(update(score("big-1", "swe_marathon", "12", "15"), title="t" * 300), **ANN)
    assert made.entry == 1


def test_six_digits_name_a_capture_and_five_do_not(ledger):
    ident = ledger.add_capture(b"x", source="board", address="a", **ANN)
    for digits in (6, 12, 64):
        assert ledger.capture(ident[:digits]).capture == ident
    for given in (ident[:5], f"{ident}0", ident[:6].replace(ident[0], "g")):
        refuses("expected at least 6 hexadecimal digits", ledger.capture, given)


def test_an_address_has_two_thousand_characters(ledger):
    ident = ledger.add_capture(b"x", source="board", address="a" * 2000, **ANN)
    assert len(ledger.capture(ident).address) == 2000
    for address in ("", "a" * 2001):
        refuses("expected one printable line of 2000", ledger.add_capture, b"y", source="b", address=address, **ANN)


def test_a_mapping_has_a_mebibyte_and_each_of_its_texts_two_thousand_characters(tmp_path):
    file = tmp_path / "mine.toml"
    for size in (2**20, 2**20 + 1):
        file.write_text(f"{MAPPING}#{'x' * (size - len(MAPPING) - 1)}")
        if size == 2**20:
            assert read_mapping(file).name == "board"
        else:
            refuses("more than 1,048,576 bytes", read_mapping, file)
    assert parse_mapping(f'about = "{"x" * 2000}"\n{MAPPING}').about == "x" * 2000
    refuses("expected one line of 2,000 at most", parse_mapping, f'about = "{"x" * 2001}"\n{MAPPING}')


def test_an_update_has_eight_mebibytes():
    text = update(score("big-1", "swe_marathon", "12", "15")).text()
    full = f"{text}#{'x' * (8 * 2**20 - len(text) - 1)}"
    assert Update.parse(full).changes
    refuses("an update has at most 8,388,608", Update.parse, f"{full}x")


def test_an_update_is_named_by_sixteen_digits():
    assert len(update(score("big-1", "swe_marathon", "12", "15")).id) == 16


def test_twenty_thousand_rows_are_read(monkeypatch):
    assert len(read("Model,Score\n" + "A,1\n" * 20_000, "csv")) == 20_000
    refuses("more than 20,000 rows", read, "Model,Score\n" + "A,1\n" * 20_001, "csv")
    for module in (rows, json_rows):
        monkeypatch.setattr(module, "MOST_ROWS", 3)
    forms = {
        "csv": lambda count: "Model,Score\n" + "A,1\n\n" * count,
        "text": lambda count: "Model\tScore\n" + "A\t1\n" * count,
        "json": lambda count: json.dumps([{"Model": "A", "Score": 1}] * count),
        "html": lambda count: f"{HEAD}{'<tr><td>A</td><td>1</td></tr>' * count}</table>",
    }
    for form, text in forms.items():
        layout = {"separator": "tab"} if form == "text" else {}
        assert len(read(text(3), form, **layout)) == 3
        refuses("more than 3 rows|4 rows; at most 3", read, text(4), form, **layout)


def test_a_cell_has_ten_thousand_characters():
    for form, text in (("csv", "Model,Score\n{},1\n"), ("html", HEAD + "<tr><td>{}</td><td>1</td></tr></table>")):
        assert len(read(text.format("x" * 10_000), form)[0].cells["Model"]) == 10_000
        refuses(r"a cell of 10,001 characters \(at most 10,000\)", read, text.format("x" * 10_001), form)


def test_a_page_has_five_hundred_columns_and_twenty_tables_in_each_other(monkeypatch):
    row = "<tr><td>A</td><td>1</td></tr>"
    wide = HEAD.replace("</tr>", "<th>x</th>" * 498 + "</tr>")
    assert len(read(f"{wide}{row}</table>", "html")) == 1
    refuses("more than 500 columns", read, f"{wide.replace('</tr>', '<th>x</th></tr>')}{row}</table>", "html")
    spanning = HEAD.replace("</tr>", "<th colspan=498>x</th></tr>")
    assert len(read(f"{spanning}{row}</table>", "html")) == 1
    refuses("spans '501'; expected 1 to 500", read, f"{spanning.replace('498', '501')}{row}</table>", "html")
    nested = "<table><tr><td>" * 19 + f"{HEAD}{row}</table>" + "</td></tr></table>" * 19
    assert len(read(nested, "html")) == 1
    refuses("nested deeper than 20", read, f"<table><tr><td>{nested}</td></tr></table>", "html")
    monkeypatch.setattr(html_rows, "MOST_CELLS", 4)
    assert len(read(f"{HEAD}{row}</table>", "html")) == 1
    refuses("or 4 cells", read, f"{HEAD}{row}{row}</table>", "html")


def test_json_has_sixty_four_levels():
    def nested(levels):
        return f'{{"x": {"[" * levels}{"]" * levels}, "rows": [{{"Model": "A", "Score": 1}}]}}'

    assert len(read(nested(63), "json", path="rows")) == 1
    refuses("nested deeper than 64", read, nested(64), "json", path="rows")


def test_what_an_extraction_writes_has_an_end(ledger):
    mapping = MAPPING.replace('"The board"', f'"{"b" * 250}"')
    board = f"Model,Agent,Score\nBig 1,{'a' * 400},15\n"
    ident = ledger.add_capture(board.encode(), source="board", address="pasted", form="csv", **ANN)
    made = extract_update(ledger.capture(ident), parse_mapping(mapping), ledger.cells())
    assert made.title == f"{'b' * 200}, 2026-11-15"
    [note] = [change.new for change in made.changes if change.field == "note"]
    assert note == f"best row: {'a' * 290}"


def test_the_nearest_are_looked_up_for_five_hundred_names(ledger):
    names = [f"Big 1{one}{two}" for one in ascii_lowercase for two in ascii_lowercase][:501]
    board = "Model,Agent,Score\n" + "".join(f"{name},X,3\n" for name in names)
    ident = ledger.add_capture(board.encode(), source="board", address="x", form="csv", **ANN)
    made = extract_update(ledger.capture(ident), parse_mapping(MAPPING), ledger.cells())
    assert [bool(name.near) for name in made.unmatched] == [True] * 500 + [False]
