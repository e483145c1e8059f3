"""A damaged store is refused in a sentence that names the file, the damage and the way out."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from mensura.core.errors import MensuraError
from mensura.ledger import export_ledger, has_history, import_ledger, init_ledger, open_ledger
from mensura.ledger.captures import MOST_BYTES
from mensura.ledger.opening import is_ledger_folder
from tests.ledger.small import ANN, BOB, score, small_ledger, update, write_small

PAGE = b"Big 1: 33\r\n\xff"  # to the byte, which need be no text
MALFORMED = """
PRAGMA writable_schema = 1;
UPDATE sqlite_master SET sql = 'CREATE TABL scores(' WHERE name = 'scores';
"""


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("DROP TABLE ledger_entries", "the table ledger_entries is missing"),
        ("DROP TABLE scores", "the table scores is missing"),
        ("DROP TABLE ledger_captures", "the table ledger_captures is missing"),
        ("ALTER TABLE scores RENAME COLUMN subject TO s", "column subject of the table scores is missing"),
        ("ALTER TABLE ledger_cells DROP COLUMN line", "column line of the table ledger_cells is missing"),
        ("DELETE FROM ledger_entries", "its log has no first entry"),
        ("UPDATE scores SET score = x'00ff'", "a cell of the table scores is no text"),
        (MALFORMED, "the file is damaged"),
    ],
)
def test_a_damaged_store_is_refused_in_words(tmp_path, damage, words):
    path = small_ledger(tmp_path / "evidence.db").path
    with closing(sqlite3.connect(path)) as store:
        store.executescript(damage)
        store.commit()
    with pytest.raises(MensuraError, match=words) as told:
        open_ledger(path).evidence()
    assert str(told.value).startswith(f"{path}: ")
    assert "restore a backup" in str(told.value)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A small store with a capture and an update, as a folder of text."""
    place = tmp_path_factory.mktemp("opening")
    ledger = small_ledger(place / "store.db")
    ledger.add_capture(PAGE, source="lab", address="board.html", **ANN)
    ledger.apply(update(score("big-1", "hle", "30.5", "33", source="lab")), **BOB)
    export_ledger(ledger, place / "folder")
    return place / "folder"


@pytest.fixture
def folder(exported, tmp_path):
    return Path(shutil.copytree(exported, tmp_path / "folder"))


def test_a_folder_gives_back_the_same_store(folder, tmp_path):
    assert is_ledger_folder(folder)
    again = import_ledger(tmp_path / "again.db", folder)
    assert again.version().entry == 1
    export_ledger(again, tmp_path / "second")
    files = sorted(file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    assert files == sorted(
        file.relative_to(tmp_path / "second") for file in (tmp_path / "second").rglob("*") if file.is_file()
    )
    assert all((folder / file).read_bytes() == (tmp_path / "second" / file).read_bytes() for file in files)
    with pytest.raises(MensuraError, match="exists; choose another name"):
        import_ledger(tmp_path / "again.db", folder)


@pytest.mark.parametrize(
    ("file", "change", "words"),
    [
        ("entries.csv", None, "no such file; the folder is not a complete ledger"),
        ("entries.csv", lambda text: text.replace("entry,", "number,", 1), "expected the columns entry"),
        (
            "entries.csv",
            lambda text: text.replace("\n1,", "\none,"),
            "record 3: entry is 'one'; expected a whole number",
        ),
        ("entries.csv", lambda text: text.replace("\n1,", "\n1,x,"), "record 3: .* cells; expected"),
        ("entries.csv", lambda text: text + text.splitlines()[-1] + "\n", "expected each row once"),
        ("cells.csv", lambda text: text.replace("33", "34"), "30.5 → 34, but the tables differ"),
        ("cells.csv", lambda text: text + '"', "not a CSV file in UTF-8"),
    ],
)
def test_a_damaged_history_is_refused(folder, tmp_path, file, change, words):
    place = folder / "ledger" / file
    if change is None:
        place.unlink()
    else:
        text = place.read_text(encoding="utf-8")
        assert change(text) != text
        place.write_text(change(text), encoding="utf-8")
    with pytest.raises(MensuraError, match=words):
        import_ledger(tmp_path / "again.db", folder)
    assert not (tmp_path / "again.db").exists(), "all of it or nothing"


def test_an_update_that_is_not_what_its_name_says_is_refused(folder, tmp_path):
    (file,) = (folder / "ledger" / "updates").iterdir()
    text = file.read_bytes()
    file.write_bytes(text + b"\n")
    with pytest.raises(MensuraError, match="the content does not match its hash"):
        import_ledger(tmp_path / "again.db", folder)
    file.unlink()
    with pytest.raises(MensuraError, match=r"absent, or above .* bytes, but updates.csv lists it"):
        import_ledger(tmp_path / "again.db", folder)
    file.write_bytes(text)
    listed = folder / "ledger" / "updates.csv"
    listed.write_text(listed.read_text(encoding="utf-8").replace(file.stem, "../../secret"), encoding="utf-8")
    with pytest.raises(MensuraError, match=r"'../../secret' is not a hash; expected \d+ hexadecimal digits"):
        import_ledger(tmp_path / "again.db", folder)


def test_a_capture_comes_back_to_the_byte_or_is_refused(folder, tmp_path):
    (file,) = (folder / "ledger" / "captures").iterdir()
    back = import_ledger(tmp_path / "again.db", folder).capture(file.stem)
    assert (back.data, back.source, back.address, back.by) == (PAGE, "lab", "board.html", "Ann")
    file.write_bytes(PAGE.replace(b"33", b"34"))
    with pytest.raises(MensuraError, match="the content does not match its hash; restore the file"):
        import_ledger(tmp_path / "changed.db", folder)
    with file.open("r+b") as large:
        large.truncate(MOST_BYTES + 1)
    with pytest.raises(MensuraError, match=f"absent, or above {MOST_BYTES:,} bytes, but captures.csv lists it"):
        import_ledger(tmp_path / "changed.db", folder)


def test_a_store_keeps_a_history_and_other_files_none(tmp_path):
    path = small_ledger(tmp_path / "evidence.db").path
    assert has_history(path)
    assert not has_history(tmp_path)
    assert not has_history(tmp_path / "none.db")
    (tmp_path / "text.db").write_text("no store", encoding="utf-8")
    assert not has_history(tmp_path / "text.db")
    with closing(sqlite3.connect(tmp_path / "other.db")) as store:
        store.execute("CREATE TABLE scores (subject TEXT)")
        store.commit()
    assert not has_history(tmp_path / "other.db")
    assert not is_ledger_folder(tmp_path)
    with pytest.raises(MensuraError, match="exists; choose another name"):
        init_ledger(path, **ANN)


def test_a_store_is_made_of_evidence_in_memory_and_its_log_says_of_what(tmp_path):
    evidence = small_ledger(tmp_path / "evidence.db").evidence()
    again = init_ledger(tmp_path / "again.db", evidence, **BOB)
    (entry,) = again.entries().to_dicts()
    assert (entry["kind"], entry["title"], entry["by"], entry["time"]) == (
        *("init", f"from {evidence.origin}", "Bob"),
        "2026-11-15T13:00:00+00:00",
    )
    assert all(again.evidence().tables()[name].equals(frame) for name, frame in evidence.tables().items())


def test_evidence_that_is_not_sound_becomes_no_store(tmp_path):
    folder = write_small(tmp_path / "small")
    (folder / "scores.csv").write_text((folder / "scores.csv").read_text().replace("big-2", "big-9"), encoding="utf-8")
    with pytest.raises(MensuraError, match="big-9"):
        init_ledger(tmp_path / "store.db", folder, **ANN)
    assert not (tmp_path / "store.db").exists()


def test_a_plain_store_has_no_history(tmp_path):
    path = small_ledger(tmp_path / "evidence.db").path
    with closing(sqlite3.connect(path)) as store:
        store.execute("PRAGMA user_version = 0")
        store.commit()
    with pytest.raises(MensuraError, match=r"a store without a history .*evidence init --from .* --store NEW makes"):
        open_ledger(path)
