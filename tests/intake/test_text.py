"""The text of a table: its encoding, its separator and its header, found in the file itself."""

import polars as pl
import pytest

from mensura.core.errors import MensuraError
from mensura.intake.text import BLANK, decoded_text, find_start, plain_cell, separator_of, typed


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b, c;d\n1,5;2,5;3\n", ";"),
        ("a|b\n1|2\n", "|"),
        ("a\tb\n1\t2\n", "\t"),
        ("alone\n1\n", ","),
        ("a;b\n1;2\n3\n", ";"),
        ("a;b\n1\n2\n", ","),
        ("a;b\n1;2\n3\n4\n", ","),
        ("\na;b\n\n1;2\n", ";"),
    ],
)
def test_the_separator_gives_most_columns_and_most_records_as_many(text, found):
    assert separator_of(text, "it") == found


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-16", "utf-16"),
        ("utf-32", "utf-32"),
        ("cp1252", "Windows-1252 (it is not UTF-8)"),
    ],
)
def test_the_encoding_is_found_by_its_mark_or_its_zeros(encoding, told):
    text = "model,benchmark\nmodèle,hle\n"
    assert decoded_text(text.encode(encoding), "it") == (text, told)


def test_twenty_records_decide_on_the_separator():
    """Ten of the first twenty are not most of them, though ten of nineteen and eleven of 21 would be."""
    records = ["a;b"] * 10 + ["alone"] * 10 + ["a;b"] * 5
    assert separator_of("\n".join(records), "it") == ","
    assert separator_of("\n".join(["a;b", *records]), "it") == ";"


def test_zeros_in_the_first_two_thousand_bytes_decide_on_the_encoding():
    assert decoded_text(b"a" * 1999 + b"\0", "it")[1] == "utf-16-be"
    assert decoded_text(b"a" * 2000 + b"\0", "it")[1] == "utf-8"


def start(text, *, encoding=None, header=True):
    return find_start(text if isinstance(text, bytes) else text.encode(), "t.csv", encoding, header, "Say so.")


def test_the_start_of_a_table_has_its_titles_their_row_and_their_end():
    found = start("\n a ;b\n1;2\n")
    assert (found.separator, found.titles, found.row) == (";", ["a", "b"], 2)
    assert found.data[found.end :] == b"1;2\n"
    assert found.notes == ("columns separated by semicolon",)
    bare = start("1,0\n0,1\n", header=False)
    assert (bare.titles, bare.row, bare.end, bare.notes) == (["V1", "V2"], 0, 0, ())
    assert start("ä,b\r1,2\r").data == "ä,b\n1,2\n".encode()
    assert start("ä,b\n".encode("cp1252")).notes == ("read as Windows-1252 (it is not UTF-8)",)
    assert start("a,b\n".encode("utf-8-sig"), encoding="UTF8").titles == ["a", "b"]
    assert start("ä,b\n".encode("latin-1"), encoding="latin-1").notes == ("read as latin-1",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,0,1\n", r"the first row has 3 numbers \(1, 0, 1 …\); expected names of columns\. Say so\."),
        ("a,1,1\n", "the first row has 2 numbers"),
        ("0 1 1\n", "blanks separate the 3 numbers of a row; expected commas between them"),
        ("01101001\n", "a row is one piece of 8 digits; expected commas"),
        ("a,b,a,b,c\n", "column 'a', 'b' is there twice; rename or drop one"),
        ("\n \n", "no rows; expected a row of column names and rows below it"),
    ],
)
def test_a_first_row_that_names_no_columns_is_refused(text, message):
    with pytest.raises(MensuraError, match=f"t.csv: {message}"):
        start(text)


@pytest.mark.parametrize("text", ["a,2020,2021\n", "1,2,3\n", "a,1,b\n", "0110100\n", "01101002\n", "a,,\n", "1 x\n"])
def test_a_first_row_that_may_name_columns_is_taken(text):
    assert start(text).row == 1


@pytest.mark.parametrize(
    ("data", "encoding", "message"),
    [
        (b"a", "klingon", "unknown encoding: klingon; expected a name such as utf-8, latin-1 or utf-16"),
        (b"\xff", "utf-8", r"not utf-8 \(.*leave --encoding out or give another"),
        (b"a\0b", None, "not readable as utf-16-le; save it as UTF-8"),
        (b"\x81", None, "neither UTF-8 nor Windows-1252; save it as UTF-8"),
    ],
)
def test_bytes_that_are_no_text_are_refused(data, encoding, message):
    with pytest.raises(MensuraError, match=f"it: {message}"):
        decoded_text(data, "it", encoding)


@pytest.mark.parametrize(
    ("cell", "text"),
    [(None, None), ("  x\u00a0", "x"), ("N/A", None), (".", None), (0, "0"), ("#n/a", None), ("", None)],
)
def test_a_cell_is_its_text_or_nothing(cell, text):
    assert plain_cell(cell) == text


def columns(**cells):
    """The columns of a table of text after their types were read, and whether commas were decimal."""
    frame, comma = typed(pl.DataFrame(cells), BLANK)
    return frame.to_dict(as_series=False), comma


@pytest.mark.parametrize(
    ("cells", "read", "comma"),
    [
        (["1", "−2", "NA"], [1, -2, None], False),
        (["1", "2.5"], [1.0, 2.5], False),
        (["1,5", "2"], [1.5, 2.0], True),
        (["1,250", "2"], ["1,250", "2"], False),  # may be a thousand
        (["0,250", "1,250"], [0.25, 1.25], True),
        (["12,3456"], [12.3456], True),
        (["TRUE", "false", "-"], [True, False, None], False),
        (["true", "maybe"], ["true", "maybe"], False),
        (["NA", "."], ["NA", "."], False),
        (["1", "x"], ["1", "x"], False),
    ],
)
def test_columns_of_text_get_the_type_of_their_cells(cells, read, comma):
    assert columns(a=cells) == ({"a": read}, comma)


def test_names_stay_text_and_points_beside_commas_leave_them():
    assert columns(Item=["007"], language=["1"], b=["1"]) == ({"Item": ["007"], "language": ["1"], "b": [1]}, False)
    assert columns(a=["1,5"], b=[0.5]) == ({"a": ["1,5"], "b": [0.5]}, False)
    late = ["1"] * 1000 + ["x"]
    assert columns(a=late)[0] == {"a": late}
