"""Applying updates: every cell or none, exactly those listed, sound as a whole, and nobody's work lost."""

import sqlite3
import threading

import pytest

import mensura
from mensura.ledger import ConflictError, open_ledger
from tests.ledger.small import ANN, BOB, new_score, score, update


def test_apply_changes_the_listed_cells_and_nothing_else(ledger):
    before = ledger.evidence().tables()
    version = ledger.apply(update(score("big-1", "swe_marathon", "12", "15.5", line=7)), **ANN)
    after = ledger.evidence().tables()
    assert version.entry == 1 and version == ledger.version()
    changed = {name for name in after if not after[name].equals(before[name])}
    assert changed == {"scores"}
    rows = zip(before["scores"].rows(), after["scores"].rows(), strict=True)
    assert [new[:3] for old, new in rows if old != new] == [("big-1", "swe_marathon", 15.5)]
    ledger.verify()


def test_a_new_row_is_made_by_its_cells(ledger, value):
    ledger.apply(update(*new_score("big-2", "swe_marathon", "20")), **ANN)
    assert value("big-2", "swe_marathon") == 20
    assert ledger.evidence().primary_scores.height == 4


def test_the_second_of_two_reviewers_is_told_who_was_faster(ledger, value):
    ledger.apply(update(score("big-1", "swe_marathon", "12", "15"), title="first"), **ANN)
    with pytest.raises(ConflictError, match=r"the cell holds 15 since entry 1 \(first\) by Ann, 2026-11-15T12:00:00"):
        ledger.apply(update(score("big-1", "swe_marathon", "12", "14"), title="second"), **BOB)
    assert value("big-1", "swe_marathon") == 15


def test_reviewers_of_different_cells_do_not_stand_in_each_others_way(ledger, value):
    ledger.apply(update(score("big-1", "swe_marathon", "12", "15")), **ANN)
    ledger.apply(update(score("big-1", "hle", "30.5", "31", source="lab")), **BOB)
    assert (value("big-1", "swe_marathon"), value("big-1", "hle", "lab")) == (15, 31)


def test_a_reviewer_who_looked_at_an_older_state_is_told_to_look_again(ledger):
    looked = ledger.version().fingerprint
    ledger.apply(update(score("big-1", "swe_marathon", "12", "15"), title="first"), **ANN)
    with pytest.raises(ConflictError, match=r"has changed since you read it: entry 1 .first. by Ann"):
        ledger.apply(update(score("big-1", "hle", "30.5", "31", source="lab")), expected=looked, **BOB)


def test_an_update_is_applied_once_until_it_is_undone(ledger):
    first = update(*new_score("big-2", "swe_marathon", "20"))
    ledger.apply(first, **ANN)
    with pytest.raises(ConflictError, match="applied already: entry 1 by Ann"):
        ledger.apply(first, **BOB)
    ledger.undo(1, **BOB)
    assert ledger.apply(first, **BOB).entry == 3


def test_an_update_that_was_undone_waits_again_when_it_is_proposed_again(ledger):
    first = update(*new_score("big-2", "swe_marathon", "20"))
    ledger.apply(first, **ANN)
    ledger.propose(first, **BOB)
    assert ledger.pending().is_empty(), "what stands needs no review"
    ledger.undo(1, **BOB)
    ledger.propose(first, **BOB)
    assert ledger.pending()["update"].to_list() == [first.id]


def test_threads_that_apply_at_once_lose_nothing(ledger, value):
    """Eight reviewers change the same cell at once: one is applied, seven are told."""
    results = []

    def review(number):
        try:
            ledger.apply(
                update(score("big-1", "swe_marathon", "12", f"{20 + number}")), by=f"R{number}", when=ANN["when"]
            )
            results.append("applied")
        except ConflictError:
            results.append("told")

    threads = [threading.Thread(target=review, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["applied"] + ["told"] * 7
    [winner] = ledger.history().filter(field="score")["new"].to_list()
    assert value("big-1", "swe_marathon") == float(winner)
    ledger.verify()


def test_readers_see_the_state_before_while_a_writer_is_at_work(ledger):
    with sqlite3.connect(ledger.path, isolation_level=None) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM scores")
        assert ledger.evidence().scores.height == 3
        writer.execute("ROLLBACK")
    writer.close()


def test_an_empty_update_and_a_nameless_reviewer_are_refused(ledger):
    with pytest.raises(mensura.MensuraError, match="no cell changes; change at least one"):
        ledger.apply(update(), **ANN)
    for title in ("", "two\nlines", "\x1b[2J", "x" * 301):
        with pytest.raises(mensura.MensuraError, match="title: got"):
            ledger.propose(update(score("big-1", "swe_marathon", "12", "15"), title=title), **ANN)
    for name in ("", " ", "a\nb", "x" * 101):
        with pytest.raises(mensura.MensuraError, match="by: got"):
            ledger.apply(update(score("big-1", "swe_marathon", "12", "15")), by=name, when=ANN["when"])


def test_what_would_be_is_checked_without_writing(ledger):
    before = ledger.path.read_bytes()
    would = ledger.with_update(update(score("big-1", "swe_marathon", "12", "15")))
    assert would.scores.filter(subject="big-1", benchmark="swe_marathon")["score"].item() == 15
    with pytest.raises(ConflictError):
        ledger.with_update(update(score("big-1", "swe_marathon", "13", "15")))
    assert ledger.path.read_bytes() == before


def test_the_desk_holds_updates_until_they_are_applied_or_discarded(ledger):
    first, second = (update(score("big-1", "swe_marathon", "12", value)) for value in ("15", "16"))
    for one in (first, second, first):
        ledger.propose(one, **ANN)
    assert ledger.pending()["update"].to_list() == sorted([first.id, second.id])
    assert ledger.update(first.id[:6]) == first
    ledger.apply(ledger.update(first.id), **BOB)
    assert ledger.pending()["update"].to_list() == [second.id]
    assert ledger.discard(second.id) == second.id
    assert ledger.pending().is_empty()
    with pytest.raises(mensura.MensuraError, match="was applied; undo takes its entry back"):
        ledger.discard(first.id)
    with pytest.raises(mensura.MensuraError, match="is not in the store"):
        ledger.update(second.id)
    with pytest.raises(mensura.MensuraError, match="at least 6 hexadecimal digits"):
        ledger.update("%")


def test_a_store_that_is_not_there_is_named(tmp_path):
    with pytest.raises(mensura.MensuraError, match="no such store; mensura evidence init"):
        open_ledger(tmp_path / "none.sqlite")
