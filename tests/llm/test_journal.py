"""The journal by itself: claims, owners, first answers, what it refuses, how small it is."""

import os
import random
import sqlite3
import subprocess
import sys
import time
import zlib

import pytest

from mensura.core.errors import MensuraError
from mensura.llm import Journal, Question, Settings, audit_table, open_asker
from mensura.llm.entries import Entry
from mensura.llm.journal import Hold
from mensura.llm.keys import KeyMaker
from mensura.llm.owners import LEASE_SECONDS, Holder, birth_of, this_machine
from mensura.llm.packing import AlonePacking, Packing, dictionary_of
from mensura.llm.redaction import plain_url, redactor, secrets_of
from tests.llm.conftest import questions, read_level

SETTINGS = Settings("mine")
QUESTION = Question("How hard?", system="You judge.", schema={"type": "object"}, repeat=2, about={"item": "a"})
KEY = KeyMaker(SETTINGS)(QUESTION)


def claim(journal, question=QUESTION):
    with journal.transaction():
        return journal.claim(KeyMaker(SETTINGS)(question), question, SETTINGS.text())


def test_a_claim_is_on_the_disk_before_the_call_and_holds_against_others(tmp_path):
    with Journal(tmp_path / "j.sqlite") as first, Journal(tmp_path / "j.sqlite") as second:
        assert claim(first) is Hold.MINE
        assert claim(second) is Hold.ANOTHER
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


def test_a_failed_or_released_or_abandoned_question_may_be_asked_by_another(tmp_path):
    other = Journal(tmp_path / "j.sqlite")
    with Journal(tmp_path / "j.sqlite") as journal:
        claim(journal)
        with journal.transaction():
            journal.fail(KEY, Entry("", error="HTTP 500", attempts=6))
        assert claim(other) is Hold.MINE
        assert claim(journal) is Hold.ANOTHER
        with other.transaction():
            other.release([KEY])
        assert claim(journal) is Hold.MINE
        assert claim(other) is Hold.ANOTHER
    assert claim(other) is Hold.MINE
    other.close()


def test_a_process_that_is_gone_is_known_at_once_and_a_silent_one_after_the_lease():
    here = this_machine()
    gone = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    born = birth_of(gone.pid)
    holder = Holder(here, gone.pid, born, beat=100.0)
    assert not holder.dead(now=101.0, here=here)
    gone.communicate(b"\n")
    assert holder.dead(now=101.0, here=here)
    assert not holder.dead(now=101.0, here="another machine")
    assert holder.dead(now=101.0 + LEASE_SECONDS, here="another machine")
    me = os.getpid()
    assert not Holder(here, me, birth_of(me), beat=0.0).dead(now=LEASE_SECONDS, here=here)
    assert Holder(here, me, "another birth", beat=0.0).dead(now=1.0, here=here), "the number was given to another"


def test_a_rolled_back_claim_leaves_nothing_behind(tmp_path):
    with Journal(tmp_path / "j.sqlite") as journal:
        with pytest.raises(ZeroDivisionError), journal.transaction():
            journal.claim(KEY, QUESTION, SETTINGS.text())
            raise ZeroDivisionError
        assert claim(journal) is Hold.MINE
        assert list(journal.rows("SELECT count(*) FROM owners")) == [(1,)]
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
    with pytest.raises(MensuraError, match="not a journal"):
        Journal(tmp_path / "notes.txt")
    assert opened == closed != []


def test_other_files_are_refused_and_stay_as_they_are(tmp_path):
    (tmp_path / "notes.txt").write_text("no database at all, but long enough to be looked at as one " * 20)
    with sqlite3.connect(tmp_path / "other.sqlite") as other:
        other.execute("CREATE TABLE mine (a)")
    other.close()
    for name, message in [("notes.txt", "not a journal"), ("other.sqlite", "not a journal of format"), (".", "folder")]:
        with pytest.raises(MensuraError, match=message):
            Journal(tmp_path / name)
    with pytest.raises(MensuraError, match="no such journal"):
        Journal(tmp_path / "missing.sqlite", create=False)
    assert not (tmp_path / "missing.sqlite").exists()
    assert (tmp_path / "notes.txt").read_text().startswith("no database")


def test_a_typical_call_takes_less_than_two_kilobytes(serve, tmp_path):
    """A rubric of 3 kB, an item of 600 bytes of its own, an answer of 500: what one annotation call looks like."""
    words = ["the", "level", "rises", "with", "every", "further", "step", "of", "reasoning", "kept", "in", "mind"]

    def varied(seed: int, length: int) -> str:
        return " ".join(
            f"{words[(seed * 7 + place * place) % len(words)]}{(seed + place) % 97}" for place in range(length)
        )

    rubric = "Rubric. " + varied(1, 450)
    asked = [
        Question(f"{rubric}\n\nItem {number}: {varied(number, 85)}", about={"item": str(number)})
        for number in range(500)
    ]
    server = serve(answer=lambda prompt, _: '{"level": 3, "why": "' + varied(len(prompt), 70) + '"}')
    path = tmp_path / "j.sqlite"
    with open_asker("mine", journal=path, base_url=server.url) as asker:
        answers = asker.ask(asked, read_level)
    plain = sum(len(a.question.prompt) + len(a.text) for a in answers) / len(answers)
    assert plain > 4000
    assert path.stat().st_size / len(answers) < 2000


def test_packed_texts_come_back_whatever_the_dictionary():
    samples = [f"The rubric says {number}: count the steps. é ∑" for number in range(20)]
    packing = Packing(3, dictionary_of(samples))
    for text in [*samples, "", "x" * 100_000, "\N{GRINNING FACE}"]:
        assert packing.unpack(packing.pack(text)) == text
        assert packing.pack(text)[0] == 3
    assert len(packing.pack(samples[0])) < 0.5 * len(Packing(0, b"").pack(samples[0]))


@pytest.mark.parametrize("length", [0, 1, 300, 2047, 2048, 2049, 2100, 70_000])
def test_an_answer_comes_back_whatever_its_length_and_is_smaller_than_its_text(length):
    text = "".join(f"step {number * number} ∑ " for number in range(10_000))[:length]
    packing = AlonePacking()
    packed = packing.pack(text)
    assert packing.unpack(packed) == text
    assert len(packed) < max(16, 0.75 * len(text.encode()))


def test_texts_of_journals_written_before_are_read():
    """Earlier versions packed by DEFLATE, with the same dictionaries."""
    known = dictionary_of(["The rubric says: count the steps."])
    packer = zlib.compressobj(4, zlib.DEFLATED, -15, zdict=known)
    packed = b"\3" + packer.compress(b"The rubric says: count the stones.") + packer.flush()
    assert Packing(3, known).unpack(packed) == "The rubric says: count the stones."


def test_answers_of_journals_written_before_are_read(tmp_path):
    """Earlier versions packed answers by DEFLATE."""
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = b"\0" + packer.compress(b"4:fourbecause") + packer.flush()
    with Journal(tmp_path / "j.sqlite") as journal:
        claim(journal)
        with journal.transaction():
            journal.answer(KEY, Entry("none", "4"))
            journal.connection.execute("UPDATE calls SET answer = ?", (packed,))
        assert (journal.find([KEY])[KEY].text, journal.find([KEY])[KEY].rationale) == ("four", "because")


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


def test_a_key_does_not_hang_on_the_questions_that_were_hashed_before():
    rubric = "The level rises with every further step that must be kept in mind. " * 20
    asked = [
        Question(f"{rubric[:length]}Item {number}: é{number}", system=system, repeat=repeat)
        for number in range(5)
        for length in (0, 300, 700, 1400)
        for system in ("", "You judge.")
        for repeat in (0, 1)
    ]
    chance = random.Random(1)
    alone = {number: KeyMaker(SETTINGS)(question) for number, question in enumerate(asked)}
    assert len(set(alone.values())) == len(asked)
    for _ in range(5):
        order = chance.sample(range(len(asked)), len(asked))
        make = KeyMaker(SETTINGS)
        assert {number: make(asked[number]) for number in order} == alone


def test_a_key_is_the_same_in_every_version_of_mensura():
    """Journals outlive versions: were this hash to change, every stored answer would be paid for again."""
    assert KeyMaker(SETTINGS)(QUESTION).hex() == "f592f55b8c28a2e75628fe74092ddf0f"
    assert KeyMaker(SETTINGS)(Question("a" * 3000)).hex() == "2434bdf305cb61311512134fa55f2d8e"


def test_a_question_that_is_no_text_is_shown():
    with pytest.raises(MensuraError, match=r"no text: 'before \\ud800 after'"):
        KeyMaker(SETTINGS)(Question("before \ud800 after"))


def test_secrets_are_found_by_the_names_of_their_variables_and_hidden_longest_first():
    environment = {"X_API_KEY": "abcdefgh", "HF_TOKEN": "abcdefgh-and-more", "KEYBOARD": "qwertyuiop", "A_KEY": "short"}
    secrets = secrets_of(environment, None, "given-one")
    assert set(secrets) == {"abcdefgh", "abcdefgh-and-more", "given-one"}
    assert redactor(secrets)("sent abcdefgh-and-more, abcdefgh") == "sent [key], [key]"
    assert plain_url("https://me:pass@host:8080/v1?key=abc#x") == "https://host:8080/v1"


def test_a_journal_in_use_can_be_looked_at(serve, tmp_path):
    server = serve(delay=0.01)
    with open_asker("mine", journal=tmp_path / "j.sqlite", base_url=server.url) as asker:
        for number, _ in enumerate(asker.stream(questions(600), read_level)):
            if number == 0:
                began = time.monotonic()
                assert audit_table(tmp_path / "j.sqlite").height > 0
                assert time.monotonic() - began < 60
