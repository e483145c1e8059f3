"""The store: acknowledged answers stay, hostile ones are refused, a code deletes everything."""

import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from mensura.core.checksums import sums_of
from mensura.core.errors import MensuraError
from mensura.exam import AnswerStore, read_exam
from mensura.exam.gathering import people_outcomes
from mensura.exam.records import CHECKED, OvertakenError, RefusedError, forget_code, is_log_whole, repair_store
from tests.exam.conftest import ITEMS, TOML, write_exam


class Clock:
    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, exam, clock):
    store = AnswerStore(tmp_path / "answers.db", exam, clock=clock, steady=clock)
    yield store
    store.close()


def started(store):
    code, _ = store.begin()
    store.start(store.find(code))
    return code, store.find(code)


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


@pytest.mark.parametrize(
    ("item", "given"),
    [
        *(("other", [0]), ("capital", [3]), ("capital", [-1]), ("capital", [0, 0]), ("capital", "Nairobi")),
        *(("half", [0]), ("half", "9" * 5_001)),
    ],
)
def test_answers_that_the_form_does_not_have_are_refused(store, item, given):
    _, sitting = started(store)
    with pytest.raises(RefusedError):
        store.answer(sitting, item, given, seconds=0)
    assert store.answers(sitting) == {}


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


def test_a_clock_that_jumps_makes_nothing_late_and_no_time_negative(tmp_path):
    exam = read_exam(write_exam(tmp_path / "timed", TOML + "[time]\nminutes = 10\n"))
    wall, steady = Clock(), Clock()
    code = None
    for jump in (7200, 0, -10_800):  # two hours on, a new run with that clock, three hours back
        store = AnswerStore(tmp_path / "timed.db", exam, clock=wall, steady=steady)
        if code is None:
            code, _ = started(store)
        sitting = store.find(code)
        store.show(sitting, "half")
        wall.now += jump + 30
        steady.now += 30
        assert store.answer(sitting, "half", str(jump), seconds=0).late is False
        assert store.now() - sitting.started <= 90
        store.close()
    wall.now -= 86_400  # set back while the server was off
    store = AnswerStore(tmp_path / "timed.db", exam, clock=wall, steady=steady)
    store.finish(store.find(code))
    done = store.find(code)
    assert 90 <= done.finished - done.started <= 91
    assert store.answers(done)["half"].seconds == 90
    store.begin()
    assert store.notes == (
        "the server's clock moved during the exam (+7,200 s, -10,800 s, -86,400 s); times were counted without it",
    )
    store.close()


def test_small_corrections_of_the_clock_are_not_noted(tmp_path, exam):
    wall, steady = Clock(), Clock()
    store = AnswerStore(tmp_path / "slewed.db", exam, clock=wall, steady=steady)
    wall.now += 3
    store.begin()
    assert store.notes == ()
    store.close()


def test_a_token_lets_one_person_in_once_and_a_panels_id_goes_on(store):
    code, sitting = store.begin(token="one", panel="5f3a")
    with pytest.raises(RefusedError, match="used before"):
        store.begin(token="one")
    assert store.begin(panel="5f3a") == (code, sitting)
    assert store.begin(token="two", panel="other")[0] != code


def test_the_file_holds_no_code_and_no_token_and_is_private(store):
    code, _ = store.begin(token="invitation-77", panel="PROLIFIC-5f3a9")
    store.close()
    data = b"".join(path.read_bytes() for path in store.path.parent.glob("answers.db*"))
    assert not any(word.encode() in data for word in (code, "invitation-77"))
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


def test_forgetting_deletes_everything_also_from_the_file(store):
    code, sitting = started(store)
    other, _ = started(store)
    store.answer(sitting, "poet", "my name is Zebediah", seconds=0)
    assert store.forget(code) is True
    assert store.forget(code) is False
    assert store.find(code) is None
    assert store.find(other) is not None
    assert store.forgotten == 1
    assert store.is_purged
    assert b"Zebediah" not in contents(store)
    _, third = store.begin()
    assert third.number == 3  # a form is never given twice by a reused number


def contents(store):
    return b"".join(path.read_bytes() for path in store.path.parent.glob("answers.db*"))


@pytest.fixture
def reading(store):
    """Another program that is in the midst of reading the file, such as a backup."""
    other = sqlite3.connect(store.path)
    other.execute("BEGIN")

    def start():
        other.execute("SELECT count(*) FROM answers").fetchone()
        return other

    yield start
    other.close()


def test_forgetting_does_not_wait_for_a_reader_and_completes_when_it_ends(store, reading, monkeypatch):
    monkeypatch.setattr(AnswerStore, "PURGE_EVERY", 0.05)
    code, sitting = started(store)
    store.answer(sitting, "poet", "my name is Zebediah", seconds=0)
    reader = reading()
    begun = time.monotonic()
    assert store.forget(code) is True
    assert time.monotonic() - begun < 25  # it once waited for half a minute
    assert store.is_purged is False
    assert b"Zebediah" in contents(store)
    started(store)  # others go on meanwhile
    reader.close()
    while not store.is_purged:
        assert time.monotonic() - begun < 60
        time.sleep(0.01)
    assert b"Zebediah" not in contents(store)


def test_a_deletion_that_a_reader_delayed_completes_when_the_store_opens_again(store, exam, reading):
    code, sitting = started(store)
    store.answer(sitting, "poet", "my name is Zebediah", seconds=0)
    reader = reading()
    store.forget(code)
    store.close()
    assert b"Zebediah" in contents(store)
    reader.execute("COMMIT")
    again = AnswerStore(store.path, exam)
    assert again.is_purged is True
    assert b"Zebediah" not in contents(store)
    again.close()


def test_a_closed_exam_takes_nothing_until_it_is_opened_again(store):
    _, sitting = started(store)
    store.set_closed(True)
    for refused in (store.begin, lambda: store.answer(sitting, "capital", [0], seconds=0)):
        with pytest.raises(RefusedError, match="closed"):
            refused()
    store.set_closed(False)
    store.answer(sitting, "capital", [0], seconds=0)


def test_answers_to_another_exam_are_not_mixed(store, tmp_path):
    other = read_exam(write_exam(tmp_path / "other", items=ITEMS.replace("Capital of Kenya", "Capital")))
    with pytest.raises(MensuraError, match="another version of the exam"):
        AnswerStore(store.path, other)
    (tmp_path / "noise.db").write_bytes(b"no database" * 100)
    with pytest.raises(MensuraError, match="not a store of answers"):
        AnswerStore(tmp_path / "noise.db", other)


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


def test_a_store_of_another_version_is_refused(tmp_path, exam):
    path = tmp_path / "other.db"
    AnswerStore(path, exam).close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE meta SET value = '99' WHERE name = 'version'")
        for fact, value in sums_of(db, CHECKED).items():
            db.execute("UPDATE meta SET value = ? WHERE name = ?", (value, fact))
    with pytest.raises(MensuraError, match=r"version 99; expected 4\. Use the Mensura that wrote it"):
        AnswerStore(path, exam)


def filled(path, exam, people=30):
    """A closed store of several people."""
    store = AnswerStore(path, exam)
    for number in range(people):
        code, _ = store.begin(panel=f"id{number}")
        store.start(store.find(code))
        store.answer(store.find(code), "capital", [number % 3], seconds=3.0)
        store.answer(store.find(code), "poet", f"Poet {number}", seconds=3.0)
        store.finish(store.find(code))
    content = {table: store.rows(table) for table in ("sittings", "answers", "shown")}, store.codes().rows()
    store.close()
    return content


@pytest.mark.slow
def test_a_flipped_bit_is_noticed_or_changes_nothing(tmp_path, exam):
    path = tmp_path / "answers.db"
    content = filled(path, exam)
    whole, rng = path.read_bytes(), random.Random(1)
    noticed = 0
    for _ in range(150):
        data = bytearray(whole)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        try:
            store = AnswerStore(path, exam)
        except MensuraError as fault:
            assert str(path) in str(fault)
            assert "mensura exam repair" in str(fault)
            noticed += 1
            continue
        assert ({table: store.rows(table) for table in content[0]}, store.codes().rows()) == content
        store.close()
    assert noticed > 30
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def test_a_change_by_another_program_and_a_lost_row_are_noticed(tmp_path, exam):
    path = tmp_path / "answers.db"
    changes = {
        "UPDATE answers SET answer = '[9]' WHERE number = 3": "answers",
        "DELETE FROM shown WHERE number = 4": "shown",
    }
    for change, table in changes.items():
        path.unlink(missing_ok=True)
        filled(path, exam, 5)
        with sqlite3.connect(path) as db:
            db.execute(change)
        with pytest.raises(MensuraError, match=f"its rows of {table} differ from their checksums"):
            AnswerStore(path, exam)


@pytest.mark.slow
def test_a_damaged_log_of_a_killed_server_is_noticed(tmp_path, exam):
    path = tmp_path / "answers.db"
    store = AnswerStore(path, exam)
    for number in range(8):
        code, _ = store.begin(panel=f"id{number}")
        store.start(store.find(code))
        store.answer(store.find(code), "poet", "Goethe", seconds=1.0)
    left = {ending: path.with_name(path.name + ending).read_bytes() for ending in ("", "-wal")}
    store.close()
    copy, rng = tmp_path / "copy.db", random.Random(2)
    for _ in range(60):
        log = bytearray(left["-wal"])
        log[rng.randrange(32, len(log))] ^= 1 << rng.randrange(8)
        copy.write_bytes(left[""])
        copy.with_name("copy.db-wal").write_bytes(log)
        assert not is_log_whole(copy)
        with pytest.raises(MensuraError, match=r"its log \(-wal\) cannot be read|damaged"):
            AnswerStore(copy, exam)
    copy.write_bytes(left[""])
    copy.with_name("copy.db-shm").unlink(missing_ok=True)
    copy.with_name("copy.db-wal").write_bytes(left["-wal"][:-100])  # the server died while it wrote
    store = AnswerStore(copy, exam)
    assert len(store.rows("sittings")) == 8
    store.close()


def test_a_repaired_store_has_what_can_be_read_and_keeps_the_damaged_file(tmp_path, exam):
    path = tmp_path / "answers.db"
    filled(path, exam)
    before = path.read_bytes()
    place = before.index(b"Poet 17")
    path.write_bytes(before[:place] + b"POET 17" + before[place + 7 :])
    with pytest.raises(MensuraError, match="its rows of answers differ from their checksums"):
        AnswerStore(path, exam)
    summary = repair_store(path)
    assert (
        "kept 30 rows of sittings, 60 rows of answers. Whole by their checksums: meta, sittings, tokens, shown."
        in summary
    )
    assert (tmp_path / "answers.db.damaged").is_file()
    store = AnswerStore(path, exam)
    assert people_outcomes(exam, store).height == 60
    assert store.begin(panel="id3")[1].number == 4
    store.close()
    path.write_bytes(before.replace(b"CREATE TABLE answers", b"CREA\xd4E TABLE answers"))
    for refused in (lambda: AnswerStore(path, exam), lambda: forget_code(path, "AAAA")):
        with pytest.raises(MensuraError, match="not a store of answers"):
            refused()
    path.write_bytes(before.replace(b"completion TEXT NOT NULL, language", b"completion TEXT NOT NULL, lAnguage"))
    with pytest.raises(MensuraError, match=r"damaged: its schema differs.*mensura exam repair"):
        AnswerStore(path, exam)
    assert "kept 30 rows of sittings, 60 rows of answers. Whole by their checksums: meta, " in repair_store(path)
    AnswerStore(path, exam).close()
    (tmp_path / "none.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(MensuraError, match="nothing can be read"):
        repair_store(tmp_path / "none.db")
