"""The store as a file: round trips through a folder, older and newer schemas, disks that take no more."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path

import polars as pl
import pytest

import mensura
from mensura.ledger import CellChange, export_ledger, import_ledger, init_ledger, open_ledger
from mensura.ledger.store import (
    cell_of,
    evidence_changes,
    in_words,
    marked_primary,
    read_state,
    take_back,
    transaction,
    write_cell,
    written_time,
)
from tests.ledger.small import ANN, BOB, new_score, score, update


def dump(path):
    """Every row of every table of a store, and its schema."""
    with closing(sqlite3.connect(path)) as store:
        names = [row[0] for row in store.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {name: store.execute(f'SELECT * FROM "{name}" ORDER BY rowid').fetchall() for name in names}


def with_history(ledger):
    ledger.add_capture(b"raw\r\n\xff\x00text", source="board", address="https://example.org/board", **ANN)
    ledger.apply(update(score("big-1", "swe_marathon", "12", "15"), *new_score("big-2", "swe_marathon", "20")), **ANN)
    note = 'a "quote", a comma\nand a line'
    ledger.apply(update(CellChange("scores", ("big-1", "hle", "lab"), "note", None, note), title="note"), **BOB)
    ledger.undo(1, **BOB)
    ledger.propose(update(score("big-1", "hle", "30.5", "31", source="lab"), title="later"), **ANN)
    return ledger


@pytest.mark.slow
def test_a_folder_gives_back_the_same_store_with_its_history(ledger, tmp_path):
    with_history(ledger)
    export_ledger(ledger, tmp_path / "folder")
    again = import_ledger(tmp_path / "again.sqlite", tmp_path / "folder")
    assert dump(again.path) == dump(ledger.path)
    again.verify()
    export_ledger(again, tmp_path / "second")
    files = [path for path in sorted((tmp_path / "folder").rglob("*")) if path.is_file()]
    assert len(files) > 20
    for file in files:
        assert (tmp_path / "second" / file.relative_to(tmp_path / "folder")).read_bytes() == file.read_bytes()


@pytest.mark.slow
def test_the_exported_folder_is_evidence_like_any_other(ledger, tmp_path):
    export_ledger(with_history(ledger), tmp_path / "folder")
    loaded = mensura.load(tmp_path / "folder")
    assert {name: frame.rows() for name, frame in loaded.tables().items()} == {
        name: frame.rows() for name, frame in mensura.load(ledger.path).tables().items()
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("scores.csv", "12", "13", "the cells are not those of entry 3"),
        ("ledger/cells.csv", ",12,15,", ",12,16,", "but the tables differ; restore a backup|are not those of"),
        ("ledger/entries.csv", "init", "init,extra", "expected 8"),
        ("ledger/updates.csv", "update_id", "id", "expected the columns"),
    ],
)
def test_a_folder_that_was_tampered_with_is_refused(ledger, tmp_path, file, old, new, words):
    export_ledger(with_history(ledger), tmp_path / "folder")
    path = tmp_path / "folder" / file
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(mensura.MensuraError, match=words):
        import_ledger(tmp_path / "again.sqlite", tmp_path / "folder")
    assert not (tmp_path / "again.sqlite").exists()


@pytest.mark.slow
def test_a_capture_file_is_named_by_its_hash_and_stays_in_its_folder(ledger, tmp_path):
    export_ledger(with_history(ledger), tmp_path / "folder")
    listed = tmp_path / "folder" / "ledger" / "captures.csv"
    [kept] = (tmp_path / "folder" / "ledger" / "captures").iterdir()
    kept.write_bytes(b"another text")
    with pytest.raises(mensura.MensuraError, match="does not match its hash; restore the file"):
        import_ledger(tmp_path / "again.sqlite", tmp_path / "folder")
    listed.write_text(listed.read_text().replace(kept.stem, "../../../etc/passwd"))
    with pytest.raises(mensura.MensuraError, match="is not a hash"):
        import_ledger(tmp_path / "again.sqlite", tmp_path / "folder")


@pytest.mark.slow
def test_the_embedded_evidence_becomes_a_store_and_comes_back(tmp_path):
    ledger = init_ledger(tmp_path / "store.sqlite", **ANN)
    loaded, embedded = ledger.evidence(), mensura.load()
    assert all(loaded.tables()[name].equals(frame) for name, frame in embedded.tables().items())
    with pytest.raises(mensura.MensuraError, match="exists; choose another name"):
        init_ledger(ledger.path, **ANN)


@pytest.mark.slow
def test_a_plain_store_is_refused_with_the_command_that_makes_one_with_a_history(small_folder, tmp_path):
    path = tmp_path / "old.sqlite"
    init_ledger(path, small_folder, **ANN)
    with closing(sqlite3.connect(path)) as store:
        names = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE name LIKE 'ledger%'")]
        for name in ("policy", "chart_rules", *(name for name in names if name != "ledger_cells_of")):
            store.execute(f"DROP TABLE {name}")  # as Mensura 0.1 wrote it
        store.execute("PRAGMA user_version = 0")
        store.commit()
    before = path.read_bytes()
    with pytest.raises(mensura.MensuraError, match=r"without a history.*evidence init --from .* --store NEW"):
        open_ledger(path)
    ledger = init_ledger(tmp_path / "new.sqlite", path, **ANN)
    assert path.read_bytes() == before
    kept, now = mensura.load(path), ledger.evidence()
    assert all(now.tables()[name].equals(frame) for name, frame in kept.tables().items())
    ledger.apply(update(score("big-1", "swe_marathon", "12", "15")), **ANN)
    ledger.verify()
    assert open_ledger(ledger.path).version().entry == 1


def test_a_store_of_a_newer_schema_is_refused_with_a_way_forward(ledger):
    with closing(sqlite3.connect(ledger.path)) as store:
        store.execute("PRAGMA user_version = 7")
    for look in (lambda: open_ledger(ledger.path), ledger.version, lambda: mensura.load(ledger.path)):
        with pytest.raises(mensura.MensuraError, match=r"schema 7, this Mensura knows up to 1; update Mensura"):
            look()


def test_a_change_from_outside_is_found(ledger):
    ledger.apply(update(score("big-1", "swe_marathon", "12", "15")), **ANN)
    with closing(sqlite3.connect(ledger.path)) as store:
        store.execute("UPDATE scores SET score = '99' WHERE subject = 'big-2'")
        store.commit()
    with pytest.raises(mensura.MensuraError, match="another program changed the store; restore a backup"):
        ledger.verify()


def test_a_file_that_is_no_store_is_named(tmp_path):
    (tmp_path / "x.sqlite").write_bytes(b"not a database, but long enough to be read as one" * 20)
    with pytest.raises(mensura.MensuraError, match="no SQLite file; expected a store made by mensura evidence init"):
        open_ledger(tmp_path / "x.sqlite")


APPLY = """
import resource, signal, sys
from pathlib import Path
from mensura.core.errors import MensuraError
from mensura.ledger import open_ledger
from tests.ledger.small import ANN, new_score, update
kind, path = sys.argv[1], Path(sys.argv[2])
ledger = open_ledger(path)
changes = [cell for n in range(4) for cell in new_score("big-2", "hle", str(n), source=f"source {n}", primary="no")]
if kind == "full":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, resource.RLIM_INFINITY))
elif kind == "read-only":
    import os
    os.setgid(65534), os.setuid(65534)
try:
    ledger.add_capture(b"x" * 500_000, source="board", address="a", **ANN)
except MensuraError as fault:
    print(fault)
"""


def apply_elsewhere(kind, path):
    path_there = os.pathsep.join([*sys.path, str(Path(__file__).parents[2])])
    environment = {**os.environ, "PYTHONPATH": path_there, "PYTHONDONTWRITEBYTECODE": "1"}  # the full disk is real
    run = subprocess.run(
        [sys.executable, "-c", APPLY, kind, str(path)], capture_output=True, text=True, env=environment
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.mark.slow
def test_a_full_disk_is_said_and_nothing_is_lost(ledger):
    before = dump(ledger.path)
    printed = apply_elsewhere("full", ledger.path)
    assert "nothing was changed" in printed and ("the disk is full" in printed or "took no more" in printed)
    assert dump(ledger.path) == before
    ledger.verify()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can become somebody who may not write")
def test_a_disk_that_cannot_be_written_is_said_and_reading_still_works(ledger):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "store.sqlite"
        shutil.copy(ledger.path, path)
        path.chmod(0o644)
        before = path.read_bytes()
        assert "cannot be written; copy the store to where you may write; nothing was changed" in apply_elsewhere(
            "read-only", path
        )
        assert path.read_bytes() == before
        assert open_ledger(path).version().entry == 0


def test_scores_that_mark_no_primary_keep_theirs_when_an_update_marks_one(small_folder, tmp_path):
    """Without marks the first row of a pair is used; a first mark from an update must not demote all the others."""
    folder = tmp_path / "unmarked"
    shutil.copytree(small_folder, folder)
    scores = folder / "scores.csv"
    scores.write_text(scores.read_text().replace(",yes,", ",,"))
    ledger = init_ledger(tmp_path / "unmarked.sqlite", folder, **ANN)
    assert ledger.evidence().primary_scores.height == 3
    ledger.apply(update(*new_score("big-2", "swe_marathon", "20")), **ANN)
    assert ledger.evidence().primary_scores.height == 4


@pytest.mark.parametrize("unmarked", [0, 1, 3])
def test_a_store_has_the_primary_scores_of_the_folder_it_is_made_from(small_folder, tmp_path, unmarked):
    folder = tmp_path / "some"
    shutil.copytree(small_folder, folder)
    scores = folder / "scores.csv"
    scores.write_text(scores.read_text().replace(",yes,", ",,", unmarked))
    used = mensura.load(folder).primary_scores.select("subject", "benchmark")
    assert used.height == (2 if unmarked == 1 else 3)
    assert (
        init_ledger(tmp_path / "some.sqlite", folder, **ANN).evidence().primary_scores.select(used.columns).equals(used)
    )


KILLED = """
import os, signal, sys
from pathlib import Path
from mensura.ledger import log, open_ledger
from tests.ledger.small import ANN, score, update

def die(store, *_):
    store.execute("PRAGMA cache_size = 1")
    rows = ((n,) for n in range(20000))
    store.executemany("INSERT INTO ledger_cells VALUES (9, ?, 'x', 'x', 'x', NULL, NULL, NULL)", rows)
    os.kill(os.getpid(), signal.SIGKILL)

log.write_entry = die
open_ledger(Path(sys.argv[1])).apply(update(score("big-1", "swe_marathon", "12", "15")), **ANN)
"""


@pytest.mark.slow
@pytest.mark.parametrize("look", ["open", "load"])
def test_a_writer_killed_with_half_its_pages_on_disk_leaves_the_state_before(ledger, look):
    """Its pages are in the file already, and a journal beside it: whoever opens the store next takes them back."""
    before = dump(ledger.path)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(Path(__file__).parents[2])])}
    run = subprocess.run([sys.executable, "-c", KILLED, str(ledger.path)], capture_output=True, env=environment)
    assert run.returncode == -9, run.stderr
    assert Path(f"{ledger.path}-journal").stat().st_size > 0
    if look == "load":
        assert mensura.load(ledger.path).scores["score"].to_list() == [12, 30.5, 41]
    else:
        assert ledger.version().entry == 0
    assert dump(ledger.path) == before
    ledger.verify()


def faults(code):
    fault = sqlite3.OperationalError("x")
    fault.sqlite_errorcode = code
    return str(in_words(fault, Path("store.db")))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (sqlite3.SQLITE_FULL, "store.db: the disk is full (or a quota is); make room and try again; nothing was"),
        (sqlite3.SQLITE_READONLY | 0x100, "cannot be written; copy the store to where you may write"),
        (sqlite3.SQLITE_PERM, "cannot be written; copy the store"),
        (sqlite3.SQLITE_BUSY, "another program holds the store for long"),
        (sqlite3.SQLITE_CANTOPEN, "the file cannot be opened"),
        (sqlite3.SQLITE_IOERR | 0x500, "the disk failed or took no more"),
        (sqlite3.SQLITE_CORRUPT, "the file is damaged; restore a backup"),
        (sqlite3.SQLITE_NOTADB, "this is no SQLite file"),
        (sqlite3.SQLITE_ERROR, "store.db: x; nothing was changed. Run mensura evidence check on the store"),
    ],
)
def test_a_fault_of_the_disk_is_said_in_words(code, words):
    assert words in faults(code)
    assert "nothing was changed" in faults(code)


def test_the_first_score_of_a_model_and_benchmark_is_primary_where_none_is_marked():
    scores = pl.DataFrame({"subject": ["a", "a", "a", "b"], "benchmark": ["x", "x", "y", "x"], "score": list("1234")})
    assert marked_primary(scores)["primary"].to_list() == ["yes", "no", "yes", "yes"]
    blank = scores.with_columns(primary=pl.lit(None, pl.String))
    assert marked_primary(blank)["primary"].to_list() == ["yes", "no", "yes", "yes"]
    marked = scores.with_columns(primary=pl.Series([None, "yes", None, None]))
    assert marked_primary(marked).equals(marked)


def test_two_versions_of_evidence_differ_in_cells(ledger):
    before = ledger.evidence()
    ledger.apply(update(score("big-1", "swe_marathon", "12", "15"), *new_score("big-2", "swe_marathon", "20")), **ANN)
    changed = evidence_changes(before, ledger.evidence())
    assert changed.columns == ["table", "row", "field", "old", "new"]
    assert set(changed["table"]) == {"scores"}
    rows = {(row, field): (old, new) for _, row, field, old, new in changed.iter_rows()}
    assert rows["big-1 · swe_marathon · board", "score"] == ("12", "15")
    assert rows["big-2 · swe_marathon · board", "score"] == (None, "20")
    assert evidence_changes(before, before).is_empty()


def test_a_time_has_a_zone_and_is_written_to_the_second_in_utc():
    east = timezone(timedelta(hours=2))
    assert written_time(datetime(2026, 11, 15, 1, 30, 5, 999_999, tzinfo=east)) == "2026-11-14T23:30:05+00:00"
    with pytest.raises(mensura.MensuraError, match="when: a time without its zone; expected an aware datetime"):
        written_time(datetime(2026, 11, 15))


def test_taking_back_gives_the_cells_before_and_names_what_is_not_as_written():
    key = ("big-1", "hle", "lab")
    state = {"scores": {key: {"score": "31", "note": "x"}}}
    changes = [CellChange("scores", key, "note", None, "x"), CellChange("scores", key, "score", "30", "31")]
    assert take_back(state, changes) == [] and state == {"scores": {key: {"score": "30"}}}
    other = CellChange("scores", key, "score", "29", "33")
    assert take_back(state, [other]) == [other] and state["scores"][key] == {"score": "29"}
    take_back(state, [CellChange("scores", key, "score", None, "29")])
    assert state == {"scores": {}}, "a row without cells is gone"


def test_a_row_is_made_by_its_first_cell_and_gone_with_its_last(ledger):
    row = ("big-2", "swe_marathon", "board")
    with transaction(ledger.path, writing=True) as store:
        made = CellChange("scores", row, "score", None, "20")
        assert cell_of(store, made) is None
        write_cell(store, made)
        assert cell_of(store, made) == "20"
        write_cell(store, CellChange("scores", row, "note", None, "n"))
        write_cell(store, made._replace(new=None))
        assert read_state(store)["scores"][row] == {"note": "n"}
        write_cell(store, CellChange("scores", row, "note", "n", None))
        assert row not in read_state(store)["scores"]
        write_cell(store, CellChange("scores", row, "note", None, None))
        assert row not in read_state(store)["scores"]
