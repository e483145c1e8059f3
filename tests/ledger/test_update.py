"""An update: the short file between a capture and the evidence that says which cells change, for people to review."""

import pytest

import mensura
from mensura.ledger import CellChange, Proposal, Skipped, Unmatched, Update, update_tables
from mensura.ledger.update import checked_change
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


FULL = Update(
    *("t", "board", "ab" * 32, "board 123456", "2026-11-15"),
    changes=(CellChange("scores", ("big-1", "hle", "lab"), "score", "30.5", "31", 4),),
    proposals=(
        Proposal("models", True, {"subject": "big-3", "name": "Big 3", "provider": "Acme", "released": "2026-11-01",
                                  "reasoning": "yes", "line": ""}, (4, 5), new_score("big-3", "hle", "33")),
    ),
    unmatched=(Unmatched("model", 'Bigg "1"', (7, 9), ("big-1", "big-2")),),
    skipped=(Skipped(3, "x", "too low"),),
    notes=("2 rows read",),
)  # fmt: skip


def test_an_update_reads_back_as_it_was_written_with_all_that_it_has():
    assert Update.parse(FULL.text()) == FULL
    cells = {(change.row, change.field): (change.new, change.line) for change in FULL.effective}
    assert cells[("big-3",), "name"] == ("Big 3", 4)
    assert cells[("big-3", "hle", "board"), "score"] == ("33", None)
    assert cells[("big-1", "hle", "lab"), "score"] == ("31", 4)
    assert (("big-3",), "subject") not in cells and (("big-3",), "line") not in cells
    assert len(FULL.id) == 16 and FULL.id != update().id


def test_an_update_is_shown_as_tables():
    tables = update_tables(FULL)
    assert tables["changes"].rows() == [("scores", "big-1 · hle · lab", "score", "30.5", "31", 4)]
    assert tables["changes"].columns == ["table", "row", "field", "old", "new", "line"]
    assert tables["unmatched"].rows() == [("model", 'Bigg "1"', "7, 9", "big-1, big-2")]
    assert tables["skipped"].to_dicts() == [{"line": 3, "name": "x", "reason": "too low"}]
    row = "subject = big-3, name = Big 3, provider = Acme, released = 2026-11-01, reasoning = yes, line = ?"
    assert tables["proposals"].rows() == [("models", row, 3, True)]
    assert {name: table.columns for name, table in update_tables(update()).items()} == {
        name: table.columns for name, table in tables.items()
    }


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("format = 1", "format = 2", "u: format is 2; expected an update of format 1"),
        ("format = 1", "colour = 1", "format is None; expected an update of format 1"),
        ('title = "t"', 'titel = "t"', "u: unknown 'titel'"),
        ('name = "x", reason', 'nom = "x", reason', r"\[\[skipped\]\] 1: unknown 'nom'"),
        ('kind = "model"', 'sort = "model"', r"\[\[unmatched\]\] 1: unknown 'sort'"),
        ('field = "score", old = "30.5"', 'column = "score", old = "30.5"', r"\[\[changes\]\] 1: unknown 'column'"),
        ("lines = [4, 5]", "lines = [4, -5]", "lines must be a list of line numbers"),
        ('row = {subject = "big-3"', 'row = {colour = "red"', "unknown 'colour'"),
        ('table = "models"', 'table = "sqlite_master"', "table is 'sqlite_master'; expected one of models"),
        ('name = "Big 3"', 'name = ""', "the accepted row of models still lacks name; fill them in or set accept = f"),
        ('name = "Big 3"', 'name = "Big 3 "', "no blanks at the ends"),
        ("skipped = [", f"changes2 = [{'{}'}]\nskipped = [", "unknown 'changes2'"),
    ],
)
def test_a_file_that_is_not_understood_is_refused(old, new, words):
    assert old in FULL.text()
    with pytest.raises(mensura.MensuraError, match=words):
        Update.parse(FULL.text().replace(old, new, 1), name="u")


def test_a_cell_changes_once():
    twice = update(score("big-1", "hle", "1", "2"), score("big-1", "hle", "2", "3"))
    with pytest.raises(mensura.MensuraError, match="scores big-1 · hle · board, score is changed twice; remove one"):
        Update.parse(twice.text())


@pytest.mark.parametrize(("cell", "taken"), [("x" * 10_000, True), ("a\tb\nc", True), (" x", False), ("\u202e", False)])
def test_a_cell_holds_lines_and_tabs_but_no_turned_writing(cell, taken):
    change = CellChange("scores", ("big-1", "hle", "lab"), "note", None, cell)
    if taken:
        assert checked_change(change, "u") == change
        return
    with pytest.raises(mensura.MensuraError, match="no control characters, no blanks at the ends"):
        checked_change(change, "u")


def test_a_change_is_written_in_words():
    assert str(score("big-1", "hle", None, "3")) == "scores big-1 · hle · board, score: blank → 3"
    assert str(score("big-1", "hle", "3", None)) == "scores big-1 · hle · board, score: 3 → blank"
