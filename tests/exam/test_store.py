"""The store: acknowledged answers stay, hostile ones are refused, a code deletes everything."""

import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from mensura.exam import AnswerStore, read_exam
from mensura.exam.records import OvertakenError, RefusedError
from tests.exam.conftest import TOML, started, write_exam


def test_a_sitting_from_consent_to_its_end(store, clock):
    code, sitting = store.begin()
    store.describe(sitting, {"age": "40 or older", "shoe": "44"})
    store.start(sitting)
    clock.now += 7
    assert store.answer(store.find(code), "capital", [0], seconds=4.0, left=1).late is False
    store.finish(sitting)
    found = store.find(f"{code[:5]}-{code[5:].lower()}")
    assert found.about == {"age": "40 or older"}
    assert (found.started, found.finished) == (1_000_000.0, 1_000_007.0)
    assert store.answers(found)["capital"].given == [0]
    assert store.rows("shown") == [{"number": 1, "item": "capital", "at": clock.now, "left": 1}]


def test_the_store_counts_the_versions_of_an_answer_and_takes_only_what_follows_the_stored_one(store):
    _, sitting = started(store)
    assert store.answer(sitting, "capital", [1], seconds=0, after=0).edit == 1
    assert store.answer(sitting, "capital", [1], seconds=0, after=0, made=1).edit == 1  # once more: its reply was lost
    with pytest.raises(OvertakenError) as overtaken:
        store.answer(sitting, "capital", [0], seconds=0, after=0)
    assert (overtaken.value.stored.edit, overtaken.value.stored.given) == (1, [1])
    assert store.answers(sitting)["capital"].given == [1]
    assert store.answer(sitting, "capital", [2], seconds=0, after=1).edit == 2
    assert (
        store.answer(sitting, "capital", [0], seconds=0).edit == 3
    )  # a page without scripts: sent by a press, so last
    assert store.answers(sitting)["capital"].given == [0]


def test_of_two_devices_the_one_where_the_person_changed_last_is_newer(store, clock):
    _, sitting = started(store)
    store.show(sitting, "capital")
    clock.now += 100
    store.answer(sitting, "capital", [1], seconds=0, after=0, made=clock.now - 60)  # without connection for a minute
    for ago, is_newer in ((70, True), (50, False), (1e9, True), (-1e9, False)):
        with pytest.raises(OvertakenError) as overtaken:
            store.answer(sitting, "capital", [2], seconds=0, after=0, made=clock.now - ago)
        assert overtaken.value.is_newer is is_newer


def test_a_page_cannot_claim_more_time_than_has_passed(store, clock):
    _, sitting = started(store)
    store.show(sitting, "half")
    clock.now += 10
    store.answer(sitting, "half", "2.5", seconds=3600)
    assert store.answers(sitting)["half"].seconds == 10


def test_the_server_times_a_page_without_scripts(store, clock):
    _, sitting = started(store)
    store.show(sitting, "half")
    clock.now += 12
    store.answer(sitting, "half", "2.5", seconds=0)
    assert store.answers(sitting)["half"].seconds == 12


def test_nothing_is_answered_before_the_start_or_after_the_end(store):
    code, sitting = store.begin()
    with pytest.raises(RefusedError):
        store.answer(sitting, "capital", [0], seconds=0)
    store.start(sitting)
    store.finish(sitting)
    with pytest.raises(RefusedError, match="finished"):
        store.answer(store.find(code), "capital", [0], seconds=0)


def test_late_answers_are_kept_and_marked_but_never_replace_one_in_time(tmp_path, clock):
    exam = read_exam(write_exam(tmp_path / "timed", TOML + "[time]\nminutes = 1\n"))
    store = AnswerStore(tmp_path / "timed.db", exam, clock=clock, steady=clock)
    _, sitting = started(store)
    store.answer(sitting, "capital", [0], seconds=0)
    clock.now += 64  # within the seconds an answer may travel
    assert store.answer(sitting, "primes", [0], seconds=0).late is False
    clock.now += 2
    assert store.answer(sitting, "half", "2.5", seconds=0).late is True
    assert store.answer(sitting, "capital", [0], seconds=0, after=1).late is False  # unchanged: the page moves on
    with pytest.raises(RefusedError, match="in time counts"):
        store.answer(sitting, "capital", [1], seconds=0, after=1)
    found = store.answers(sitting)
    assert (found["capital"].given, found["capital"].late, found["half"].late) == ([0], False, True)


def test_a_token_lets_one_person_in_once_and_a_panels_id_goes_on(store):
    code, sitting = store.begin(token="one", panel="5f3a")
    with pytest.raises(RefusedError, match="used before"):
        store.begin(token="one")
    assert store.begin(panel="5f3a") == (code, sitting)
    assert store.begin(token="two", panel="other")[0] != code


def test_many_threads_write_at_once(store):
    sittings = [started(store)[1] for _ in range(8)]

    def answer_all(sitting):
        for edit in range(1, 11):
            store.answer(sitting, "half", str(edit), seconds=0)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(answer_all, sittings))
    assert [store.answers(sitting)["half"].given for sitting in sittings] == ["10"] * 8


WRITER = """
import sys
from mensura.exam import AnswerStore, read_exam
store = AnswerStore(__import__("pathlib").Path(sys.argv[1]), read_exam(sys.argv[2]))
code, sitting = store.begin()
store.start(sitting)
print(code, flush=True)
edit = 0
while True:
    edit += 1
    store.answer(sitting, "half", str(edit), seconds=0)
    print(edit, flush=True)
"""


@pytest.mark.slow
def test_a_killed_writer_loses_no_acknowledged_answer(tmp_path, exam):
    for _ in range(3):
        path = tmp_path / "killed.db"
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(exam.folder)], stdout=subprocess.PIPE, text=True
        )
        code = process.stdout.readline().strip()
        for _ in range(20):
            process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
        acknowledged = int((["20", *process.stdout.read().split()])[-1])
        process.wait()
        process.stdout.close()
        store = AnswerStore(path, exam)
        assert int(store.answers(store.find(code))["half"].given) >= acknowledged
        store.close()
        assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_the_completion_code_is_earned_by_an_answer_to_every_item(store):
    given = {"capital": [0], "primes": [0, 2], "half": "2.5", "poet": "Goethe", "look": [1]}

    def earned(items, *, ends=True):
        code, sitting = started(store)
        for item in items:
            store.answer(sitting, item, given[item], seconds=1.0)
        if ends:
            store.finish(sitting)
        return store.earned_code(store.find(code)) == sitting.completion

    assert earned(given)
    assert not earned(given, ends=False)
    assert not earned(list(given)[:-1])
    assert not earned([])
