"""An update: the short file between a capture and the evidence that says which cells change, for people to review."""

import pytest

import mensura
from mensura.ledger import CellChange, Proposal, Update
from tests.ledger.small import ANN, new_score, score, update


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (score("big-1", "swe_marathon", "12", "150"), "a percent from 0 to 100"),
        (score("big-1", "swe_marathon", "12", "high"), "expected a number"),
        (CellChange("models", ("big-1",), "provider", "Acme", None), "not an empty cell"),
        (CellChange("models", ("big-1",), "predecessor", None, "big-9"), "a subject listed in models.csv"),
        (CellChange("scores", ("big-1", "swe_marathon", "lab"), "score", None, "3"), "not an empty cell"),
    ],
)
def test_an_update_that_leaves_unsound_evidence_is_refused_and_nothing_is_written(ledger, change, words):
    before = ledger.path.read_bytes()
    with pytest.raises(mensura.MensuraError, match=words):
        ledger.apply(update(change), **ANN)
    assert ledger.path.read_bytes() == before
    assert ledger.version().entry == 0 and ledger.entries().height == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (CellChange("sqlite_master", ("x",), "sql", None, "1"), "table: got 'sqlite_master'; expected one of"),
        (CellChange("scores", ("big-1", "hle", "lab"), 'score" = 1; --', None, "1"), "field of scores: got"),
        (CellChange("scores", ("big-1", "hle", "lab"), "subject", "big-1", "big-2"), "got 'subject'; expected one of"),
        (CellChange("scores", ("big-1",), "score", None, "1"), "expected subject, benchmark, source"),
        (score("big-1", "swe_marathon", "12", "1\x1b[2J"), "no control characters"),
        (score("big-1", "swe_marathon", "12", "9" * 10_001), "at most 10,000 characters"),
    ],
)
def test_what_no_table_has_is_refused_before_the_store_is_touched(ledger, change, words):
    with pytest.raises(mensura.MensuraError, match=words):
        ledger.apply(update(change), **ANN)


def test_hostile_text_is_a_value_and_never_a_command(ledger):
    text = "'); DROP TABLE scores; --\"] <script>alert(1)</script> {{7*7}}"
    ledger.apply(update(CellChange("scores", ("big-1", "hle", "lab"), "note", None, text)), **ANN)
    assert ledger.evidence().scores.filter(subject="big-1", benchmark="hle")["note"].item() == text
    assert ledger.history().filter(field="note")["new"].to_list() == [text]


def test_a_proposed_model_counts_only_when_accepted_and_complete(ledger, value):
    waiting = new_score("big-3", "swe_marathon", "33")
    row = {"subject": "big-3", "name": "Big 3", "provider": "Acme", "released": "", "reasoning": "yes"}
    proposed = Update("p", "board", proposals=(Proposal("models", False, row, (4,), waiting),))
    with pytest.raises(mensura.MensuraError, match="set accept = true in the 1 proposals that wait"):
        ledger.apply(proposed, **ANN)
    accepted = proposed.text().replace("accept = false", "accept = true")
    with pytest.raises(mensura.MensuraError, match="the accepted row of models still lacks released"):
        Update.parse(accepted)
    ledger.apply(Update.parse(accepted.replace('released = ""', 'released = "2026-11-01"')), **ANN)
    assert value("big-3", "swe_marathon") == 33


def test_a_proposal_that_says_nothing_of_accepting_waits():
    row = {"subject": "big-3", "name": "Big 3", "provider": "Acme", "released": "2026-11-01", "reasoning": "yes"}
    proposed = Update("p", "board", proposals=(Proposal("models", False, row, (4,), ()),))
    silent = proposed.text().replace("accept = false\n", "")
    assert silent != proposed.text() and "\naccept" not in silent
    assert Update.parse(silent) == proposed
    assert Update.parse(silent).proposals[0].accept is False
    assert Update.parse(silent).effective == ()


def test_ten_conflicts_are_spelled_out_and_the_others_counted(ledger):
    fields = ("name", "provider", "released", "line")
    cells = [
        CellChange("models", (name,), field, "?", "!") for name in ("big-1", "big-2", "small-1") for field in fields
    ]
    with pytest.raises(mensura.MensuraError, match="10 of 10 cells") as told:
        ledger.apply(update(*cells[:10]), **ANN)
    assert str(told.value).count("but the cell holds") == 10 and "more" not in str(told.value).split("holds")[-1]
    with pytest.raises(mensura.MensuraError, match="12 of 12 cells") as told:
        ledger.apply(update(*cells), **ANN)
    assert str(told.value).count("but the cell holds") == 10 and str(told.value).endswith("\n  … and 2 more")
