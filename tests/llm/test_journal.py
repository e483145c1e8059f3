"""The journal by itself: claims, locks, first answers, and the files it refuses."""

import sqlite3
import subprocess
import sys
import time

import pytest

from mensura.core.errors import MensuraError
from mensura.llm import Journal, Question, Settings, audit_table, open_asker, recover_journal
from mensura.llm.journal import Entry, State
from mensura.llm.journal_file import DamagedError, _is_whole, row_checksum, split_answer
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


def test_a_question_of_a_batch_that_an_ended_run_left_waits_until_it_may_be_asked_again():
    with Journal(None) as journal, journal.transaction():
        take = lambda **how: journal.claim(KEY, QUESTION, SETTINGS.text(), **how)  # noqa: E731
        assert take(batch=True) is State.CLAIMED
        assert take() is State.BATCHED
        assert take(batch=True) is State.BATCHED
        assert take(again=True) is State.CLAIMED
        assert take() is State.CLAIMED, "it was claimed for asking, not for a batch"


def test_an_answer_to_a_question_that_nobody_claimed_is_not_kept():
    with Journal(None) as journal, journal.transaction():
        assert journal.answer(KEY, Entry("four")).text == "four"
        journal.fail(KEY, Entry("", error="x"))
    with Journal(None) as journal:
        assert journal.answered([KEY]) == set()


def test_a_text_that_many_questions_share_is_kept_once(monkeypatch):
    monkeypatch.setattr("mensura.llm.journal_file._TEXTS_REMEMBERED", 2)
    with Journal(None) as journal:
        numbers = [journal.texts.keep(text) for text in ("a", "b", "a", "c", "a", "b")]
        assert numbers[0] == numbers[2] == numbers[4] and numbers[1] == numbers[5]
        assert len(set(numbers)) == 3
        assert journal.connection.execute("SELECT count(*) FROM texts").fetchone() == (3,)


def test_keys_are_hidden_before_a_text_is_stored():
    with Journal(None, redact=lambda text: text.replace("secret", "[key]")) as journal:
        assert journal.texts.unpack(journal.texts.pack("my secret, \ud800")) == "my [key], \ufffd"
        with pytest.raises(DamagedError, match="a text is damaged"):
            journal.texts.unpack(b"no text")
        with pytest.raises(DamagedError):
            journal.texts.unpack(None)


def test_a_row_is_whole_where_its_texts_are_there_and_its_checksum_agrees():
    with Journal(None) as journal:
        pack = journal.texts.pack
        cells = (1, 2, 3, "4", "", 5, 6, None, 0.5, 1)
        row = (9, b"key", 1, pack("q"), pack("4:four"), 0.0, 1.0, row_checksum(b"key", *cells), *cells)

        def whole(texts=frozenset({1, 2, 3}), **changed):
            places = {"state": 2, "question": 3, "answer": 4, "checksum": 7, "value": 11}
            cells = list(row)
            for name, cell in changed.items():
                cells[places[name]] = cell
            return _is_whole(tuple(cells), "calls", journal.texts, set(texts))

        assert whole() and whole(state=0)
        assert not whole(texts={1, 2}) and not whole(state=4) and not whole(question=b"x")
        assert not whole(checksum=7) and not whole(value="5") and not whole(answer=pack("four"))
        assert whole(answer=None, checksum=None)
        assert _is_whole((1, b"d", pack("t")), "texts", journal.texts, set())
        assert not _is_whole((1, b"d", b"t"), "texts", journal.texts, set())


def test_recovery_of_a_journal_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(MensuraError, match="no such journal; check the name of the journal"):
        recover_journal(tmp_path / "none.sqlite")
