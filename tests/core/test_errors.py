"""Messages: long lists and long texts are cut, and say by how much."""

import pytest

from mensura.core.errors import (
    LONGEST_MESSAGE,
    EvidenceError,
    Fault,
    MensuraError,
    check_choice,
    counted,
    listed_names,
    with_article,
)


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ("a", "a"),
        ("abcde", "a, b, c, d, e"),
        ("abcdef", "a, b, c, d, e and 1 more"),
        ("abcdefghij", "a, b, c, d, e and 5 more"),
    ],
)
def test_five_names_are_listed_and_the_others_counted(names, told):
    assert listed_names(list(names)) == told


def test_a_message_is_told_whole_up_to_its_bound():
    assert LONGEST_MESSAGE == 20_000
    assert str(MensuraError("x" * LONGEST_MESSAGE)) == "x" * LONGEST_MESSAGE
    assert str(MensuraError("x" * (LONGEST_MESSAGE + 1))).endswith("x … (1 more characters)")


def test_words_fit_their_numbers_and_nouns():
    assert [counted(number, "model") for number in (0, 1, 2)] == ["0 models", "1 model", "2 models"]
    assert [with_article(noun) for noun in ("effect", "rate", "Item")] == ["an effect", "a rate", "an Item"]


def test_a_value_that_is_no_choice_is_shown_with_them():
    check_choice("way", "a", ("a", "b"))
    with pytest.raises(MensuraError, match=r"^way: got None; expected one of a, b$"):
        check_choice("way", None, ("a", "b"))


def test_a_fault_says_file_row_column_value_and_what_was_expected():
    assert str(Fault("f.csv", 3, "score", "x", "a number")) == "f.csv, row 3, column score: got 'x'; expected a number"
    assert str(Fault("f.csv", 0, "", "", "a header")) == "f.csv: expected a header"
    one = EvidenceError([Fault("f.csv", 0, "", "", "a")])
    assert str(one) == "evidence refused, 1 fault; nothing was loaded or changed\n  f.csv: expected a"
    assert "2 faults" in str(EvidenceError([*one.faults, *one.faults])) and len(one.faults) == 1
