"""The journal by itself: claims, locks, first answers, and the files it refuses."""

import sqlite3
import subprocess
import sys
import time

import pytest

from mensura.core.errors import MensuraError
from mensura.llm import Journal, Question, Settings, audit_table, open_asker
from mensura.llm.journal import Entry, State
from mensura.llm.journal_file import DamagedError, split_answer
from mensura.llm.protocol import KeyMaker
from tests.llm.conftest import locked_elsewhere, questions, read_level

SETTINGS = Settings("mine")
QUESTION = Question("How hard?", system="You judge.", schema={"type": "object"}, repeat=2, about={"item": "a"})
KEY = KeyMaker(SETTINGS)(QUESTION)


def claim(journal, question=QUESTION):
    with journal.transaction():
        return journal.claim(KeyMaker(SETTINGS)(question), question, SETTINGS.text())


def test_a_claim_is_on_the_disk_before_the_call_and_gives_the_answer_afterwards(tmp_path):
    with Journal(tmp_path / "j.sqlite") as first, Journal(tmp_path / "j.sqlite") as second:
        assert claim(first) is State.CLAIMED
        assert audit_table(tmp_path / "j.sqlite")["state"].to_list() == ["claimed"]
        assert second.find([KEY]) == {}
        with first.transaction():
            first.answer(KEY, Entry("four", "4", "because", tokens_in=3, tokens_out=1, cost=0.5, seconds=0.25))
        assert claim(second) == second.find([KEY])[KEY] == first.find([KEY])[KEY]
        assert second.find([KEY])[KEY].text == "four"
        assert list(second.questions()) == [(QUESTION, second.find([KEY])[KEY])]


def test_the_first_answer_stands(tmp_path):
    with Journal(tmp_path / "j.sqlite") as first, Journal(tmp_path / "j.sqlite") as second:
        claim(first)
        with first.transaction():
            assert first.answer(KEY, Entry("four")).text == "four"
        with second.transaction():
            assert second.answer(KEY, Entry("five")).text == "four"
            second.fail(KEY, Entry("", error="late"))
        assert second.find([KEY])[KEY].text == "four"


@pytest.mark.parametrize("order", ["as asked", "backwards", "every third"])
def test_answers_are_found_in_whatever_order_and_company_they_are_asked_for(order):
    asked = [Question(f"How hard is item {number}?") for number in range(40)]
    keys = [KeyMaker(SETTINGS)(question) for question in asked]
    with Journal(None) as journal:
        for number, (key, question) in enumerate(zip(keys, asked, strict=True)):
            claim(journal, question)
            if number % 5:
                with journal.transaction():
                    journal.answer(key, Entry(f"text of {number}", str(number)))
        wanted = {"as asked": keys, "backwards": keys[::-1], "every third": keys[1::3]}[order]
        found = journal.find([b"nobody asked this", *wanted, b"nor this"])
        answered = {key: str(number) for number, key in enumerate(keys) if number % 5 and key in wanted}
        assert {key: entry.value for key, entry in found.items()} == answered
        assert journal.find(wanted) == found
        assert all(entry.text == f"text of {entry.value}" for entry in found.values())


def test_a_failed_or_abandoned_question_may_be_asked_again(tmp_path):
    with Journal(tmp_path / "j.sqlite") as journal:
        claim(journal)
        with journal.transaction():
            journal.fail(KEY, Entry("", error="HTTP 500", attempts=6))
        assert claim(journal) is State.CLAIMED
    with Journal(tmp_path / "j.sqlite") as other:
        assert claim(other) is State.CLAIMED


def test_one_process_asks_with_a_journal_and_others_may_read_it(tmp_path):
    path = tmp_path / "j.sqlite"
    with Journal(path) as journal:
        with locked_elsewhere(path):
            with pytest.raises(MensuraError, match="another process is using the journal"):
                claim(journal)
            assert audit_table(path).is_empty()
        assert claim(journal) is State.CLAIMED, "the lock of a killed process is free at once"
        with Journal(path) as second:
            assert claim(second, Question("another")) is State.CLAIMED, "one process may open a journal several times"
        with locked_elsewhere(path):
            assert claim(journal, Question("a third")) is State.CLAIMED


def test_a_journal_that_is_closed_twice_gives_back_its_own_lock_alone(tmp_path):
    path = tmp_path / "j.sqlite"
    code = "import sys\nfrom mensura.llm import Journal\nJournal(sys.argv[1]).lock()\n"
    with Journal(path) as second:
        first = Journal(path)
        claim(first)
        claim(second, Question("another"))
        first.close()
        first.close()
        other = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)
    assert "another process is using the journal" in other.stderr


def test_a_rolled_back_claim_leaves_nothing_behind(tmp_path):
    with Journal(tmp_path / "j.sqlite") as journal:
        with pytest.raises(ZeroDivisionError), journal.transaction():
            journal.claim(KEY, QUESTION, SETTINGS.text())
            raise ZeroDivisionError
        assert claim(journal) is State.CLAIMED
    assert audit_table(tmp_path / "j.sqlite")["system"].to_list() == ["You judge."]


def test_a_file_that_is_refused_is_closed(tmp_path, monkeypatch):
    """An open connection keeps the file of somebody else busy, and newer Pythons complain of it much later."""
    opened, closed = [], []

    class Watched(sqlite3.Connection):
        def close(self):
            closed.append(self)
            super().close()

    def connect(*arguments, plainly=sqlite3.connect, **settings):
        opened.append(plainly(*arguments, factory=Watched, **settings))
        return opened[-1]

    (tmp_path / "notes.txt").write_text("no database at all, but long enough to be looked at as one " * 20)
    monkeypatch.setattr(sqlite3, "connect", connect)
    with pytest.raises(MensuraError, match="no readable journal"):
        Journal(tmp_path / "notes.txt")
    assert opened == closed != []


def test_other_files_are_refused_and_stay_as_they_are(tmp_path):
    (tmp_path / "notes.txt").write_text("no database at all, but long enough to be looked at as one " * 20)
    with sqlite3.connect(tmp_path / "other.sqlite") as other:
        other.execute("CREATE TABLE mine (a)")
    other.close()
    for name, message in [
        ("notes.txt", "no readable journal"),
        ("other.sqlite", "not a journal of format"),
        (".", "folder"),
    ]:
        with pytest.raises(MensuraError, match=message):
            Journal(tmp_path / name)
    with pytest.raises(MensuraError, match="no such journal"):
        Journal(tmp_path / "missing.sqlite", create=False)
    assert not (tmp_path / "missing.sqlite").exists()
    assert (tmp_path / "notes.txt").read_text().startswith("no database")


@pytest.mark.parametrize("text", ["", "four", "x:four"])
def test_an_answer_without_its_length_is_damaged(text):
    with pytest.raises(DamagedError, match="a text is damaged"):
        split_answer(text)


def test_keys_differ_where_parts_could_run_together():
    make = KeyMaker(SETTINGS)
    pairs = [
        (Question("b", system="a"), Question("ab")),
        (Question("1", repeat=1), Question("11", repeat=0)),
        (Question("a", schema={"b": 1}), Question("a", schema={"b": "1"})),
        (Question("a", schema={}), Question("a")),
    ]
    assert all(make(first) != make(second) for first, second in pairs)
    assert make(Question("a", schema={"x": 1, "y": 2})) == make(Question("a", schema={"y": 2, "x": 1}))


def test_a_key_is_the_same_in_every_version_of_mensura():
    """Journals outlive versions: were this hash to change, every stored answer would be paid for again."""
    assert KeyMaker(SETTINGS)(QUESTION).hex() == "f592f55b8c28a2e75628fe74092ddf0f"
    assert KeyMaker(SETTINGS)(Question("a" * 3000)).hex() == "2434bdf305cb61311512134fa55f2d8e"


def test_a_question_that_is_no_text_is_shown():
    with pytest.raises(MensuraError, match=r"no text: 'before \\ud800 after'"):
        KeyMaker(SETTINGS)(Question("before \ud800 after"))


def test_a_journal_in_use_can_be_looked_at(serve, tmp_path):
    server = serve(delay=0.01)
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url) as asker:
        for number, _ in enumerate(asker.stream(questions(600), read_level)):
            if number == 0:
                began = time.monotonic()
                assert audit_table(tmp_path / "j.sqlite").height > 0
                assert time.monotonic() - began < 60
