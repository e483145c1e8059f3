"""Undoing any entry later, without losing those after it, or a refusal that names them."""

import pytest

import mensura
from mensura.ledger import CellChange, ConflictError
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
