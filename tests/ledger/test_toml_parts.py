"""Values of a TOML file, each of its kind: what is taken, and how a wrong one is named."""

import tomllib

import pytest

from mensura.core.errors import MensuraError
from mensura.ledger.toml_parts import TomlPart, read_utf8, toml_list, toml_text

PART = TomlPart.loads(
    """\
name = "board"
about = "two\\nlines"
blank = " "
count = 3
half = 0.5
open = true
words = ["a", " "]
[model.names]
Big = "big-1"
[[rules]]
column = "Score"
""",
    "m",
)


def test_values_have_the_kind_that_is_asked_for():
    assert (PART.text("name"), PART.text("about"), PART.text("none", "")) == ("board", "two\nlines", "")
    assert (PART.number("count"), PART.number("half")) == (3.0, 0.5)
    assert (PART.value("open", False), PART.value("none", 7)) == (True, 7)
    assert (PART.values("words"), PART.texts("none")) == (("a", " "), ())
    assert PART.one_of("name", ("board", "lab")) == "board"
    assert PART.table("model").pairs("names") == {"Big": "big-1"}
    assert [row.text("column") for row in PART.rows("rules")] == ["Score"]
    assert (PART.rows("none"), PART.table("none").keys) == ([], {})
    PART.table("model").only("names")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: TomlPart.loads("a = ", "m"), "m: not a TOML file"),
        (lambda: PART.only("name"), "m: unknown 'about'; expected some of name"),
        (lambda: PART.value("count", ""), "m: count is 3; expected str"),
        (lambda: PART.value("open", 0), "m: open is True; expected int"),
        (lambda: PART.text("none"), "m: none is None; expected a text"),
        (lambda: PART.text("blank"), "m: blank is ' '; expected a text"),
        (lambda: TomlPart({"x": "a\nb"}, "m").text("x"), "m: x is .*; expected one line of 2,000 at most"),
        (lambda: TomlPart({"x": "a" * 2001}, "m").text("x"), "expected one line of 2,000 at most"),
        (lambda: PART.texts("words"), "m: words is .*; expected a list of texts"),
        (lambda: TomlPart({"x": [1]}, "m").values("x"), "m: x must be a list of texts"),
        (lambda: PART.number("open"), "m: open is True; expected a number"),
        (lambda: TomlPart({"x": 2**53 + 1}, "m").number("x"), "expected a number"),
        (lambda: TomlPart({"x": float("nan")}, "m").number("x"), "m: x is nan; expected a number"),
        (lambda: PART.one_of("name", ("lab",)), "m: name is 'board'; expected one of lab"),
        (lambda: PART.table("name"), r"m: name is 'board'; expected a table \[name\]"),
        (lambda: PART.rows("words"), r"m: words is .*; expected tables \[\[words\]\]"),
        (lambda: PART.rows("rules")[0].text("why"), r"m, \[\[rules\]\] 1: why is None"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(ask, message):
    with pytest.raises(MensuraError, match=message):
        ask()


def test_the_longest_text_and_the_largest_number_are_taken():
    assert len(TomlPart({"x": "a" * 2000}, "m").text("x")) == 2000
    assert TomlPart({"x": 2**53}, "m").number("x") == 2.0**53


@pytest.mark.parametrize("text", ['a "quote" \\ and é', "line\nbreak\ttab", "\x7f", ""])
def test_a_text_that_is_written_reads_back(text):
    assert tomllib.loads(f"x = {toml_text(text)}")["x"] == text


def test_a_list_has_a_line_for_each_element_and_an_empty_one_none():
    assert toml_list("x", ['"a"', '"b"']) == ["x = [", '  "a",', '  "b",', "]"]
    assert toml_list("x", []) == []


def test_a_file_in_another_encoding_is_refused(tmp_path):
    (tmp_path / "m.toml").write_bytes("name = 'é'\r\n".encode())
    assert read_utf8(tmp_path / "m.toml") == "name = 'é'\r\n"
    (tmp_path / "m.toml").write_bytes(b"name = '\xe9'")
    with pytest.raises(MensuraError, match=r"not UTF-8 .*; save the file as UTF-8"):
        read_utf8(tmp_path / "m.toml")
