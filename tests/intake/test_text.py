"""The text of a table: its encoding, its separator and its header, found in the file itself."""

import pytest

from mensura.intake.text import decoded_text, separator_of


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
