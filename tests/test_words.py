"""Long sentences in the documentation and error messages without a remedy: their counts may only fall."""

import tomllib

import pytest

from tools import count_words


@pytest.mark.parametrize(
    ("section", "find"), [("sentences", count_words.find_sentences), ("messages", count_words.find_messages)]
)
def test_counts_only_fall(section, find):
    stored = tomllib.loads(count_words.STORED.read_text(encoding="utf-8"))[section]
    present = {name: len(texts) for name, texts in find().items() if texts}
    risen = {name: f"{stored.get(name, 0)} → {n}" for name, n in present.items() if n > stored.get(name, 0)}
    assert not risen, f"rewrite the texts that this lists: python -m tools.count_words {next(iter(risen))}"
    assert present == stored, "fewer than before: run python -m tools.count_words --write to store the lower counts"


def test_long_sentence_is_found_across_lines_and_in_a_list():
    long = " ".join(["word"] * 31)
    assert count_words.long_sentences(f"{long[:50]}\n{long[50:]}.") != []
    assert count_words.long_sentences(f"- short\n- {long}") == [long]


def test_what_is_not_prose_is_left_out():
    long = " ".join(["word"] * 31)
    page = f"# {long}\n\n```sh\n{long}\n```\n\n| {long} |\n\n    {long}\n\n<!-- {long}\n{long} -->\n"
    assert list(count_words.sentences(page)) == []


def test_sentences_end_at_a_stop_before_a_new_one():
    page = "It costs 0.5 dollars, i.e. little. Is it `mensura cost. All`? (Yes.) See [the page](cost.md)."
    assert list(count_words.sentences(page)) == [
        "It costs 0.5 dollars, i.e. little.",
        "Is it Code?",
        "(Yes.",
        "See the page.",
    ]


@pytest.mark.parametrize(
    "message",
    [
        "mine.csv, row 3: 140 is above 100; expected a percentage",
        "rate must lie between 0 and 1, got …",
        "pool: … not known; did you mean …?",
        "…: the unit is not stated (--unit percent or --unit fraction)",
        "…: no table of persons; add persons.csv",
        "entry 3 differs from the tables. Restore a backup.",
    ],
)
def test_message_that_helps_has_a_remedy(message):
    assert count_words.has_remedy(message)


@pytest.mark.parametrize("message", ["…: cannot be read (…)", "…: no such file", "scores: a set of … and rates"])
def test_message_that_only_states_the_problem_has_none(message):
    assert not count_words.has_remedy(message)


def test_messages_are_read_from_calls_of_every_error_class():
    errors = """
class NarrowError(errors.MensuraError): ...
class NarrowerError(NarrowError): ...
"""
    calls = """
raise MensuraError(f"{path}: broken " + "twice" if twice else "once")
raise errors.NarrowerError("lost")
raise NarrowError("lost; run mensura check")
raise MensuraError(message)
raise ValueError("not ours")
"""
    found = count_words.messages_without_remedy({"errors.py": errors, "calls.py": calls})
    assert found == {"errors.py": [], "calls.py": ["…: broken twice once", "lost"]}
