"""The file of the answers: private, even in time, closed on demand, without deleted text, and refused when damaged."""

import random
import sqlite3
import stat
import time

import pytest

from mensura.core.checksums import sums_of
from mensura.core.errors import MensuraError
from mensura.exam import AnswerStore, read_exam
from mensura.exam.records import CHECKED, RefusedError
from tests.exam.conftest import ITEMS, TOML, Clock, filled, started, write_exam


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


def test_a_store_of_another_version_is_refused(tmp_path, exam):
    path = tmp_path / "other.db"
    AnswerStore(path, exam).close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE meta SET value = '99' WHERE name = 'version'")
        for fact, value in sums_of(db, CHECKED).items():
            db.execute("UPDATE meta SET value = ? WHERE name = ?", (value, fact))
    with pytest.raises(MensuraError, match=r"version 99; expected 4\. Use the Mensura that wrote it"):
        AnswerStore(path, exam)


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


def test_what_others_may_read_lets_nobody_in(store):
    code, _ = store.begin(token="invitation", panel="id")
    [row] = store.rows("sittings")
    assert not {"code", "panel", "completion"} & set(row)
    assert code not in str(row)


def test_visits_go_to_the_disk_with_the_next_person_or_the_end(store, exam):
    store.count_visit()
    store.count_visit()
    store.begin()
    store.count_visit()
    assert store.opened == 3
    store.close()
    again = AnswerStore(store.path, exam)
    assert (again.opened, again.forgotten, again.is_closed) == (3, 0, False)
    again.close()


def test_a_disk_is_probed_at_most_once_a_second(store, clock, monkeypatch):
    store.probe()
    monkeypatch.setattr(store, "_fact", lambda name: "lost")
    store.probe()
    clock.now += 1.0
    with pytest.raises(MensuraError, match="what was written is not read back; check the disk"):
        store.probe()
