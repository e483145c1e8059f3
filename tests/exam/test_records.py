"""What the store keeps: shapes of answers, codes, the log of SQLite, and the repair of damage."""

import random
import sqlite3

import pytest

from mensura.core.errors import MensuraError
from mensura.exam import AnswerStore
from mensura.exam.gathering import people_outcomes
from mensura.exam.records import (
    LENGTH,
    RefusedError,
    _is_sound,
    code_from,
    forget_code,
    hash_of,
    is_log_whole,
    new_code,
    plain_code,
    repair_store,
)
from tests.exam.conftest import filled, started


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


def test_a_code_has_no_letter_that_is_easily_mistaken_and_is_found_as_people_write_it():
    code = new_code()
    assert len(code) == 20 and not set(code) & set("IO01") and code != new_code()
    assert plain_code(f" {code[:5].lower()}-{code[5:]} ") == code
    assert hash_of(plain_code(code.lower())) == hash_of(code)


def test_the_code_of_a_panels_id_is_the_same_each_time_and_another_under_another_key():
    assert code_from(b"key", "id1") == code_from(b"key", "id1")
    assert len({code_from(b"key", "id1"), code_from(b"key", "id2"), code_from(b"other", "id1")}) == 3


def test_a_code_deletes_its_own_sitting_alone(store, tmp_path):
    (mine, _), (other, _) = started(store), started(store)
    store.close()
    assert forget_code(store.path, mine.lower()) is True
    with pytest.raises(MensuraError, match="code: no answers belong to it"):
        forget_code(store.path, mine)
    with sqlite3.connect(store.path) as db:
        assert db.execute("SELECT number FROM sittings").fetchall() == [(2,)]
    with pytest.raises(MensuraError, match="no such file"):
        forget_code(tmp_path / "none.db", other)


@pytest.fixture
def log(tmp_path, exam):
    """Return the store and its log as a killed server leaves them."""
    store = AnswerStore(tmp_path / "answers.db", exam)
    for number in range(3):
        store.begin(panel=f"id{number}")
    files = [(tmp_path / f"answers.db{ending}").read_bytes() for ending in ("", "-wal")]
    store.close()
    return files


def test_a_log_is_whole_up_to_the_frame_that_a_killed_writer_left(tmp_path, log):
    store, wal = log
    path, beside = tmp_path / "copy.db", tmp_path / "copy.db-wal"
    path.write_bytes(store)
    assert is_log_whole(path), "a store without a log"

    def whole(data):
        beside.write_bytes(data)
        return is_log_whole(path)

    size = 24 + int.from_bytes(wal[8:12], "big")
    frames = (len(wal) - 32) // size
    assert frames > 3 and whole(wal) and whole(b"") and whole(wal[:31]) and whole(wal[:32])
    assert whole(b"x" * 32), "a header alone says nothing yet"
    assert not whole(b"x" * 32 + wal[32:])
    assert whole(wal[:-1]) and whole(wal[: 32 + size - 1])
    for place in (32, 32 + 4, 32 + 17, 32 + 24, 32 + size - 1, len(wal) - 1):
        assert not whole(wal[:place] + bytes([wal[place] ^ 1]) + wal[place + 1 :]), place
    earlier = bytes(16)  # the salts and sums of an earlier use of the log
    last = 32 + (frames - 1) * size
    assert whole(wal[: last + 8] + earlier + wal[last + 24 :])
    one_salt = wal[: last + 8] + bytes(4) + wal[last + 12 :]
    assert not whole(one_salt), "a frame of an earlier use has two other salts"


@pytest.mark.parametrize(
    ("row", "sound"),
    [
        ({"number": 1, "code": b"x", "form": "{}", "begun": 1.5}, True),
        ({"number": "1"}, False),
        ({"number": None}, False),
        ({"panel": None, "about": None, "started": None, "finished": None, "language": None}, True),
        ({"code": "text"}, False),
        ({"begun": 3}, True),
        ({"begun": "3"}, False),
        ({"form": "{"}, False),
        ({"answer": "[0]"}, True),
        ({"person": 3}, False),
    ],
)
def test_a_row_is_sound_where_each_cell_has_its_type(row, sound):
    assert _is_sound(row) is sound


def test_codes_are_read_as_people_write_them():
    assert plain_code("ab-cd 23") == "ABCD23"
    assert plain_code("A" * 41) == "A" * 40
    assert len(code_from(b"key", "id")) == LENGTH
