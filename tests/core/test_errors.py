"""Messages: long lists and long texts are cut, and say by how much."""

import pytest

from mensura.core.errors import LONGEST_MESSAGE, MensuraError, listed_names


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
