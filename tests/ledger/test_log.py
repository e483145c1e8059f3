"""Undoing any entry later, without losing those after it, or a refusal that names them."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

import mensura
from mensura.ledger import CellChange, ConflictError, Proposal, Skipped, Unmatched, Update
from tests.ledger.small import ANN, BOB, new_score, score, update


def test_undo_gives_back_the_old_cells_and_keeps_what_came_later(ledger, value):
    ledger.apply(update(score("big-1", "swe_marathon", "12", "15"), title="first"), **ANN)
    ledger.apply(update(score("big-1", "hle", "30.5", "31", source="lab"), title="second"), **ANN)
    ledger.undo(1, **BOB)
    assert (value("big-1", "swe_marathon"), value("big-1", "hle", "lab")) == (12, 31)
    log = ledger.entries()
    assert log["kind"].to_list() == ["undo", "apply", "apply", "init"]
    assert log["undone_by"].to_list() == [None, None, 3, None]
    ledger.verify()


def test_undoing_everything_gives_the_fingerprint_of_the_beginning(ledger):
    start = ledger.version().fingerprint
    ledger.apply(update(*new_score("big-2", "swe_marathon", "20")), **ANN)
    ledger.apply(update(score("big-2", "swe_marathon", "20", "22")), **ANN)
    ledger.undo(2, **BOB)
    assert ledger.undo(1, **BOB).fingerprint == start
    assert ledger.evidence().scores.height == 3


def test_a_later_change_of_the_same_cell_is_named(ledger, value):
    ledger.apply(update(score("big-1", "swe_marathon", "12", "15"), title="first"), **ANN)
    ledger.apply(update(score("big-1", "swe_marathon", "15", "18"), title="second"), **BOB)
    with pytest.raises(ConflictError, match=r"it wrote 15, now 18 since entry 2 \(second\) by Bob"):
        ledger.undo(1, **ANN)
    assert value("big-1", "swe_marathon") == 18
    ledger.undo(2, **ANN)
    ledger.undo(1, **ANN)
    assert value("big-1", "swe_marathon") == 12


def test_a_model_on_which_later_scores_stand_stays_and_they_are_named(ledger):
    facts = {"name": "Big 3", "provider": "Acme", "released": "2026-05-05", "reasoning": "yes"}
    model = [CellChange("models", ("big-3",), field, None, cell) for field, cell in facts.items()]
    ledger.apply(update(*model, title="a model"), **ANN)
    ledger.apply(update(*new_score("big-3", "swe_marathon", "33"), title="its score"), **BOB)
    with pytest.raises(ConflictError, match=r"(?s)not sound.*entry 2 \(its score\) by Bob.*'big-3'"):
        ledger.undo(1, **ANN)
    assert "big-3" in ledger.evidence().models["subject"]
    ledger.undo(2, **ANN)
    ledger.undo(1, **ANN)
    assert "big-3" not in ledger.evidence().models["subject"]


def test_a_row_that_others_went_on_writing_is_not_cut_in_half(ledger):
    ledger.apply(update(*new_score("big-2", "swe_marathon", "20"), title="the row"), **ANN)
    note = CellChange("scores", ("big-2", "swe_marathon", "board"), "note", None, "agent X")
    ledger.apply(update(note, title="its note"), **BOB)
    with pytest.raises(ConflictError, match=r"entry 2 \(its note\) by Bob"):
        ledger.undo(1, **ANN)


def test_an_undo_can_be_undone(ledger, value):
    ledger.apply(update(score("big-1", "swe_marathon", "12", "15")), **ANN)
    ledger.undo(1, **ANN)
    with pytest.raises(ConflictError, match="already undone by entry 2"):
        ledger.undo(1, **ANN)
    ledger.undo(2, **ANN)
    assert value("big-1", "swe_marathon") == 15
    ledger.undo(1, **ANN)
    assert value("big-1", "swe_marathon") == 12
    ledger.verify()


def test_the_beginning_and_what_never_was_cannot_be_undone(ledger):
    with pytest.raises(mensura.MensuraError, match="the beginning of the store"):
        ledger.undo(0, **ANN)
    with pytest.raises(mensura.MensuraError, match="5 is not in the log; expected 0 to 0"):
        ledger.undo(5, **ANN)


def test_every_earlier_state_can_be_read(ledger):
    ledger.apply(update(score("big-1", "swe_marathon", "12", "15"), *new_score("big-2", "swe_marathon", "20")), **ANN)
    ledger.apply(update(score("big-2", "swe_marathon", "20", "25")), **ANN)
    scores = [ledger.evidence(entry).scores["score"].to_list() for entry in range(3)]
    assert scores == [[12, 30.5, 41], [15, 30.5, 41, 20], [15, 30.5, 41, 25]]


def test_the_history_of_a_cell_says_who_when_and_from_which_line(ledger):
    ledger.apply(update(score("big-1", "swe_marathon", "12", "15", line=7), title="first"), **ANN)
    ledger.apply(update(score("big-1", "swe_marathon", "15", "18", line=9), title="second"), **BOB)
    rows = ledger.history().filter(table="scores", row="big-1 · swe_marathon · board", field="score")
    assert rows.select("entry", "by", "old", "new", "line").rows() == [
        (2, "Bob", "15", "18", 9),
        (1, "Ann", "12", "15", 7),
    ]
    assert ledger.history(text="big-1")["entry"].to_list() == [2, 1]
    assert ledger.history(text="big-2").is_empty()


def test_the_log_has_one_row_per_entry_and_one_per_cell(ledger):
    ident = ledger.add_capture(b"Big 1: 15", source="board", address="board.csv", **ANN)
    first = replace(update(score("big-1", "swe_marathon", "12", "15", line=7), title="first"), capture=ident)
    ledger.apply(first, **ANN)
    ledger.undo(1, **BOB)
    undo, apply, init = ledger.entries().to_dicts()
    assert {name: apply[name] for name in ("entry", "kind", "title", "changes", "by", "update", "undone_by")} == {
        "entry": 1,
        "kind": "apply",
        "title": "first",
        "changes": 1,
        "by": "Ann",
        "update": first.id,
        "undone_by": 2,
    }
    assert (undo["entry"], undo["changes"]) == (2, 1)
    assert (undo["kind"], undo["title"], undo["undoes"], undo["time"]) == (
        "undo",
        "undo of entry 1: first",
        1,
        "2026-11-15T13:00:00+00:00",
    )
    assert (init["entry"], init["changes"], init["undoes"], init["fingerprint"]) == (0, 0, None, undo["fingerprint"])
    back, made = ledger.history().to_dicts()
    assert made == {
        "entry": 1,
        "by": "Ann",
        "time": "2026-11-15T12:00:00+00:00",
        "table": "scores",
        "row": "big-1 · swe_marathon · board",
        "field": "score",
        "old": "12",
        "new": "15",
        "line": 7,
        "capture": ident,
        "address": "board.csv",
        "title": "first",
    }
    assert (back["entry"], back["old"], back["new"], back["line"], back["capture"]) == (2, "15", "12", None, None)
    assert ledger.history(entry=1)["entry"].to_list() == [1]


def test_updates_that_wait_are_listed_oldest_first_with_what_they_hold(ledger):
    row = {"subject": "big-3", "name": "Big 3"}
    rich = Update(
        *("rich", "board"),
        changes=(score("big-1", "hle", "30.5", "31", source="lab"), score("big-2", "hle", "41", "42", source="lab")),
        proposals=(Proposal("models", False, row, (4,), ()),),
        unmatched=tuple(Unmatched("model", name, (1,), ()) for name in "abc"),
        skipped=tuple(Skipped(line, "x", "y") for line in range(4)),
    )
    ledger.propose(update(score("big-1", "swe_marathon", "12", "15"), title="later"), **BOB)
    ledger.propose(rich, **ANN)
    first, later = ledger.pending().to_dicts()
    assert (first["title"], first["source"], first["by"], first["update"]) == ("rich", "board", "Ann", rich.id)
    assert [first[name] for name in ("changes", "proposals", "unmatched", "skipped")] == [2, 1, 3, 4]
    assert (later["title"], later["changes"], later["proposals"]) == ("later", 1, 0)


def test_a_store_whose_file_is_damaged_is_refused_by_verify(ledger):
    data = ledger.path.read_bytes()
    place = data.index(b"with a comma, a ")
    ledger.path.write_bytes(data[: place - 60] + bytes(50) + data[place - 10 :])
    with pytest.raises(mensura.MensuraError, match=r"damaged|another program changed the store|is no text"):
        ledger.verify()


def test_a_cell_that_nobody_recorded_is_found_by_its_entry(ledger):
    ledger.apply(update(score("big-1", "swe_marathon", "12", "15")), **ANN)
    with closing(sqlite3.connect(ledger.path)) as store:
        store.execute("UPDATE ledger_cells SET new = '16'")
        store.commit()
    with pytest.raises(mensura.MensuraError, match=r"entry 1 .* records scores .*12 → 16, but the tables differ"):
        ledger.verify()
